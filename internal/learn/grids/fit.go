// SPDX-License-Identifier: Apache-2.0

package grids

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/table/feature"
)

// fit is the state of a training: what was released, after post-processing.
type fit struct {
	*Plan
	guard *guard.Guard
	share []float64        // of each class, above 0
	start []float64        // of each score, nats
	score *guard.StepScore // of start and steps
	grids []drawn
	steps [][]float64 // of each grid, by cell and then score
}

// Fit queries the table once for the classes, and once for each grid drawn. It can fail only for a
// fault of the engine or a cancelled context, and never because of a value (1.6).
func (pl *Plan) Fit(ctx context.Context, g *guard.Guard) (*model.Model, error) {
	g.DrawRows() // G-PERSONS-2
	f := &fit{Plan: pl, guard: g}
	err := f.measureClasses()
	for t := 0; t < len(pl.shares) && err == nil; t++ {
		err = f.runRound(t)
	}
	if err != nil {
		return nil, fmt.Errorf("grids: %w", err)
	}
	return f.buildModel(), nil
}

// measureClasses releases the number of rows of each class, and starts with their shares.
func (f *fit) measureClasses() error {
	cells, err := f.guard.ClassCells([]feature.Bins{feature.NewBins(f.s, f.columns[0].column, nil)})
	if err != nil {
		return err
	}
	counts, floor := []float64(nil), 1.0
	if f.scope == dp.PrivateFeatures {
		counts, err = f.guard.Exact(cells.Classes())
	} else {
		var out guard.Noisy
		out, err = f.guard.Measure(classesLabel, f.prior, cells.Classes())
		counts, floor = out.Values, math.Max(1, math.Sqrt(out.Variance)) // rows: below the noise a count says nothing
	}
	if err != nil {
		return err
	}
	sum := 0.0
	for k := range counts {
		counts[k] = math.Max(counts[k], floor)
		sum += counts[k]
	}
	for _, rows := range counts {
		f.share = append(f.share, rows/sum)
	}
	if len(f.share) == 2 {
		positive := f.share[f.s.Label.Positive]
		f.start = []float64{rounded(math.Log(positive / (1 - positive)))}
	} else {
		for _, p := range f.share {
			f.start = append(f.start, rounded(math.Log(p)))
		}
	}
	f.score = guard.NewStepScore(f.start)
	return nil
}

// runRound draws the grids of round t, selects one and measures its cells.
func (f *fit) runRound(t int) error {
	limit := guard.SlopeLimit{Most: f.rules.most, Norm: guard.SlopesL1} // 1.2: no row's slopes are longer
	if f.rules.gaussian || f.NotPrivate {
		limit.Norm = guard.SlopesL2
	}
	candidates := make([]drawn, f.rules.candidates) // 1.1: drawn before the rows are asked
	asked := make([]feature.Grid, len(candidates))
	for i := range candidates {
		candidates[i] = f.draw(f.guard.Coins(), f.grids)
		asked[i] = candidates[i].grid
	}
	sums, err := f.guard.GridSlopes(f.score, limit, asked)
	if err != nil {
		return err
	}
	best, err := f.pickGrid(t, sums)
	if err != nil {
		return err
	}
	part, err := sums.Part(best, f.rules.curve)
	if err != nil {
		return err
	}
	out, err := f.guard.Measure(cellsLabel(t), f.shares[t].cells, part)
	if err != nil {
		return err
	}
	slopes, curves := out.Values, make([]float64, asked[best].Cells())
	if f.rules.curve > 0 {
		n := len(slopes) - len(curves)
		for i, x := range slopes[n:] {
			curves[i] = x / f.rules.curve
		}
		slopes = slopes[:n]
	}
	deviation := math.Sqrt(f.shares[t].cells.Variance(f.slopeMoves()))
	steps := f.rules.stepsOf(slopes, curves, f.share, deviation, deviation/curveUnit)
	if f.NotPrivate {
		signal := signalOf(slopes, curves, unknownOf(f.share, f.guard.Units()))
		for i := range steps {
			steps[i] = rounded(signal * steps[i])
		}
	}
	f.grids, f.steps = append(f.grids, candidates[best]), append(f.steps, steps)
	f.score.AddGrid(asked[best], steps)
	return nil
}

// pickGrid selects the grid with the largest slopes; without privacy, the one with the largest gain.
func (f *fit) pickGrid(t int, sums *guard.GridSlopes) (best int, err error) {
	if !f.NotPrivate {
		return f.guard.Select(pickLabel(t), guard.Share{Epsilon: f.shares[t].pick}, sums.Lengths())
	}
	most := int64(math.MinInt64)
	for k := range f.rules.candidates {
		exact, err := sums.ExactSlopes(k)
		if err != nil {
			return 0, err
		}
		if gain := gainOf(exact, curveParts(f.share, len(exact.Slopes)/len(exact.Curves))); gain > most {
			best, most = k, gain
		}
	}
	return best, nil
}

// slopeMoves is the sensitivity of the cells of a round.
func (pl *Plan) slopeMoves() guard.Moves {
	return guard.SlopeMoves(pl.s.Relation, pl.scope, pl.rules.most, pl.rules.curve)
}

func (f *fit) buildModel() *model.Model {
	out := &model.Grids{Intercepts: f.start}
	used := make(map[int]bool)
	for t, g := range f.grids {
		one := model.Grid{Steps: make([][]float64, len(f.start))}
		for _, axis := range g.grid.Axes {
			used[axis.Column] = true
			one.Axes = append(one.Axes, f.axisOf(&axis))
		}
		for i, x := range f.steps[t] {
			k := i % len(f.start)
			one.Steps[k] = append(one.Steps[k], x)
		}
		out.Grids = append(out.Grids, one)
	}
	out.Limit()
	return &model.Model{Learner: "grids", Schema: f.s.Part(slices.Sorted(maps.Keys(used))),
		Privacy: learn.State(f.guard, "grids: G-GRIDS-1"), Classifier: out}
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
