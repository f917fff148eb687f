// SPDX-License-Identifier: Apache-2.0

package multiparty

import (
	"context"
	"math"
	"runtime"

	"gonum.org/v1/gonum/mat"

	"github.com/discreet-dp/discreet/internal/ground/parallel"
)

const (
	stripRows = 1 << 12
	maxStrips = 64
)

// mapStrips runs f on parts of n rows, several at once, and returns the results in order. The parts
// depend on n alone, so that sums over the results do not depend on the number of processors.
func mapStrips[T any](ctx context.Context, n int, f func(from, to int) T) ([]T, error) {
	out := make([]T, min(maxStrips, max(1, n/stripRows)))
	parallel.Each(len(out), runtime.GOMAXPROCS(0), func(s int) {
		if ctx.Err() == nil {
			out[s] = f(s*n/len(out), (s+1)*n/len(out))
		}
	})
	return out, ctx.Err()
}

// sumStrips adds up the results of mapStrips, which have n numbers each.
func sumStrips(ctx context.Context, rows, n int, f func(from, to int) []float64) ([]float64, error) {
	parts, err := mapStrips(ctx, rows, f)
	if err != nil {
		return nil, err
	}
	sum := make([]float64, n)
	for _, part := range parts {
		for i, x := range part {
			sum[i] += x
		}
	}
	return sum, nil
}

// computeMoments returns G = (1/N) Σ x xᵀ of the rows as the statistic uses them, in float64. Its
// error is a symmetric matrix of Frobenius norm at most offBy(N).
func (p *public) computeMoments(ctx context.Context) (*mat.SymDense, error) {
	d := p.pl.countCoefficients()
	sum, err := sumStrips(ctx, p.rows, d*d, func(from, to int) []float64 { return p.momentsOf(d, from, to) })
	if err != nil {
		return nil, err
	}
	g := mat.NewSymDense(d, nil)
	for f := range d {
		for h := f; h < d; h++ {
			g.SetSym(f, h, (sum[f*d+h]+offDiagonal(sum[h*d+f], f == h))/float64(p.rows))
		}
	}
	return g, nil
}

// offBy bounds the rounding error of moments. An entry's terms lose at most one unit in the last place
// per addition, within a strip and then over the strips. The means of |x_f·x_h| have a Frobenius norm
// of at most the mean of ‖x‖², which is at most 1.
func offBy(rows int) float64 {
	return float64(max(rows/maxStrips, 2*stripRows)+maxStrips+4) * 0x1p-52
}

// offDiagonal returns the value for the other triangle: columns of a space need not be in the order of
// their features.
func offDiagonal(x float64, diagonal bool) float64 {
	if diagonal {
		return 0
	}
	return x
}

const momentRows = 256 // rows whose features fit into the cache

func (p *public) momentsOf(d, from, to int) []float64 {
	k := len(p.cells) + 1
	sum := make([]float64, d*d)
	codes := make([]uint32, momentRows)
	index, value := make([]int32, momentRows*k), make([]float64, momentRows*k)
	for ; from < to; from += momentRows {
		n := min(momentRows, to-from)
		for c, j := range p.pl.space.Columns {
			p.cols[j].Codes.Read(from, codes[:n])
			at := &p.cells[c]
			for i, code := range codes[:n] {
				index[i*k+c], value[i*k+c] = at.index[code], math.Ldexp(float64(at.units[code]), -unitBits)
			}
		}
		for i := range n {
			index[i*k+k-1], value[i*k+k-1] = int32(d-1), math.Ldexp(float64(p.one), -unitBits)
			row, val := index[i*k:][:k], value[i*k:][:k]
			for a, f := range row {
				x, out := val[a], sum[int(f)*d:][:d]
				if x == 0 {
					continue
				}
				for b := a; b < k; b++ {
					out[row[b]] += x * val[b]
				}
			}
		}
	}
	return sum
}
