// SPDX-License-Identifier: Apache-2.0

package shrink

import (
	"math"
	"testing"
)

// Two parameters by hand. Without noise worth speaking of the step solves curves·change = slopes;
// one whose prior is as wide as its noise goes half of the way; where noise is all, nothing moves.
func TestNewtonStepByHand(t *testing.T) {
	// The matrix (4 1; 1 3), and slopes that it makes of (0.5, -1).
	slopes, curves := []float64{1, -2.5}, []float64{4, math.Sqrt2, 3}
	close := func(got []float64, want ...float64) {
		t.Helper()
		for i := range want {
			if math.Abs(got[i]-want[i]) > 1e-6 {
				t.Errorf("%v, by hand %v", got, want)
			}
		}
	}
	change, moved := NewtonStep(slopes, curves, 1e-6, 0, []float64{1e3, 1e3})
	close(change, 0.5, -1)
	close(moved, 0, 0)
	// One slope 2 with noise 2 of a curve 2: the change has a deviation of 1 by noise, 1 by its prior.
	change, moved = NewtonStep([]float64{2}, []float64{2}, 2, 0, []float64{1})
	close(change, 0.5)
	close(moved, 0.5)
	change, moved = NewtonStep(slopes, curves, 1e9, 1e9, []float64{0.1, 0.1})
	close(change, 0, 0)
	close(moved, 0, 0)
	// A direction that noise alone makes curve the other way tells nothing.
	change, _ = NewtonStep([]float64{1, 1}, []float64{1, 0, -5}, 1e-6, 0, []float64{1e3, 1e3})
	close(change, 1, 0)
}
