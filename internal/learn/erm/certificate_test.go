// SPDX-License-Identifier: Apache-2.0

package erm

import (
	"fmt"
	"math"
	"testing"

	"github.com/discreet-dp/discreet/internal/census"
	"github.com/discreet-dp/discreet/internal/privacy/dp"
)

// What leaves is where the solver stopped, not the minimum. Two neighbours' minima lie
// apart by what a row can do, and each point where the solver may stop lies within the
// gradient it was asked for, over the ridge, of its minimum. Noise covers the sum, for
// every loss, mode and noise.
func TestNoiseCoversTheCertificate(t *testing.T) {
	s := census.Schema()
	for _, loss := range []Loss{Logistic, Huber} {
		for _, mode := range []Mode{Tight, CMS11} {
			for _, noise := range []Noise{Blocks, Gamma, Laplace} {
				for _, n := range []int{1, 100, 1_000_000} {
					for _, reg := range []float64{0, 0x1p-20, 1} {
						name := fmt.Sprintf("%s %s %s, %d rows, ridge %g", loss, mode, noise, n, reg)
						p := Defaults()
						p.Epsilon, p.Loss, p.Mode, p.Noise, p.Reg, p.Method = dp.Nano, loss, mode, noise, reg, Output
						pl, err := p.Plan(s, n)
						if err != nil {
							t.Fatal(err)
						}
						got := pl.perturbation(n)
						off := 2 * 2 * got.target / got.reg // either stops at twice the target for rounding
						row := 2 * got.norm * got.slope(pl.loss, mode) / (float64(n) * got.reg)
						switch noise {
						case Laplace: // L1
							row, off = row*math.Sqrt(float64(got.dim)), off*math.Sqrt(float64(got.dim))
						case Blocks: // at least as far as a row of one cell goes
							row = 2 * got.cell * got.slope(pl.loss, mode) / (float64(n) * got.reg)
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
