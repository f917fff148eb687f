// SPDX-License-Identifier: Apache-2.0

package shrink

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/floats"
)

// movedCoefficients returns the covariance of the coefficients that is due to noise alone: K·N·Kᵀ,
// where N is the covariance of the noise on the sums. K is the derivative of the coefficients by the
// sums with fixed spreads: their covariance·curve·about⁻¹.
func (f *labelFit) movedCoefficients() dense {
	c := f.last
	half := newDense(len(c.rest), f.width+1)
	half.addProduct(blas.NoTrans, c.half, c.covariance)
	gain := newDense(len(c.rest), f.width+1)
	gain.addProduct(blas.Trans, c.low, half)
	return f.splitNoise(gain).squares()
}

// splitNoise returns Bᵀ·of, where the noise on the sums has covariance B·Bᵀ.
func (f *labelFit) splitNoise(of dense) dense {
	if f.Vectors == nil {
		for k, n := range f.Sizes {
			for i := f.first[k]; i < f.first[k]+n; i++ {
				floats.Scale(math.Sqrt(f.Noise[k]), of.row(i))
			}
		}
		return of
	}
	factor := f.Vectors.square.factor()
	floats.Scale(math.Sqrt(f.Variance), factor.a)
	split := newDense(of.n, of.n)
	split.addProduct(blas.Trans, factor, of)
	return split
}

// rowVariance returns the variance of the score of a group's rows, where of is the coefficients'
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

// shareGroups is the number of groups of rows that suffices to determine how variances are divided.
const shareGroups = 4000

// Moved returns a variance for each step, by column, then bin, so that the sum over the bins of a row
// is about the variance of its score due to noise alone. It is the variance of each step, scaled to be
// right on average over the rows; correlated columns cancel part of each other's noise.
func (l *LabelFit) Moved() (out [][]float64) {
	f := l.of
	of := f.movedCoefficients()
	mean, apart := 0.0, 0.0
	for g := 0; g < len(f.Rows); g += 1 + len(f.Rows)/shareGroups {
		mean += f.Rows[g] * f.rowVariance(of, g)
		for k, first := range f.first {
			i := first + int(f.Bins[k][g])
			apart += f.Rows[g] * of.row(i)[i]
		}
	}
	part := 0.0
	if apart > 0 {
		part = mean / apart
	}
	for k, n := range f.Sizes {
		moved := make([]float64, n)
		for b := range moved {
			i := f.first[k] + b
			moved[b] = part * of.row(i)[i]
		}
		out = append(out, moved)
	}
	return out
}
