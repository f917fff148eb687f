// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"fmt"

	"github.com/discreet-dp/discreet/column"
	"github.com/discreet-dp/discreet/feature"
	"github.com/discreet-dp/discreet/model"
)

// Contribution is what one column adds to the log-odds of each row.
type Contribution struct {
	Column   string
	codes    *column.Codes
	byCode   []float64
	variance []float64 // of byCode, as the model states it
}

// At is the contribution to a row, in nats, rounded as scores are: those of all
// columns and the intercept add up to the logit of the row's score.
func (c *Contribution) At(row int) float64 { return c.byCode[c.codes.At(row)] }

// CanSplit refuses, for what was asked for, a model whose scores are no sum over
// columns.
func CanSplit(op string, m *model.Model) error {
	if m.Additive == nil {
		return refusal(op, m)
	}
	return nil
}

// Contributions takes the scores of an additive model apart, in the order of
// the model's schema. cols are those of a table read with that schema. Any
// other model is refused.
func Contributions(m *model.Model, cols []column.Column) ([]Contribution, error) {
	if err := CanSplit("predict --explain", m); err != nil {
		return nil, err
	}
	if _, err := m.Bind(m.Schema); err != nil {
		return nil, fmt.Errorf("explain: %w", err)
	}
	var out []Contribution
	for j := range m.Schema.Columns {
		for k := range m.Additive.Shapes {
			sh := &m.Additive.Shapes[k]
			if sh.Column != m.Schema.Columns[j].Name {
				continue
			}
			bins := feature.NewBins(m.Schema, j, sh.Edges)
			c := Contribution{Column: sh.Column, codes: &cols[j].Codes}
			for _, bin := range bins.ByCode(&cols[j]) {
				c.byCode = append(c.byCode, rounded(sh.LogOdds[bin]))
				c.variance = append(c.variance, sh.Noise[bin]*sh.Noise[bin])
			}
			out = append(out, c)
		}
	}
	return out, nil
}

// rounded is a step as scores count it.
func rounded(step float64) float64 { return float64(feature.Units(step)) / feature.ScoreOne }
