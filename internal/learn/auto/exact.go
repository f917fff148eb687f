// SPDX-License-Identifier: Apache-2.0

package auto

import (
	"math"

	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/table/feature"
)

// What is asked where nothing is private; docs/decisions/0008-auto.md has what tables have.
const (
	// enoughExact is how far, in rows for each row, a product must lead where there are two
	// classes, whose first fit then leaves nothing over along any column.
	enoughExact = 0.002
	// chanceLead is how many standard deviations of the sum of all slopes a product must
	// lead, were labels drawn by the probabilities of the first fit. Chance brought the
	// largest lead of invented additive tables to 2.1 of them at most.
	chanceLead = 2.4
	// wellTold is the part of what was unknown of several classes below which a first fit
	// leaves so little that labels are nearly determined.
	wellTold = 0.5
)

// leastLeadExact is how far, in rows, a product must lead where nothing is private: less
// than any does where the first fit leaves little of several classes, told by numbers, for
// what it leaves is then of columns together.
func (pl *Plan) leastLeadExact(score *guard.StepScore, sums *guard.GridSums) float64 {
	curve := int64(0) // of all rows
	for _, x := range sums.Curves {
		curve += x
	}
	left := float64(curve) / guard.WeightOne
	rows := float64(pl.rows)
	if pl.s.Classes() == 2 {
		return math.Max(enoughExact*rows, chanceLead*math.Sqrt(left/4)) // the curve was written as 4p(1 − p)
	}
	if mostlyNumbers(pl.s) && left < wellTold*rows*unknownOf(score) {
		return -rows
	}
	return math.Max(enough*rows, chanceLead*math.Sqrt(left))
}

// unknownOf is the curve of one row at the scores where all rows start, of several classes.
func unknownOf(score *guard.StepScore) float64 {
	sum, squares := 0.0, 0.0
	for _, units := range score.Start {
		p := math.Exp(float64(units) / feature.ScoreOne)
		sum, squares = sum+p, squares+p*p
	}
	return 1 - squares/(sum*sum)
}
