// SPDX-License-Identifier: Apache-2.0

package lint

import "testing"

// Lines that end in want divide by what may be private.
const dividing = `package brc

import (
	"m.test/m/privacy/mech"
	"m.test/m/table/dataset"
)

const scale = 1 << 20

func f(t *dataset.Table, wrong, right, count int64) []mech.Ratio {
	r := mech.Ratio{Num: wrong, Den: scale}
	r.Den = count // want
	mean := float64(wrong) / float64(t.Private) // want
	mean /= float64(t.Rows)
	mean /= float64(t.Private) // want
	n, rows := float64(t.Private), float64(t.Rows)
	half := n / 2
	var sums [2]float64
	for i := range sums {
		sums[i] += half
	}
	for _, x := range t.Each {
		mean /= float64(x) // want
		mean += 1 / float64(len(t.Each))
	}
	mean += 1/rows + rows/half // want
	mean += 1 / sums[0] // want
	return []mech.Ratio{r, {wrong, 3}, {Num: int64(mean), Den: wrong + right},
		{wrong, count}, // want
		{Num: wrong, Den: count}} // want
}
`

func TestDivisors(t *testing.T) {
	tryLines(t, checkDivisors, "learn/brc/a.go", files{"learn/brc/a.go": dividing,
		"privacy/mech/a.go":  "package mech\n\ntype Ratio struct{ Num, Den int64 }\n",
		"table/dataset/a.go": "package dataset\n\ntype Table struct { Rows, Private int; Each []int }\n"})
}
