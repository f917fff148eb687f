// SPDX-License-Identifier: Apache-2.0

package shrink

import (
	"math"
	"slices"

	"github.com/discreet-dp/discreet/internal/table/feature"
)

// pairReach is how far neighbours of a pair share, in parts of its columns' bins.
const pairReach = 0.3

// posteriorOfPair is posteriorOfExchangeable with blocks in place of single bins: bins of a pair
// share what exp(−distance) says, a distance being the sum of both columns', and share the common
// part alone where they differ in a category. So a block is all bins of two numbers, or those of a
// number under one level. One Cholesky factor for each.
func (o *observations) posteriorOfPair(spread float64, bins *feature.Bins) posterior {
	out := newPosterior(len(o.diff))
	blocks, correlation := splitBlocks(bins)
	type block struct{ factor, kernel, y, v []float64 } // y and v are L⁻¹diff and L⁻¹weight
	solved := make([]block, len(blocks))
	var a, b, quad, logs float64
	for k, members := range blocks {
		m := len(members)
		s := block{make([]float64, m*m), make([]float64, m*m), make([]float64, m), make([]float64, m)}
		for i, at := range members {
			for j, other := range members {
				s.kernel[i*m+j] = spread * spread * correlation(at, other)
				s.factor[i*m+j] = o.weight[at] * o.weight[other] * s.kernel[i*m+j]
			}
			s.factor[i*m+i] += o.noise[at]
			s.y[i], s.v[i] = o.diff[at], o.weight[at]
		}
		logs += factorCholesky(s.factor, m)
		solveLower(s.factor, s.y)
		solveLower(s.factor, s.v)
		for i := range m {
			a += s.v[i] * s.y[i]
			b += s.v[i] * s.v[i]
			quad += s.y[i] * s.y[i]
		}
		solved[k] = s
	}
	variance := commonVariance / (1 + commonVariance*b) // of the common part, after the observations
	mean := variance * a
	for k, members := range blocks {
		s, m := solved[k], len(members)
		z := make([]float64, m)
		for i, at := range members {
			for j, other := range members { // z = L⁻¹(weight ∘ kernel row i), as in conditionOn
				z[j] = o.weight[other] * s.kernel[i*m+j]
			}
			solveLower(s.factor, z)
			pull, own, held := 0.0, s.kernel[i*m+i], 1.0
			for j := range m {
				pull += z[j] * (s.y[j] - mean*s.v[j])
				own -= z[j] * z[j]
				held -= z[j] * s.v[j]
			}
			out.mean[at] = mean + pull
			out.square[at] = math.Max(own, 0) + held*held*variance + out.mean[at]*out.mean[at]
		}
	}
	out.evidence = -0.5*(quad-variance*a*a+math.Log1p(commonVariance*b)) - logs
	return out
}

// splitBlocks divides the bins of a pair into blocks, and returns the correlation of two bins of
// one.
func splitBlocks(bins *feature.Bins) (blocks [][]int, correlation func(i, j int) float64) {
	first, second := *bins, bins.Second
	first.Second = nil
	split := func(b int) (x, y int) { return b / second.Len(), b % second.Len() }
	blocks = make([][]int, bins.Len()) // by first member
	for b := range blocks {
		x, y := split(b)
		if first.Ordered() {
			x = 0
		}
		if second.Ordered() {
			y = 0
		}
		k := x*second.Len() + y
		blocks[k] = append(blocks[k], b)
	}
	blocks = slices.DeleteFunc(blocks, func(members []int) bool { return members == nil })
	reachX, reachY := pairReach*float64(first.Len()), pairReach*float64(second.Len())
	return blocks, func(i, j int) float64 {
		if i == j {
			return 1
		}
		x, y := split(i)
		u, v := split(j)
		return (1 - rough) * math.Exp(-math.Abs(float64(x-u))/reachX-math.Abs(float64(y-v))/reachY)
	}
}
