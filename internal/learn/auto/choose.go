// SPDX-License-Identifier: Apache-2.0

package auto

import (
	"context"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/internal/learn/grids"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/privacy/dp"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

const (
	// enough is how far, in rows for each row, a product must lead where it is to be
	// chosen before additive: docs/decisions/0008-auto.md has what tables have.
	enough = 0.025
	// most is how long a row's slopes may be. Those of a row that the first fit knows
	// nothing of are ½ where there are two classes.
	most = 0.5
	// slack covers the rounding of lengths: each is rounded to a unit of
	// 1/engine.WeightOne.
	slack = 0x1p-16
)

// choose reports whether some product of columns says what the first fit's score does
// not.
func (pl *Plan) choose(ctx context.Context, tab engine.Table, score *engine.GridScore, exit *mech.Exit) (bool, error) {
	products := grids.DrawProducts(pl.s, exit.Public(), pl.products) // 1.2: drawn before the rows are asked
	limit := engine.SlopeLimit{Most: most, Norm: engine.SlopesL2}    // 1.3: no row's slopes are longer
	sums, err := tab.GridSlopes(ctx, score, limit, products)
	if err != nil {
		return false, err
	}
	least := enough * float64(pl.rows)
	if pl.NotPrivate {
		least = pl.leastLeadExact(score, &sums[0], exit)
	}
	leads := []mech.Ratio{{Num: int64(least * engine.WeightOne), Den: engine.WeightOne}}
	for g := range sums {
		leads = append(leads, mech.Ratio{Num: leadOf(&products[g], &sums[g]), Den: engine.WeightOne})
	}
	return exit.Select(choiceLabel, pl.selector(), leads) > 0, nil // 1.3: rows meet noise
}

func (pl *Plan) selector() mech.Selector {
	if pl.NotPrivate {
		return mech.NoNoise{}
	}
	return mech.Sized(mech.PermuteAndFlipFor(pl.choice, spreadOf(pl.s.Relation)))
}

// spreadOf is within what the leads of products move between neighbours: two lengths
// each, by at most a row's slopes, up or down.
func spreadOf(relation dp.Relation) float64 {
	one := 4 * (most + slack)
	if relation == dp.ReplaceOne {
		one *= 2
	}
	return one
}

// leadOf is by how much the slopes along the product of all columns of a grid are
// longer than along the product of any fewer of them, down to none: above 0 only where
// the columns say together what fewer do not. The factor of a column is 1 in its first
// part and −1 in others. Units of 1/engine.WeightOne.
func leadOf(g *feature.Grid, sums *engine.GridSums) int64 {
	all := uint(1)<<len(g.Axes) - 1
	longest := int64(0)
	for columns := range all {
		longest = max(longest, lengthAlong(g, sums, columns))
	}
	return lengthAlong(g, sums, all) - longest
}

// lengthAlong is how long the slopes are together, each times the product of the
// factors of some columns.
func lengthAlong(g *feature.Grid, sums *engine.GridSums, columns uint) int64 {
	along := make([]int64, len(sums.Slopes)/len(sums.Curves))
	for cell := range sums.Curves {
		factor := int64(1)
		rest := cell
		for k := range g.Axes {
			if columns>>k&1 == 1 && rest%g.Axes[k].Len() > 0 {
				factor = -factor
			}
			rest /= g.Axes[k].Len()
		}
		for k := range along {
			along[k] += factor * sums.Slopes[cell*len(along)+k]
		}
	}
	squares := 0.0
	for _, x := range along {
		squares += float64(x) * float64(x)
	}
	return int64(math.Round(math.Sqrt(squares)))
}

// scoreOf is the score of the model of a first fit, over the columns of its table.
func scoreOf(m *model.Model, s *schema.Schema) *engine.GridScore {
	binsOf := func(column string, edges []float64) feature.Bins {
		j := slices.IndexFunc(s.Columns, func(c schema.Column) bool { return c.Name == column })
		return feature.NewBins(s, j, edges)
	}
	gridOf := func(axes ...feature.Bins) feature.Grid { return feature.Grid{Axes: axes} }
	if a, ok := m.Classifier.(*model.Additive); ok {
		score := engine.NewGridScore([]float64{a.Intercept})
		for _, sh := range a.Shapes {
			score.AddGrid(gridOf(binsOf(sh.Column, sh.Edges)), sh.LogOdds)
		}
		for _, sh := range a.Pairs { // found without privacy
			first, second := binsOf(sh.Columns[0], sh.Edges[0]), binsOf(sh.Columns[1], sh.Edges[1])
			score.AddGrid(gridOf(second.WithoutMarks(), first.WithoutMarks()), sh.LogOdds) // a grid's first axis is the faster
		}
		return score
	}
	a := m.Classifier.(*model.MulticlassAdditive)
	score := engine.NewGridScore(a.Intercepts)
	for _, sh := range a.Shapes {
		var steps []float64
		for bin := range sh.LogShares[0] {
			for class := range sh.LogShares {
				steps = append(steps, sh.LogShares[class][bin])
			}
		}
		score.AddGrid(gridOf(binsOf(sh.Column, sh.Edges)), steps)
	}
	return score
}
