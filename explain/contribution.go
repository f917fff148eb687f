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
	Column string
	codes  *column.Codes
	byCode []float64
}

// At is the contribution to a row, in nats, rounded as scores are: those of all
// columns and the intercept add up to the logit of the row's score.
func (c *Contribution) At(row int) float64 { return c.byCode[c.codes.At(row)] }

// CanSplit refuses a model whose scores are no sum over columns.
func CanSplit(m *model.Model) error {
	if m.Additive == nil {
		return refusal("predict --explain", m)
	}
	return nil
}

// Contributions takes the scores of an additive model apart, in the order of
// the model's schema. cols are those of a table read with that schema. Any
// other model is refused.
func Contributions(m *model.Model, cols []column.Column) ([]Contribution, error) {
	if err := CanSplit(m); err != nil {
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
			byCode := []float64{}
			for _, bin := range bins.ByCode(&cols[j]) {
				byCode = append(byCode, rounded(sh.LogOdds[bin]))
			}
			out = append(out, Contribution{sh.Column, &cols[j].Codes, byCode})
		}
	}
	return out, nil
}

// rounded is a step as scores count it.
func rounded(step float64) float64 { return float64(feature.Units(step)) / feature.ScoreOne }
