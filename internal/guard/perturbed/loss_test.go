// SPDX-License-Identifier: Apache-2.0

package perturbed

import (
	"fmt"
	"math"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/size"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/feature"
)

// line is objective perturbation in one dimension: w solves
// Σ g_i(w) + λw = -b, b of density ∝ exp(-|b|/scale). Where the rows have
// gradients adding up to G(w) and curvatures to H(w), the density of w is
// ∝ exp(-|G + λw|/scale)·(H + λ), in closed form.
type line struct {
	loss          engine.Loss
	norm          float64
	lambda, scale float64
}

// row is the gradient and curvature at w of a row whose label times feature is u.
func (p line) row(w, u float64) (g, h float64) {
	_, slope, curve := p.loss.At(w * u)
	return slope * u, curve * u * u
}

// points are where losses are looked for: margins from 10^-3 to 10^3 on both
// sides, and around the corners of the Huber-hinge.
func (p line) points() (ws []float64) {
	for e := -3.0; e <= 3; e += 0.05 {
		ws = append(ws, math.Pow(10, e)/p.norm, -math.Pow(10, e)/p.norm)
	}
	return append(ws, 0)
}

// oneRow is the largest log p(w|D)/p(w|D') when all rows are zero but the one
// that is replaced. It is exact: there is nothing to bound.
func (p line) oneRow() float64 {
	return p.search(func(w, g, g2 float64) float64 {
		return math.Abs(g2+p.lambda*w) - math.Abs(g+p.lambda*w)
	})
}

// supremum is the largest loss over all tables: other rows, many and tiny, can
// shift the gradient anywhere without adding curvature.
func (p line) supremum() float64 {
	return p.search(func(_, g, g2 float64) float64 { return math.Abs(g - g2) })
}

// search tries all pairs of rows from a grid at all points; apart is how far
// from each other the noise terms are that the two rows need.
func (p line) search(apart func(w, g, g2 float64) float64) (worst float64) {
	const grid = 20
	for _, w := range p.points() {
		var g, ratio [2*grid + 1]float64
		for k := range g {
			var h float64
			g[k], h = p.row(w, p.norm*float64(k-grid)/grid)
			ratio[k] = math.Log1p(h / p.lambda)
		}
		for a := range g {
			for b := range g {
				worst = max(worst, apart(w, g[a], g[b])/p.scale+ratio[a]-ratio[b])
			}
		}
	}
	return worst
}

// ours is what Size would use in one dimension, all of eps being spent on the
// linear term.
func ours(noise Noise, l engine.Loss, norm, lambda, eps float64, printed bool) line {
	const n = 1000
	price, err := dp.EpsilonOf(eps)
	if err != nil {
		panic(err)
	}
	p := &Problem{Space: &feature.Space{}, Loss: l, Norm: norm, Reg: lambda / n, Printed: printed, Noise: noise,
		Epsilon: price, Rest: price} // the intercept alone
	size := p.Size(n)
	return line{l, norm, size.summedPenalty(), size.term.(sized).Scale()}
}

var (
	ridges = size.Of([]float64{0.005, 0.146, 1, 100}, []float64{1e-4, 0.005, 0.02, 0.1, 0.146, 0.3, 0.5, 1, 2, 10, 100})
	norms  = size.Of([]float64{1, 12}, []float64{0.2, 1, 3, 12})
	both   = []engine.Loss{{}, {Huber: 0.5}, {Huber: 0.05}}
)

// laws are the kinds of noise whose bound holds rows of length norm. (Blocks
// knows that no scaled row has an entry above 1.)
func laws(norm float64) []Noise {
	if norm <= 1 {
		return []Noise{Gamma, Blocks}
	}
	return []Noise{Gamma}
}

func TestExactLossInOneDimension(t *testing.T) {
	for _, l := range both {
		for _, printed := range []bool{false, true} {
			for _, norm := range norms {
				for _, lambda := range ridges {
					for _, eps := range []float64{0.1, 2} {
						for _, noise := range laws(norm) {
							if got := ours(noise, l, norm, lambda, eps, printed).oneRow(); !(got <= eps) {
								t.Errorf("%s, loss %+v, printed %v, R=%g, λ=%g: loses %.4f at ε = %g", noise, l, printed, norm, lambda, got, eps)
							}
						}
					}
				}
			}
		}
	}
}

// And the check has power: just where the fallback ends, tight spends it all.
func TestSupremumOverTables(t *testing.T) {
	for _, l := range both {
		for _, printed := range []bool{false, true} {
			for _, norm := range norms {
				for _, lambda := range ridges {
					for _, noise := range laws(norm) {
						if got := ours(noise, l, norm, lambda, 1, printed).supremum(); !(got <= 1) {
							t.Errorf("%s, loss %+v, printed %v, R=%g, λ=%g: loses %.4f at ε = 1", noise, l, printed, norm, lambda, got)
						}
					}
				}
			}
		}
	}
	if got := (line{engine.Loss{}, 1, 0.146, 2 / (1 - math.Log1p(0.25/0.146))}).supremum(); !(got >= 0.98) {
		t.Errorf("without the fallback the loss reaches %.4f at λ = .146, want .998: the search is blind", got)
	}
}

// The same code finds what is wrong with CM08 and with the slides: rows 17 and
// 18 of the injected bugs.
func TestSlidesNoiseIsNotPrivate(t *testing.T) {
	for _, c := range []struct {
		lambda             float64
		cm08, slides       float64 // one row
		cm08Sup, slidesSup float64
		cms11, tight       float64
		cms11Sup, tightSup float64
	}{
		{0.02, 2.38, 2.19, 2.87, 3.17, 0.35, 0.53, 0.405, 0.641},
		{0.1, 1.07, 1.13, 1.53, 1.86, 0.35, 0.53, 0.405, 0.641},
		{0.5, 0.58, 1.06, 0.73, 1.16, 0.34, 0.48, 0.405, 0.58}, // the guide's cms11, .40 and .46, is without the fallback
		{2, 0.53, 1.05, 0.54, 1.05, 0.40, 0.47, 0.42, 0.48},
	} {
		cm08 := line{engine.Loss{}, 1, c.lambda, 2}
		slides := line{engine.Loss{}, 1, c.lambda, 1}
		for _, got := range []struct {
			name string
			is   float64
			want float64
		}{
			{"CM08", cm08.oneRow(), c.cm08}, {"slides", slides.oneRow(), c.slides},
			{"CM08, supremum", cm08.supremum(), c.cm08Sup}, {"slides, supremum", slides.supremum(), c.slidesSup},
			{"cms11", ours(Gamma, engine.Loss{}, 1, c.lambda, 1, true).oneRow(), c.cms11},
			{"tight", ours(Gamma, engine.Loss{}, 1, c.lambda, 1, false).oneRow(), c.tight},
			{"cms11, supremum", ours(Gamma, engine.Loss{}, 1, c.lambda, 1, true).supremum(), c.cms11Sup},
			{"tight, supremum", ours(Gamma, engine.Loss{}, 1, c.lambda, 1, false).supremum(), c.tightSup},
		} {
			if !(math.Abs(got.is-got.want) <= 0.02) {
				t.Errorf("λ = %g, %s: loses %.3f at a claimed ε = 1, want %.3f", c.lambda, got.name, got.is, got.want)
			}
		}
	}
}

// c·R in place of c·R² (row 19), as diffprivlib 0.6.6 has it: the guide's three
// counter-examples (3.2).
func TestRadiusEntersSquared(t *testing.T) {
	for _, c := range []struct{ eps, norm, lambda, want float64 }{
		{1, 12, 1, 1.37}, {1.486, 12, 3, 2.54}, {1, 50, 100, 1.81},
	} {
		bend := 0.25 * c.norm // not squared
		p := line{engine.Loss{}, c.norm, c.lambda, 0}
		left := c.eps - 2*math.Log1p(bend/c.lambda)
		if left <= 0 {
			p.lambda, left = bend/math.Expm1(c.eps/4), c.eps/2
		}
		p.scale = 2 * c.norm / left
		if got := p.oneRow(); !(math.Abs(got-c.want) <= 0.02) {
			t.Errorf("R = %g, λ = %g: loses %.3f at a claimed ε = %g, want %.2f", c.norm, c.lambda, got, c.eps, c.want)
		}
		if got := ours(Gamma, engine.Loss{}, c.norm, c.lambda, c.eps, true).oneRow(); !(got <= c.eps) {
			t.Errorf("R = %g, λ = %g: ours loses %.3f", c.norm, c.lambda, got)
		}
	}
}

func TestFallbackIsTakenBelowHalf(t *testing.T) {
	for _, printed := range []bool{false, true} {
		k := map[bool]float64{false: 1, true: 2}[printed]
		for _, norm := range []float64{0.5, 1} {
			for _, eps := range []float64{1e-6, 0.1, 1, 8} {
				for _, lambda := range []float64{1e-3, 0.02, 0.146, 0.4, 1, 50, 1e9} {
					u := units{n: 1000, reg: lambda / 1000, norm: norm, curve: 0.25, dim: 3}
					raised, jacobian := u.objectiveSize(eps, printed)
					if raised.reg < u.reg || !(jacobian <= eps/2) ||
						!(k*math.Log1p(0.25*norm*norm/raised.summedPenalty()) <= jacobian*(1+1e-9)) {
						t.Errorf("printed %v, R=%g, ε=%g, λ=%g: λ becomes %g with %g of ε for the jacobian", printed, norm, eps, lambda,
							raised.summedPenalty(), jacobian)
					}
					if k*math.Log1p(0.25*norm*norm/lambda) < eps/2 && raised.reg != u.reg {
						t.Errorf("printed %v, ε=%g, λ=%g: raised to %g without need", printed, eps, lambda, raised.summedPenalty())
					}
				}
			}
		}
	}
	// The printed formula of the tight fallback at ε = 1, nΛ = .1: nΔ = .285.
	raised, _ := units{n: 1, reg: 0.1, norm: 1, curve: 0.25, dim: 1}.objectiveSize(1, false)
	if got := fmt.Sprintf("%.3f", raised.summedPenalty()-0.1); got != "0.285" {
		t.Errorf("the ridge grows by %s", got)
	}
}
