// SPDX-License-Identifier: Apache-2.0

package multiparty

import (
	"context"
	"math"
)

// softmaxGradient returns the gradient at w of (1/N) Σ log Σ_k exp(z_k), in the K-1 coordinates of the
// levels (toHelmert), row-major.
func (p *public) softmaxGradient(ctx context.Context, w []float64) ([]float64, error) {
	d, levels := p.pl.countCoefficients(), p.pl.Levels()
	coef := p.spreadByFeature(w)
	sum, err := sumStrips(ctx, p.rows, d*levels, func(from, to int) []float64 { return p.softmaxOf(coef, from, to) })
	if err != nil {
		return nil, err
	}
	grad := make([]float64, len(w))
	for f := range d {
		for c, x := range toHelmert(sum[f*levels:][:levels]) {
			grad[c*d+f] = x / float64(p.rows)
		}
	}
	return grad, nil
}

// spreadByFeature rearranges the coefficients by feature and then level.
func (p *public) spreadByFeature(w []float64) []float64 {
	d, levels := p.pl.countCoefficients(), p.pl.Levels()
	coef, at := make([]float64, d*levels), make([]float64, levels-1)
	for f := range d {
		for c := range at {
			at[c] = w[c*d+f]
		}
		copy(coef[f*levels:], fromHelmert(at))
	}
	return coef
}

// softmaxOf returns Σ probability·row over some rows, by feature and then level.
func (p *public) softmaxOf(coef []float64, from, to int) []float64 {
	d, levels := p.pl.countCoefficients(), p.pl.Levels()
	sum := make([]float64, d*levels)
	codes := make([]uint32, momentRows)
	z := make([]float64, momentRows*levels)
	one := math.Ldexp(float64(p.one), -unitBits)
	for ; from < to; from += momentRows {
		n := min(momentRows, to-from)
		for i := range n {
			for k, c := range coef[(d-1)*levels:] {
				z[i*levels+k] = c * one
			}
		}
		p.visitFeatures(from, n, codes, func(i, f int, x float64) {
			row := z[i*levels:][:levels]
			for k, c := range coef[f*levels:][:levels] {
				row[k] += c * x
			}
		})
		for i := range n {
			toProbabilities(z[i*levels:][:levels])
			for k, q := range z[i*levels:][:levels] {
				sum[(d-1)*levels+k] += q * one
			}
		}
		p.visitFeatures(from, n, codes, func(i, f int, x float64) {
			row := z[i*levels:][:levels]
			for k, out := 0, sum[f*levels:][:levels]; k < len(out); k++ {
				out[k] += row[k] * x
			}
		})
	}
	return sum
}

// visitFeatures visits the features, except the intercept's, of n rows from a row on.
func (p *public) visitFeatures(from, n int, codes []uint32, visit func(i, f int, x float64)) {
	for c, j := range p.pl.space.Columns {
		p.cols[j].Codes.Read(from, codes[:n])
		at := &p.cells[c]
		for i, code := range codes[:n] {
			visit(i, int(at.index[code]), math.Ldexp(float64(at.units[code]), -unitBits))
		}
	}
}

// toProbabilities replaces scores by probabilities.
func toProbabilities(z []float64) {
	top := math.Inf(-1)
	for _, x := range z {
		top = max(top, x)
	}
	sum := 0.0
	for k, x := range z {
		z[k] = math.Exp(x - top)
		sum += z[k]
	}
	for k := range z {
		z[k] /= sum
	}
}
