// SPDX-License-Identifier: Apache-2.0

package statistic_test

import (
	"math"
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/engine/solver"
	. "github.com/discreet-dp/discreet/internal/table/engine/statistic"
)

// wide is the whole numbers of which each three of sums are parts, the lowest 44 bits first.
func wide(sums []int64) (out []*big.Int) {
	for part := range slices.Chunk(sums, 3) {
		w := big.NewInt(0)
		for k, x := range part {
			w.Add(w, new(big.Int).Lsh(big.NewInt(x), uint(44*k)))
		}
		out = append(out, w)
	}
	return out
}

// FuzzStatistics asks for the sums of solvers, too.
func init() {
	Outside["losses"] = Outsider{
		Draw: func(d *Drawn) engine.Statistic {
			sp := d.Space()
			l := solver.Losses{Space: sp, Rows: engine.Rows{Scale: 0.5, Norm: 0.25 + d.Float64()}, Coef: d.Numbers(sp.Width() + 1),
				Value: d.IntN(2) == 0, Hess: d.IntN(2) == 0, Halvings: d.IntN(3)}
			if d.IntN(2) == 0 {
				l.Loss.Huber = 0.5
			}
			if d.IntN(2) == 0 {
				l.Rows.Weights = []float64{1, 0.25, 0.5, 0}
			}
			return l
		},
		Bound: func(of engine.Statistic, label uint8, one []int64) bool {
			l := of.(solver.Losses)
			if !engine.Bounded(l.Space, l.Coef) {
				return true
			}
			u, square := engine.UnitsOf(l.Space, l.Loss, l.Rows, l.Rows.Largest()), 0.0
			for _, w := range wide(one[1:])[2:][:len(l.Coef)] {
				x, _ := new(big.Float).SetInt(w).Float64()
				square += math.Pow(math.Ldexp(x, u.Slope+engine.FeatureExp)*u.Scale, 2)
			}
			most := l.Rows.Largest()
			if l.Rows.Weights != nil {
				most = l.Rows.Weights[label]
			}
			return one[0] >= 0 && one[0] <= 1 && math.Sqrt(square) <= most*l.Rows.Norm*(1+1e-9)+1e-9
		},
		Same: func(a, b []int64) bool {
			same := func(x, y *big.Int) bool { return x.Cmp(y) == 0 }
			return a[0] == b[0] && slices.EqualFunc(wide(a[1:]), wide(b[1:]), same)
		},
	}
	Outside["right"] = Outsider{
		Draw: func(d *Drawn) engine.Statistic {
			sp := d.Space()
			return solver.Right{Space: sp, Coef: d.Numbers(sp.Width() + 1), Cuts: engine.Cuts{First: -1, Step: 0.25, Count: 1 + d.IntN(9)}}
		},
		Bound: func(_ engine.Statistic, _ uint8, one []int64) bool {
			return slices.Min(one) >= 0 && slices.Max(one) <= 1
		},
		Same: slices.Equal[[]int64],
	}
}
