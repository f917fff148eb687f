// SPDX-License-Identifier: Apache-2.0

package additive

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Without privacy looking is free, and noise does not ask for few bins: after the
// rounds, the column or pair of which most is left is fitted, again and again,
// until no more is left of any than chance leaves. Rows then say what the sum of
// step functions can be, not what a price buys of it.

const (
	mostGreedy  = 200 // steps
	mostCrossed = 25  // columns, those that say most: all pairs of them are looked at
	// A number has a bin for so many rows, from maxBins to greedyBins of them.
	rowsForBin     = 64
	greedyBins     = 128
	greedyPairBins = 16 // of a number in a pair
)

// greedily adds to what the rounds have fitted. It is for plans without privacy
// alone.
func (r *rounds) greedily(ctx context.Context) error {
	r.addCandidates()
	for step := range mostGreedy {
		sums, err := r.tab.Cells(ctx, r.score, r.pl.private)
		if err != nil {
			return err
		}
		left := make([]mech.Ratio, len(sums))
		for k := range sums {
			left[k] = mech.Ratio{Num: leftover(&sums[k]), Den: engine.WeightOne}
		}
		k := r.exit.Select(fmt.Sprintf("most left at step %d", step+1), mech.NoNoise{}, left)
		if left[k].Num <= 0 {
			return nil
		}
		r.sums = sums
		r.learn(k, r.let(fmt.Sprintf("cells of step %d", step+1), mech.NoNoise{}, k, [2]int64{engine.WeightOne, engine.WeightOne}), pass{keep: 1, trust: 1})
	}
	return nil
}

// leftover is how much more the cells are out of balance than chance leaves
// them: the sum over cells of (positive − negative)²/(positive + negative), which
// is about 1 in each where nothing is left, minus that 1; in units of
// 1/engine.WeightOne.
func leftover(c *engine.CellSums) int64 {
	sum := 0.0
	for b := range c.Positive {
		p, q := float64(c.Positive[b])/engine.WeightOne, float64(c.Negative[b])/engine.WeightOne
		if p+q > 0 {
			sum += (p-q)*(p-q)/(p+q) - 1
		}
	}
	return int64(sum * engine.WeightOne)
}

// addCandidates adds all pairs of the columns that say most to what may be
// fitted, but those that are there. A column that the model must follow is in none.
func (r *rounds) addCandidates() {
	pl := *r.pl
	var order []int
	for k := range pl.columns {
		if pl.s.Columns[pl.private[k].Column].Monotone == schema.Free {
			order = append(order, k)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(meanSize(r.fit[b].steps), meanSize(r.fit[a].steps))
	})
	order = order[:min(len(order), mostCrossed)]
	slices.Sort(order)
	pl.private = slices.Clone(pl.private)
	for i, a := range order {
		for _, b := range order[:i] {
			p := [2]int{pl.private[b].Column, pl.private[a].Column}
			pair := pl.crossed(p)
			if slices.Contains(pl.s.Pairs, p) || slices.Contains(pl.s.Pairs, [2]int{p[1], p[0]}) || pair.Len() > schema.MaxPairCells {
				continue
			}
			pl.private = append(pl.private, pair)
			n := pair.Len()
			r.fit = append(r.fit, shape{steps: make([]float64, n), seen: make([]float64, n), variance: make([]float64, n)})
		}
	}
	r.pl = &pl
}

func meanSize(steps []float64) (mean float64) {
	for _, s := range steps {
		mean += math.Abs(s) / float64(len(steps))
	}
	return mean
}

// greedyBinsFor is how many bins a number has without privacy.
func greedyBinsFor(rows int) int {
	n := maxBins
	for n < greedyBins && rows >= 2*n*rowsForBin {
		n *= 2
	}
	return n
}
