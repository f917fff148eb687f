// SPDX-License-Identifier: Apache-2.0

// Package census invents census-like tables of any size, for the figures and the benchmarks. The first
// people of seed 1 are the table of discreet demo, which the product embeds (internal/table/census).
// Nothing in it is copied or estimated from real people: every name and every constant was made up for
// this package.
//
// # The people
//
// Persons are drawn independently, causes before effects:
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
// The label is yes with probability σ(score). The score is not linear. The effect of education grows
// with years of work and is smaller for people born abroad, hours have an effect up to a point,
// children lower the income of women only, and capital enters by its logarithm. About one person in
// twenty-five does not answer about work: work_class and occupation are then missing, but still affect
// the score.
//
// Region, settlement, origin, age and sex are public and take at most 11,988 combinations, so grouping
// rows by public columns pays at large sizes; the other nine columns are private. The label is public.
//
// People can also be converted to vectors with 62 binary and 5 numeric dimensions, the size of the
// Brazilian census in papers about local privacy. These invented people can replace that census, which
// may not be redistributed. NewVectors reads a table, or each of its Parts, so that 12 million people
// need little memory.
//
// # What can be learned
//
// Logistic regression, one-hot, fitted on 40,000 people and evaluated on as many others, half of each
// with label yes (TestWhatCanBeLearned holds them to bands):
//
//	columns     balanced accuracy   AUC
//	all              .83                 .92
//	public only      .65                 .70
//
// # Why seeds are right here
//
// These tables contain no real person, and a benchmark or a figure must get the same table again. This
// package therefore uses a seeded generator (ChaCha8, keyed by seed and block number). Its output only fills cells, and is never used as noise.
//
// Equal seeds give equal tables on every machine: people are drawn in blocks of fixed size, each with
// its own stream, and all probabilities are integer weights. The table of n rows is the first n rows
// of any longer one of the same seed.
package census
