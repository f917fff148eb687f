// SPDX-License-Identifier: Apache-2.0

package shrink

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// Panels of any size, full or not, and any number of processors give the very bits of plain loops:
// models stay the same bytes.
func TestDenseAddsUpAsPlainLoopsDo(t *testing.T) {
	src := rand.New(rand.NewPCG(9, 10))
	for _, n := range []int{1, 2, panel - 1, panel, panel + 1, 4*panel + 1, 5*panel + 7} {
		x := newDense(n+3, n)
		for i := range x.a {
			x.a[i] = src.NormFloat64()
		}
		square := x.squares()
		product := newDense(n, n)
		for k := range n + 3 {
			for i, u := range x.row(k) {
				for j, v := range x.row(k) {
					product.row(i)[j] += u * v
				}
			}
		}
		if !slices.Equal(square.a, product.a) {
			t.Errorf("%d columns: a square is not that of plain loops", n)
		}
		factor, inverse := factorPlainly(product)
		if !slices.Equal(square.factor().a, factor.a) {
			t.Errorf("%d columns: a factor is not that of plain loops", n)
		}
		if !slices.Equal(square.invertFactor().a, inverse.a) {
			t.Errorf("%d columns: an inverse of a factor is not that of plain loops", n)
		}
		one := newDense(n, n)
		inverted := square.invertFactor().squares()
		for i := range n {
			copy(one.row(i), square.times(inverted.row(i)))
		}
		for i := range n {
			for j, v := range one.row(i) {
				if want := map[bool]float64{true: 1}[i == j]; !(math.Abs(v-want) < 1e-6) {
					t.Fatalf("%d columns: an inverse times the matrix has %g at %d, %d", n, v, i, j)
				}
			}
		}
	}
}

// factorPlainly is L and L⁻¹ of L·Lᵀ, row by row.
func factorPlainly(of dense) (low, inverse dense) {
	n := of.n
	low, inverse = newDense(n, n), newDense(n, n)
	for i := range n {
		for j := range i + 1 {
			x := of.row(i)[j]
			for k := range j {
				x -= low.row(i)[k] * low.row(j)[k]
			}
			if i == j {
				low.row(i)[i] = math.Sqrt(x)
			} else {
				low.row(i)[j] = x / low.row(j)[j]
			}
		}
	}
	for i := range n {
		pivot := 1 / low.row(i)[i]
		for j := range i {
			x := 0.0
			for k := j; k < i; k++ {
				x -= low.row(i)[k] * inverse.row(k)[j]
			}
			inverse.row(i)[j] = x * pivot
		}
		inverse.row(i)[i] = pivot
	}
	return low, inverse
}
