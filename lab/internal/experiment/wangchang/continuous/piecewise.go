// SPDX-License-Identifier: Apache-2.0

package continuous

import (
	"math"

	"github.com/discreet-dp/discreet/internal/privacy/rng"
)

// piecewise is Algorithm 4: Algorithm 3 at ε/k on k coordinates drawn at
// random, times d/k.
type piecewise struct {
	d, k  int
	inner float64 // E = e^{ε/(2k)}; the inner piece has mass E/(E+1)
	bound float64 // Δ of Algorithm 3
}

// Piecewise is the mechanism for d dimensions. It samples ⌊ε/2.5⌋ of them, at
// least one and at most d.
func Piecewise(d int, eps float64) Mechanism {
	k := max(1, min(d, int(eps/2.5)))
	e := math.Exp(eps / float64(k) / 2)
	return piecewise{d, k, e, (e + 1) / (e - 1)}
}

func (p piecewise) Sum(rows Rows, from, to int, src rng.Source) []float64 {
	sum, row := make([]float64, p.d), make([]float64, p.d)
	var picked []int
	times := float64(p.d) / float64(p.k)
	for i := from; i < to; i++ {
		rows.Row(i, row)
		picked = p.pickCoordinates(picked[:0], src)
		for _, j := range picked {
			sum[j] += times * p.perturbOne(clamp(row[j]), src)
		}
	}
	return sum
}

// pickCoordinates appends k of d, without replacement (Floyd 1987).
func (p piecewise) pickCoordinates(picked []int, src rng.Source) []int {
	for top := p.d - p.k; top < p.d; top++ {
		j := int(rng.Below(src, uint64(top)+1))
		for _, had := range picked {
			if had == j {
				j = top
				break
			}
		}
		picked = append(picked, j)
	}
	return picked
}

// perturbOne is Algorithm 3.
func (p piecewise) perturbOne(t float64, src rng.Source) float64 {
	width := p.bound - 1 // of the inner piece
	left := (p.bound+1)/2*t - width/2
	if drawUnit(src) < p.inner/(p.inner+1) { // line 7
		return left + width*drawUnit(src) // line 8
	}
	// Line 10: what is left of [-Δ, Δ] is Δ+1 wide.
	x := -p.bound + (p.bound+1)*drawUnit(src)
	if x >= left {
		x += width
	}
	return x
}

func (p piecewise) Variance(t float64) float64 {
	d, k, e := float64(p.d), float64(p.k), p.inner
	return d*(e+3)/(3*k*(e-1)*(e-1)) + (d*e/(k*(e-1))-1)*t*t
}
