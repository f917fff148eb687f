// SPDX-License-Identifier: Apache-2.0

package additive

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/model/shrink"
	"github.com/discreet-dp/discreet/internal/table/feature"
)

// All that a fit is given is asked for below. The guard pays for it, and holds how far it moves between neighbours.

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
func (f *fit) measureClasses() ([]float64, error) {
	cells, err := f.guard.ClassCells(f.bins[:1])
	if err != nil {
		return nil, err
	}
	pl := f.plan
	sum, positive, known := cells.Classes(), pl.schema.Label.Positive, !pl.isMulticlass() && pl.knowsTotal()
	if known {
		sum = cells.Class(positive)
	} else if !pl.isMulticlass() && positive == 1 {
		sum = sum.Reversed()
	}
	out, err := f.guard.Measure(pl.classesLabel(), pl.prices.classes, sum)
	if known && err == nil {
		out.Values = []float64{out.Values[0], float64(f.guard.Units()) - out.Values[0]}
	}
	return out.Values, err
}

// countMoves is the sensitivity of the counts of all columns with counted bins, in one vector: a row
// is in one cell of each column and in one run (1.8).
func (pl *Plan) countMoves() guard.Moves {
	return guard.OneCellOfEach(pl.schema.Relation, 2*len(pl.counts.asking)).Times(pl.most)
}

// measureCounts measures, for each column with counted bins, the rows in its runs and in its cells
// over all classes, in one vector.
func (f *fit) measureCounts() ([]float64, error) {
	pl := f.plan
	fine := make([]feature.Bins, len(pl.counts.asking))
	for i := range fine {
		fine[i] = pl.counts.asking[i].fine
	}
	cells, err := f.guard.ClassCells(fine)
	if err != nil {
		return nil, err
	}
	sums := make([]*guard.Sum, len(fine))
	for i := range fine {
		n := fine[i].Len()
		runs := make([]int, n)
		for b := range runs {
			runs[b] = runOf(b, n)
		}
		sums[i] = cells.AllClasses(i, fineRuns, runs)
	}
	all, err := f.guard.Join(sums...)
	if err != nil {
		return nil, err
	}
	out, err := f.guard.Measure(countsLabel, pl.prices.counts, all)
	return out.Values, err
}

// capWeights bounds the weight of a row by class, positive first, for any private cells: the weight at the worst
// score that the released shapes allow (1.3). One additional unit covers the rounding of exp.
func (r *binaryFit) capWeights() guard.Caps {
	least, most := r.least, r.most
	if c := r.score.Clip; c != nil && c.Shapes == len(r.score.Shapes) { // of the whole score
		least, most = max(least, feature.Units(c.Low)), min(most, feature.Units(c.High))
	}
	return capScores(least, most)
}

// capScores is capWeights if scores of the positive class are at least least, and those of the other at most most.
func capScores(least, most int64) guard.Caps {
	return guard.Caps{
		uint32(min(guard.WeightOne, guard.Weight(least)+1)),
		uint32(min(guard.WeightOne, guard.Weight(-most)+1)),
	}
}

func (r *binaryFit) measureWeights(label string, p guard.Share, k int) (*shrink.Cells, error) {
	out, err := r.guard.Measure(label, p, r.cells.Part(k-r.from))
	if err != nil {
		return nil, err
	}
	caps, deviation := r.cells.Caps(), math.Sqrt(out.Variance)
	pos, neg := float64(caps[0])/guard.WeightOne, float64(caps[1])/guard.WeightOne
	c := splitCells(out.Values, pos, neg)
	c.Noise = shrink.Noise{Positive: pos * deviation, Negative: neg * deviation, Gaussian: out.Gaussian}
	if r.totals != nil {
		shrink.ProjectOntoSimplex(c.Positive, r.totals[0])
		shrink.ProjectOntoSimplex(c.Negative, r.totals[1])
	}
	return c, nil
}

// splitCells splits the cells of bins, each positive and negative, in units of pos and neg.
func splitCells(values []float64, pos, neg float64) *shrink.Cells {
	c := &shrink.Cells{}
	for b := 0; b < len(values); b += 2 {
		c.Positive, c.Negative = append(c.Positive, values[b]*pos), append(c.Negative, values[b+1]*neg)
	}
	return c
}

// pickByResiduals picks a column whose cells differ much from the expectation under the scores.
func (r *multiclassFit) pickByResiduals(t int) (int, error) {
	rest := make([]*guard.ClassResiduals, len(r.free))
	for i, k := range r.free {
		var err error
		if rest[i], err = r.guard.ClassResiduals(r.score, &r.bins[k]); err != nil {
			return 0, err
		}
	}
	scores, err := r.guard.Distances(rest)
	if err != nil {
		return 0, err
	}
	return r.pick(t, scores)
}

// measureRows measures the rows of column k by class, then bin.
func (r *multiclassFit) measureRows(t int, cells *guard.ClassCells, k int) ([][]float64, error) {
	out, err := r.guard.Measure(cellsLabel(t), r.plan.prices.cells[t], cells.Part(k))
	if err != nil {
		return nil, err
	}
	rows := splitClasses(out.Values, r.plan.schema.Classes())
	for class, total := range r.start.totals {
		floats.AddConst((total-sumAll(rows[class]))/float64(len(rows[class])), rows[class]) // which keeps the law of noise
	}
	return rows, nil
}

// splitClasses splits numbers into the given number of lists of equal length.
func splitClasses(numbers []float64, lists int) [][]float64 {
	return slices.Collect(slices.Chunk(numbers, len(numbers)/lists))
}
