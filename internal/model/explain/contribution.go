// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"fmt"

	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Contribution is what one column or pair adds to the log-odds of each row.
type Contribution struct {
	Column   string // of a pair, what schema.PairName makes of both
	bins     *feature.BoundBins
	byBin    []float64
	variance []float64 // of byBin, as the model states it
}

// At is the contribution to a row, in nats, rounded as scores are: those of all
// columns and the intercept add up to the logit of the row's score.
func (c *Contribution) At(row int) float64 { return c.byBin[c.bins.At(row)] }

// CanSplit refuses, for what was asked for, a model whose scores are no sums over
// columns.
func CanSplit(op string, m *model.Model) error {
	if m.Additive == nil && m.AdditiveLevels == nil {
		return explainError(op, m)
	}
	return nil
}

// Contributions takes the scores of an additive model apart, in the order of
// the model's schema, pairs last. cols are those of a table read with that schema. Any
// other model is refused.
func Contributions(m *model.Model, cols []column.Column) ([]Contribution, error) {
	if m.Additive == nil {
		return nil, explainError("predict --explain", m)
	}
	if _, err := m.Bind(m.Schema); err != nil {
		return nil, fmt.Errorf("explain: %w", err)
	}
	var out []Contribution
	add := func(name string, bins feature.Bins, steps, noise []float64) {
		c := Contribution{Column: name, bins: bins.Bind(cols)}
		for b, step := range steps {
			c.byBin = append(c.byBin, roundToScore(step))
			c.variance = append(c.variance, noise[b]*noise[b])
		}
		out = append(out, c)
	}
	for j := range m.Schema.Columns {
		for k := range m.Additive.Shapes {
			if sh := &m.Additive.Shapes[k]; sh.Column == m.Schema.Columns[j].Name {
				add(sh.Column, feature.NewBins(m.Schema, j, sh.Edges), sh.LogOdds, sh.Noise)
			}
		}
	}
	for k := range m.Additive.Pairs {
		sh := &m.Additive.Pairs[k]
		bins := sh.Bins(m.Schema, [2]int{columnOf(m, sh.Columns[0]), columnOf(m, sh.Columns[1])})
		add(schema.PairName(sh.Columns[0], sh.Columns[1]), bins, sh.LogOdds, sh.Noise)
	}
	return out, nil
}

// roundToScore is a step as scores count it.
func roundToScore(step float64) float64 { return float64(feature.Units(step)) / feature.ScoreOne }
