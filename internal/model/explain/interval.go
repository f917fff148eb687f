// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"math"

	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/table/column"
)

// deviations is the half-width of a two-sided 95 % interval of a normal variable, in standard
// deviations.
const deviations = 1.959964

// Intervals are 95 % intervals of the scores of rows for the effect of noise. They cover the mean,
// over the noise, of fits to the same rows as the model. The standard deviations that the model states
// (model.Moved) are added in squares, as if they were independent, and the sum is assumed to be
// normal.
//
// An interval does not cover the random choice of rows, what a sum of step functions cannot represent,
// or effects of noise that all fits share, such as steps that are shrunk to 0. A model of a file
// version before 8 does not state the effect of noise alone. Its intervals use the standard deviations
// of its shapes, which also cover the random choice of rows and are wider.
type Intervals struct {
	intercept float64
	moved     model.Moved
	parts     []Contribution
}

// NewIntervals makes the intervals for a table read with the model's schema. It refuses a model that
// is not additive.
func NewIntervals(m *model.Model, cols []column.Column) (*Intervals, error) {
	parts, err := Contributions(m, cols)
	if err != nil {
		return nil, err
	}
	a := m.Classifier.(*model.Additive)
	iv := &Intervals{intercept: roundToScore(a.Intercept), parts: parts}
	if a.Moved != nil {
		iv.moved = *a.Moved
	}
	return iv, nil
}

// At returns the interval of a row's score, as probabilities of the positive level: 0 ≤ low ≤ score ≤
// high ≤ 1.
func (iv *Intervals) At(row int) (low, high float64) {
	z, variance, stretched := iv.intercept, iv.moved.Intercept*iv.moved.Intercept, 0.0
	for k := range iv.parts {
		p := &iv.parts[k]
		bin := p.bound.At(row)
		z += p.values[bin]
		variance += p.variance[bin]
		if p.moved {
			stretched += p.values[bin]
		}
	}
	stretch := iv.moved.Slope * (stretched - iv.moved.Middle)
	variance += stretch * stretch
	half := deviations * math.Sqrt(variance)
	return 1 / (1 + math.Exp(half-z)), 1 / (1 + math.Exp(-half-z))
}
