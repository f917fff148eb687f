// SPDX-License-Identifier: Apache-2.0

package additive

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/privacy/dp"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/shrink"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/feature"
)

// All that leaves a fit leaves through releaseNoisy and selectColumn. The functions below are all
// that call them: each states what it lets out, and by how much that moves between neighbours.

// sensitivity is by how much a release moves between neighbours, in L1 and in L2.
type sensitivity struct{ l1, l2 float64 }

// cellSensitivity is that of numbers of which a row adds at most 1 to one: a row appears, or leaves
// one cell for another (1.2). The float64 next to √2 lies above it.
func cellSensitivity(relation dp.Relation) sensitivity {
	if relation == dp.AddRemove {
		return sensitivity{1, 1}
	}
	return sensitivity{2, math.Sqrt2}
}

// cellSensitivity is that of numbers, none negative, to which a row or all rows of one person add
// at most Plan.most in all (docs/guarantees/persons.md, lemma 2).
func (pl *Plan) cellSensitivity() sensitivity {
	return cellSensitivity(pl.schema.Relation).scale(pl.most)
}

// scale is for units that count for so many rows each. The product of an L2 length is rounded up.
func (s sensitivity) scale(most int) sensitivity {
	if most == 1 {
		return s
	}
	return sensitivity{float64(most) * s.l1, math.Nextafter(float64(most)*s.l2, math.Inf(1))}
}

// knowsTotal reports whether what all rows weigh is public: under replace-one their number, or that
// of the persons where each weighs one row.
func (pl *Plan) knowsTotal() bool {
	return pl.schema.Relation == dp.ReplaceOne && pl.most == 1 && !pl.choosesMost
}

// classSensitivity is that of what rows of either of two classes weigh; of one of them where the
// other follows from the total.
func (pl *Plan) classSensitivity() sensitivity {
	if pl.knowsTotal() {
		return sensitivity{1, 1}
	}
	return pl.cellSensitivity()
}

// noiseVariance is that of the noise on one number; 0 where there is none.
func (p price) noiseVariance(s sensitivity) float64 {
	switch {
	case p.rho > 0:
		return s.l2 * s.l2 / (2 * p.rho.Float())
	case p.eps > 0:
		scale := s.l1 / p.eps.Float()
		return 2 * scale * scale
	}
	return 0
}

// chooseMechanism is for a vector of so many numbers.
func (pl *Plan) chooseMechanism(p price, s sensitivity, size int) mech.Mechanism {
	switch {
	case pl.NotPrivate:
		return mech.NoNoise{}
	case p.rho > 0:
		return mech.Sized(mech.GaussianFor(p.rho, s.l2, size))
	}
	return mech.Sized(mech.LaplaceFor(p.eps, s.l1, size))
}

// releaseNoisy lets values out.
func (f *fit) releaseNoisy(label string, p price, s sensitivity, values []mech.Ratio) []float64 {
	return f.exit.Release(label, f.plan.chooseMechanism(p, s, len(values)), values...) // 1.4: rows meet noise
}

// selectColumn lets out which of the scores is about the largest. spread is by how much the
// difference of two scores moves between neighbours.
func (f *fit) selectColumn(label string, p price, spread float64, scores []mech.Ratio) int {
	selector := mech.Selector(mech.NoNoise{})
	if !f.plan.NotPrivate {
		selector = mech.Sized(mech.PermuteAndFlipFor(p.eps, spread))
	}
	return f.exit.Select(label, selector, scores) // 1.4: rows meet noise
}

// mostChoices is how many bounds there are to choose from: 1, 2, 4 and so on.
const mostChoices = 11

// personsForDouble is how many persons must have fewer rows than a doubled bound for it to be worth
// the noise, about what the choice can tell apart.
func (pl *Plan) personsForDouble() int64 {
	return int64(max(1, math.Round(4/(mostShare*pl.Epsilon.Float()))))
}

// selectMost lets out which bound on what a person counts for to take, and weighs the rows by it:
// the larger, the fewer persons have more rows and the more noise there is. All rows of one person
// change the number of persons with more rows than a bound by at most 1, up or down, and so each
// score (docs/guarantees/persons.md, lemma 3).
func (f *fit) selectMost(p engine.Persons) {
	bounds := make([]int, mostChoices)
	for i := range bounds {
		bounds[i] = 1 << i
	}
	scores := make([]mech.Ratio, len(bounds))
	for i, above := range p.CountAbove(bounds) {
		scores[i] = mech.Ratio{Num: -int64(above) - int64(i)*f.plan.personsForDouble(), Den: 1}
	}
	chosen := *f.plan
	chosen.most = bounds[f.selectColumn(mostLabel, f.plan.prices.most, 2, scores)]
	f.plan, f.table = &chosen, p.Weigh(chosen.most)
}

// releaseClasses lets out how many rows have each class, or what they weigh; of two classes the
// positive one first. Where the sum is public, the count of one of two classes says both. A row
// moves one of two counts by 1, and has one of more classes as it lies in one cell (1.4).
func (f *fit) releaseClasses(ctx context.Context, label string, p price) ([]float64, error) {
	cells, err := f.table.ClassCells(ctx, f.bins[:1])
	if err != nil {
		return nil, err
	}
	pl := f.plan
	var values []mech.Ratio
	for _, byBin := range cells[0].Rows {
		sum := int64(0)
		for _, x := range byBin {
			sum += int64(x)
		}
		values = append(values, mech.Ratio{Num: sum, Den: learn.RowUnits(f.table)})
	}
	if pl.isMulticlass() {
		return f.releaseNoisy(label, p, pl.cellSensitivity(), values), nil
	}
	positive := pl.schema.Label.Positive
	values[0], values[1] = values[positive], values[1-positive]
	if pl.knowsTotal() {
		pos := f.releaseNoisy(label, p, pl.classSensitivity(), values[:1])[0]
		return []float64{pos, float64(learn.PublicUnits(f.table)) - pos}, nil
	}
	return f.releaseNoisy(label, p, pl.classSensitivity(), values), nil
}

// countSensitivity is that of the counts of all asking columns in one vector: a row lies in one
// cell of each column and in one run (1.8). The L1 distance and the square of the L2 distance are
// the same, for counts move by 1 each.
func (pl *Plan) countSensitivity() sensitivity {
	moves := cellSensitivity(pl.schema.Relation).l1 * float64(2*len(pl.counts.asking))
	return sensitivity{moves, math.Nextafter(math.Sqrt(moves), math.Inf(1))}.scale(pl.most)
}

// releaseCounts lets out, for each column that asks for bins by counts, the rows in its runs and in
// its cells, whatever the label.
func (f *fit) releaseCounts(ctx context.Context) ([]float64, error) {
	pl := f.plan
	fine := make([]feature.Bins, len(pl.counts.asking))
	for i := range fine {
		fine[i] = pl.counts.asking[i].fine
	}
	cells, err := f.table.ClassCells(ctx, fine)
	if err != nil {
		return nil, err
	}
	var values []mech.Ratio
	units := learn.RowUnits(f.table)
	for i := range cells {
		n, first := fine[i].Len(), len(values)
		for range fineRuns {
			values = append(values, mech.Ratio{Den: units})
		}
		for b := range n {
			rows := int64(0)
			for class := range cells[i].Rows {
				rows += int64(cells[i].Rows[class][b])
			}
			values[first+runOf(b, n)].Num += rows
			values = append(values, mech.Ratio{Num: rows, Den: units})
		}
	}
	return f.releaseNoisy(countsLabel, pl.prices.counts, pl.countSensitivity(), values), nil // 1.8: rows meet noise
}

// capWeights bounds what a row of each class can weigh, positive first, whatever its private cells:
// the weight at the worst score that the released shapes allow (1.3). One unit more covers the
// rounding of exp.
func (r *binaryFit) capWeights() [2]int64 {
	least, most := r.least, r.most
	if c := r.weighing.Clip; c != nil && c.Shapes == len(r.weighing.Shapes) { // of the whole score
		least, most = max(least, feature.Units(c.Low)), min(most, feature.Units(c.High))
	}
	return [2]int64{
		int64(min(engine.WeightOne, engine.Weight(least)+1)),
		int64(min(engine.WeightOne, engine.Weight(-most)+1)),
	}
}

// pickByImbalance chooses the column whose cells are furthest from balance, Σ_bins |positive −
// negative| in weight, and takes it off the list.
func (r *binaryFit) pickByImbalance(t int, caps [2]int64) int {
	scores := make([]mech.Ratio, len(r.free))
	for i, k := range r.free {
		scores[i] = mech.Ratio{Num: sumDistances(r.sums[k].Positive, r.sums[k].Negative), Den: engine.WeightOne}
	}
	return r.takeFree(r.selectColumn(pickLabel(t), r.plan.prices.picks[t], r.pickSpread(caps), scores))
}

// pickSpread is by how much a row moves the imbalance of one column against that of another: by at
// most its weight each time it appears or leaves, up or down.
func (r *binaryFit) pickSpread(caps [2]int64) float64 {
	if r.plan.scope == dp.LabelOnly { // it stays in its bin and may change its label
		return 2 * float64(caps[0]+caps[1]) / engine.WeightOne
	}
	return 2 * r.plan.cellSensitivity().l1 * float64(max(caps[0], caps[1])) / engine.WeightOne
}

// pickByLeftover chooses the column or pair of which most is left, without privacy, and reports
// whether that is more than chance leaves.
func (r *binaryFit) pickByLeftover(step int) (k int, more bool) {
	scores := make([]mech.Ratio, len(r.sums))
	for k := range r.sums {
		scores[k] = mech.Ratio{Num: measureLeftover(&r.sums[k]), Den: engine.WeightOne}
	}
	k = r.selectColumn(fmt.Sprintf("most left at step %d", step+1), price{}, 0, scores)
	return k, scores[k].Num > 0
}

// sumDistances is Σ |a − b|.
func sumDistances(a, b []uint64) (sum int64) {
	for i := range a {
		d := int64(a[i]) - int64(b[i])
		sum += max(d, -d)
	}
	return sum
}

// releaseWeights lets out the weighed cells of column k. Each is divided by the cap of its class,
// so that a row counts for at most 1 and lies in one cell (1.2).
func (r *binaryFit) releaseWeights(label string, p price, k int, caps [2]int64) *shrink.Cells {
	sums := &r.sums[k]
	n := len(sums.Positive)
	values := make([]mech.Ratio, 0, 2*n)
	for b := range n {
		values = append(values, mech.Ratio{Num: int64(sums.Positive[b]), Den: caps[0]},
			mech.Ratio{Num: int64(sums.Negative[b]), Den: caps[1]})
	}
	out := r.releaseNoisy(label, p, r.plan.cellSensitivity(), values)
	pos, neg := float64(caps[0])/engine.WeightOne, float64(caps[1])/engine.WeightOne
	deviation := math.Sqrt(p.noiseVariance(r.plan.cellSensitivity()))
	c := &shrink.Cells{Positive: make([]float64, n), Negative: make([]float64, n)}
	c.Noise = shrink.Noise{Positive: pos * deviation, Negative: neg * deviation, Gaussian: p.rho > 0}
	for b := range n {
		c.Positive[b], c.Negative[b] = out[2*b]*pos, out[2*b+1]*neg
	}
	if r.totals != nil {
		shrink.ProjectOntoSimplex(c.Positive, r.totals[0])
		shrink.ProjectOntoSimplex(c.Negative, r.totals[1])
	}
	return c
}

// pickByResiduals chooses the column whose cells are furthest from what the scores expect, ½·Σ
// |rows − expected rows| over bins and classes, and takes it off the list.
func (r *multiclassFit) pickByResiduals(ctx context.Context, t int) (int, error) {
	scores := make([]mech.Ratio, len(r.free))
	for i, k := range r.free {
		rest, err := r.table.ClassResiduals(ctx, r.score, &r.bins[k])
		if err != nil {
			return 0, err
		}
		scores[i].Den = 2 * engine.WeightOne
		for class := range rest.Above {
			scores[i].Num += sumDistances(rest.Above[class], rest.Below[class])
		}
	}
	// A row adds at most 1 to a score, or takes it off, each time it appears or leaves.
	spread := 2 * r.plan.cellSensitivity().l1
	return r.takeFree(r.selectColumn(pickLabel(t), r.plan.prices.picks[t], spread, scores)), nil
}

// releaseRows lets out the rows of one column by class, then bin. A row lies in one bin and has one
// class, so it counts once however many classes there are (1.2).
func (r *multiclassFit) releaseRows(t int, cells *engine.ClassCells) [][]float64 {
	rows := splitClasses(r.releaseNoisy(cellsLabel(t), r.plan.prices.cells[t], r.plan.cellSensitivity(),
		toRatios(learn.RowUnits(r.table), cells.Rows)), len(cells.Rows))
	for class, total := range r.start.totals {
		shrink.ProjectOntoSimplex(rows[class], total)
	}
	return rows
}

// toRatios lists numbers one after the other, each divided by den.
func toRatios(den int64, tables ...[][]uint64) (values []mech.Ratio) {
	for _, x := range slices.Concat(slices.Concat(tables...)...) {
		values = append(values, mech.Ratio{Num: int64(x), Den: den})
	}
	return values
}

// splitClasses splits numbers into so many lists of one length.
func splitClasses(numbers []float64, lists int) [][]float64 {
	return slices.Collect(slices.Chunk(numbers, len(numbers)/lists))
}

// columnSlope is how the likelihood of the classes changes with the weight of a column, and half of
// how that change falls off, with the variance of the noise on either.
type columnSlope struct{ gain, halfCurve, noise float64 }

// releaseSlope lets out the slope of the column of round t. A row's part of the two numbers is at
// most 1 in L1 after division by most, and it may be of either sign, so that they move by as much
// in L2 as in L1 (1.2).
func (r *multiclassFit) releaseSlope(ctx context.Context, t, k int, most float64) (*columnSlope, error) {
	slope, err := r.table.ClassSlope(ctx, r.score, r.shapeOf(k), most)
	if err != nil {
		return nil, err
	}
	s, p := r.plan.cellSensitivity(), r.plan.prices.weights[t]
	s.l2 = s.l1
	out := r.releaseNoisy(weightLabel(t), p, s,
		[]mech.Ratio{{Num: slope.Gain, Den: engine.WeightOne}, {Num: slope.HalfCurve, Den: engine.WeightOne}})
	return &columnSlope{most * out[0], most * out[1], most * most * p.noiseVariance(s)}, nil
}

// releaseResiduals lets out what is left over of column k, as cells for each class. A row adds 1 −
// p(y) for its class and p(k) against every other: at most 2 in all, so after division by 2 at most
// 1 in L1, and less in L2 (1.2).
func (r *multiclassFit) releaseResiduals(ctx context.Context, t, k int) ([]shrink.Cells, error) {
	rest, err := r.table.ClassResiduals(ctx, r.score, &r.bins[k])
	if err != nil {
		return nil, err
	}
	p, s := r.plan.prices.residuals[t], r.plan.cellSensitivity()
	numbers := r.releaseNoisy(residualsLabel(t), p, s, toRatios(2*engine.WeightOne, rest.Above, rest.Below))
	out := splitClasses(numbers, 2*len(rest.Above))
	deviation := 2 * math.Sqrt(p.noiseVariance(s))
	cells := make([]shrink.Cells, len(rest.Above))
	for class := range cells {
		cells[class] = shrink.Cells{
			Positive: shrink.ScaleAll(out[class], 2), Negative: shrink.ScaleAll(out[len(cells)+class], 2),
			Noise: shrink.Noise{Positive: deviation, Negative: deviation},
		}
	}
	return cells, nil
}
