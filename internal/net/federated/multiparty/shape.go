// SPDX-License-Identifier: Apache-2.0

package multiparty

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/discreet-dp/discreet/internal/table/schema"
)

// transform is a public linear map A of the statistic: the release is A·s plus noise, to which the
// inverse is applied.
type transform struct {
	a, inverse *mat.TriDense // lower triangular; nil: the identity
	g          *mat.SymDense // moments of the rows
	ridge      float64       // τ: inverse·inverseᵀ = g + τI; 0 for the identity
	// reach bounds ‖A·m‖ over all means m of rows with weights in [-1, 1].
	reach float64
	// slip bounds the distance of the computed A·s from the exact one.
	slip float64
}

// minor is τ relative to the mean eigenvalue of g. It is a lower bound on the noise in directions in
// which rows hardly vary.
const minor = 0x1p-14

func newTransform(shape Shape, g *mat.SymDense, rows int) *transform {
	t := &transform{g: g}
	if shape == Rows {
		d, _ := g.Dims()
		t.ridge = minor * mat.Trace(g) / float64(d)
		var chol mat.Cholesky
		sum := mat.NewSymDense(d, nil)
		sum.CopySym(g)
		for f := range d {
			sum.SetSym(f, f, g.At(f, f)+t.ridge)
		}
		if chol.Factorize(sum) { // it always does: the ridge is far above rounding
			var l, a mat.TriDense
			chol.LTo(&l)
			if a.InverseTri(&l) == nil {
				t.a, t.inverse = &a, &l
			}
		}
		if t.a == nil {
			t.ridge = 0
		}
	}
	t.measureReach(offBy(rows))
	return t
}

// measureReach fills reach and slip; off bounds the rounding in G. For rows x_i with weights δ_i in
// [-1, 1] and any unit vector u, u·A·(1/N)Σ δ_i x_i ≤ (1/N) Σ |u·A·x_i| ≤ √(uᵀ A G Aᵀ u) by Cauchy and
// Schwarz (1.2), so reach² is the largest eigenvalue of A G Aᵀ, bounded from above by the existence of
// a Cholesky factor, plus a bound on rounding.
func (t *transform) measureReach(off float64) {
	d, _ := t.g.Dims()
	b, hidden, size := t.g, 0.0, 1.0
	if t.a != nil {
		var ag, aga mat.Dense
		ag.Mul(t.a, t.g)
		aga.Mul(&ag, t.a.T())
		b = mat.NewSymDense(d, nil)
		for f := range d {
			for h := f; h < d; h++ {
				b.SetSym(f, h, (aga.At(f, h)+aga.At(h, f))/2)
			}
		}
		// |A|·|G|·|A|ᵀ bounds, times a few units in the last place, the rounding
		// of the products.
		absA, absG := absoluteValues(t.a), absoluteValues(t.g)
		var p, q mat.Dense
		p.Mul(absA, absG)
		q.Mul(&p, absA.T())
		size = mat.Norm(t.a, 2)
		hidden = 4 * float64(d) * 0x1p-52 * mat.Norm(&q, 2)
	}
	hidden += off * size * size // G itself
	t.reach = math.Sqrt(boundEigenvalue(b)+hidden) * (1 + 0x1p-30)
	t.slip = size * (float64(d) + 2*schema.MaxClasses) * 0x1p-51
}

func absoluteValues(m mat.Matrix) *mat.Dense {
	out := mat.DenseCopyOf(m)
	out.Apply(func(_, _ int, x float64) float64 { return math.Abs(x) }, out)
	return out
}

// boundEigenvalue returns an upper bound on the largest eigenvalue of a positive semidefinite b,
// within 2^-12 of the trace. It bisects for the smallest end for which a Cholesky factor of end·I − b
// exists.
func boundEigenvalue(b *mat.SymDense) float64 {
	d, _ := b.Dims()
	lo, hi := 0.0, mat.Trace(b)
	var chol mat.Cholesky
	m := mat.NewSymDense(d, nil)
	for f := range d {
		lo = max(lo, b.At(f, f))
	}
	for hi-lo > 0x1p-12*lo {
		end := (lo + hi) / 2
		for f := range d {
			for h := f; h < d; h++ {
				m.SetSym(f, h, -b.At(f, h))
			}
			m.SetSym(f, f, end-b.At(f, f))
		}
		if chol.Factorize(m) {
			hi = end
		} else {
			lo = end
		}
	}
	return hi * (1 + float64(d)*float64(d)*0x1p-50)
}

// multiplyBy returns A·s.
func (t *transform) multiplyBy(s []float64) []float64 { return multiplyLower(t.a, s) }

// multiplyInverse returns A⁻¹·s.
func (t *transform) multiplyInverse(s []float64) []float64 { return multiplyLower(t.inverse, s) }

func multiplyLower(m *mat.TriDense, s []float64) []float64 {
	out := append([]float64(nil), s...)
	if m != nil {
		mat.NewVecDense(len(out), out).MulVec(m, mat.NewVecDense(len(s), s))
	}
	return out
}
