// SPDX-License-Identifier: Apache-2.0

package additive

import (
	"context"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/privacy/dp"
	"github.com/discreet-dp/discreet/internal/shrink"
	"github.com/discreet-dp/discreet/internal/table/feature"
)

// All that a fit is given is asked for below. The guard pays for it, and holds how far it moves
// between neighbours.

// cellMoves is the sensitivity of cells in which a row adds to one, for a unit's contribution bound.
func (pl *Plan) cellMoves() guard.Moves { return guard.OneCell(pl.schema.Relation).Times(pl.most) }

// knowsTotal reports whether the total weight of all rows is public: under replace-one it is, for
// rows, or for persons if each has the weight of one row.
func (pl *Plan) knowsTotal() bool {
	return pl.schema.Relation == dp.ReplaceOne && pl.most == 1
}

// classMoves is the sensitivity of the row counts of two classes, or of one of them if the total
// determines the other.
func (pl *Plan) classMoves() guard.Moves {
	if pl.knowsTotal() {
		return guard.Moves{L1: 1, L2: 1}
	}
	return pl.cellMoves()
}

// measureClasses measures the number, or weight, of rows of each class, the positive one first if
// there are two. If the sum is public, the count of one of two classes gives both.
func (f *fit) measureClasses(ctx context.Context, label string, p guard.Share) ([]float64, error) {
	cells, err := f.guard.ClassCells(ctx, f.bins[:1])
	if err != nil {
		return nil, err
	}
	pl := f.plan
	positive := pl.schema.Label.Positive
	if !pl.isMulticlass() && pl.knowsTotal() {
		pos, err := f.guard.Measure(label, p, cells.Class(positive))
		if err != nil {
			return nil, err
		}
		return []float64{pos.Values[0], float64(f.guard.Units()) - pos.Values[0]}, nil
	}
	sum := cells.Classes()
	if !pl.isMulticlass() && positive == 1 {
		sum.Reverse()
	}
	out, err := f.guard.Measure(label, p, sum)
	return out.Values, err
}

// countMoves is the sensitivity of the counts of all columns with counted bins, in one vector: a row
// is in one cell of each column and in one run (1.8).
func (pl *Plan) countMoves() guard.Moves {
	return guard.OneCellOfEach(pl.schema.Relation, 2*len(pl.counts.asking)).Times(pl.most)
}

// measureCounts measures, for each column with counted bins, the rows in its runs and in its cells
// over all classes, in one vector.
func (f *fit) measureCounts(ctx context.Context) ([]float64, error) {
	pl := f.plan
	fine := make([]feature.Bins, len(pl.counts.asking))
	for i := range fine {
		fine[i] = pl.counts.asking[i].fine
	}
	cells, err := f.guard.ClassCells(ctx, fine)
	if err != nil {
		return nil, err
	}
	sums := make([]*guard.Sum, len(fine))
	for i := range fine {
		n := fine[i].Len()
		sums[i] = cells.AllClasses(i, fineRuns, func(b int) int { return runOf(b, n) })
	}
	all, err := f.guard.Join(sums...)
	if err != nil {
		return nil, err
	}
	out, err := f.guard.Measure(countsLabel, pl.prices.counts, all)
	return out.Values, err
}

// capWeights bounds the weight of a row by class, positive first, for any private cells: the weight at
// the worst score that the released shapes allow (1.3). One additional unit covers the rounding of
// exp.
func (r *binaryFit) capWeights() guard.Caps {
	least, most := r.least, r.most
	if c := r.weighing.Clip; c != nil && c.Shapes == len(r.weighing.Shapes) { // of the whole score
		least, most = max(least, feature.Units(c.Low)), min(most, feature.Units(c.High))
	}
	return capScores(least, most)
}

// capScores is capWeights if scores of the positive class are at least least, and those of the other
// at most most.
func capScores(least, most int64) guard.Caps {
	return guard.Caps{
		uint32(min(guard.WeightOne, guard.Weight(least)+1)),
		uint32(min(guard.WeightOne, guard.Weight(-most)+1)),
	}
}

// pickByImbalance selects a column with a large imbalance of its cells, Σ_bins |positive − negative|
// in weight, and removes it from the list. spread is the spread of the scores.
func (r *binaryFit) pickByImbalance(t int) (k int, spread float64, err error) {
	scores := r.cells.Imbalances(r.free)
	i, err := r.guard.Select(pickLabel(t), r.plan.prices.picks[t], scores)
	if err != nil {
		return 0, 0, err
	}
	return r.takeFree(i), scores.Spread(), nil
}

// measureWeights measures the weighted cells of column k.
func (r *binaryFit) measureWeights(label string, p guard.Share, k int) (*shrink.Cells, error) {
	out, err := r.guard.Measure(label, p, r.cells.Part(k-r.from))
	if err != nil {
		return nil, err
	}
	caps := r.cells.Caps()
	pos, neg := float64(caps[0])/guard.WeightOne, float64(caps[1])/guard.WeightOne
	deviation, n := math.Sqrt(out.Variance), len(out.Values)/2
	c := &shrink.Cells{Positive: make([]float64, n), Negative: make([]float64, n)}
	c.Noise = shrink.Noise{Positive: pos * deviation, Negative: neg * deviation, Gaussian: out.Gaussian}
	for b := range n {
		c.Positive[b], c.Negative[b] = out.Values[2*b]*pos, out.Values[2*b+1]*neg
	}
	if r.totals != nil {
		shrink.ProjectOntoSimplex(c.Positive, r.totals[0])
		shrink.ProjectOntoSimplex(c.Negative, r.totals[1])
	}
	return c, nil
}

// pickByResiduals selects a column whose cells differ much from the expectation under the scores, and
// removes it from the list.
func (r *multiclassFit) pickByResiduals(ctx context.Context, t int) (int, error) {
	rest := make([]*guard.ClassResiduals, len(r.free))
	for i, k := range r.free {
		var err error
		if rest[i], err = r.guard.ClassResiduals(ctx, r.score, &r.bins[k]); err != nil {
			return 0, err
		}
	}
	scores, err := r.guard.Distances(rest)
	if err != nil {
		return 0, err
	}
	i, err := r.guard.Select(pickLabel(t), r.plan.prices.picks[t], scores)
	if err != nil {
		return 0, err
	}
	return r.takeFree(i), nil
}

// measureRows measures the rows of column k by class, then bin.
func (r *multiclassFit) measureRows(t int, cells *guard.ClassCells, k int) ([][]float64, error) {
	out, err := r.guard.Measure(cellsLabel(t), r.plan.prices.cells[t], cells.Part(k))
	if err != nil {
		return nil, err
	}
	rows := splitClasses(out.Values, r.plan.schema.Classes())
	for class, total := range r.start.totals {
		shrink.ProjectOntoSimplex(rows[class], total)
	}
	return rows, nil
}

// splitClasses splits numbers into the given number of lists of equal length.
func splitClasses(numbers []float64, lists int) [][]float64 {
	return slices.Collect(slices.Chunk(numbers, len(numbers)/lists))
}

// columnSlope holds the derivative of the classes' likelihood by the weight of a column, half of its
// second derivative, negated, and the variance of the noise on either.
type columnSlope struct{ gain, halfCurve, noise float64 }

// measureSlope measures the slope of the column of round t, to which a row contributes at most most
// nats.
func (r *multiclassFit) measureSlope(ctx context.Context, t, k int, most float64) (*columnSlope, error) {
	slope, err := r.guard.ClassSlope(ctx, r.score, r.shapeOf(k), most)
	if err != nil {
		return nil, err
	}
	out, err := r.guard.Measure(weightLabel(t), r.plan.prices.weights[t], slope)
	if err != nil {
		return nil, err
	}
	return &columnSlope{most * out.Values[0], most * out.Values[1], most * most * out.Variance}, nil
}
