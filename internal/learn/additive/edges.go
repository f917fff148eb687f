// SPDX-License-Identifier: Apache-2.0

package additive

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/internal/privacy/dp"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// counting is one release before the rounds, from which the bins of private
// numbers follow where the schema asks for it: the rows in many fine cells of
// each number and in runs of those. Cutting the cells is then post-processing.
type counting struct {
	s      *schema.Schema
	bins   int // of a number, at most
	exact  bool
	asking []asking
	vain   int     // columns that ask where counts would tell too little
	share  float64 // of the price
	price  part
}

// asking is a private number whose bins follow from the counts.
type asking struct {
	k    int          // index into the private columns
	fine feature.Bins // what is counted
}

const (
	fineCells = 4096 // of a number, at most
	fineRuns  = 16   // of them, counted too: sums over many cells would add up their noise
	// maxCounts bounds the release, as the length of Gaussian noise is.
	maxCounts = 1 << 20
)

// run is the run of fine cell i of n.
func run(i, n int) int { return i * fineRuns / n }

// newCounting returns the bins of columns cols that follow from the schema, and
// what would be counted for those that ask for more. Declared groups are free,
// and so is a number of so few values that each has a bin.
func newCounting(s *schema.Schema, cols []int, bins int, exact bool) (private []feature.Bins, c counting, err error) {
	c = counting{s: s, bins: bins, exact: exact}
	counts := 0
	for k, j := range cols {
		col := &s.Columns[j]
		own := feature.NewBins(s, j, feature.Cuts(col, bins)) // 1.1
		switch {
		case len(col.Groups) > 0:
			own = grouped(col, j)
		case col.Quantiles:
			if fine := feature.NewBins(s, j, feature.Fine(col, fineCells)); fine.Len() > own.Len() {
				c.asking = append(c.asking, asking{k, fine})
				counts += fine.Len() + fineRuns
			}
		}
		private = append(private, own)
	}
	if counts > maxCounts {
		err = &dp.ParamError{Op: "additive", Param: "schema", Want: fmt.Sprintf("must ask for bins by at most %d counts", maxCounts), Got: counts, Hint: "leave bins: quantiles out of some columns"}
	}
	return private, c, err
}

// grouped is the declared groups of column j, a category.
func grouped(c *schema.Column, j int) feature.Bins {
	of, n := c.Grouping()
	return feature.NewGroups(j, of, n)
}

// moves is how far the counts move between neighbours: a row lies in one cell of
// each column and in one run. Both the L1 distance and the square of the L2
// distance are that many, for they move by 1 each.
func (c *counting) moves() float64 { return step(c.s.Relation) * float64(2*len(c.asking)) }

// buy settles the share of the price; where that would tell too little, nobody
// asks any more. rho is what (ε, δ) buys; it counts where noise is Gaussian. few
// is tooFew.
func (c *counting) buy(eps dp.Epsilon, rho float64, rows int, gaussian, few bool) {
	if !gaussian {
		rho = 0
	}
	if len(c.asking) > 0 && !c.exact && !few {
		c.share = countShare(eps, rho, rows, c.moves(), c.bins)
	}
	if c.share == 0 && !c.exact {
		c.vain, c.asking = len(c.asking), nil
	}
}

// noise is for the counts of all asking columns in one vector (1.8).
func (c *counting) noise(size int) mech.Mechanism {
	switch {
	case c.exact:
		return mech.NoNoise{}
	case c.price.rho > 0:
		return mech.Sized(mech.GaussianFor(c.price.rho, math.Nextafter(math.Sqrt(c.moves()), math.Inf(1)), size))
	}
	return mech.Sized(mech.LaplaceFor(c.price.eps, c.moves(), size))
}

// cut counts, and returns private with the bins that follow. rows is how many
// there are, as far as that is public or released.
func (c *counting) cut(ctx context.Context, tab engine.Table, exit *mech.Exit, private []feature.Bins, rows float64) ([]feature.Bins, error) {
	if len(c.asking) == 0 {
		return private, nil
	}
	fine := make([]feature.Bins, len(c.asking))
	for i := range c.asking {
		fine[i] = c.asking[i].fine
	}
	if c.s.Classes() > 2 { // whatever the label: only its rows together count
		tab = tab.Against(0)
	}
	cells, err := tab.Cells(ctx, nil, fine)
	if err != nil {
		return nil, err
	}
	values := counts(cells)
	out := exit.Release(countsLabel, c.noise(len(values)), values...) // 1.8: rows meet noise
	private = slices.Clone(private)
	for i := range c.asking {
		a := &c.asking[i]
		to := fineRuns + a.fine.Len()
		if edges := a.edges(c.bins, out[:fineRuns], out[fineRuns:to], rows); len(edges) > 0 { // else they tell nothing
			private[a.k] = feature.NewBins(c.s, a.fine.Column, edges)
		}
		out = out[to:]
	}
	return private, nil
}

// counts lists, for each asking column, the rows in its runs and in its cells.
func counts(cells []engine.CellSums) (values []mech.Ratio) {
	for i := range cells {
		n, first := len(cells[i].Positive), len(values)
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

// edges cut a number into at most bins bins where about equally many rows lie
// between, by its noisy runs and cells.
func (a *asking) edges(bins int, runs, cells []float64, rows float64) (edges []float64) {
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
	for _, at := range feature.Halve(rest, bins) {
		edges = append(edges, a.fine.Edges[at-1])
	}
	return edges
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
