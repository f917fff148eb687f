// SPDX-License-Identifier: Apache-2.0

package additive

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/feature"
	"github.com/discreet-dp/discreet/mech"
	"github.com/discreet-dp/discreet/schema"
)

// Where the schema asks for it, the bins of private numbers follow from one
// release before the rounds: the rows in many fine cells of each number and in
// runs of those. Cutting the cells is then post-processing.

const (
	fineCells = 4096 // of a number, at most
	fineRuns  = 16   // of them, counted too: sums over many cells would add up their noise
	// maxCounts bounds the release, as the length of Gaussian noise is.
	maxCounts = 1 << 20
)

// asking is a private number whose bins follow from the release.
type asking struct {
	k    int          // index into Plan.private
	fine feature.Bins // what is counted
}

// run is the run of fine cell i of n.
func run(i, n int) int { return i * fineRuns / n }

// bins is what the schema says about column j, and what the release counts where
// it asks for more; nil where it does not. Declared groups are free, and so is a
// number of so few values that each has a bin.
func (pl *Plan) bins(j int) (bins feature.Bins, fine *feature.Bins) {
	c := &pl.s.Columns[j]
	bins = feature.NewBins(pl.s, j, feature.Cuts(c, pl.rules.bins)) // 1.1
	switch {
	case len(c.Groups) > 0:
		return grouped(c, j), nil
	case c.Quantiles:
		if cells := feature.NewBins(pl.s, j, feature.Cuts(c, fineCells)); cells.Len() > bins.Len() {
			return bins, &cells
		}
	}
	return bins, nil
}

// grouped is the declared groups of column j, a category.
func grouped(c *schema.Column, j int) feature.Bins {
	of, n := c.Grouping()
	return feature.NewGroups(j, of, n)
}

// moves is how far a row moves the counts when it appears: it lies in one cell of
// each column and in one run. Both the L1 distance and the square of the L2
// distance are that many, for they move by 1 each.
func (pl *Plan) moves() int { return 2 * len(pl.asking) }

// checkCounts refuses a release that is too long.
func (pl *Plan) checkCounts() error {
	n := 0
	for i := range pl.asking {
		n += pl.asking[i].fine.Len() + fineRuns
	}
	if n > maxCounts {
		return &dp.ParamError{Op: "additive", Param: "schema", Want: fmt.Sprintf("must ask for bins by at most %d counts", maxCounts), Got: n, Hint: "leave bins: quantiles out of some columns"}
	}
	return nil
}

// countNoise is for the counts of all asking columns in one vector (1.8).
func (pl *Plan) countNoise(size int) mech.Mechanism {
	moved := step(pl.s.Relation) * float64(pl.moves())
	switch {
	case pl.NotPrivate:
		return mech.NoNoise{}
	case pl.counts.rho > 0:
		return mech.Sized(mech.GaussianFor(pl.counts.rho, math.Nextafter(math.Sqrt(moved), math.Inf(1)), size))
	}
	return mech.Sized(mech.LaplaceFor(pl.counts.eps, moved, size))
}

// cut counts what asking columns need and returns pl with their bins. rows is how
// many rows there are, as far as that is public or released.
func (pl *Plan) cut(ctx context.Context, tab engine.Table, exit *mech.Exit, rows float64) (*Plan, error) {
	if len(pl.asking) == 0 {
		return pl, nil
	}
	fine := make([]feature.Bins, len(pl.asking))
	for i := range pl.asking {
		fine[i] = pl.asking[i].fine
	}
	cells, err := tab.Cells(ctx, nil, fine)
	if err != nil {
		return nil, err
	}
	values := pl.count(cells)
	out := exit.Release(countsLabel, pl.countNoise(len(values)), values...) // 1.8: rows meet noise
	done := *pl
	done.private = slices.Clone(pl.private)
	for i := range pl.asking {
		a := &pl.asking[i]
		to := fineRuns + a.fine.Len()
		done.private[a.k] = pl.quantiles(a, out[:fineRuns], out[fineRuns:to], rows)
		out = out[to:]
	}
	return &done, nil
}

// count lists, for each asking column, the rows in its runs and in its cells.
func (pl *Plan) count(cells []engine.CellSums) (values []mech.Ratio) {
	for i := range pl.asking {
		n, first := pl.asking[i].fine.Len(), len(values)
		for range fineRuns {
			values = append(values, mech.Ratio{Den: 1})
		}
		for b := range n {
			rows := int64((cells[i].Positive[b] + cells[i].Negative[b]) / engine.WeightOne)
			values[first+run(b, n)].Num += rows
			values = append(values, mech.Ratio{Num: rows, Den: 1})
		}
	}
	return values
}

// quantiles cuts a number where about equally many rows lie between, by its noisy
// runs and cells. Where that tells nothing the schema's bins remain.
func (pl *Plan) quantiles(a *asking, runs, cells []float64, rows float64) feature.Bins {
	n := len(cells)
	// A run is known by its own count and by the sum of its cells, which is as much
	// noisier as it has cells.
	sum, size := make([]float64, len(runs)), make([]float64, len(runs))
	for i, x := range cells {
		sum[run(i, n)] += x
		size[run(i, n)]++
	}
	both := make([]float64, len(runs))
	for r := range both {
		both[r] = runs[r]
		if size[r] > 0 {
			both[r] = (float64(runs[r]*size[r]) + sum[r]) / (size[r] + 1)
		}
	}
	nearest(both, rows)
	rest := append([]float64(nil), cells...)
	for r, from := 0, 0; r < len(runs); r++ {
		to := from + int(size[r])
		nearest(rest[from:to], both[r])
		from = to
	}
	var edges []float64
	for _, at := range feature.Halve(rest, pl.rules.bins) {
		edges = append(edges, a.fine.Edges[at-1])
	}
	if len(edges) == 0 {
		return pl.private[a.k]
	}
	return feature.NewBins(pl.s, a.fine.Column, edges)
}

// nearest overwrites noisy counts with the nearest ones, in the sum of squares,
// that are not negative and add up to total: all fall by the same, those that
// would fall below 0 stay there. What noise alone put into many empty cells is
// gone then.
func nearest(counts []float64, total float64) {
	if !(total > 0) {
		clear(counts)
		return
	}
	sorted := slices.SortedFunc(slices.Values(counts), func(a, b float64) int { return cmp.Compare(b, a) })
	sum, fall := 0.0, 0.0
	for i, x := range sorted {
		sum += x
		by := (sum - total) / float64(i+1)
		if x <= by {
			break
		}
		fall = by
	}
	for i, x := range counts {
		counts[i] = math.Max(0, x-fall)
	}
}

const countsLabel = "rows by fine bin"
