// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"math"

	"github.com/discreet-dp/discreet/internal/table/feature"
)

// Loss is a convex loss of a margin z: the score if the label is positive, otherwise its negative. Its
// slope is in [-1, 0]. The zero value is the logistic loss log(1+exp(-z)).
type Loss struct {
	// Huber, if > 0, is the half-width h of the Huber-hinge: the hinge max(0, 1-z), with the parabola
	// (1+h-z)²/(4h) instead of its corner if |1-z| ≤ h.
	Huber float64
}

// Curvature is the largest second derivative of the loss.
func (l Loss) Curvature() float64 {
	if l.Huber > 0 {
		return 1 / (2 * l.Huber)
	}
	return 0.25
}

// At returns the loss of one margin with its first two derivatives.
func (l Loss) At(z float64) (value, slope, curve float64) {
	if l.Huber > 0 {
		switch h := l.Huber; {
		case z > 1+h:
			return 0, 0, 0
		case z < 1-h:
			return 1 - z, -1, 0
		default:
			u := 1 + h - z
			return u * u / (4 * h), -u / (2 * h), 1 / (2 * h)
		}
	}
	e := math.Exp(-math.Abs(z))
	value, slope = math.Log1p(e), -e/(1+e)
	if z < 0 {
		value, slope = value-z, -1/(1+e)
	}
	return value, slope, e / ((1 + e) * (1 + e))
}

// Rows determines the scaling and the weight of a row. A row is t·(features, 1), with the intercept's
// entry last and t = min(Scale, Norm/‖(features, 1)‖), so that no row is longer than Norm. Its weight
// is Weights[code], by the code of its label in the whole table, even in a view Against one class;
// nil: one.
type Rows struct {
	Scale, Norm float64
	Weights     []float64
}

// Cuts are Count thresholds of a score: First, First + Step and so on.
type Cuts struct {
	First, Step float64 // Step > 0
	Count       int     // at least 1
}

// At returns threshold k, from 0.
func (c Cuts) At(k int) float64 { return c.First + float64(k)*c.Step }

// Check refuses a question about scores that coef makes and these cuts.
func (c Cuts) Check(sp *feature.Space, coef []float64) error {
	if c.Count < 1 || !(c.Step > 0) {
		return fmt.Errorf("engine: cuts must be at least one, a positive step apart (got %d, %g)", c.Count, c.Step)
	}
	return CheckLength(sp, coef)
}
