// SPDX-License-Identifier: Apache-2.0

package grids

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/privacy/dp"
	"github.com/discreet-dp/discreet/internal/table/feature"
)

// fitted is what was released, after post-processing.
type fitted struct {
	start []float64 // of each score, nats
	grids []drawn
	steps [][]float64 // of each grid, by cell and then score
}

// Fit asks once for the classes, and once for each grid that is drawn. It can fail for a fault of the
// engine or a cancelled context only (see fit).
func (pl *Plan) Fit(ctx context.Context, g *guard.Guard) (*model.Model, error) {
	f, err := pl.fit(ctx, g)
	if err != nil {
		return nil, fmt.Errorf("grids: %w", err)
	}
	return pl.modelOf(f, g), nil
}

// fit fails for no value (1.6).
func (pl *Plan) fit(ctx context.Context, g *guard.Guard) (*fitted, error) {
	g.DrawRows() // G-PERSONS-2
	share, err := pl.classShares(ctx, g)
	if err != nil {
		return nil, err
	}
	f := &fitted{start: pl.startOf(share)}
	score := guard.NewStepScore(f.start)
	for t := range pl.shares {
		if err := pl.runRound(ctx, t, g, score, share, f); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// classShares releases how many rows have each class, and returns what part of
// them that is, above 0.
func (pl *Plan) classShares(ctx context.Context, g *guard.Guard) ([]float64, error) {
	whole := feature.Bins{Column: pl.columns[0].column, Edges: []float64{}}
	if pl.columns[0].groups != nil {
		whole = feature.NewGroups(whole.Column, make([]uint32, len(pl.columns[0].groups)), 1)
	}
	cells, err := g.ClassCells(ctx, []feature.Bins{whole})
	if err != nil {
		return nil, err
	}
	if pl.scope == dp.PrivateFeatures {
		rows, err := g.Exact(cells.Classes())
		return sharesOf(rows, 1), err
	}
	out, err := g.Measure(classesLabel, pl.prior, cells.Classes())
	// rows: below the noise a count says nothing
	return sharesOf(out.Values, math.Max(1, math.Sqrt(out.Variance))), err
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

// runRound draws the grids of round t, takes the best of them and measures its cells.
func (pl *Plan) runRound(ctx context.Context, t int, g *guard.Guard, score *guard.StepScore, share []float64,
	f *fitted) error {
	limit := guard.SlopeLimit{Most: pl.rules.most, Norm: guard.SlopesL1} // 1.2: no row's slopes are longer
	if pl.rules.gaussian || pl.NotPrivate {
		limit.Norm = guard.SlopesL2
	}
	candidates := make([]drawn, pl.rules.candidates) // 1.1: drawn before the rows are asked
	asked := make([]feature.Grid, len(candidates))
	for i := range candidates {
		candidates[i] = pl.draw(g.Coins(), f.grids)
		asked[i] = candidates[i].grid
	}
	sums, err := g.GridSlopes(ctx, score, limit, asked)
	if err != nil {
		return err
	}
	best, err := pl.pickGrid(t, g, sums, share)
	if err != nil {
		return err
	}
	slopes, curves, err := pl.measureCells(t, g, sums, best, asked[best].Cells())
	if err != nil {
		return err
	}
	deviation := math.Sqrt(pl.shares[t].cells.Variance(pl.slopeMoves()))
	steps := pl.rules.stepsOf(slopes, curves, share, deviation, deviation/curveUnit)
	if pl.NotPrivate {
		signal := signalOf(slopes, curves, unknownOf(share, g.Units()))
		for i := range steps {
			steps[i] = rounded(signal * steps[i])
		}
	}
	f.grids, f.steps = append(f.grids, candidates[best]), append(f.steps, steps)
	score.AddGrid(asked[best], steps)
	return nil
}

// pickGrid takes the grid whose cells say most; without privacy the one that would gain most.
func (pl *Plan) pickGrid(t int, g *guard.Guard, sums *guard.GridSlopes, share []float64) (best int, err error) {
	switch {
	case pl.rules.candidates < 2:
		return 0, nil
	case !pl.NotPrivate:
		return g.Select(pickLabel(t), guard.Share{Epsilon: pl.shares[t].pick}, sums.Lengths())
	}
	most := int64(math.MinInt64)
	for k := range pl.rules.candidates {
		exact, err := sums.ExactSlopes(k)
		if err != nil {
			return 0, err
		}
		if gain := gainOf(exact, curveParts(share, len(exact.Slopes)/len(exact.Curves))); gain > most {
			best, most = k, gain
		}
	}
	return best, nil
}

// measureCells measures the slopes and the curves of grid k, which has so many cells.
func (pl *Plan) measureCells(t int, g *guard.Guard, sums *guard.GridSlopes, k, cells int) (slopes, curves []float64, err error) {
	curve := 0.0
	if pl.rules.curves {
		curve = curveUnit
	}
	part, err := sums.Part(k, curve)
	if err != nil {
		return nil, nil, err
	}
	out, err := g.Measure(cellsLabel(t), pl.shares[t].cells, part)
	if err != nil {
		return nil, nil, err
	}
	if !pl.rules.curves {
		return out.Values, make([]float64, cells), nil
	}
	n := len(out.Values) - cells
	slopes, curves = out.Values[:n], out.Values[n:]
	for i := range curves {
		curves[i] /= curveUnit
	}
	return slopes, curves, nil
}

// slopeMoves is how far the cells of a round move between neighbours.
func (pl *Plan) slopeMoves() guard.Moves {
	curve := 0.0
	if pl.rules.curves {
		curve = curveUnit
	}
	return guard.SlopeMoves(pl.s.Relation, pl.scope, pl.rules.most, curve)
}

// epsilonOf is the ε of which ε²/2 is so many pico-units of ρ, at least one unit.
func epsilonOf(pico float64) dp.Epsilon {
	return max(1, dp.Epsilon(math.Sqrt(2*pico/dp.Pico)*dp.Nano))
}

// modelOf writes the model.
func (pl *Plan) modelOf(f *fitted, g *guard.Guard) *model.Model {
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
	return &model.Model{Learner: "grids", Schema: pl.s.Part(slices.Sorted(maps.Keys(used))),
		Privacy: learn.State(g, "grids: G-GRIDS-1"), Classifier: out}
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
