// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"cmp"
	"slices"

	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Pair is the contribution of two columns together, in addition to the contributions of each.
type Pair struct {
	Columns   [2]string `json:"columns"`
	Protected bool      `json:"protected"` // whether the model's guarantee covers one of them
	// Importance is as in Shape. What noise alone would give is not known.
	Importance float64  `json:"importance"`
	Bins       [2][]Cut `json:"bins"`
	// Cells has one row for each bin of the first column, with one cell for each bin of the second.
	Cells [][]Cell `json:"cells"`
}

// Cut describes the content of a bin: a level, or numbers.
type Cut struct {
	Level string   `json:"level,omitempty"` // of a category; "(other)" and "(missing)" are the schema's; for dates, the days
	From  *float64 `json:"from,omitempty"`  // of a number; inclusive
	To    *float64 `json:"to,omitempty"`    // exclusive, except in the last bin
}

// Cell is one step of a pair.
type Cell struct {
	LogOdds   float64 `json:"log_odds"`
	Deviation float64 `json:"posterior_sd"` // as in Bin
}

// Name returns the name of the pair.
func (p *Pair) Name() string { return schema.PairName(p.Columns[0], p.Columns[1]) }

// addPairs explains the pairs of an additive model, the most important first.
func (e *Explanation) addPairs(m *model.Model, a *model.Additive) {
	for k := range a.Pairs {
		sh := &a.Pairs[k]
		p := Pair{Columns: sh.Columns, Importance: meanDistance(sh.Weights, sh.LogOdds)}
		for i, name := range sh.Columns {
			c := &m.Schema.Columns[m.Schema.Find(name)]
			p.Protected = p.Protected || protectsRole(m.Privacy.Scope, c.Role)
			bins := feature.NewBins(m.Schema, m.Schema.Find(name), sh.Edges[i]).WithoutMarks()
			for b := range bins.Len() {
				p.Bins[i] = append(p.Bins[i], cutOf(c, sh.Edges[i], b))
			}
		}
		width := len(p.Bins[1])
		for x := range p.Bins[0] {
			row := make([]Cell, width)
			for y := range row {
				row[y] = Cell{sh.LogOdds[x*width+y], sh.Noise[x*width+y]}
			}
			p.Cells = append(p.Cells, row)
		}
		e.Pairs = append(e.Pairs, p)
	}
	slices.SortStableFunc(e.Pairs, func(a, b Pair) int {
		return cmp.Or(cmp.Compare(b.Importance, a.Importance), cmp.Compare(a.Name(), b.Name()))
	})
}

// cutOf describes bin b of a column.
func cutOf(c *schema.Column, edges []float64, b int) Cut {
	if c.Kind == schema.Category {
		return Cut{Level: c.CodeName(b)}
	}
	if b > len(edges) {
		return Cut{Level: c.MarkName(b - len(edges))}
	}
	from, to := c.Lower, c.Upper
	if b > 0 {
		from = edges[b-1]
	}
	if b < len(edges) {
		to = edges[b]
	}
	cut := Cut{From: &from, To: &to}
	if c.Date != "" {
		cut.Level = amountText(c, from) + " … " + amountText(c, to)
	}
	return cut
}
