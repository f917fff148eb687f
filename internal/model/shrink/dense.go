// SPDX-License-Identifier: Apache-2.0

package shrink

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
)

// panel is the number of rows processed at a time, so that most of the work is matrix products, which
// gonum computes in blocks on all processors. Each number is added up in the same order as in a plain
// loop over rows and columns, so that the results depend on neither panels nor processors.
const panel = 64

// dense is a row-major matrix of n columns; most are square.
type dense struct {
	n int
	a []float64
}

func newDense(rows, n int) dense { return dense{n, make([]float64, rows*n)} }

func (d dense) row(i int) []float64 { return d.a[i*d.n : (i+1)*d.n] }

// block is the part of the matrix that begins at row i and column j.
func (d dense) block(i, j, rows, columns int) blas64.General {
	return blas64.General{Rows: rows, Cols: columns, Stride: d.n, Data: d.a[i*d.n+j:]}
}

// times is d·x, timesTransposed dᵀ·x.
func (d dense) times(x []float64) []float64           { return d.multiply(blas.NoTrans, x, len(d.a)/d.n) }
func (d dense) timesTransposed(x []float64) []float64 { return d.multiply(blas.Trans, x, d.n) }

func (d dense) multiply(as blas.Transpose, x []float64, n int) []float64 {
	out := blas64.Vector{N: n, Data: make([]float64, n), Inc: 1}
	blas64.Gemv(as, 1, d.block(0, 0, len(d.a)/d.n, d.n), blas64.Vector{N: len(x), Data: x, Inc: 1}, 0, out)
	return out.Data
}

// squares returns dᵀ·d.
func (d dense) squares() dense {
	out, rows := newDense(d.n, d.n), len(d.a)/d.n
	for i := 0; i < d.n; i += panel {
		n := min(panel, d.n-i)
		blas64.Gemm(blas.Trans, blas.NoTrans, 1, d.block(0, i, rows, n), d.block(0, 0, rows, i+n), 0,
			out.block(i, 0, n, i+n))
	}
	out.mirror()
	return out
}

// mirror copies the lower triangle to the upper one.
func (d dense) mirror() {
	for i := range d.n {
		for j, x := range d.row(i)[:i] {
			d.a[j*d.n+i] = x
		}
	}
}

// invertFactor is L⁻¹ of A = L·Lᵀ, lower triangular.
func (d dense) invertFactor() dense {
	out := newDense(d.n, d.n)
	for i := range d.n {
		out.row(i)[i] = 1
	}
	d.factor().solve(out, true)
	return out
}

// solve overwrites right with d⁻¹·right, where d is lower triangular, and right too if lower says so.
func (d dense) solve(right dense, lower bool) {
	for i := 0; i < d.n; i += panel {
		n, width, step := min(panel, d.n-i), right.n, right.n
		if lower { // what is above the diagonal adds nothing
			width, step = i+n, 4*panel
		}
		for j := 0; j < width && i > 0; j += step {
			from := j
			if !lower {
				from = 0
			}
			if from < i {
				blas64.Gemm(blas.NoTrans, blas.NoTrans, -1, d.block(i, from, n, i-from),
					right.block(from, j, i-from, min(step, width-j)), 1, right.block(i, j, n, min(step, width-j)))
			}
		}
		own := d.triangle()
		own.N, own.Data = n, d.a[i*d.n+i:]
		blas64.Trsm(blas.Left, blas.NoTrans, 1, own, right.block(i, 0, n, width))
	}
}

// solveOne is d⁻¹·x of a lower triangular d, solveTransposed d⁻ᵀ·x.
func (d dense) solveOne(x []float64) []float64        { return d.substitute(blas.NoTrans, x) }
func (d dense) solveTransposed(x []float64) []float64 { return d.substitute(blas.Trans, x) }

func (d dense) substitute(as blas.Transpose, x []float64) []float64 {
	out := slices.Clone(x)
	blas64.Trsv(as, d.triangle(), blas64.Vector{N: d.n, Data: out, Inc: 1})
	return out
}

func (d dense) triangle() blas64.Triangular {
	return blas64.Triangular{Uplo: blas.Lower, Diag: blas.NonUnit, N: d.n, Stride: d.n, Data: d.a}
}

// factor is L of A = L·Lᵀ, lower triangular, of which the lower triangle alone is read.
func (d dense) factor() dense {
	n, a := d.n, dense{d.n, slices.Clone(d.a)}
	a.mirror()
	for first := 0; first < n; first += panel { // above the diagonal, where Lᵀ lies row after row
		m := min(panel, n-first)
		blas64.Gemm(blas.Trans, blas.NoTrans, -1, a.block(0, first, first, m), a.block(0, first, first, n-first), 1,
			a.block(first, first, m, n-first))
		for i := first; i < first+m; i++ {
			row := a.row(i)[i:]
			for k := first; k < i; k++ {
				above := a.row(k)[i:][:len(row)]
				floats.AddScaled(row, -above[0], above)
			}
			row[0] = math.Sqrt(math.Max(row[0], 1e-9)) // noise keeps it above; rounding might not
			for j := range row[1:] {
				row[1+j] /= row[0]
			}
		}
	}
	for i := range n {
		for j := range i {
			a.a[i*n+j], a.a[j*n+i] = a.a[j*n+i], 0
		}
	}
	return a
}
