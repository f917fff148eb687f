// SPDX-License-Identifier: Apache-2.0

package shrink

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
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

// all returns the whole matrix in gonum's form.
func (d dense) all() blas64.General { return d.block(0, 0, len(d.a)/d.n, d.n) }

// block returns the part of the matrix that begins at row i and column j.
func (d dense) block(i, j, rows, columns int) blas64.General {
	return blas64.General{Rows: rows, Cols: columns, Stride: d.n, Data: d.a[i*d.n+j:]}
}

// addProduct adds x·y, or xᵀ·y if transpose is set.
func (d dense) addProduct(transpose blas.Transpose, x, y dense) {
	blas64.Gemm(transpose, blas.NoTrans, 1, x.all(), y.all(), 1, d.all())
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

// invertPositive inverts a positive definite matrix: with A = L·Lᵀ the inverse is L⁻ᵀ·L⁻¹.
func (d dense) invertPositive() dense { return d.invertFactor().squares() }

// invertFactor returns L⁻¹ for A = L·Lᵀ, lower triangular.
func (d dense) invertFactor() dense {
	factor, out := d.factor(), newDense(d.n, d.n)
	for i := range d.n {
		out.row(i)[i] = 1
	}
	for i := 0; i < d.n; i += panel {
		n := min(panel, d.n-i)
		for j := 0; j < i; j += 4 * panel { // what is above the diagonal of out adds nothing
			blas64.Gemm(blas.NoTrans, blas.NoTrans, -1, factor.block(i, j, n, i-j),
				out.block(j, j, i-j, min(4*panel, i-j)), 1, out.block(i, j, n, min(4*panel, i-j)))
		}
		own := blas64.Triangular{Uplo: blas.Lower, Diag: blas.NonUnit, N: n, Stride: d.n, Data: factor.a[i*d.n+i:]}
		blas64.Trsm(blas.Left, blas.NoTrans, 1, own, out.block(i, 0, n, i+n))
	}
	return out
}

// factor returns L for A = L·Lᵀ, lower triangular.
func (d dense) factor() dense {
	out := dense{d.n, slices.Clone(d.a)}
	factorCholesky(out.a, d.n)
	for i := range d.n {
		clear(out.row(i)[i+1:])
	}
	return out
}

// factorCholesky replaces the lower triangle of a by its Cholesky factor and returns half the
// logarithm of the determinant. It reads only the lower triangle, and leaves the upper one undefined.
func factorCholesky(a []float64, n int) (logs float64) {
	d := dense{n, a}
	d.mirror()
	for first := 0; first < n; first += panel { // above the diagonal, where Lᵀ lies row after row
		m := min(panel, n-first)
		blas64.Gemm(blas.Trans, blas.NoTrans, -1, d.block(0, first, first, m), d.block(0, first, first, n-first), 1,
			d.block(first, first, m, n-first))
		for i := first; i < first+m; i++ {
			row := d.row(i)[i:]
			for k := first; k < i; k++ {
				above := d.row(k)[i:][:len(row)]
				l := above[0]
				for j, x := range above {
					row[j] -= l * x
				}
			}
			row[0] = math.Sqrt(math.Max(row[0], 1e-9)) // noise keeps it above; rounding might not
			logs += math.Log(row[0])
			for j := range row[1:] {
				row[1+j] /= row[0]
			}
		}
	}
	for i := range n {
		for j := range i + 1 {
			a[i*n+j] = a[j*n+i]
		}
	}
	return logs
}
