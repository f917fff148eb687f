// SPDX-License-Identifier: Apache-2.0

package shrink

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
)

// spreadPulls is by how much coefficients move where the logarithms of the spreads do that a pass
// began with: by column, covariance·R·coef/spread, R being the inverse of the column's correlation.
func (f *labelFit) spreadPulls(c *labelCurve) dense {
	out := newDense(len(f.Sizes), f.width+1)
	for k, first := range f.first {
		to := out.row(k)
		for i, p := range f.pullOf(k) {
			for b, v := range c.covariance.row(first + i) {
				to[b] += v * p / c.spread[k]
			}
		}
	}
	return out
}

// pullOf is R·coef of a column.
func (f *labelFit) pullOf(k int) []float64 {
	out := make([]float64, f.Sizes[k])
	for i := range out {
		for j, x := range f.inverse[k].row(i) {
			out[i] += x * f.coef[f.first[k]+j]
		}
	}
	return out
}

// followSpreads works out by how much the logarithms of the spreads that a pass has found move with
// the sums: those are found from the coefficients and their covariance, and both follow the sums
// and the spreads that the pass began with.
func (f *labelFit) followSpreads(c *labelCurve) dense {
	d, columns := f.width+1, len(f.Sizes)
	pulls, along := f.spreadPulls(c), newDense(d, columns)
	alike := newDense(d, d) // R·covariance
	for k, n := range f.Sizes {
		first := f.first[k]
		blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, f.inverse[k].all(), c.covariance.block(first, 0, n, d), 0,
			alike.block(first, 0, n, d))
		for i, x := range pulls.row(k) {
			along.row(i)[k] = c.spread[k] * x
		}
	}
	gain := f.gainAlong(c, along)
	follows := newDense(columns, len(c.rest))
	after := newDense(columns, columns) // by how much spreads follow those that the pass began with
	for k, n := range f.Sizes {
		s := f.spread[k]
		if s <= leastSpread*leastSpread || s >= largestSpread*largestSpread {
			continue
		}
		for m := range c.rest {
			follows.row(k)[m] = 2 * gain.row(m)[k] / (s * float64(n))
		}
		pull := f.pullOf(k)
		for j := range columns {
			by := 0.0
			for i := range n {
				at := f.first[k] + i
				by += 2 * pull[i] * pulls.row(j)[at]
				for b := f.first[j]; b < f.first[j]+f.Sizes[j]; b++ {
					by += alike.row(at)[b] * alike.row(b)[at] / c.spread[j]
				}
			}
			after.row(k)[j] = by / (s * float64(n))
		}
	}
	follows.addProduct(blas.NoTrans, after, c.follows)
	return follows
}

// gainAlong is by how much weighed sums of coefficients move with what was released, by sum, where
// the spreads do not: along has in a column those weights times the posterior's covariance.
// Coefficients are that covariance·curve·about⁻¹ times what was released.
func (f *labelFit) gainAlong(c *labelCurve, along dense) dense {
	half := newDense(len(c.rest), along.n)
	half.addProduct(blas.NoTrans, c.half, along)
	out := newDense(len(c.rest), along.n)
	out.addProduct(blas.Trans, c.low, half)
	return out
}

// gainOf is by how much coefficients move with the sums as the last pass made them, also by way of
// the spreads: by sum, then coefficient.
func (f *labelFit) gainOf() [][]float64 {
	c := f.last
	gain := f.gainAlong(c, c.covariance)
	gain.addProduct(blas.Trans, c.follows, f.spreadPulls(c))
	return slices.Collect(slices.Chunk(gain.a, gain.n))
}

// movedCoefficients is the covariance that noise alone has in the coefficients: K·N·Kᵀ, where those
// move by K with the sums and N is the covariance of the noise on the sums.
func (f *labelFit) movedCoefficients() dense { return f.splitNoise(f.gainOf()).squares() }

// splitNoise is Bᵀ·of, where the noise on the sums has covariance B·Bᵀ.
func (f *labelFit) splitNoise(of [][]float64) dense {
	out := dense{f.width + 1, slices.Concat(of...)}
	if f.Vectors == nil {
		for k, n := range f.Sizes {
			for i := f.first[k]; i < f.first[k]+n; i++ {
				floats.Scale(math.Sqrt(f.Noise[k]), out.row(i))
			}
		}
		return out
	}
	factor := f.Vectors.square.factor()
	floats.Scale(math.Sqrt(f.Variance), factor.a)
	split := newDense(out.n, out.n)
	split.addProduct(blas.Trans, factor, out)
	return split
}

// rowVariance is the variance of the score of a group's rows, where of is the coefficients'
// covariance.
func (f *labelFit) rowVariance(of dense, g int) (variance float64) {
	variance = of.row(f.width)[f.width]
	for k, first := range f.first {
		row := of.row(first + int(f.Bins[k][g]))
		variance += row[first+int(f.Bins[k][g])] + 2*row[f.width]
		for j, other := range f.first[:k] {
			variance += 2 * row[other+int(f.Bins[j][g])]
		}
	}
	return math.Max(0, variance)
}

const (
	sharePasses = 30
	// shareGroups is how many groups of rows are enough to say how variances are shared out.
	shareGroups = 4000
	// leastShare of the mean variance is stated of every group that is looked at.
	leastShare = 1e-6
)

// Moved is what to state of each step, by column, then bin, so that over the bins of a row it adds
// up to about the variance that noise alone has in its score. Columns that say the same take back
// each other's noise, so no sum is right for every row: what is found makes scores likeliest, taken
// for normal.
func (l *LabelFit) Moved() (out [][]float64) {
	f := l.of
	all := f.movedByBin()
	for k, n := range f.Sizes {
		out = append(out, all[f.first[k]:][:n])
	}
	return out
}

// movedByBin is Moved, column after column.
func (f *labelFit) movedByBin() []float64 {
	of := f.movedCoefficients()
	out := make([]float64, f.width)
	var groups []int
	var scores []float64
	all, mean, apart := 0.0, 0.0, 0.0
	for g := 0; g < len(f.Rows); g += 1 + len(f.Rows)/shareGroups {
		n, v := f.Rows[g], f.rowVariance(of, g)
		groups, scores = append(groups, g), append(scores, v)
		all, mean = all+n, mean+n*v
		for k, first := range f.first {
			i := first + int(f.Bins[k][g])
			apart += n * of.row(i)[i]
		}
	}
	if !(mean > 0 && apart > 0) {
		return out
	}
	for i := range out {
		out[i] = of.row(i)[i] * mean / apart
	}
	for i, v := range scores {
		scores[i] = math.Max(v, leastShare*mean/all)
	}
	for range sharePasses {
		f.improveShares(out, groups, scores)
	}
	return out
}

// statedOf adds up what is stated of the bins of a group.
func (f *labelFit) statedOf(shares []float64, g int) (sum float64) {
	for k, first := range f.first {
		sum += shares[first+int(f.Bins[k][g])]
	}
	return sum
}

// improveShares makes the groups' scores of such variances likelier under what is stated of bins:
// one step of multiplications, which leave nothing negative (Févotte and Idier 2011).
func (f *labelFit) improveShares(shares []float64, groups []int, scores []float64) {
	above, below := make([]float64, f.width), make([]float64, f.width)
	for i, g := range groups {
		stated := f.statedOf(shares, g)
		for k, first := range f.first {
			b := first + int(f.Bins[k][g])
			above[b] += f.Rows[g] * scores[i] / (stated * stated)
			below[b] += f.Rows[g] / stated
		}
	}
	for b := range shares {
		if below[b] > 0 {
			shares[b] *= math.Sqrt(above[b] / below[b])
		}
	}
}
