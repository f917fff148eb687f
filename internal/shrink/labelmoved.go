// SPDX-License-Identifier: Apache-2.0

package shrink

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// shareGroups is how many groups of rows, or a few more, are enough to say how variances are shared out.
const shareGroups = 128

// Moved is what to state of each step, by column, then bin, so that over the bins of a row it adds
// up to about the variance that noise alone has in its score: of each column the same, and by how much
// that of rows in a bin differs from that of all.
func (l *LabelFit) Moved() (out [][]float64) {
	f := l.of
	rows, sum := make([][]float64, len(f.Sizes)), make([][]float64, len(f.Sizes))
	for k, n := range f.Sizes {
		rows[k], sum[k] = make([]float64, n), make([]float64, n)
	}
	seen, all := 1e-300, 0.0
	for g := 0; g < len(f.Rows); g += 1 + len(f.Rows)/shareGroups {
		n, moved := f.Rows[g], f.movedScore(g)
		seen, all = seen+n, all+n*moved
		for k, bins := range f.Bins {
			rows[k][bins[g]] += n
			sum[k][bins[g]] += n * moved
		}
	}
	mean := all / seen
	each := mean / float64(len(f.Sizes))
	for k, n := range f.Sizes {
		moved := make([]float64, n)
		for b := range moved {
			if moved[b] = each; rows[k][b] > 0 { // that bins go together may hide much of one's part
				moved[b] = math.Max(each/4, each+sum[k][b]/rows[k][b]-mean)
			}
		}
		out = append(out, moved)
	}
	return out
}

// movedScore is the variance that noise alone has in the score of a group's rows: that of xᵀ·K·noise,
// K being how far coefficients move with the sums while the spreads stay, covariance·curveᵀ·(L·Lᵀ)⁻¹.
func (f *labelFit) movedScore(g int) (variance float64) {
	x := make([]float64, f.width+1)
	x[f.width] = 1
	for k, first := range f.first {
		x[first+int(f.Bins[k][g])] = 1
	}
	pull := f.about.solveTransposed(f.half.times(f.low.timesTransposed(f.low.times(x))))
	if f.Vectors != nil {
		return f.Variance * floats.Dot(pull, f.Vectors.square.times(pull))
	}
	for k, first := range f.first {
		for _, p := range pull[first : first+f.Sizes[k]] {
			variance += f.Noise[k] * p * p
		}
	}
	return variance
}
