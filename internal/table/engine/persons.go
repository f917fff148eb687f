// SPDX-License-Identifier: Apache-2.0

package engine

// Persons settles the weights of persons' rows in a table whose schema declares persons. Before that
// the table answers no question about its rows, so that a learner cannot protect single rows by
// mistake.
type Persons interface {
	// Count returns the number of persons who have rows. It is public under replace-one.
	Count() int
	// Weigh returns the table in which every row has the weight PersonWeight, so that a person's rows
	// weigh at most most rows together. Questions about cells, groups and scores add up weights in
	// units of 1/WeightOne; questions that require rows of weight one are refused.
	Weigh(most int) Table
	// Draw returns a table of at most most rows of each person, drawn uniformly and independently for
	// each person; below draws from 0..n-1. With fill every person has exactly most rows: one with
	// fewer gets them repeatedly, in the order in which they were drawn. Its schema declares no
	// person: every row counts once.
	Draw(most int, fill bool, below func(n uint64) uint64) Table
	// Ignore returns the table of all rows, each with weight one, for uses without protection. Its
	// schema declares no person.
	Ignore() Table
}

// WeightOne is the number of units of the weight 1, the largest weight of a row.
const WeightOne = 1 << 20

// PersonWeight is the weight of each row of a person with the given number of rows under a
// contribution bound of most rows: min(1, most/rows) in units of 1/WeightOne, rounded down. rows times
// that is never more than most (1.1).
func PersonWeight(most, rows int) uint32 {
	if rows <= most {
		return WeightOne
	}
	return uint32(uint64(most) * WeightOne / uint64(rows))
}
