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

// Refit fits the same groups repeatedly, with weights that change slightly, for boosting. Each fit
// reuses the curvature of earlier ones, so that it costs a few gradients.
type Refit struct {
	sp    *feature.Space
	g     *engine.Groups
	ridge float64
	sums  *kernel.Logistic
	steps optimize.Secant
	coef  []float64
}

// refitLimits are public. They are looser than those of FitGroups, because intermediate classifiers in
// boosting need no certificate. (scikit-learn stops at 1e-4.)
var refitLimits = optimize.Limits{GradNorm: 1e-6, Steps: 40}

// NewRefit prepares fits of g. ridge, finite and > 0, is the coefficient of ½‖coef‖² on the summed
// loss, for any sum of the weights.
func NewRefit(sp *feature.Space, g *engine.Groups, ridge float64) *Refit {
	return &Refit{sp: sp, g: g, ridge: ridge, sums: kernel.NewLogistic(sp, g), coef: make([]float64, sp.Width()+1)}
}

// Fit minimises the loss of groups with the weights pos and neg, as in FitGroups, down to a mean
// gradient of length 1e-6, starting at the result of the last Fit. It returns the coefficients, the
// intercept last, and every group's score; both are valid until the next Fit.
func (r *Refit) Fit(ctx context.Context, pos, neg []float64) (coef, scores []float64, err error) {
	total := 0.0
	for i := range pos {
		total += pos[i] + neg[i]
	}
	if !(total > 0) || math.IsInf(total, 1) {
		return nil, nil, fmt.Errorf("logistic: refit: weights must have a finite sum > 0")
	}
	o := &penalised{ctx: ctx, r: r, pos: pos, neg: neg, total: total}
	best, done, err := r.steps.Minimise(o, r.coef, refitLimits)
	if err != nil {
		return nil, nil, fmt.Errorf("logistic: refit: %w", err)
	}
	r.coef = best.X
	if !done {
		// From zero: weights that made the steps fail make the last fit a bad start.
		damped, err := FitGroups(ctx, r.sp, r.g, pos, neg, r.ridge/total, nil)
		if err != nil {
			return nil, nil, err
		}
		r.coef = damped.Coef
		if _, err := o.Gradient(r.coef); err != nil { // brings the scores to coef
			return nil, nil, fmt.Errorf("logistic: refit: %w", err)
		}
	}
	return r.coef, r.sums.Scores(), nil
}

// penalised is the mean loss for one choice of weights, with its ridge.
type penalised struct {
	ctx      context.Context
	r        *Refit
	pos, neg []float64
	total    float64
}

func (o *penalised) Gradient(coef []float64) ([]float64, error) {
	grad, err := o.r.sums.Gradient(o.ctx, o.pos, o.neg, coef)
	if err != nil {
		return nil, err
	}
	for i, c := range coef[:len(coef)-1] {
		grad[i] += o.r.ridge * c
	}
	for i := range grad {
		grad[i] /= o.total
	}
	return grad, nil
}

func (o *penalised) Hessian() ([]float64, error) {
	h, err := o.r.sums.Hessian(o.ctx, o.pos, o.neg)
	if err != nil {
		return nil, err
	}
	dim := len(o.r.coef)
	for i := range dim - 1 {
		h[i*dim+i] += o.r.ridge
	}
	for i := range h {
		h[i] /= o.total
	}
	return h, nil
}
