// SPDX-License-Identifier: Apache-2.0

package shrink

import (
	"math"
	"sync"

	"gonum.org/v1/gonum/floats"
)

// LabelVectors defines the contribution of a row's label to a release that is one vector: a function
// of the row's public cells, always of length 1. Let x be the row's bins and a 1, as zeros and ones,
// and P = L·Lᵀ the sum of x·xᵀ over rows plus a ridge. The vector has the direction of L⁻¹·x. Columns
// that are equal in most rows therefore take little of the length, a value that nearly all rows share
// takes almost none, and the ridge removes what is below the noise.
type LabelVectors struct {
	square  dense // P
	columns dense // L⁻¹, column after column
	weights []float64
	fit     *labelFit // its bins
}

const (
	// vectorRidge is the ridge in units of columns·noise²/rows, where noise is the standard deviation of the release.
	vectorRidge = 1000
	leastRidge  = 1e-3 // rows
	// unitLength is slightly less than 1, because a computed length has a rounding error.
	unitLength = 1 - 0x1p-30
)

// NewVectors uses rows and bins only, and no sums. deviation is the standard deviation of the noise on
// each number of the release.
func (s *LabelSums) NewVectors(deviation float64) *LabelVectors {
	f := newLabelFit(s)
	d, rows := f.width, 1.0
	for _, n := range s.Rows {
		rows += n
	}
	p := newDense(d+1, d+1)
	f.addSquares(p, s.Rows)
	ridge := math.Max(leastRidge, vectorRidge*float64(len(s.Sizes))*deviation*deviation/rows)
	for k, n := range s.Sizes {
		for i := range n {
			to := p.row(f.first[k] + i)[f.first[k]:]
			for j := range n {
				to[j] += ridge * f.inverse[k].row(i)[j]
			}
		}
	}
	p.row(d)[d] += leastRidge
	low := p.invertFactor()
	v := &LabelVectors{square: p, columns: newDense(d+1, d+1), weights: make([]float64, len(s.Rows)), fit: f}
	for i := range d + 1 {
		for j, x := range low.row(i)[:i+1] {
			v.columns.row(j)[i] = x
		}
	}
	return v
}

// Len returns the length of a vector.
func (v *LabelVectors) Len() int { return v.fit.width + 1 }

// Each calls do with the vector of each group's rows, of Euclidean length at most 1, in order. The
// vector is valid until do returns.
func (v *LabelVectors) Each(do func(g int, vector []float64)) {
	out := make([]float64, v.Len())
	for g := range v.weights {
		copy(out, v.columns.row(v.fit.width))
		for k, first := range v.fit.first {
			j := first + int(v.fit.Bins[k][g])
			floats.Add(out[j:], v.columns.row(j)[j:])
		}
		square := 0.0
		for _, x := range out {
			square += x * x
		}
		w := unitLength / math.Sqrt(square)
		if !(w > 0) || math.IsInf(w, 1) { // nothing is known of such a row, and nothing may leave
			w = 0
			clear(out)
		}
		for i := range out {
			out[i] *= w
		}
		v.weights[g] = w
		do(g, out)
	}
}

// sumsOf converts a release of vectors back to sums by bin, followed by the sum of all rows, with
// weighted rows. Noise with covariance I becomes noise with covariance L·Lᵀ = P.
func (v *LabelVectors) sumsOf(released []float64) []float64 {
	factor := v.square.factor()
	out := make([]float64, v.Len())
	for i := range out {
		for j, l := range factor.row(i)[:i+1] {
			out[i] += l * released[j]
		}
	}
	return out
}

// addSquares adds x·xᵀ of each group, times its weight, with a 1 after its bins. It processes two
// columns at a time, which have few bins together, and the groups in order.
func (f *labelFit) addSquares(to dense, weights []float64) {
	var columns sync.WaitGroup
	last := to.row(f.width)
	for k, first := range f.first {
		columns.Go(func() {
			for j, other := range f.first[:k+1] {
				bins, sums := f.Bins[k], to.a[first*to.n+other:]
				for g, b := range f.Bins[j] {
					sums[int(bins[g])*to.n+int(b)] += weights[g]
				}
			}
			for g, b := range f.Bins[k] {
				last[first+int(b)] += weights[g]
			}
		})
	}
	for _, w := range weights {
		last[f.width] += w
	}
	columns.Wait()
	to.mirror()
}
