// SPDX-License-Identifier: Apache-2.0

package additive

import (
	"context"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/privacy/dp"
	"github.com/discreet-dp/discreet/internal/shrink"
	"github.com/discreet-dp/discreet/internal/table/feature"
)

// classStart holds the scores of more than two classes before any round.
type classStart struct {
	scores []float64            // by class, nats
	shapes []feature.LevelShape // of the public columns
	share  []float64            // of each class, in (0, 1), adding up to 1
	totals []float64            // rows of each class if public, otherwise nil
	rows   float64              // number of rows, as released if it is private; at least 1
}

// leastRows is the assumed number of rows of a class without any.
const leastRows = 0.5

// newClassStart starts with the shares of the classes; each has at least floor rows.
func newClassStart(rows []float64, floor float64) *classStart {
	st := &classStart{}
	sum := 0.0
	for _, n := range rows {
		sum += math.Max(n, floor)
		st.rows += n
	}
	st.rows = math.Max(1, st.rows)
	for _, n := range rows {
		st.share = append(st.share, math.Max(n, floor)/sum)
		st.scores = append(st.scores, math.Log(math.Max(n, floor)/sum))
	}
	return st
}

// multiclassFit is the state of a fit of more than two classes.
type multiclassFit struct {
	*fit
	start  *classStart
	score  *guard.StepScore // of the current model
	turn   []int            // the column of each round
	shapes []classShape     // by private column
}

// classShape is the estimate for one private column.
type classShape struct {
	steps    [][]float64 // by class, then bin; nats; nil if the column is not used
	variance [][]float64 // of steps
	weight   float64     // weight of the steps in the model
	spread   float64     // distance between the steps of a row's class and of others, nats
}

// learnMulticlass makes every release of the bill.
func (f *fit) learnMulticlass(ctx context.Context) (*multiclassFit, error) {
	st, err := f.startMulticlass(ctx)
	if err != nil {
		return nil, err
	}
	if err := f.findBins(ctx, st.rows); err != nil {
		return nil, err
	}
	r := &multiclassFit{fit: f, start: st, score: guard.NewStepScore(st.scores), shapes: make([]classShape, len(f.bins))}
	for k := range st.shapes {
		r.score.AddShape(&st.shapes[k], 1)
	}
	if err := r.learnColumns(ctx); err != nil {
		return nil, err
	}
	return r, r.measureWeights(ctx)
}

// startMulticlass fits the public columns, or releases the classes and starts with their shares.
func (f *fit) startMulticlass(ctx context.Context) (*classStart, error) {
	if f.plan.scope == dp.PrivateFeatures {
		return f.startPublicClasses(ctx)
	}
	rows, err := f.measureClasses(ctx, f.plan.classesLabel(), f.plan.prices.classes)
	if err != nil {
		return nil, err
	}
	noise := f.plan.prices.classes.Variance(f.plan.cellMoves())
	return newClassStart(f.estimateClasses(rows, math.Max(1, sumAll(rows)), noise), leastRows), nil
}

// learnColumns makes all rounds of cells. Rows have equal weights in all of them, because each column
// is measured separately; measureWeights corrects for correlated columns.
func (r *multiclassFit) learnColumns(ctx context.Context) error {
	all, err := r.guard.ClassCells(ctx, r.bins)
	if err != nil {
		return err
	}
	for t := range r.plan.rules.rounds {
		k := t
		if r.plan.rules.picks {
			if k, err = r.pickByResiduals(ctx, t); err != nil {
				return err
			}
		}
		r.turn = append(r.turn, k)
		rows, err := r.measureRows(t, all, k)
		if err != nil {
			return err
		}
		noise := math.Sqrt(r.plan.prices.cells[t].Variance(r.plan.cellMoves()))
		sh := &r.shapes[k]
		sh.weight = r.plan.rules.columnWeight
		sh.steps, sh.variance = shrink.ClassShares(&r.bins[k], rows, r.start.share, noise, r.plan.rules.gaussian)
		sh.spread = measureSpread(rows, r.start.share, sh.steps)
		r.score.AddShape(r.shapeOf(k), sh.weight)
	}
	return nil
}

// shapeOf returns the steps of column k before they are weighted.
func (r *multiclassFit) shapeOf(k int) *feature.LevelShape {
	return &feature.LevelShape{Bins: r.bins[k], Steps: r.shapes[k].steps}
}

// measureSpread is the standard deviation of the steps over the classes, weighted by the shares that
// the steps imply, as a root mean square over the rows of the bins.
func measureSpread(rows [][]float64, share []float64, steps [][]float64) float64 {
	sum, all := 0.0, 1e-9
	for b := range steps[0] {
		var inBin, mean, square float64
		for k, pi := range share {
			q := pi * math.Exp(steps[k][b])
			inBin += rows[k][b]
			mean += q * steps[k][b]
			square += q * steps[k][b] * steps[k][b]
		}
		inBin = math.Max(inBin, 1)
		all += inBin
		sum += inBin * math.Max(0, square-mean*mean)
	}
	return math.Max(math.Sqrt(sum/all), 1e-3)
}

const (
	// weightDeviation is the standard deviation of the prior of a column's weight.
	weightDeviation = 0.3
	// slopeSpreads bounds a row's influence on a slope, in spreads of its column; larger contributions
	// are clipped.
	slopeSpreads = 1.5
)

// measureWeights measures, column by column, the weight that the steps should have: correlated columns
// get smaller weights.
func (r *multiclassFit) measureWeights(ctx context.Context) error {
	for t := range r.plan.prices.weights {
		k := r.turn[t]
		sh := &r.shapes[k]
		slope, err := r.measureSlope(ctx, t, k, slopeSpreads*sh.spread)
		if err != nil {
			return err
		}
		curve := math.Max(2*slope.halfCurve, 1e-3)
		// gain = curve·change + noise, and change has a normal prior. The curve is also what sampling
		// adds to the variance.
		variance := slope.noise + curve
		change := curve * slope.gain / variance / (1/(weightDeviation*weightDeviation) + curve*curve/variance)
		change = math.Max(change, -sh.weight) // a column never speaks against what it says
		sh.weight += change
		r.score.AddShape(r.shapeOf(k), change)
	}
	return nil
}

// buildModel combines the start and the released shapes.
func (r *multiclassFit) buildModel() *model.Model {
	add := &model.MulticlassAdditive{}
	for k, score := range r.start.scores {
		add.Intercepts = append(add.Intercepts, score+r.plan.logWeight(k))
	}
	var columns []int
	for q := range r.start.shapes {
		sh := &r.start.shapes[q]
		columns = append(columns, sh.Column)
		add.Shapes = append(add.Shapes, r.finishShape(&sh.Bins, &classShape{steps: sh.Steps, weight: 1}))
	}
	for k := range r.shapes {
		if r.shapes[k].steps != nil {
			columns = append(columns, r.bins[k].Column)
			add.Shapes = append(add.Shapes, r.finishShape(&r.bins[k], &r.shapes[k]))
		}
	}
	if r.plan.rules.sharesAlone { // a model has a shape, though here it says nothing
		none := &classShape{weight: 1}
		for range add.Intercepts {
			none.steps = append(none.steps, make([]float64, r.bins[0].Len()))
		}
		columns = append(columns, r.bins[0].Column)
		add.Shapes = append(add.Shapes, r.finishShape(&r.bins[0], none))
	}
	add.Limit()
	slices.Sort(columns)
	return &model.Model{Learner: "additive", Schema: r.plan.schema.Part(columns), Classifier: add}
}

// classSlopes is the share of the interpolation between the middles of bins that is used.
// Interpolation reduces peaks, and with many classes some have a peak in a bin.
const classSlopes = 0.5

// finishShape returns the shape of a column for the model. Its variance is nil if it is exact.
func (r *multiclassFit) finishShape(bins *feature.Bins, sh *classShape) model.ClassShape {
	s, edges, classes := r.plan.schema, bins.Edges, len(sh.steps)
	steps, noise := make([][]float64, classes), make([][]float64, classes)
	for class := range steps {
		steps[class], noise[class] = shrink.ScaleAll(sh.steps[class], sh.weight), make([]float64, bins.Len())
		if sh.variance != nil {
			for b, v := range sh.variance[class] {
				noise[class][b] = sh.weight * math.Sqrt(v)
			}
		}
	}
	if sh.variance != nil && !r.plan.NotPrivate && hasSlopes(s, bins) {
		edges, steps = drawSlopes(s, bins, classSlopes, steps...)
		_, noise = drawSlopes(s, bins, classSlopes, noise...)
	}
	out := model.ClassShape{Column: s.Columns[bins.Column].Name, Edges: edges}
	for class := range steps {
		out.LogShares = append(out.LogShares, bins.ByLevel(steps[class]))
		out.Noise = append(out.Noise, bins.ByLevel(noise[class]))
	}
	return out
}
