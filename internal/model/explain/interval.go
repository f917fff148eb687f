// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"math"

	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/table/column"
)

// deviations is the number of standard deviations within which a normal variable lies in 95 % on both sides.
const deviations = 1.959964

// Intervals are 95 % intervals of the scores of rows for what noise alone did: the model was fitted
// to certain rows, and 95 % are said to hold what fits to the same rows come to on the mean over
// the noise. What the model states of that (model.Moved) is added up in squares, as if it were
// independent, and the sum is taken for normal.
//
// An interval does not cover which rows happened to be there, what a sum of step functions cannot
// say, or what noise does to every fit alike, such as steps that are drawn to 0. A model of before
// version 8 of the file states no noise alone: its intervals are those of the deviations of its
// shapes, which are for the rows that happened to be there as well, and are wider.
type Intervals struct {
	intercept float64
	moved     model.Moved
	parts     []Contribution
}

// NewIntervals is for tables read with the model's schema. A model that is not
// additive is refused.
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

// At is the interval of a row's score, as probabilities of the positive level:
// 0 ≤ low ≤ score ≤ high ≤ 1.
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
