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

// cellMoves is how far cells of which a row adds to one move, for what a person counts for.
func (pl *Plan) cellMoves() guard.Moves { return guard.OneCell(pl.schema.Relation).Times(pl.most) }

// knowsTotal reports whether what all rows weigh is public: under replace-one their number, or that
// of the persons if each weighs one row.
func (pl *Plan) knowsTotal() bool {
	return pl.schema.Relation == dp.ReplaceOne && pl.most == 1 && !pl.choosesMost
}

// classMoves is how far the rows of either of two classes move; of one of them if the other follows
// from the total.
func (pl *Plan) classMoves() guard.Moves {
	if pl.knowsTotal() {
		return guard.Moves{L1: 1, L2: 1}
	}
	return pl.cellMoves()
}

// mostChoices is the number of bounds to choose from: 1, 2, 4 and so on.
const mostChoices = 11

// sparedPart is the part of all persons that a doubled bound must spare to be worth twice the noise.
const sparedPart = 0.25

// personsForDouble is the number of persons that must have fewer rows than a doubled bound for it to be worth
// the noise: at least what the choice can tell apart.
func (pl *Plan) personsForDouble() int64 {
	return int64(max(1, math.Round(4/(mostShare*pl.Epsilon.Float())), sparedPart*float64(pl.rows)))
}

// selectMost selects the bound on what a person counts for, and weighs the rows by it: the larger, the
// fewer persons have more rows and the more noise there is.
func (f *fit) selectMost() error {
	bounds := make([]int, mostChoices)
	for i := range bounds {
		bounds[i] = 1 << i
	}
	scores := f.guard.PersonsAbove(bounds)
	for i := range bounds {
		scores.AddOffset(i, -int64(i)*f.plan.personsForDouble())
	}
	best, err := f.guard.Select(mostLabel, f.plan.prices.most, scores)
	if err != nil {
		return err
	}
	chosen := *f.plan
	chosen.most = bounds[best]
	f.plan = &chosen
	return f.guard.WeighPersons(chosen.most)
}

// measureClasses measures how many rows have each class, or what they weigh; of two classes the
// positive one first. If the sum is public, the count of one of two classes gives both.
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

// countMoves is how far the counts of all asking columns move in one vector: a row lies in one cell of
// each column and in one run (1.8).
func (pl *Plan) countMoves() guard.Moves {
	return guard.OneCellOfEach(pl.schema.Relation, 2*len(pl.counts.asking)).Times(pl.most)
}

// measureCounts measures, for each column that asks for bins by counts, the rows in its runs and in
// its cells, whatever the label, all in one vector.
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

// capWeights bounds what a row of each class can weigh, positive first, whatever its private cells:
// the weight at the worst score that the released shapes allow (1.3). One unit more covers the
// rounding of exp.
func (r *binaryFit) capWeights() guard.Caps {
	least, most := r.least, r.most
	if c := r.weighing.Clip; c != nil && c.Shapes == len(r.weighing.Shapes) { // of the whole score
		least, most = max(least, feature.Units(c.Low)), min(most, feature.Units(c.High))
	}
	return capScores(least, most)
}

// capScores is capWeights where scores of the positive class are at least least, those of the other
// at most most.
func capScores(least, most int64) guard.Caps {
	return guard.Caps{
		uint32(min(guard.WeightOne, guard.Weight(least)+1)),
		uint32(min(guard.WeightOne, guard.Weight(-most)+1)),
	}
}

// pickByImbalance selects a column whose cells are far from balance, Σ_bins |positive − negative| in
// weight, and takes it off the list. spread is that of the scores.
func (r *binaryFit) pickByImbalance(t int) (k int, spread float64, err error) {
	scores := r.cells.Imbalances(r.free)
	i, err := r.guard.Select(pickLabel(t), r.plan.prices.picks[t], scores)
	if err != nil {
		return 0, 0, err
	}
	return r.takeFree(i), scores.Spread(), nil
}

// measureWeights measures the weighed cells of column k.
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

// pickByResiduals selects a column whose cells are far from what the scores expect, and takes it off
// the list.
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

// splitClasses splits numbers into so many lists of one length.
func splitClasses(numbers []float64, lists int) [][]float64 {
	return slices.Collect(slices.Chunk(numbers, len(numbers)/lists))
}

// columnSlope is how the likelihood of the classes changes with the weight of a column, and half of
// how that change falls off, with the variance of the noise on either.
type columnSlope struct{ gain, halfCurve, noise float64 }

// measureSlope measures the slope of the column of round t, to which a row adds at most most nats.
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
