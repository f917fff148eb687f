// SPDX-License-Identifier: Apache-2.0

package grids

import (
	"math"

	"github.com/discreet-dp/discreet/internal/guard"
)

// Where nothing is private a choice may depend on a row by any amount, and no noise keeps
// steps from following what is chance in the labels.

// ridge is added to the curve of a cell, which shrinks the steps of cells with few rows.
const ridge = 10

// gainOf is twice the increase of the log-likelihood by a whole step in each cell, in units of
// 1/guard.WeightOne. parts are those of curveParts.
func gainOf(sums *guard.GridSums, parts []float64) int64 {
	gain := 0.0
	for i, x := range sums.Slopes {
		slope, curve := float64(x)/guard.WeightOne, float64(sums.Curves[i/len(parts)])/guard.WeightOne
		gain += slope * slope / (curve*parts[i%len(parts)] + ridge)
	}
	return int64(gain * guard.WeightOne)
}

// The part of a grid's slopes that is attributed to chance: chancePart of the expected chance effect
// while at least half of the labels' uncertainty is left, and nothing below nearlyKnown.
const (
	chancePart        = 0.6
	half, nearlyKnown = 0.5, 0.35
)

// signalOf is the share of a grid's slopes that is not attributed to chance, from 0 to 1. Labels drawn
// from the model's own probabilities also have slopes, whose expected squares add up to the curves.
// unknown is the curve of all rows before the first round.
func signalOf(slopes, curves []float64, unknown float64) float64 {
	width, unit := len(slopes)/len(curves), 1.0
	if width == 1 {
		unit = 0.25 // the curve was written as 4p(1 − p)
	}
	seen, chance, left := 0.0, 0.0, 0.0
	for c, curve := range curves {
		squares := 0.0
		for _, slope := range slopes[c*width : (c+1)*width] {
			squares += slope * slope
		}
		seen += squares / (unit*curve + ridge)
		chance += unit * curve / (unit*curve + ridge)
		left += unit * curve
	}
	if seen == 0 {
		return 0
	}
	part := chancePart * math.Max(0, math.Min(1, (left/unknown-nearlyKnown)/(half-nearlyKnown)))
	return math.Max(0, 1-part*chance/seen)
}

// unknownOf is the curve, as in signalOf, of rows for which only the share of each class is known.
func unknownOf(share []float64, rows int) float64 {
	unknown := 1.0
	for _, p := range share {
		unknown -= p * p
	}
	if len(share) == 2 {
		unknown /= 2
	}
	return unknown * float64(rows)
}
