// SPDX-License-Identifier: Apache-2.0

package engine

// Persons settles what a person's rows count for, in a table whose schema declares persons. Before
// that the table answers no question about its rows, lest someone protect rows alone.
type Persons interface {
	// Count is the number of persons who have rows. Public under replace-one.
	Count() int
	// CountAbove counts, for each of bounds, the persons who have more rows than that.
	CountAbove(bounds []int) []uint64
	// Weigh is the table in which every row weighs PersonWeight, so that a person weighs at most most
	// rows in all. Its questions about cells, groups and scores add up weights in units of
	// 1/WeightOne; those that count rows alone are refused.
	Weigh(most int) Table
	// Draw is a table of at most most rows of each person, drawn uniformly and for each person
	// independently: below draws from 0..n-1. With fill a person with fewer rows has them again, in
	// the order in which they were drawn, so that everyone has exactly most. Its schema declares no
	// person: every row counts once.
	Draw(most int, fill bool, below func(n uint64) uint64) Table
	// Ignore is the table of all rows, each of them counting once, for whatever protects no one. Its
	// schema declares no person.
	Ignore() Table
}

// WeightOne is the number of units that make the weight 1, the largest a row can have.
const WeightOne = 1 << 20

// PersonWeight is what each row of a person with so many rows weighs where the person may weigh at
// most most rows, min(1, most/rows) in units of 1/WeightOne and rounded down: rows times that is
// never more than most (1.1).
func PersonWeight(most, rows int) uint32 {
	if rows <= most {
		return WeightOne
	}
	return uint32(uint64(most) * WeightOne / uint64(rows))
}
