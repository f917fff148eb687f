// SPDX-License-Identifier: Apache-2.0

package optimize

import (
	"errors"
	"math"
	"testing"
)

var lim = Limits{GradNorm: 1e-10, Steps: 100}

// One step solves a quadratic: ½(2x² + 2xy + 4y²) - x - 5y has its minimum where
// 2x + y = 1 and x + 4y = 5, at (-1/7, 9/7).
func TestNewtonSolvesAQuadraticInOneStep(t *testing.T) {
	f := func(x []float64) (Point, error) {
		a, b := x[0], x[1]
		return Point{
			Value: a*a + a*b + 2*b*b - a - 5*b,
			Grad:  []float64{2*a + b - 1, a + 4*b - 5},
			Hess:  []float64{2, 1, 1, 4},
		}, nil
	}
	start := []float64{30, -7}
	got, err := Newton(f, start, lim)
	if err != nil {
		t.Fatal(err)
	}
	if got.Steps != 1 || math.Abs(got.X[0]+1./7) > 1e-12 || math.Abs(got.X[1]-9./7) > 1e-12 ||
		got.GradNorm > lim.GradNorm {
		t.Errorf("Newton = %+v, want one step to (-1/7, 9/7)", got)
	}
	if start[0] != 30 || start[1] != -7 {
		t.Error("Newton changed its start")
	}
}

// Full Newton steps on √(1+x²) diverge from |x| > 1: the iteration is x → -x³.
func TestNewtonHalvesStepsThatOvershoot(t *testing.T) {
	f := func(x []float64) (Point, error) {
		r := math.Sqrt(1 + x[0]*x[0])
		return Point{Value: r, Grad: []float64{x[0] / r}, Hess: []float64{1 / (r * r * r)}}, nil
	}
	got, err := Newton(f, []float64{3}, lim)
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(got.X[0]) > 1e-9 || got.GradNorm > lim.GradNorm {
		t.Errorf("Newton = %+v, want 0", got)
	}
}

// The value depends on x+y and z only, so the Hessian has rank two; along the
// gradient alone the two scales would take hundreds of steps.
func TestNewtonDampsASingularHessian(t *testing.T) {
	f := func(x []float64) (Point, error) {
		s, z := x[0]+x[1]-2, x[2]-1
		return Point{
			Value: s*s/2 + 50*z*z,
			Grad:  []float64{s, s, 100 * z},
			Hess:  []float64{1, 1, 0, 1, 1, 0, 0, 0, 100},
		}, nil
	}
	got, err := Newton(f, []float64{5, 0, 7}, lim)
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(got.X[0]+got.X[1]-2) > 1e-9 || math.Abs(got.X[2]-1) > 1e-9 || got.Steps > 3 {
		t.Errorf("Newton = %+v, want x+y = 2 and z = 1 within 3 steps", got)
	}
}

func TestNewtonStopsAtItsLimitsAndSaysSo(t *testing.T) {
	calls := 0
	f := func(x []float64) (Point, error) { // e^-x falls permanently
		calls++
		e := math.Exp(-x[0])
		return Point{Value: e, Grad: []float64{-e}, Hess: []float64{e}}, nil
	}
	got, err := Newton(f, []float64{0}, Limits{GradNorm: 1e-300, Steps: 7})
	if err != nil {
		t.Fatal(err)
	}
	if got.Steps != 7 || calls != 8 || math.Abs(got.X[0]-7) > 1e-12 || !(got.GradNorm > 1e-300) {
		t.Errorf("Newton = %+v after %d calls, want 7 unit steps and an honest gradient", got, calls)
	}
}

func TestNewtonSurvivesNotANumber(t *testing.T) {
	nan := math.NaN()
	f := func(x []float64) (Point, error) {
		return Point{Value: nan, Grad: []float64{nan}, Hess: []float64{nan}}, nil
	}
	got, err := Newton(f, []float64{1}, lim)
	if err != nil || got.X[0] != 1 || got.GradNorm <= lim.GradNorm {
		t.Errorf("Newton = %+v, %v, want the start and no certificate", got, err)
	}
}

func TestNewtonPassesErrorsOn(t *testing.T) {
	want := errors.New("no answer")
	if _, err := Newton(func([]float64) (Point, error) { return Point{}, want }, []float64{1},
		lim); !errors.Is(err, want) {
		t.Errorf("error = %v, want %v", err, want)
	}
}
