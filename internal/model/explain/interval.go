// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"math"

	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/table/column"
)

// deviations is how many standard deviations of a normal hold 95 % on both sides.
const deviations = 1.959964

// Intervals are 95 % intervals of the scores of rows, for the noise that was
// added and the rows that happened to be trained on. The deviations that the
// model states are added up in squares, as if the columns' noises were
// independent, and the sum is taken for normal.
//
// What is aimed at is the log-odds of the positive level given the columns that
// the model has, where these add up: independent columns given the label. An
// interval does not cover the noise in the intercept, shapes without a stated
// deviation (public columns), or what a sum of step functions cannot say.
type Intervals struct {
	intercept float64
	parts     []Contribution
}

// NewIntervals is for tables read with the model's schema. A model that is not
// additive is refused.
func NewIntervals(m *model.Model, cols []column.Column) (*Intervals, error) {
	parts, err := Contributions(m, cols)
	if err != nil {
		return nil, err
	}
	return &Intervals{roundToScore(m.Classifier.(*model.Additive).Intercept), parts}, nil
}

// At is the interval of a row's score, as probabilities of the positive level:
// 0 ≤ low ≤ score ≤ high ≤ 1.
func (iv *Intervals) At(row int) (low, high float64) {
	z, variance := iv.intercept, 0.0
	for k := range iv.parts {
		p := &iv.parts[k]
		bin := p.bins.At(row)
		z += p.values[bin]
		variance += p.variance[bin]
	}
	half := deviations * math.Sqrt(variance)
	return 1 / (1 + math.Exp(half-z)), 1 / (1 + math.Exp(-half-z))
}
