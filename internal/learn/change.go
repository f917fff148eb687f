// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"math"

	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/table/feature"
)

// CalibrationShare is the part of the price for the calibration of a finished score.
const CalibrationShare = 0.04

const slopeSpreads = 1.5 // spreads of a shape at which a row's influence on a change is clipped

// Change is how much more of a shape there should be in a score of more than two classes.
type Change struct {
	Score     *guard.StepScore
	Shape     *feature.LevelShape // nil for the terms of the score from From on
	From      int
	Spread    float64 // of the shape over rows, nats: a row's influence is clipped at slopeSpreads of it
	Deviation float64 // standard deviation of the change's normal prior
}

// Measure releases the derivative of the classes' likelihood along the shape, and half of its second derivative, negated, in
// units of the most nats that a row contributes.
func (c Change) Measure(g *guard.Guard, label string, price guard.Share) (change float64, err error) {
	most := slopeSpreads * c.Spread
	sum, err := g.ClassSlope(c.Score, c.Shape, c.From, most)
	if err != nil {
		return 0, err
	}
	out, err := g.Measure(label, price, sum)
	if err != nil {
		return 0, err
	}
	gain, curve := most*out.Values[0], math.Max(2*(most*out.Values[1]), 1e-3)
	variance := most*most*out.Variance + curve // gain = curve·change + noise; the curve is also what sampling adds
	return curve * gain / variance / (1/(c.Deviation*c.Deviation) + curve*curve/variance), nil
}
