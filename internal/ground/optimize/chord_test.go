// SPDX-License-Identifier: Apache-2.0

package optimize

import (
	"math"
	"testing"
)

// On a parabola one step through the right factor ends at the minimum, and
// through a wrong one as many as there are dimensions do, or a few more:
// corrections make up for the factor.
func TestChordMinimisesAParabola(t *testing.T) {
	hess := []float64{4, 1, 0, 0, 3, 1, 0, 0, 2} // the upper triangle
	full := []float64{4, 1, 0, 1, 3, 1, 0, 1, 2}
	centre := []float64{1, -2, 3}
	grad := func(x []float64) []float64 {
		g := make([]float64, 3)
		for i := range g {
			for j := range x {
				g[i] += full[i*3+j] * (x[j] - centre[j])
			}
		}
		return g
	}
	for _, c := range []struct {
		hess  []float64
		steps int
	}{{hess, 1}, {[]float64{5, 0, 0, 0, 5, 0, 0, 0, 5}, 12}} {
		var chord Chord
		if !chord.Factor(c.hess, 3) {
			t.Fatal("the matrix is positive definite")
		}
		x := make([]float64, 3)
		g := grad(x)
		for range c.steps {
			step := chord.Step(g)
			for i := range x {
				x[i] += step[i]
			}
			was := g
			g = grad(x)
			chord.Correct(step, was, g)
		}
		for i := range x {
			if !(math.Abs(x[i]-centre[i]) <= 1e-6) {
				t.Errorf("after %d steps: %v, want %v", c.steps, x, centre)
				break
			}
		}
	}
}

// What a correction says is what the next step knows: the corrected inverse
// maps the change of the gradient to the step.
func TestChordRemembersTheLastStep(t *testing.T) {
	var chord Chord
	chord.Factor([]float64{2, 0, 0, 3}, 2)
	step, was, is := []float64{0.5, -1}, []float64{1, 1}, []float64{4, -3}
	chord.Correct(step, was, is)
	got := chord.Step([]float64{was[0] - is[0], was[1] - is[1]})
	if !(math.Abs(got[0]-step[0]) <= 1e-14 && math.Abs(got[1]-step[1]) <= 1e-14) {
		t.Errorf("step %v, want %v", got, step)
	}
	chord.Correct(step, is, was) // curvature below zero: not of a convex function
	if len(chord.pairs) != 1 {
		t.Error("a correction of negative curvature was kept")
	}
	if chord.Factor([]float64{1, 2, 0, 1}, 2) {
		t.Error("an indefinite matrix was factored")
	}
	if len(chord.pairs) != 0 {
		t.Error("a new Hessian did not forget")
	}
}
