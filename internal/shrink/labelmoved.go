// SPDX-License-Identifier: Apache-2.0

package shrink

import (
	"math"
	"slices"
)

// spreadPulls is by how much coefficients move where the logarithms of the spreads do that a pass
// began with: by column, covariance·R·coef/spread, R being the inverse of the column's correlation.
func (f *labelFit) spreadPulls(c *labelCurve) [][]float64 {
	out := make([][]float64, len(f.Sizes))
	for k, first := range f.first {
		out[k] = make([]float64, f.width+1)
		for i, p := range f.pullOf(k) {
			for b, v := range c.covariance.row(first + i) {
				out[k][b] += v * p / c.spread[k]
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
func (f *labelFit) followSpreads(c *labelCurve) (follows [][]float64) {
	d, pulls := f.width, f.spreadPulls(c)
	alike := newDense(d) // R·covariance
	for k, n := range f.Sizes {
		for i := range n {
			to := alike.row(f.first[k] + i)
			for j, x := range f.inverse[k].row(i) {
				if x == 0 {
					continue
				}
				for b, v := range c.covariance.row(f.first[k] + j)[:d] {
					to[b] += x * v
				}
			}
		}
	}
	for k, n := range f.Sizes {
		own := make([]float64, len(c.rest))
		follows = append(follows, own)
		s := f.spread[k]
		if s <= leastSpread*leastSpread || s >= largestSpread*largestSpread {
			continue
		}
		pull := f.pullOf(k)
		for m, x := range f.gainAlong(c, ScaleAll(pulls[k], c.spread[k])) {
			own[m] = 2 * x / (s * float64(n))
		}
		for j, before := range c.follows {
			by := 0.0
			for i := range n {
				at := f.first[k] + i
				by += 2 * pull[i] * pulls[j][at]
				for b := f.first[j]; b < f.first[j]+f.Sizes[j]; b++ {
					by += alike.row(at)[b] * alike.row(b)[at] / c.spread[j]
				}
			}
			for m, x := range before {
				own[m] += by / (s * float64(n)) * x
			}
		}
	}
	return follows
}

// gainAlong is by how much a weighed sum of coefficients moves with what was released, where the
// spreads do not: along is those weights times the posterior's covariance. Coefficients are that
// covariance·curve·about⁻¹ times what was released.
func (f *labelFit) gainAlong(c *labelCurve, along []float64) []float64 {
	out := make([]float64, len(c.rest))
	for k, h := range c.half {
		x := 0.0
		for j, a := range along {
			x += h[j] * a
		}
		for i, l := range c.low.row(k)[:k+1] {
			out[i] += l * x
		}
	}
	return out
}

// gainOf is by how much coefficients move with the sums as the last pass made them, also by way of
// the spreads: by sum, then coefficient.
func (f *labelFit) gainOf() [][]float64 {
	c, d := f.last, f.width+1
	gain := make([][]float64, len(c.rest))
	for m := range gain {
		gain[m] = make([]float64, d)
	}
	for i := range d {
		for m, x := range f.gainAlong(c, c.covariance.row(i)) {
			gain[m][i] = x
		}
	}
	pulls := f.spreadPulls(c)
	for k, follows := range c.follows {
		for m, x := range follows {
			for i, p := range pulls[k] {
				gain[m][i] += x * p
			}
		}
	}
	return gain
}

// movedCoefficients is the covariance that noise alone has in the coefficients: K·N·Kᵀ, where those
// move by K with the sums and N is the covariance of the noise on the sums.
func (f *labelFit) movedCoefficients() dense {
	out := newDense(f.width + 1)
	for _, x := range f.splitNoise(f.gainOf()) {
		for i, a := range x {
			for j, b := range x[:i+1] {
				out.row(i)[j] += a * b
			}
		}
	}
	for i := range out.n {
		for j := range i {
			out.row(j)[i] = out.row(i)[j]
		}
	}
	return out
}

// splitNoise is Bᵀ·of, where the noise on the sums has covariance B·Bᵀ.
func (f *labelFit) splitNoise(of [][]float64) [][]float64 {
	out := make([][]float64, len(of))
	if f.Vectors == nil {
		for k, n := range f.Sizes {
			for i := f.first[k]; i < f.first[k]+n; i++ {
				out[i] = ScaleAll(of[i], math.Sqrt(f.Noise[k]))
			}
		}
		return out
	}
	factor := dense{f.Vectors.square.n, slices.Clone(f.Vectors.square.a)}
	factorCholesky(factor.a, factor.n)
	for i := range out {
		out[i] = make([]float64, len(of[i]))
	}
	deviation := math.Sqrt(f.Variance)
	for i, row := range of {
		for k, l := range factor.row(i)[:i+1] {
			for j, x := range row {
				out[k][j] += deviation * l * x
			}
		}
	}
	return out
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
