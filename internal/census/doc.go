// SPDX-License-Identifier: Apache-2.0

// Package census invents census-like tables of any size, for the demo, the
// README, the tests and the benchmarks. Nothing in it is copied or estimated
// from real people: every name and every constant was made up for this package.
//
// # The people
//
// Each person is drawn on their own, cause before effect:
//
//	region ─► settlement ─► origin ─► age ─► sex
//	education       ◄ age, sex, settlement, origin
//	work_class      ◄ age, sex, education
//	occupation      ◄ education, sex, work_class
//	marital_status  ◄ age, sex
//	household_size  ◄ marital_status, age
//	weekly_hours    ◄ occupation, sex, age
//	years_in_job    ◄ age, work_class
//	capital_income  ◄ age, education, work_class (seven in eight have none, others a heavy tail)
//	sampling_weight ◄ region, settlement (and bears on nothing, as in real surveys)
//	high_income     ◄ all but sampling_weight
//
// The label is yes with probability σ(score). The score is not linear: schooling
// pays more the longer one has worked and less for those born abroad, hours pay
// up to a point, children lower the pay of women only, capital counts by its
// logarithm. About one person in twenty-five does not answer about work:
// work_class and occupation are then missing, though they did act on the score.
//
// Region, settlement, origin, age and sex are public and take at most 11,988
// combinations, so grouping rows by public columns pays at large sizes; the
// other nine columns are private. The label is public.
//
// People are also vectors: 62 binary and 5 numeric dimensions, the size of the
// Brazilian census in papers about local privacy, for which these invented
// people can stand in where the real ones may not be passed on. NewVectors
// reads a table, or each of its Parts, so 12 million people need little room.
//
// # What can be learned
//
// Logistic regression, one-hot, fitted on 40,000 people and judged on as many
// others, both halves yes (TestWhatCanBeLearned holds them to bands):
//
//	columns     balanced accuracy   AUC
//	all              .83                 .92
//	public only      .65                 .70
//
// # Why seeds are right here
//
// These tables protect no one, since no one is in them, and a benchmark or a
// README must see the same table twice. So this room, unlike every other, draws
// from a seeded generator (ChaCha8, keyed by seed and block number). What is
// drawn never leaves as noise: it only fills cells.
//
// Equal seeds give equal tables on every machine: people are drawn in blocks of
// fixed size, each with a stream of its own, and all laws are whole numbers.
// The table of n rows is the first n rows of any longer one of the same seed.
package census
