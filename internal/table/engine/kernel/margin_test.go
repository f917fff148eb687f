// SPDX-License-Identifier: Apache-2.0

package kernel

import (
	"fmt"
	"math"
	"testing"

	"github.com/discreet-dp/discreet/internal/table/column"
	. "github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

var marginLosses = []Loss{{}, {Huber: 0.5}, {Huber: 2}}

// marginRows are rows as they are, scaled, and projected so that some rows are
// shortened and others not.
var marginRows = []Rows{{Scale: 1, Norm: 100}, {Scale: 0.4, Norm: 1}, {Scale: 0.4, Norm: 0.7}}

// exactSums adds up all rows at once.
func exactSums(cols []column.Column, rows int, weigh Weigh, most float64, q *LossQuestion) *ExactSums {
	r := NewExactRows(cols, weigh, most, q)
	r.Add(rows)
	return r.Sums()
}

func (c *lossCase) margin(t testing.TB, l Loss, r Rows, coef []float64) *LossSums {
	t.Helper()
	q := &LossQuestion{Space: c.sp, Loss: l, Rows: r, Coef: coef, Value: true, Hess: true}
	return exactSums(c.cols, c.rows, GroupWeights(c.pos, c.neg), most, q).Floats(q, UnitsOf(c.sp, l, r, most))
}

const most = 4 // what a row weighs, see newLossCase

// naiveMargin widens every row, shapes it and sums the definition.
func (c *lossCase) naiveMargin(l Loss, r Rows, coef []float64) *LossSums {
	d := len(coef)
	out := &LossSums{Grad: make([]float64, d), Hess: make([]float64, d*d)}
	for i := range c.rows {
		x := make([]float64, d)
		x[d-1] = 1
		for k, j := range c.sp.Columns {
			code := int(c.cols[j].Codes.At(i))
			f, v := 0, 0.0
			if lossSchema.Columns[j].Kind == schema.Number {
				f, v = c.sp.Number(k, c.cols[j].Values[code])
			} else {
				f, v = c.sp.Code(k, code)
			}
			x[f] = v
		}
		square, z := 0.0, 0.0
		for _, v := range x {
			square += v * v
		}
		t := min(r.Scale, r.Norm/math.Sqrt(square))
		for f := range x {
			x[f] *= t
			z += coef[f] * x[f]
		}
		for _, side := range []struct{ weight, sign float64 }{{c.pos[i], 1}, {c.neg[i], -1}} {
			v, slope, curve := l.At(side.sign * z)
			out.Loss += side.weight * v
			for f := range x {
				out.Grad[f] += side.weight * side.sign * slope * x[f]
				for g := range x {
					out.Hess[f*d+g] += side.weight * curve * x[f] * x[g]
				}
			}
		}
	}
	return out
}

func TestMarginSumsEqualTheNaiveTwin(t *testing.T) {
	for _, enc := range []feature.Encoding{feature.Ordinal, feature.OneHot} {
		for _, l := range marginLosses {
			for _, r := range marginRows {
				t.Run(fmt.Sprintf("%s/%+v/%+v", enc, l, r), func(t *testing.T) {
					c := newLossCase(t, 3, enc, 900)
					c.pos[1], c.neg[2] = 0, 0
					got, want := c.margin(t, l, r, c.coef), c.naiveMargin(l, r, c.coef)
					if !near(got.Loss, want.Loss, 900) {
						t.Errorf("loss = %v, want %v", got.Loss, want.Loss)
					}
					for f := range want.Grad {
						if !near(got.Grad[f], want.Grad[f], 900) {
							t.Errorf("gradient %d = %v, want %v", f, got.Grad[f], want.Grad[f])
						}
					}
					for f := range want.Hess {
						if !near(got.Hess[f], want.Hess[f], 900) {
							t.Errorf("hessian %d = %v, want %v", f, got.Hess[f], want.Hess[f])
						}
					}
				})
			}
		}
	}
}

// The error of a central difference is about step² plus rounding over step; a
// corner of the Huber-hinge inside the step adds a curvature times the step.
func TestLossDerivativesAgreeWithCentralDifferences(t *testing.T) {
	const step = 1e-6
	for _, l := range marginLosses {
		for z := -6.0; z <= 6; z += 0.037 {
			below, slopeBelow, _ := l.At(z - step)
			above, slopeAbove, _ := l.At(z + step)
			_, slope, curve := l.At(z)
			if diff := (above - below) / (2 * step); math.Abs(diff-slope) > 1e-6 {
				t.Errorf("%+v at %g: slope %g, difference %g", l, z, slope, diff)
			}
			if diff := (slopeAbove - slopeBelow) / (2 * step); math.Abs(diff-curve) > 1e-4 {
				t.Errorf("%+v at %g: curvature %g, difference %g", l, z, curve, diff)
			}
			if !(slope <= 0 && slope >= -1 && curve >= 0 && curve <= l.Curvature()) {
				t.Errorf("%+v at %g: slope %g, curvature %g of at most %g", l, z, slope, curve, l.Curvature())
			}
		}
	}
}

func TestLossFarOut(t *testing.T) {
	for _, l := range marginLosses {
		for _, z := range []float64{1e6, math.MaxFloat64} {
			if v, slope, curve := l.At(z); v != 0 || slope != 0 || curve != 0 {
				t.Errorf("%+v at %g: %g, %g, %g", l, z, v, slope, curve)
			}
		}
		if v, slope, curve := l.At(-1e6); math.Abs(v-1e6) > 1 || slope != -1 || curve != 0 {
			t.Errorf("%+v at -1e6: %g, %g, %g", l, v, slope, curve)
		}
	}
}
