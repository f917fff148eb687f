// SPDX-License-Identifier: Apache-2.0

package multiparty

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/discreet-dp/discreet/internal/ground/optimize"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/engine/kernel"
)

// gradient returns the gradient of the objective at w.
type gradient func(w []float64) ([]float64, error)

// objective is the function to minimise over the public rows:
//
//	(1/N) Σ_i φ(w·x_i) - w·s + ½·ridge·‖w‖²
//
// with φ = softplus for two levels, the logarithm of summed exponentials for more; s is a statistic,
// exact or released.
type objective struct {
	*public
	g     *mat.SymDense
	ridge float64
	slope func(ctx context.Context, w []float64) ([]float64, error) // bound on the gradient of the first two terms
}

func (p *public) newObjective(g *mat.SymDense) *objective {
	return &objective{public: p, g: g, ridge: p.pl.reg()}
}

// setStatistic sets the statistic.
func (o *objective) setStatistic(s []float64) {
	if o.pl.Levels() > 2 {
		o.slope = func(ctx context.Context, w []float64) ([]float64, error) {
			grad, err := o.softmaxGradient(ctx, w)
			for i := range grad {
				grad[i] -= s[i]
			}
			return grad, err
		}
		return
	}
	// Half of a row on each side costs softplus(z) - z/2.
	half := make([]float64, o.rows)
	for i := range half {
		half[i] = 0.5
	}
	m := kernel.NewMargins(o.pl.space, o.cols, o.rows, kernel.GroupWeights(half, half), o.rowShape())
	d := o.pl.countCoefficients()
	one := math.Ldexp(float64(o.one), -unitBits)
	o.slope = func(ctx context.Context, w []float64) ([]float64, error) {
		sums, err := m.Sums(ctx, engine.Loss{}, w, false)
		if err != nil {
			return nil, err
		}
		for f := range sums.Grad {
			sums.Grad[f] = sums.Grad[f]/float64(o.rows) + o.g.At(f, d-1)/one/2 - s[f]
		}
		return sums.Grad, nil
	}
}

// setMargins sets the shares themselves, for a loss that does not depend on a statistic alone.
func (o *objective) setMargins(t *Tally) {
	pos, neg := make([]float64, o.rows), make([]float64, o.rows)
	share := make([]uint64, 2)
	for i := range pos {
		t.share(i, share)
		pos[i] = float64(share[o.pl.s.Label.Positive]) / float64(t.totalUnits())
		neg[i] = 1 - pos[i]
	}
	m := kernel.NewMargins(o.pl.space, o.cols, o.rows, kernel.GroupWeights(pos, neg), o.rowShape())
	o.slope = func(ctx context.Context, w []float64) ([]float64, error) {
		sums, err := m.Sums(ctx, o.pl.marginLoss(), w, false)
		if err != nil {
			return nil, err
		}
		for f := range sums.Grad {
			sums.Grad[f] /= float64(o.rows)
		}
		return sums.Grad, nil
	}
}

// addRidge adds the gradient of the ridge.
func (o *objective) addRidge(ctx context.Context) gradient {
	return func(w []float64) ([]float64, error) {
		grad, err := o.slope(ctx, w)
		for i := range grad {
			grad[i] += o.ridge * w[i]
		}
		return grad, err
	}
}

// boundHessian returns an upper bound on the Hessian for every w: one block for each coordinate of the
// shares.
func (o *objective) boundHessian() []float64 {
	d, dim := o.pl.countCoefficients(), o.pl.outputLength()
	block := mat.NewSymDense(d, nil)
	// The rows of the engine and those of G differ in their last places.
	block.ScaleSym(o.pl.boundCurvature()*(1+0x1p-20), o.g)
	for f := range d {
		block.SetSym(f, f, block.At(f, f)+o.ridge)
	}
	h := make([]float64, dim*dim)
	for at := 0; at < dim; at += d {
		for f := range d {
			for k := range d {
				h[(at+f)*dim+at+k] = block.At(f, k)
			}
		}
	}
	return h
}

// findMinimum descends until the gradient is no longer than target, or for the given number of steps.
func (o *objective) findMinimum(ctx context.Context, target float64, steps int) (w []float64, length float64,
	err error) {
	return descendGradient(o.addRidge(ctx), o.boundHessian(), o.pl.outputLength(), target, steps)
}

// memory is the number of past steps that descendGradient uses.
const memory = 30

// descendGradient minimises a convex function whose Hessian is bounded by bend (dim×dim, positive
// definite) everywhere. A step with bend alone always decreases the value. Steps that use past
// gradients are taken if they shorten the gradient.
func descendGradient(f gradient, bend []float64, dim int, target float64, steps int) (x []float64,
	length float64, err error) {
	var chord optimize.Chord
	plain := func() error {
		if !chord.Factor(bend, dim) {
			return fmt.Errorf("multiparty: the ridge must outweigh rounding: give a larger one")
		}
		return nil
	}
	if err := plain(); err != nil {
		return nil, 0, err
	}
	x = make([]float64, dim)
	at, err := f(x)
	if err != nil {
		return nil, 0, err
	}
	learned := 0
	for range steps {
		if euclideanNorm(at) <= target {
			break
		}
		step := chord.Step(at)
		next := make([]float64, dim)
		for i := range x {
			next[i] = x[i] + step[i]
		}
		there, err := f(next)
		if err != nil {
			return nil, 0, err
		}
		if learned > 0 && !(euclideanNorm(there) < euclideanNorm(at)) || learned == memory {
			if err := plain(); err != nil {
				return nil, 0, err
			}
			if learned < memory {
				learned = 0
				continue
			}
			learned = 0
		}
		chord.Correct(step, at, there)
		learned++
		x, at = next, there
	}
	return x, euclideanNorm(at), nil
}

func euclideanNorm(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x * x
	}
	return math.Sqrt(sum)
}
