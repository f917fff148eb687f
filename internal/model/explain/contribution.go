// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"fmt"

	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Contribution is the part of each row's log-odds of the positive class that one column or pair adds.
// With more than two classes it is the part of each class's score.
type Contribution struct {
	Column   string // for a pair, the name that schema.PairName makes
	Quantity string // "log_odds", or "log_share" relative to the mean of all classes
	bins     feature.Bins
	bound    *feature.BoundBins // to a table; nil in Terms
	classes  int                // 1 for log-odds
	values   []float64          // by bin, then class
	variance []float64          // of log-odds by noise alone or, if the model does not state that, also by the choice of rows
	moved    bool               // whether the model states the effect of noise alone
}

// At returns the contribution to a row in nats, with steps rounded as in scores. For log-odds it does
// not depend on the class: all columns and the intercept add up to the logit of the row's score. For
// log-shares, the columns and the centred intercept of a class add up to the logarithm of the class's
// score minus the mean logarithm of all classes' scores.
func (c *Contribution) At(row int, class uint8) float64 { return c.valueOf(c.bound.At(row), class) }

// Of is At for a row of coded cells, parallel to the columns of the model's schema.
func (c *Contribution) Of(row []column.Cell, class uint8) float64 {
	return c.valueOf(c.bins.OfRow(row), class)
}

func (c *Contribution) valueOf(bin int, class uint8) float64 {
	if c.classes == 1 {
		return c.values[bin]
	}
	return c.values[bin*c.classes+int(class)]
}

// CanSplit refuses a model whose scores are not sums over columns, with an error about the operation
// op.
func CanSplit(op string, m *model.Model) error {
	switch m.Classifier.(type) {
	case *model.Additive, *model.MulticlassAdditive:
		return nil
	}
	return explainError(op, m)
}

// Contributions splits the scores of an additive model into its columns' contributions, in the order
// of the model's schema, pairs last. cols are the columns of a table read with that schema. Other
// models are refused.
func Contributions(m *model.Model, cols []column.Column) ([]Contribution, error) {
	out, err := Terms(m)
	for k := range out {
		out[k].bound = out[k].bins.Bind(cols)
	}
	return out, err
}

// Terms is Contributions without a table, for single rows.
func Terms(m *model.Model) ([]Contribution, error) {
	if err := CanSplit("predict: explain", m); err != nil {
		return nil, err
	}
	if _, err := m.Bind(m.Schema); err != nil {
		return nil, fmt.Errorf("explain: %w", err)
	}
	if a, ok := m.Classifier.(*model.MulticlassAdditive); ok {
		return splitClasses(m, a), nil
	}
	a := m.Classifier.(*model.Additive)
	var out []Contribution
	add := func(name string, bins feature.Bins, steps, noise, moved []float64) {
		c := Contribution{Column: name, Quantity: "log_odds", bins: bins, classes: 1}
		if c.moved = len(moved) > 0; c.moved {
			noise = moved
		} else if a.Moved != nil {
			noise = make([]float64, len(steps))
		}
		for b, step := range steps {
			c.values = append(c.values, roundToScore(step))
			c.variance = append(c.variance, noise[b]*noise[b])
		}
		out = append(out, c)
	}
	for j := range m.Schema.Columns {
		for k := range a.Shapes {
			if sh := &a.Shapes[k]; sh.Column == m.Schema.Columns[j].Name {
				add(sh.Column, feature.NewBins(m.Schema, j, sh.Edges), sh.LogOdds, sh.Noise, sh.Moved)
			}
		}
	}
	for k := range a.Pairs {
		sh := &a.Pairs[k]
		bins := sh.Bins(m.Schema, [2]int{m.Schema.Find(sh.Columns[0]), m.Schema.Find(sh.Columns[1])})
		add(schema.PairName(sh.Columns[0], sh.Columns[1]), bins, sh.LogOdds, sh.Noise, sh.Moved)
	}
	return out, nil
}

// splitClasses is Terms for an additive model of more than two classes.
func splitClasses(m *model.Model, a *model.MulticlassAdditive) (out []Contribution) {
	for j := range m.Schema.Columns {
		for i := range a.Shapes {
			sh := &a.Shapes[i]
			if sh.Column != m.Schema.Columns[j].Name {
				continue
			}
			c := Contribution{Column: sh.Column, Quantity: "log_share", bins: feature.NewBins(m.Schema, j, sh.Edges),
				classes: len(a.Intercepts)}
			steps := make([]float64, c.classes)
			for b := range sh.LogShares[0] {
				for k := range steps {
					steps[k] = roundToScore(sh.LogShares[k][b])
				}
				c.values = append(c.values, centreValues(steps)...)
			}
			out = append(out, c)
		}
	}
	return out
}

// roundToScore rounds a step as scores do.
func roundToScore(step float64) float64 { return float64(feature.Units(step)) / feature.ScoreOne }
