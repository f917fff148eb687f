// SPDX-License-Identifier: Apache-2.0

package optimize

import (
	"errors"
	"math"
	"slices"
	"testing"
)

// counted is a smooth function that counts how it is asked.
type counted struct {
	gradient, hessian   func(x []float64) []float64
	gradients, hessians int
	at                  []float64
}

func (c *counted) Gradient(x []float64) ([]float64, error) {
	c.gradients++
	c.at = slices.Clone(x)
	return c.gradient(x), nil
}

func (c *counted) Hessian() ([]float64, error) {
	c.hessians++
	return c.hessian(c.at), nil
}

// bowl is Σ cosh(x_i - at_i)·scale_i plus a coupling (Σ x_i)²/2.
func bowl(at, scale []float64) *counted {
	d := len(at)
	return &counted{
		gradient: func(x []float64) []float64 {
			g, sum := make([]float64, d), 0.0
			for _, v := range x {
				sum += v
			}
			for i := range g {
				g[i] = scale[i]*math.Sinh(x[i]-at[i]) + sum
			}
			return g
		},
		hessian: func(x []float64) []float64 {
			h := make([]float64, d*d)
			for i := range d {
				for j := range d {
					h[i*d+j] = 1
				}
				h[i*d+i] += scale[i] * math.Cosh(x[i]-at[i])
			}
			return h
		},
	}
}

// A sequence of functions, each a little off the one before: every minimum is
// found, and after the first the Hessian is never asked for again.
func TestSecantRemembersCurvature(t *testing.T) {
	var s Secant
	at, scale, x := []float64{1, -0.5, 0.3}, []float64{1, 3, 0.2}, []float64{0, 0, 0}
	for turn := range 12 {
		f := bowl(at, scale)
		got, done, err := s.Minimise(f, x, lim)
		if err != nil || !done || got.GradNorm > lim.GradNorm {
			t.Fatalf("turn %d: %+v, done %v, %v", turn, got, done, err)
		}
		if n := euclideanNorm(f.gradient(got.X)); n != got.GradNorm {
			t.Errorf("turn %d: certificate %g, gradient there %g", turn, got.GradNorm, n)
		}
		if turn > 0 && f.hessians > 0 {
			t.Errorf("turn %d: %d Hessians", turn, f.hessians)
		}
		if turn > 0 && f.gradients > 9 {
			t.Errorf("turn %d: %d gradients", turn, f.gradients)
		}
		x = got.X
		for i := range at {
			at[i] += 0.02 * float64(i-1)
			scale[i] *= 1.03
		}
	}
}

// A curvature remembered from another function sends the first step away; the
// Hessian here brings it back.
func TestSecantForgetsWhatDoesNotHold(t *testing.T) {
	var s Secant
	start := []float64{0, 0}
	if _, done, err := s.Minimise(bowl([]float64{0.1, 0.1}, []float64{1e-3, 1e-3}), start, lim); err != nil || !done {
		t.Fatal(done, err)
	}
	f := bowl([]float64{0.4, -0.2}, []float64{500, 20})
	got, done, err := s.Minimise(f, start, lim)
	if err != nil || !done || got.GradNorm > lim.GradNorm {
		t.Fatalf("%+v, done %v, %v", got, done, err)
	}
	if f.hessians == 0 {
		t.Error("the Hessian was not asked for: the case is too easy")
	}
	if start[0] != 0 || start[1] != 0 {
		t.Error("Minimise changed its start")
	}
}

// Full Newton steps on √(1+x²) diverge from |x| > 1; a Hessian of zeros gives no
// step at all; and steps may run out. Each time Minimise says so.
func TestSecantGivesUp(t *testing.T) {
	for name, row := range map[string]struct {
		f     *counted
		steps int
	}{
		"diverges": {&counted{
			gradient: func(x []float64) []float64 { return []float64{x[0] / math.Sqrt(1+x[0]*x[0])} },
			hessian:  func(x []float64) []float64 { return []float64{math.Pow(1+x[0]*x[0], -1.5)} },
		}, 100},
		"flat": {&counted{
			gradient: func(x []float64) []float64 { return []float64{1} },
			hessian:  func(x []float64) []float64 { return []float64{0} },
		}, 100},
		"out of steps": {bowl([]float64{2}, []float64{1}), 2},
	} {
		var s Secant
		got, done, err := s.Minimise(row.f, []float64{3}, Limits{GradNorm: 1e-10, Steps: row.steps})
		if err != nil || done {
			t.Errorf("%s: done %v, %v", name, done, err)
		}
		if !(euclideanNorm(row.f.gradient(got.X)) <= euclideanNorm(row.f.gradient([]float64{3}))) {
			t.Errorf("%s: ended at %v, further from the minimum than the start", name, got.X)
		}
	}
}

type failing struct{ err error }

func (f failing) Gradient([]float64) ([]float64, error) { return []float64{1}, nil }
func (f failing) Hessian() ([]float64, error)           { return nil, f.err }

func TestSecantReturnsTheFunctionsError(t *testing.T) {
	want := errors.New("no rows")
	var s Secant
	if _, _, err := s.Minimise(failing{want}, []float64{0}, lim); !errors.Is(err, want) {
		t.Errorf("error %v, want %v", err, want)
	}
}
