// SPDX-License-Identifier: Apache-2.0

package shrink

import (
	"slices"

	"github.com/discreet-dp/discreet/internal/table/feature"
)

// takeMarksApart estimates the bins of a number's amounts and those of its marks each on their
// own: amounts that lie next to each other are alike, and a mark is like none of them.
func (c *Cells) takeMarksApart(bins *feature.Bins,
	estimate func(*Cells, *feature.Bins) (steps, variance []float64)) (steps, variance []float64) {
	at := len(c.Positive) - bins.Marks()
	amounts := bins.WithoutMarks()
	steps, variance = estimate(&Cells{c.Positive[:at], c.Negative[:at], c.Noise}, &amounts)
	marks := feature.NewGroups(bins.Column, nil, bins.Marks())
	more, vary := estimate(&Cells{c.Positive[at:], c.Negative[at:], c.Noise}, &marks)
	return slices.Concat(steps, more), slices.Concat(variance, vary)
}

// ClassSharesOf is ClassShares of a column's bins, of which those of a number's marks are estimated
// on their own.
func ClassSharesOf(bins *feature.Bins, rows [][]float64, all, noise float64, share []float64) (
	steps, variance [][]float64) {
	if bins.Marks() == 0 {
		return ClassShares(rows, all, noise, share, bins.Ordered())
	}
	at := len(rows[0]) - bins.Marks()
	amounts, marks := make([][]float64, len(rows)), make([][]float64, len(rows))
	for k, of := range rows {
		amounts[k], marks[k] = of[:at], of[at:]
	}
	weight := binRows(rows, all, noise)
	steps, variance = estimateShares(amounts, weight[:at], noise, share, true)
	more, vary := estimateShares(marks, weight[at:], noise, share, false)
	for k := range steps {
		steps[k], variance[k] = slices.Concat(steps[k], more[k]), slices.Concat(variance[k], vary[k])
	}
	return steps, variance
}
