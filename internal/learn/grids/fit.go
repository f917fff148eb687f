// SPDX-License-Identifier: Apache-2.0

package grids

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// fit is the state of a training: what was released, after post-processing.
type fit struct {
	*Plan
	guard    *guard.Guard
	share    []float64        // of each class, above 0
	start    []float64        // of each score, nats
	score    *guard.StepScore // of start and steps
	grids    []drawn
	steps    [][]float64 // of each grid, by cell and then score
	followed int         // grids at the front that are shapes of the model that the fit follows
}

// Fit queries the table once for the classes, and once for each grid drawn. It can fail only for a
// fault of the engine or a cancelled context, and never because of a value (1.6).
func (pl *Plan) Fit(ctx context.Context, g *guard.Guard) (*model.Model, error) {
	g.DrawRows() // G-PERSONS-2
	f := &fit{Plan: pl, guard: g}
	if err := f.measureClasses(); err != nil {
		return nil, fmt.Errorf("grids: %w", err)
	}
	return f.runRounds()
}

// FitAfter is Fit from the score of an additive model, which was released (1.7).
func (pl *Plan) FitAfter(g *guard.Guard, first *model.Model) (*model.Model, error) {
	f := &fit{Plan: pl, guard: g}
	f.follow(first)
	return f.runRounds()
}

func (f *fit) runRounds() (*model.Model, error) {
	for t := range f.Plan.shares {
		if err := f.runRound(t); err != nil {
			return nil, fmt.Errorf("grids: %w", err)
		}
	}
	if f.calibrates() {
		if err := f.calibrate(); err != nil {
			return nil, fmt.Errorf("grids: %w", err)
		}
	}
	return f.buildModel(), nil
}

// calibrate multiplies the steps of the rounds by what the finished score says of their weight, which is measured halfway
// between none and all of them: there the likelihood is about as curved as between the two, be the steps signal or noise. How
// far they move scores is reckoned as if grids were independent and their cells equally full.
func (f *fit) calibrate() error {
	half, variance := guard.NewStepScore(f.start), 0.0
	for t, steps := range f.steps {
		if t >= f.followed {
			steps = floats.ScaleTo(make([]float64, len(steps)), 0.5, steps)
			variance += floats.Dot(steps, steps) / float64(len(steps))
		}
		half.AddGrid(f.grids[t].grid, steps)
	}
	change, err := learn.Change{Score: half, From: f.followed, Spread: math.Max(math.Sqrt(variance), 1e-3), Deviation: 1}.Measure(
		f.guard, stretchLabel, f.stretch)
	if err != nil {
		return err
	}
	part := math.Max(0, (1+change)/2)
	for _, steps := range f.steps[f.followed:] {
		for i, x := range steps {
			steps[i] = rounded(part * x)
		}
	}
	return nil
}

// follow starts at the score of an additive model, whose shapes are grids of one column. The shares of the classes
// are taken to be those of its intercepts.
func (f *fit) follow(first *model.Model) {
	f.start, f.score = ScoreOf(first, f.s, func(g feature.Grid, steps []float64) {
		if slices.ContainsFunc(steps, func(x float64) bool { return x != 0 }) && g.Cells() > 1 {
			f.grids, f.steps = append(f.grids, drawn{grid: g}), append(f.steps, steps)
		}
	})
	f.followed = len(f.grids)
	sum := 0.0
	for _, x := range f.start {
		f.share = append(f.share, math.Exp(x))
		sum += math.Exp(x)
	}
	for k := range f.share {
		f.share[k] /= sum
	}
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
		candidates[i] = f.draw(f.guard.Coins(), f.grids[f.followed:])
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
		return f.guard.Select(pickLabel(t), f.shares[t].pick, sums.Lengths())
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
	if pl.s.Columns[b.Column].Kind == schema.Category {
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

// ScoreOf returns the score of an additive model over the columns of its table: its start, and the whole with its
// shapes, each of which is also handed to add, by bin and then class.
func ScoreOf(m *model.Model, s *schema.Schema, add func(feature.Grid, []float64)) (start []float64, score *guard.StepScore) {
	each := func(column string, edges, steps []float64) {
		g := feature.Grid{Axes: []feature.Bins{feature.NewBins(s, s.Find(column), edges)}}
		score.AddGrid(g, steps)
		add(g, steps)
	}
	if a, ok := m.Classifier.(*model.Additive); ok {
		start = []float64{a.Intercept}
		score = guard.NewStepScore(start)
		for _, sh := range a.Shapes {
			each(sh.Column, sh.Edges, sh.LogOdds)
		}
		return start, score
	}
	a := m.Classifier.(*model.MulticlassAdditive)
	score = guard.NewStepScore(a.Intercepts)
	for _, sh := range a.Shapes {
		var steps []float64
		for bin := range sh.LogShares[0] {
			for class := range sh.LogShares {
				steps = append(steps, sh.LogShares[class][bin])
			}
		}
		each(sh.Column, sh.Edges, steps)
	}
	return a.Intercepts, score
}
