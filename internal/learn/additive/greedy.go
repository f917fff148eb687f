// SPDX-License-Identifier: Apache-2.0

package additive

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Without privacy looking is free, and noise does not ask for few bins: after the rounds, the
// column or pair of which most is left is fitted, again and again, until no more is left of any
// than chance leaves. Rows then say what the sum of step functions can be, not what a price buys of
// it.

const (
	mostGreedy  = 200 // steps
	mostCrossed = 25  // columns, those that say most: all pairs of them are looked at
	// A number has a bin for so many rows, from maxBins to greedyBins of them.
	rowsForBin     = 64
	greedyBins     = 128
	greedyPairBins = 16 // of a number in a pair
)

// fitGreedily adds to what the rounds have fitted. It is for plans without privacy alone.
func (r *binaryFit) fitGreedily(ctx context.Context) error {
	r.addCandidates()
	for step := range mostGreedy {
		var err error
		if r.sums, err = r.table.Cells(ctx, &r.weighing, r.bins); err != nil {
			return err
		}
		k, more := r.pickByLeftover(step)
		if !more {
			return nil
		}
		full := [2]int64{engine.WeightOne, engine.WeightOne}
		r.learnShape(k, r.releaseWeights(fmt.Sprintf("cells of step %d", step+1), price{}, k, full), wholeStep)
	}
	return nil
}

// measureLeftover is how much more the cells are out of balance than chance leaves them: the sum
// over cells of (positive − negative)²/(positive + negative), which is about 1 in each where
// nothing is left, minus that 1; in units of 1/engine.WeightOne.
func measureLeftover(c *engine.CellSums) int64 {
	sum := 0.0
	for b := range c.Positive {
		p, q := float64(c.Positive[b])/engine.WeightOne, float64(c.Negative[b])/engine.WeightOne
		if p+q > 0 {
			sum += (p-q)*(p-q)/(p+q) - 1
		}
	}
	return int64(sum * engine.WeightOne)
}

// addCandidates adds all pairs of the columns that say most to what may be fitted, but those that
// are there. A column that the model must follow is in none.
func (r *binaryFit) addCandidates() {
	s := r.plan.schema
	var order []int
	for k := range r.plan.columns {
		if s.Columns[r.bins[k].Column].Monotone == schema.Free {
			order = append(order, k)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(meanSize(r.shapes[b].steps), meanSize(r.shapes[a].steps))
	})
	order = order[:min(len(order), mostCrossed)]
	slices.Sort(order)
	for i, a := range order {
		for _, b := range order[:i] {
			p := [2]int{r.bins[b].Column, r.bins[a].Column}
			declared := slices.Contains(s.Pairs, p) || slices.Contains(s.Pairs, [2]int{p[1], p[0]})
			if pair := r.plan.cutPair(p, nil); !declared && pair.Len() <= schema.MaxPairCells {
				r.bins = append(r.bins, pair)
				r.shapes = append(r.shapes, newBinaryShape(pair.Len()))
			}
		}
	}
}

func meanSize(steps []float64) (mean float64) {
	for _, s := range steps {
		mean += math.Abs(s) / float64(len(steps))
	}
	return mean
}

// countGreedyBins is how many bins a number has without privacy.
func countGreedyBins(rows int) int {
	n := maxBins
	for n < greedyBins && rows >= 2*n*rowsForBin {
		n *= 2
	}
	return n
}
