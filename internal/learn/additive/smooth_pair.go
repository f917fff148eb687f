// SPDX-License-Identifier: Apache-2.0

package additive

import (
	"math"

	"github.com/discreet-dp/discreet/internal/table/feature"
)

// pairReach is how far neighbours of a pair share, in parts of its columns' bins.
const pairReach = 0.3

// pair is exchangeable with blocks in place of single bins: bins of a pair share
// what exp(−distance) says, a distance being the sum of both columns', and share
// base alone where they differ in a category. So a block is all bins of two
// numbers, or those of a number under one level. One Cholesky factor for each.
func (w *weighed) pair(spread float64, bins *feature.Bins) posterior {
	n := len(w.diff)
	p := posterior{mean: make([]float64, n), variance: make([]float64, n)}
	blocks, near := blocksOf(bins)
	type solved struct{ chol, kernel, y, v []float64 } // y and v are L⁻¹diff and L⁻¹weight
	done := make([]solved, len(blocks))
	var a, b, quad, logs float64
	for k, block := range blocks {
		m := len(block)
		s := solved{make([]float64, m*m), make([]float64, m*m), make([]float64, m), make([]float64, m)}
		for i, at := range block {
			for j, other := range block {
				s.kernel[i*m+j] = spread * spread * near(at, other)
				s.chol[i*m+j] = w.weight[at] * w.weight[other] * s.kernel[i*m+j]
			}
			s.chol[i*m+i] += w.noise[at]
			s.y[i], s.v[i] = w.diff[at], w.weight[at]
		}
		logs += factor(s.chol, m)
		forward(s.chol, s.y)
		forward(s.chol, s.v)
		for i := range m {
			a += float64(s.v[i] * s.y[i])
			b += float64(s.v[i] * s.v[i])
			quad += float64(s.y[i] * s.y[i])
		}
		done[k] = s
	}
	shared := base * base / (1 + float64(base*base*b)) // posterior variance of the common part
	common := shared * a                               // and its mean
	for k, block := range blocks {
		s, m := done[k], len(block)
		z := make([]float64, m)
		for i, at := range block {
			for j, other := range block { // z = L⁻¹(weight ∘ kernel row i), as in ordered
				z[j] = w.weight[other] * s.kernel[i*m+j]
			}
			forward(s.chol, z)
			pull, own, held := 0.0, s.kernel[i*m+i], 1.0
			for j := range m {
				pull += float64(z[j] * (s.y[j] - float64(common*s.v[j])))
				own -= float64(z[j] * z[j])
				held -= float64(z[j] * s.v[j])
			}
			p.mean[at] = common + pull
			p.variance[at] = math.Max(own, 0) + float64(held*held*shared)
		}
	}
	p.evidence = -0.5*(quad-float64(shared*a*a)+math.Log1p(base*base*b)) - logs
	return p
}

// blocksOf parts the bins of a pair, and says what two bins of a block share.
func blocksOf(bins *feature.Bins) (blocks [][]int, near func(i, j int) float64) {
	first, second := *bins, bins.Second
	first.Second = nil
	at := map[[2]int]int{}
	place := func(b int) (x, y int) { return b / second.Len(), b % second.Len() }
	for b := range bins.Len() {
		x, y := place(b)
		if first.Ordered() {
			x = 0
		}
		if second.Ordered() {
			y = 0
		}
		k, ok := at[[2]int{x, y}]
		if !ok {
			k = len(blocks)
			at[[2]int{x, y}] = k
			blocks = append(blocks, nil)
		}
		blocks[k] = append(blocks[k], b)
	}
	reachX, reachY := pairReach*float64(first.Len()), pairReach*float64(second.Len())
	return blocks, func(i, j int) float64 {
		if i == j {
			return 1
		}
		x, y := place(i)
		u, v := place(j)
		return (1 - rough) * math.Exp(-math.Abs(float64(x-u))/reachX-math.Abs(float64(y-v))/reachY)
	}
}
