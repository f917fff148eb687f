// SPDX-License-Identifier: Apache-2.0

package logistic

import (
	"context"
	"fmt"
	"math"

	"github.com/discreet-dp/discreet/internal/ground/optimize"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/engine/kernel"
	"github.com/discreet-dp/discreet/internal/table/feature"
)

// Optimum is a fitted regression with a certificate of its accuracy.
type Optimum struct {
	Coef     []float64 // length Width+1, the intercept last
	Loss     float64   // the penalised mean loss at the optimum, nats
	GradNorm float64   // length of its gradient there; at most 1e-9, unless rounding or the step limit stopped the search
	Steps    int       // Newton steps taken
}

// limits are public. From zero a fit takes five to ten steps; with one class only, for which the
// intercept tends to infinity, about twenty.
var limits = optimize.Limits{GradNorm: 1e-9, Steps: 100}

// FitGroups minimises the package's objective over groups. Group g has the weight pos[g] of positive
// and neg[g] of negative labels: finite, ≥ 0, not all zero. The mean divides by the sum of the
// weights, so that scaling all weights has no effect. If warm is not nil, the search starts there
// (length Width+1, the intercept last); that affects the time, and the optimum only within its
// certificate. FitGroups changes none of its arguments.
func FitGroups(ctx context.Context, sp *feature.Space, g *engine.Groups, pos, neg []float64, reg float64,
	warm []float64) (*Optimum, error) {
	if !(reg > 0) || math.IsInf(reg, 1) {
		return nil, fmt.Errorf("logistic: fit groups: reg must be finite and > 0 (got %g)", reg)
	}
	if len(pos) != g.Len || len(neg) != g.Len {
		return nil, fmt.Errorf("logistic: fit groups: pos and neg must have one weight per group")
	}
	total := 0.0
	for i := range pos {
		total += pos[i] + neg[i]
	}
	if !(total > 0) || math.IsInf(total, 1) {
		return nil, fmt.Errorf("logistic: fit groups: weights must have a finite sum > 0")
	}
	if warm == nil {
		warm = make([]float64, sp.Width()+1)
	}
	weigh := kernel.GroupWeights(pos, neg)
	best, err := minimiseSums(func(coef []float64) (*engine.LossSums, error) {
		return kernel.LogisticSums(ctx, sp, g.Cols, g.Len, weigh, coef)
	}, total, reg, warm)
	if err != nil {
		return nil, fmt.Errorf("logistic: fit groups: %w", err)
	}
	return best, nil
}

// minimiseSums turns sums into the penalised mean and descends from start.
func minimiseSums(sums func(coef []float64) (*engine.LossSums, error), total, reg float64,
	start []float64) (*Optimum, error) {
	best, err := optimize.Newton(func(coef []float64) (optimize.Point, error) {
		s, err := sums(coef)
		if err != nil {
			return optimize.Point{}, err
		}
		return penalisedMean(s, total, reg, coef), nil
	}, start, limits)
	if err != nil {
		return nil, err
	}
	return &Optimum{Coef: best.X, Loss: best.Value, GradNorm: best.GradNorm, Steps: best.Steps}, nil
}

// penalisedMean divides the sums by total and adds ½·reg·‖coef‖², the intercept
// left out. It overwrites s.
func penalisedMean(s *engine.LossSums, total, reg float64, coef []float64) optimize.Point {
	dim := len(coef)
	for i := range s.Hess {
		s.Hess[i] /= total
	}
	value := s.Loss / total
	for i := range s.Grad {
		s.Grad[i] /= total
	}
	for i, c := range coef[:dim-1] {
		value += reg * c * c / 2
		s.Grad[i] += reg * c
		s.Hess[i*dim+i] += reg
	}
	return optimize.Point{Value: value, Grad: s.Grad, Hess: s.Hess}
}
