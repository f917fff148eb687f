// SPDX-License-Identifier: Apache-2.0

package additive

import (
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/discreet-dp/discreet/internal/model/shrink"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// counting is one release before the rounds, which determines the bins of private numbers if the
// schema requires it. It counts the rows in many fine cells of each number, and in runs of cells.
// Choosing bins from the counts is post-processing.
type counting struct {
	asking []countedNumber
	vain   int     // columns with counted bins whose counts would be too noisy
	share  float64 // of the price
}

// countedNumber is a private number whose bins are determined by the counts.
type countedNumber struct {
	index int          // into Plan.private
	fine  feature.Bins // the counted cells
}

const (
	fineCells = 4096 // per number, at most
	fineRuns  = 16   // runs of these, also counted, because sums over many cells would add up their noise
	// maxCounts bounds the length of the release, like that of Gaussian noise.
	maxCounts = 1 << 20
)

func runOf(i, n int) int { return i * fineRuns / n }

// cutColumns divides columns into bins by the schema, and lists the columns that need counts. Declared
// groups need none, and neither does a number with a bin for each of its few values.
func (pl *Plan) cutColumns(columns []int) error {
	counts := 0
	pl.columns = len(columns)
	for k, j := range columns {
		bins := pl.cutColumn(j, pl.rules.bins) // 1.1
		pl.private = append(pl.private, bins)
		if fine := pl.cutFine(j); fine.Len() > bins.Len() && !pl.protectsLabel() {
			pl.counts.asking = append(pl.counts.asking, countedNumber{k, fine})
			counts += fine.Len() + fineRuns
		}
	}
	if counts > maxCounts {
		return refuseParam("schema", fmt.Sprintf("must ask for bins by at most %d counts", maxCounts), counts,
			"leave bins: quantiles out of some columns")
	}
	return nil
}

// cutColumn divides column j by the schema alone: a number into at most bins bins, a category into its
// declared groups or its levels.
func (pl *Plan) cutColumn(j, bins int) feature.Bins {
	c := &pl.schema.Columns[j]
	if len(c.Groups) > 0 {
		of, n := c.Grouping()
		return feature.NewGroups(j, of, n)
	}
	return feature.NewBins(pl.schema, j, feature.Cuts(c, bins))
}

// cutFine returns the fine cells of column j if its bins are counted, otherwise no bins.
func (pl *Plan) cutFine(j int) feature.Bins {
	c := &pl.schema.Columns[j]
	if !c.Quantiles || len(c.Groups) > 0 {
		return feature.Bins{Column: j}
	}
	return feature.NewBins(pl.schema, j, feature.Fine(c, fineCells)).WithoutMarks()
}

// settleCounts computes the counts' share of the price. If they would be too noisy, no column uses
// counted bins. rho is the ρ for (ε, δ) if noise is Gaussian.
func (pl *Plan) settleCounts(rho float64) {
	c := &pl.counts
	if pl.NotPrivate {
		return
	}
	if len(c.asking) > 0 && pl.rules.rounds > 0 && !(pl.rules.picks && pl.rules.rounds < leastRounds) {
		c.share = settleCountShare(pl.Epsilon, rho, pl.rows, pl.countMoves().L1, pl.rules.bins)
	}
	if c.share == 0 {
		c.vain, c.asking = len(c.asking), nil
	}
}

// findEdges divides a number into at most bins bins with about equally many rows, given its noisy runs
// and cells. rows is the number of rows.
func (a *countedNumber) findEdges(bins int, runs, cells []float64, rows float64) (edges []float64) {
	n := len(cells)
	// A run is known by its own count and by the sum of its cells, which is as much noisier as it has cells.
	sum, size := make([]float64, len(runs)), make([]float64, len(runs))
	for i, x := range cells {
		sum[runOf(i, n)] += x
		size[runOf(i, n)]++
	}
	both := make([]float64, len(runs))
	for r := range both {
		both[r] = runs[r]
		if size[r] > 0 {
			both[r] = (runs[r]*size[r] + sum[r]) / (size[r] + 1)
		}
	}
	shrink.ProjectOntoSimplex(both, rows)
	rest := append([]float64(nil), cells...)
	for r, from := 0, 0; r < len(runs); r++ {
		to := from + int(size[r])
		shrink.ProjectOntoSimplex(rest[from:to], both[r])
		from = to
	}
	return halveAt(rest, bins, &a.fine)
}

// halveAt returns the edges of at most bins bins with about equally many rows, given the rows in fine ones.
func halveAt(rows []float64, bins int, fine *feature.Bins) (edges []float64) {
	for _, at := range feature.Halve(rows, bins) {
		edges = append(edges, fine.Edges[at-1])
	}
	return edges
}

// splitPairs adds the declared pairs of public columns to the public part, which is free. It returns
// the other pairs, which have a protected column.
func (pl *Plan) splitPairs() (protected [][2]int) {
	for _, p := range pl.schema.Pairs {
		if !slices.Contains(pl.public, p[0]) || !slices.Contains(pl.public, p[1]) {
			protected = append(protected, p)
		} else {
			pl.open = append(pl.open, pl.cutPair(p, nil))
		}
	}
	return protected
}

// cutPair divides both columns of a pair by the schema alone (1.1), a number into minBins unless its
// few whole values have a bin each, or, if counts determined edges of a column, at some of those. A missing or special number counts as the column's default.
func (pl *Plan) cutPair(p [2]int, found map[int][]float64) feature.Bins {
	cut := func(j int) feature.Bins {
		if edges, ok := found[j]; ok {
			c := pl.schema.Columns[j]
			c.Edges = edges
			return feature.NewBins(pl.schema, j, feature.Cuts(&c, minBins))
		}
		return pl.cutColumn(j, minBins)
	}
	return feature.Cross(cut(p[0]).WithoutMarks(), cut(p[1]).WithoutMarks())
}

// recutPairs divides the private pairs again after counts determined edges of columns.
func (f *fit) recutPairs() {
	found := map[int][]float64{}
	for _, a := range f.plan.counts.asking {
		found[a.fine.Column] = f.bins[a.index].Edges
	}
	for k := f.plan.columns; k < len(f.bins); k++ {
		f.bins[k] = f.plan.cutPair([2]int{f.bins[k].Column, f.bins[k].Second.Column}, found)
	}
}

// hasSlopes reports whether steps are to be interpolated: those of a number divided by its bounds.
// Declared edges are intended as steps; in counted bins the rows need not be in the middle; and a bin
// for a single whole number has no inside.
func hasSlopes(s *schema.Schema, bins *feature.Bins) bool {
	c := &s.Columns[bins.Column]
	return bins.Ordered() && len(c.Edges) == 0 && !c.Quantiles && !feature.Whole(c, bins.Len()-bins.Marks())
}

// drawSlopes interpolates from the middle of each bin to that of the next, on the column's scale, in steps of a fifth
// of a bin, because most effects do not jump at the edges of bins. If part is below 1, values move only that part of
// the way from the bin's own value to the line. It is post-processing, and free. values are by bin, each list
// separately. They may be standard deviations, because the standard deviation at a point between two is at most the
// mean of theirs, for any correlation.
func drawSlopes(s *schema.Schema, bins *feature.Bins, part float64, values ...[]float64) ([]float64, [][]float64) {
	c := &s.Columns[bins.Column]
	edges, finer := feature.Finer(c, bins.Edges, slopeParts), [][]float64(nil)
	at, to := feature.Middles(c, bins.Edges), feature.Middles(c, edges)
	for _, of := range values {
		out := make([]float64, len(to))
		for i, x := range to {
			k := sort.SearchFloat64s(at, x) // the first middle that is not before x
			switch {
			case k == 0:
				out[i] = of[0]
			case k == len(at):
				out[i] = of[k-1]
			default:
				way := (x - at[k-1]) / (at[k] - at[k-1])
				own := math.Round(way) // 0 or 1: bins are as wide as each other on this scale
				way = own + part*(way-own)
				// Rounding must not undo what follows a monotone column.
				a, b := of[k-1], of[k]
				out[i] = max(min(a, b), min(max(a, b), a+(b-a)*way))
			}
		}
		finer = append(finer, append(out, of[len(at):]...)) // those of marks stay
	}
	return edges, finer
}
