// SPDX-License-Identifier: Apache-2.0

package shrink

import (
	"slices"

	"github.com/discreet-dp/discreet/internal/table/feature"
)

// takeMarksApart estimates the bins of a number's amounts and those of its marks separately:
// neighbouring amounts are similar, and a mark is not similar to any amount.
func (c *Cells) takeMarksApart(bins *feature.Bins) (steps, variance []float64) {
	at := len(c.Positive) - bins.Marks()
	amounts := bins.WithoutMarks()
	steps, variance = LogOdds(&Cells{c.Positive[:at], c.Negative[:at], c.Noise}, &amounts)
	marks := feature.NewGroups(bins.Column, nil, bins.Marks())
	more, vary := LogOdds(&Cells{c.Positive[at:], c.Negative[at:], c.Noise}, &marks)
	return slices.Concat(steps, more), slices.Concat(variance, vary)
}
