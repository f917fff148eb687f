// SPDX-License-Identifier: Apache-2.0

package grids

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/privacy/dp"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/feature"
)

// fitted is what was released, after post-processing.
type fitted struct {
	start []float64 // of each score, nats
	grids []drawn
	steps [][]float64 // of each grid, by cell and then score
}

// Fit charges acct, then reads the rows: once for the classes, and once for each
// grid that is drawn. After the charge it can fail for a fault of the engine or a
// cancelled context only (see fit).
func (pl *Plan) Fit(ctx context.Context, tab engine.Table, acct learn.Account, exit *mech.Exit) (*model.Model, error) {
	f, err := pl.fit(ctx, tab, acct, exit)
	if err != nil {
		return nil, fmt.Errorf("grids: %w", err)
	}
	return pl.modelOf(f, acct, exit), nil
}

// fit reads nothing before the charge, and fails for no value after it (1.6).
func (pl *Plan) fit(ctx context.Context, tab engine.Table, acct learn.Account, exit *mech.Exit) (*fitted, error) {
	// Where their number is private the declared one was checked.
	if err := learn.CheckDelta("grids", pl.Delta, learn.PublicUnits(tab)); err != nil {
		return nil, err
	}
	if err := acct.Charge(ctx, pl.price(), pl.bill); err != nil {
		return nil, err
	}
	tab = learn.DrawRows(tab, exit) // G-PERSONS-2
	share, err := pl.classShares(ctx, tab, exit)
	if err != nil {
		return nil, err
	}
	f := &fitted{start: pl.startOf(share)}
	score := engine.NewGridScore(f.start)
	for t := range pl.shares {
		if err := pl.runRound(ctx, t, tab, score, share, f, exit); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// classShares releases how many rows have each class, and returns what part of
// them that is, above 0.
func (pl *Plan) classShares(ctx context.Context, tab engine.Table, exit *mech.Exit) ([]float64, error) {
	whole := feature.Bins{Column: pl.columns[0].column, Edges: []float64{}}
	if pl.columns[0].groups != nil {
		whole = feature.NewGroups(whole.Column, make([]uint32, len(pl.columns[0].groups)), 1)
	}
	cells, err := tab.ClassCells(ctx, []feature.Bins{whole})
	if err != nil {
		return nil, err
	}
	if pl.scope == dp.PrivateFeatures {
		return sharesOf(countPublic(&cells[0]), 1), nil
	}
	var counts []mech.Ratio
	for _, rows := range cells[0].Rows {
		counts = append(counts, mech.Ratio{Num: int64(rows[0]), Den: 1})
	}
	l1, l2 := 1.0, 1.0 // a row has one class
	if pl.s.Relation == dp.ReplaceOne {
		l1, l2 = 2, math.Sqrt2
	}
	out := exit.Release(classesLabel, pl.noise(pl.prior, l1, l2, len(counts)), counts...) // 1.3: rows meet noise
	// rows: below the noise a count says nothing
	floor := 1.0
	if !pl.NotPrivate {
		floor = math.Max(1, pl.prior.deviation(l1, l2))
	}
	return sharesOf(out, floor), nil
}

// countPublic is how many rows have each class, where labels are public.
func countPublic(whole *engine.ClassCells) (out []float64) {
	for _, rows := range whole.Rows {
		out = append(out, float64(rows[0]))
	}
	return out
}

// sharesOf is what part of all rows each count is, taken to be at least floor.
func sharesOf(counts []float64, floor float64) []float64 {
	sum := 0.0
	for k := range counts {
		counts[k] = math.Max(counts[k], floor)
		sum += counts[k]
	}
	for k := range counts {
		counts[k] /= sum
	}
	return counts
}

// startOf is the scores of a row of which nothing is known.
func (pl *Plan) startOf(share []float64) (start []float64) {
	if len(share) == 2 {
		positive := share[pl.s.Label.Positive]
		return []float64{rounded(math.Log(positive / (1 - positive)))}
	}
	for _, p := range share {
		start = append(start, rounded(math.Log(p)))
	}
	return start
}

// runRound chooses a grid, releases its cells and steps.
func (pl *Plan) runRound(ctx context.Context, t int, tab engine.Table, score *engine.GridScore, share []float64,
	f *fitted, exit *mech.Exit) error {
	limit := engine.SlopeLimit{Most: pl.rules.most, Norm: engine.SlopesL1} // 1.2: no row's slopes are longer
	if pl.rules.gaussian || pl.NotPrivate {
		limit.Norm = engine.SlopesL2
	}
	candidates := make([]drawn, pl.rules.candidates) // 1.1: drawn before the rows are asked
	asked := make([]feature.Grid, len(candidates))
	for i := range candidates {
		candidates[i] = pl.draw(exit.Public(), f.grids)
		asked[i] = candidates[i].grid
	}
	sums, err := tab.GridSlopes(ctx, score, limit, asked)
	if err != nil {
		return err
	}
	best := 0
	if len(candidates) > 1 {
		worth := make([]mech.Ratio, len(candidates))
		for g := range sums {
			worth[g] = mech.Ratio{Num: pl.worthOf(&sums[g], limit.Norm, share), Den: engine.WeightOne}
		}
		best = exit.Select(pickLabel(t), pl.selector(pl.shares[t].pick), worth) // 1.4: rows meet noise
	}
	slopes, curves := pl.releaseCells(t, &sums[best], exit)
	deviation := pl.deviation(t)
	steps := pl.rules.stepsOf(slopes, curves, share, deviation, deviation/curveUnit)
	if pl.NotPrivate {
		signal := signalOf(slopes, curves, unknownOf(share, tab.Rows()))
		for i := range steps {
			steps[i] = rounded(signal * steps[i])
		}
	}
	f.grids, f.steps = append(f.grids, candidates[best]), append(f.steps, steps)
	score.AddGrid(asked[best], steps)
	return nil
}

// worthOf is what grids are chosen by, in units of 1/engine.WeightOne.
func (pl *Plan) worthOf(sums *engine.GridSums, norm engine.SlopeNorm, share []float64) int64 {
	if pl.NotPrivate {
		return gainOf(sums, curveParts(share, len(sums.Slopes)/len(sums.Curves)))
	}
	return imbalanceOf(sums, norm)
}

// imbalanceOf adds up how long the slopes of each cell are together, in units of
// 1/engine.WeightOne. A row moves the length of its cell's by at most its own.
func imbalanceOf(sums *engine.GridSums, norm engine.SlopeNorm) (total int64) {
	width := len(sums.Slopes) / len(sums.Curves)
	for at := 0; at < len(sums.Slopes); at += width {
		sizes, squares := int64(0), 0.0
		for _, x := range sums.Slopes[at : at+width] {
			sizes += max(x, -x)
			squares += float64(x) * float64(x)
		}
		if norm == engine.SlopesL2 && width > 1 {
			sizes = int64(math.Round(math.Sqrt(squares)))
		}
		total += sizes
	}
	return total
}

// releaseCells lets the slopes of a grid's cells out, and its curves where the rules
// want them: in one vector, in which a row lies in one cell.
func (pl *Plan) releaseCells(t int, sums *engine.GridSums, exit *mech.Exit) (slopes, curves []float64) {
	var values []mech.Ratio
	for _, x := range sums.Slopes {
		values = append(values, mech.Ratio{Num: x, Den: engine.WeightOne})
	}
	if pl.rules.curves {
		for _, x := range sums.Curves {
			values = append(values, mech.Ratio{Num: x, Den: engine.WeightOne / curveUnit})
		}
	}
	l1, l2 := pl.rules.moves(pl.s.Relation, pl.scope)
	// 1.3: rows meet noise
	out := exit.Release(cellsLabel(t), pl.noise(pl.shares[t].cells, l1, l2, len(values)), values...)
	slopes, curves = out[:len(sums.Slopes)], out[len(sums.Slopes):]
	if !pl.rules.curves {
		return slopes, make([]float64, len(sums.Curves))
	}
	for i := range curves {
		curves[i] /= curveUnit
	}
	return slopes, curves
}

// deviation is that of the noise on a slope of round t; 0 without privacy.
func (pl *Plan) deviation(t int) float64 {
	l1, l2 := pl.rules.moves(pl.s.Relation, pl.scope)
	return pl.shares[t].cells.deviation(l1, l2)
}

// deviation is that of the noise on each number of a release that moves by l1 and
// l2; 0 where there is none.
func (p part) deviation(l1, l2 float64) float64 {
	switch {
	case p.rho > 0:
		return l2 / math.Sqrt(2*p.rho.Float())
	case p.eps > 0:
		return math.Sqrt2 * l1 / p.eps.Float()
	}
	return 0
}

func (pl *Plan) noise(p part, l1, l2 float64, size int) mech.Mechanism {
	switch {
	case pl.NotPrivate:
		return mech.NoNoise{}
	case p.rho > 0:
		return mech.Sized(mech.GaussianFor(p.rho, l2*above, size))
	}
	return mech.Sized(mech.LaplaceFor(p.eps, l1, size))
}

func (pl *Plan) selector(eps dp.Epsilon) mech.Selector {
	if pl.NotPrivate {
		return mech.NoNoise{}
	}
	return mech.Sized(mech.PermuteAndFlipFor(eps, pl.rules.spread(pl.s.Relation)))
}

// epsilonOf is the ε of which ε²/2 is so many pico-units of ρ, at least one unit.
func epsilonOf(pico float64) dp.Epsilon {
	return max(1, dp.Epsilon(math.Sqrt(2*pico/dp.Pico)*dp.Nano))
}

// modelOf writes the model.
func (pl *Plan) modelOf(f *fitted, acct learn.Account, exit *mech.Exit) *model.Model {
	out := &model.Grids{Intercepts: f.start}
	used := make(map[int]bool)
	for t, g := range f.grids {
		one := model.Grid{Steps: make([][]float64, len(f.start))}
		for _, axis := range g.grid.Axes {
			used[axis.Column] = true
			one.Axes = append(one.Axes, pl.axisOf(&axis))
		}
		for i, x := range f.steps[t] {
			k := i % len(f.start)
			one.Steps[k] = append(one.Steps[k], x)
		}
		out.Grids = append(out.Grids, one)
	}
	out.Limit()
	deal := learn.Deal{Schema: pl.s, Scope: pl.scope, Epsilon: pl.Epsilon, Delta: pl.Delta, Bill: pl.bill,
		Claim: "grids: G-GRIDS-1", NotPrivate: pl.NotPrivate}
	return &model.Model{Learner: "grids", Schema: pl.s.Part(slices.Sorted(maps.Keys(used))),
		Privacy: deal.Privacy(acct, exit), Classifier: out}
}

func (pl *Plan) axisOf(b *feature.Bins) model.GridAxis {
	a := model.GridAxis{Column: pl.s.Columns[b.Column].Name, Edges: b.Edges}
	if b.Edges == nil {
		parts := make([]float64, b.Len())
		for p := range parts {
			parts[p] = float64(p)
		}
		for _, p := range b.ByLevel(parts) {
			a.Parts = append(a.Parts, int(p))
		}
	}
	return a
}
