// SPDX-License-Identifier: Apache-2.0

package additive

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/internal/guard"
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
		if r.cells, err = r.guard.Cells(ctx, &r.weighing, r.bins, guard.FullCaps); err != nil {
			return err
		}
		r.from = 0
		k, more, err := r.pickByLeftover()
		if err != nil || !more {
			return err
		}
		c, err := r.measureWeights(fmt.Sprintf("cells of step %d", step+1), guard.Share{}, k)
		if err != nil {
			return err
		}
		r.learnShape(k, c, wholeStep)
	}
	return nil
}

// pickByLeftover chooses the column or pair of which most is left, without privacy, and reports
// whether that is more than chance leaves.
func (r *binaryFit) pickByLeftover() (k int, more bool, err error) {
	most := math.Inf(-1)
	for i := range r.bins {
		cells, err := r.guard.Exact(r.cells.Part(i))
		if err != nil {
			return 0, false, err
		}
		if left := measureLeftover(cells); left > most {
			k, most = i, left
		}
	}
	return k, most > 0, nil
}

// measureLeftover is how much more the cells are out of balance than chance leaves them: the sum
// over cells of (positive − negative)²/(positive + negative), which is about 1 in each if nothing is
// left, minus that 1. cells are the positive and the negative weight of each.
func measureLeftover(cells []float64) (sum float64) {
	for b := 0; b < len(cells); b += 2 {
		if p, q := cells[b], cells[b+1]; p+q > 0 {
			sum += (p-q)*(p-q)/(p+q) - 1
		}
	}
	return sum
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
