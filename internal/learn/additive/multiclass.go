// SPDX-License-Identifier: Apache-2.0

package additive

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/model/shrink"
	"github.com/discreet-dp/discreet/internal/table/feature"
)

// classStart holds the scores of more than two classes before any round.
type classStart struct {
	scores []float64            // by class, nats
	shapes []feature.LevelShape // of the public columns
	spread float64              // of all public columns: the sum of measureSpread
	share  []float64            // of each class, in (0, 1), adding up to 1
	totals []float64            // rows of each class if public, otherwise nil
	rows   float64              // number of rows, as released if it is private; at least 1
}

// leastRows is the assumed number of rows of a class without any.
const leastRows = 0.5

// newClassStart starts with the shares of the classes; each has at least leastRows rows.
func newClassStart(rows []float64) *classStart {
	st, sum := &classStart{rows: math.Max(1, sumAll(rows))}, 0.0
	for _, n := range rows {
		sum += math.Max(n, leastRows)
	}
	for _, n := range rows {
		st.share = append(st.share, math.Max(n, leastRows)/sum)
		st.scores = append(st.scores, math.Log(math.Max(n, leastRows)/sum))
	}
	return st
}

// multiclassFit is the state of a fit of more than two classes.
type multiclassFit struct {
	*fit
	start   *classStart
	score   *guard.StepScore // of the current model
	turn    []int            // the column of each round
	shapes  []classShape     // by private column
	stretch float64          // of all shapes in the model
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
	if err := f.findBins(st.rows); err != nil {
		return nil, err
	}
	r := &multiclassFit{fit: f, start: st, score: guard.NewStepScore(st.scores), stretch: 1, shapes: make([]classShape, len(f.bins))}
	for k := range st.shapes {
		r.score.AddShape(&st.shapes[k], 1)
	}
	if err := r.learnColumns(); err != nil {
		return nil, err
	}
	if err := r.measureWeights(); err != nil {
		return nil, err
	}
	return r, r.calibrate()
}

// startMulticlass fits the public columns, or releases the classes and starts with their shares.
func (f *fit) startMulticlass(ctx context.Context) (*classStart, error) {
	if f.plan.scope == dp.PrivateFeatures {
		return f.startPublicClasses(ctx)
	}
	rows, err := f.measureClasses()
	if err != nil {
		return nil, err
	}
	noise := f.plan.prices.classes.Variance(f.plan.cellMoves())
	return newClassStart(f.estimateClasses(rows, math.Max(1, sumAll(rows)), noise)), nil
}

// learnColumns makes all rounds of cells. Rows have equal weights in all of them, because each column
// is measured separately; measureWeights corrects for correlated columns.
func (r *multiclassFit) learnColumns() error {
	all, err := r.guard.ClassCells(r.bins)
	if err != nil {
		return err
	}
	for t := range r.plan.rules.rounds {
		k := t
		if r.plan.rules.picks {
			if k, err = r.pickByResiduals(t); err != nil {
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

// measureWeights measures, column by column, the weight that the steps should have: correlated columns
// get smaller weights.
func (r *multiclassFit) measureWeights() error {
	for t := range r.plan.prices.weights {
		k := r.turn[t]
		sh := &r.shapes[k]
		change, err := learn.Change{Score: r.score, Shape: r.shapeOf(k), Spread: sh.spread, Deviation: weightDeviation}.Measure(
			r.guard, weightLabel(t), r.plan.prices.weights[t])
		if err != nil {
			return err
		}
		change = math.Max(change, -sh.weight) // a column never speaks against what it says
		sh.weight += change
		r.score.AddShape(r.shapeOf(k), change)
	}
	return nil
}

// calibrate stretches what all columns add, public ones included, because they were measured one by one:
// independent columns say more together than each of them alone, and columns that say the same say less.
func (r *multiclassFit) calibrate() error {
	if r.plan.rules.sharesAlone {
		return nil
	}
	spread := r.start.spread // of columns that all say the same; a row farther out is clipped, which hides what is too sure
	for k := range r.shapes {
		spread += r.shapes[k].weight * r.shapes[k].spread
	}
	change, err := learn.Change{Score: r.score, Spread: math.Max(spread, 1e-3), Deviation: stretchDeviation}.Measure(
		r.guard, stretchLabel, r.plan.prices.calibration)
	if r.stretch += change; change < 0 { // scores that are too sure have too little of a curve
		r.stretch = math.Exp(change)
	}
	return err
}

func (r *multiclassFit) buildModel() *model.Model {
	add := &model.MulticlassAdditive{}
	for k, score := range r.start.scores {
		add.Intercepts = append(add.Intercepts, score+r.plan.logWeight(k))
	}
	var columns []int
	finish := func(bins *feature.Bins, sh *classShape) {
		columns = append(columns, bins.Column)
		add.Shapes = append(add.Shapes, r.finishShape(bins, sh))
	}
	for q := range r.start.shapes {
		sh := &r.start.shapes[q]
		finish(&sh.Bins, &classShape{steps: sh.Steps, weight: r.stretch})
	}
	for k := range r.shapes {
		if r.shapes[k].steps != nil {
			r.shapes[k].weight *= r.stretch
			finish(&r.bins[k], &r.shapes[k])
		}
	}
	if r.plan.rules.sharesAlone { // a model has a shape, though here it says nothing
		none := &classShape{steps: splitClasses(make([]float64, len(add.Intercepts)*r.bins[0].Len()), len(add.Intercepts))}
		finish(&r.bins[0], none)
	}
	add.Limit()
	slices.Sort(columns)
	return &model.Model{Learner: "additive", Schema: r.plan.schema.Part(columns), Classifier: add}
}

// finishShape returns the shape of a column for the model. Its variance is nil if it is exact.
func (r *multiclassFit) finishShape(bins *feature.Bins, sh *classShape) model.ClassShape {
	s, edges, classes := r.plan.schema, bins.Edges, len(sh.steps)
	steps, noise := make([][]float64, classes), make([][]float64, classes)
	for class := range steps {
		steps[class], noise[class] = make([]float64, bins.Len()), make([]float64, bins.Len())
		floats.ScaleTo(steps[class], sh.weight, sh.steps[class])
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
