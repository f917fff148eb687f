// SPDX-License-Identifier: Apache-2.0

package perturbed

import (
	"fmt"
	"math"
	"testing"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ground/optimize"
	"github.com/discreet-dp/discreet/internal/table/census"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/feature"
)

// What leaves is where the solver stopped, not the minimum. Two neighbours' minima lie
// apart by what a row can do, and each point where the solver may stop lies within the
// gradient it was asked for, over the ridge, of its minimum. Noise covers the sum, for
// every loss, mode and noise.
func TestNoiseCoversTheCertificate(t *testing.T) {
	space := spaceOf(t, census.Schema(), feature.OneHot)
	for _, loss := range []Loss{{}, {Huber: 0.5}} {
		for _, printed := range []bool{false, true} {
			for _, noise := range []Noise{Blocks, Gamma, Laplace} {
				for _, n := range []int{1, 100, 1_000_000} {
					for _, reg := range []float64{0x1p-20, 0x1p-8, 1} {
						name := fmt.Sprintf("%+v, printed %v, %s, %d rows, ridge %g", loss, printed, noise, n, reg)
						p := &Problem{Space: space, Loss: loss, Norm: 1, Reg: reg, Output: true, Printed: printed, Noise: noise,
							Epsilon: dp.Nano}
						got := p.Size(n)
						off := 2 * 2 * got.target / got.reg // either stops at twice the target for rounding
						row := 2 * got.norm * got.lossSlope(loss, printed) / (float64(n) * got.reg)
						switch noise {
						case Laplace: // L1
							row, off = row*math.Sqrt(float64(got.dim)), off*math.Sqrt(float64(got.dim))
						case Blocks: // at least as far as a row of one cell goes
							row = 2 * got.cell * got.lossSlope(loss, printed) / (float64(n) * got.reg)
						}
						if bound := got.after.Sensitivity(); !(bound >= (row+off)*(1-1e-12)) {
							t.Errorf("%s: noise for a move of %g, rows and certificate make %g + %g", name, bound, row, off)
						}
						if off < row*1e-4 {
							t.Errorf("%s: the certificate is %g of the move: a test without it would not be noticed", name, off/row)
						}
					}
				}
			}
		}
	}
}

// The bound on slopes at a minimum is one: minima whose coefficients are as long as it
// allows have no larger slopes. It is the least such bound, up to rounding.
func TestSlopeIsABound(t *testing.T) {
	for _, norm := range []float64{0.1, 0.5, 1} {
		for _, reg := range []float64{0x1p-20, 1e-3, 0.1, 1, 10, 1000} {
			u := units{n: 100, reg: reg, norm: norm, curve: 0.25, dim: 3}
			got := u.lossSlope(engine.Loss{}, false)
			reached := 1 / (1 + math.Exp(-norm*norm*got/reg)) // at length norm·got/reg
			if !(got >= reached && got <= 1+0x1p-30 && got <= reached*(1+1e-9)) {
				t.Errorf("norm %g, ridge %g: slopes of at most %g allow %g", norm, reg, got, reached)
			}
			if s := u.lossSlope(engine.Loss{}, true); s < 1 {
				t.Errorf("norm %g, ridge %g: slopes of the printed form are at most %g", norm, reg, s)
			}
		}
	}
}

// A solver that stalls short of its certificate gives no answer: noise covers certified
// points alone.
func TestNoAnswerWithoutCertificate(t *testing.T) {
	const floor = 3e-6
	stalls := func(x []float64) (optimize.Point, error) { // its gradient is never shorter
		g := x[0] + math.Copysign(floor, x[0])
		return optimize.Point{Value: x[0] * x[0] / 2, Grad: []float64{g}, Hess: []float64{1}}, nil
	}
	if x, err := minimiseSurface(stalls, 1, 1, 1, floor/2); err == nil {
		t.Errorf("%v is no certified point", x)
	}
	if _, err := minimiseSurface(stalls, 1, 1, 1, 2*floor); err != nil {
		t.Errorf("a certificate that can be had: %v", err)
	}
}
