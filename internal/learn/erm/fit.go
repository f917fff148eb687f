// SPDX-License-Identifier: Apache-2.0

package erm

import (
	"context"
	"fmt"
	"math"

	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/guard/extend"
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/optimize"
	"github.com/discreet-dp/discreet/internal/privacy/dp"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/table/engine"
)

// Fit charges acct, then reads the rows once per gradient. After the charge it
// fails only for a fault of the engine or a cancelled context.
func (pl *Plan) Fit(ctx context.Context, g *guard.Guard) (*model.Model, error) {
	g.DrawRows() // G-PERSONS-2
	in := extend.Open(g)
	tab, err := in.OneRow()
	if err != nil {
		return nil, fmt.Errorf("erm: %w", err)
	}
	exit := in.Exit()
	m := &model.Model{
		Learner: "erm",
		Schema:  pl.s.Part(pl.space.Columns),
		Privacy: pl.privacyStatement(g),
		Spaces:  []model.SpaceSpec{model.SpecOf(pl.s, pl.space)},
	}
	plans := pl.parts
	if plans == nil { // a label of two classes
		plans = []*Plan{pl}
	}
	var fits []*model.Logistic
	for k, view := range engine.OneVersusRest(tab) { // every fit reads the same rows
		one, err := plans[k].fitBinary(ctx, view, exit)
		if err != nil {
			return nil, fmt.Errorf("erm: %w", err)
		}
		fits = append(fits, one)
	}
	m.Classifier = model.OneVersusRestOf(fits)
	return m, nil
}

// fitBinary is one binary fit.
func (pl *Plan) fitBinary(ctx context.Context, tab engine.Table, exit *mech.Exit) (*model.Logistic, error) {
	pert := pl.planPerturbation(tab.Rows())
	term := pl.drawTerm(pert, exit) // before any row is read
	w, err := pl.findMinimum(ctx, tab, pert, term)
	if err != nil {
		return nil, err
	}
	values := make([]mech.Ratio, len(w))
	for i := range w {
		values[i] = mech.RatioOf(w[i])
	}
	l := pl.unscaleCoefficients(exit.Release(coefsLabel+pl.of, pert.after, values...)) // 1.3, 2.4: rows meet noise
	if pl.ask > 0 {
		err = pl.chooseThreshold(ctx, tab, l, exit)
	}
	return l, err
}

// perturbation is where noise enters and how much, from public numbers alone.
type perturbation struct {
	units
	term   mech.Mechanism // nil: no linear term
	after  mech.Mechanism // what the coefficients leave through
	target float64        // the length of gradient that is asked of the solver
}

func (pl *Plan) planPerturbation(n int) perturbation {
	u := units{
		n: float64(n), reg: pl.Reg, norm: pl.Norm, curve: pl.loss.Curvature(),
		dim: pl.countCoefficients(), blocks: pl.blockSizes(),
		cell: pl.largestEntry()}
	if u.reg == 0 {
		u.reg = DefaultReg(pl.Method, n, pl.noiseLength(n), pl.Epsilon)
	}
	p := perturbation{units: u, after: mech.NoNoise{}}
	switch {
	case pl.NotPrivate:
		p.target = u.leastGradient(0)
	case pl.Method == Output:
		slope := u.lossSlope(pl.loss, pl.Mode)
		p.target = u.outputPrecision(pl.Noise, slope)
		p.after = u.outputNoise(pl.Noise, pl.bill[0].Epsilon, slope, 2*u.minimumDistance(p.gradientBound()))
	default:
		eps, rest, jacobian := pl.bill[0].Epsilon, pl.bill[1].Epsilon, 0.0
		p.units, jacobian = u.objectiveSize(eps.Float(), pl.Mode)
		p.term = p.units.termNoise(pl.Noise, eps, jacobian)
		p.target = p.objectivePrecision(noiseLength(p.term, u.dim), rest.Float())
		// 2.5
		p.after = mech.Sized(mech.RemainderFor(rest, p.minimumDistance(p.gradientBound()+p.snappingBound(p.term)), u.dim))
	}
	return p
}

// gradientBound is the length of the gradient that the solver's answer is sure of; what
// it is above the target covers the rounding of the sums.
func (p *perturbation) gradientBound() float64 { return 2 * p.target }

// drawTerm returns b, or zeros. What it is drawn for is the gradient of the rows,
// which never leaves; the door sees zeros of the declared sensitivity.
func (pl *Plan) drawTerm(p perturbation, exit *mech.Exit) []float64 {
	if p.term == nil {
		return make([]float64, p.dim)
	}
	zeros := make([]mech.Ratio, p.dim)
	for i := range zeros {
		zeros[i].Den = 1
	}
	return exit.Release(termLabel+pl.of, p.term, zeros...)
}

// findMinimum is the certified minimum of J for the linear term b.
func (pl *Plan) findMinimum(ctx context.Context, tab engine.Table, p perturbation, b []float64) ([]float64, error) {
	all, err := tab.Margins(ctx, pl.space, pl.rowShape())
	if err != nil {
		return nil, err
	}
	some := func(rows int) slopes { return pl.objectiveSlopes(ctx, all.Sample(rows), p, b) }
	x, done, err := minimiseQuickly(some(max(fewRows, 8*p.dim)), some(max(someRows, 20*p.dim, tab.Rows()/8)),
		pl.objectiveSlopes(ctx, all, p, b), p.dim, p.target)
	if done || err != nil {
		return x, err
	}
	return minimiseSurface(pl.objectiveSurface(ctx, tab, p, b), p.dim, p.reg, p.reg+p.curve*p.norm*p.norm, p.target)
}

// objectiveSlopes is J over the rows of m, each for several where they are a sample.
func (pl *Plan) objectiveSlopes(ctx context.Context, m engine.Margins, p perturbation, b []float64) slopes {
	return func(w []float64, hess bool) (optimize.Point, error) {
		s, err := m.Sums(ctx, pl.loss, w, hess)
		if err != nil {
			return optimize.Point{}, err
		}
		weight := p.n / float64(max(1, s.Rows)) // 1 of all rows
		for i := range s.Grad {
			s.Grad[i] *= weight
		}
		for i := range s.Hess {
			s.Hess[i] *= weight
		}
		return p.addTerms(s, b, w), nil
	}
}

// objectiveSurface is J.
func (pl *Plan) objectiveSurface(ctx context.Context, tab engine.Table, p perturbation,
	b []float64) func(w []float64) (optimize.Point, error) {
	return func(w []float64) (optimize.Point, error) {
		s, err := tab.MarginSums(ctx, pl.space, pl.loss, pl.rowShape(), w)
		if err != nil {
			return optimize.Point{}, err
		}
		return p.addTerms(s, b, w), nil
	}
}

// rowShape scales rows to length at most 1 by the number of columns, each of which
// has one non-zero feature of size at most 1, and the intercept's constant. No
// row counts more than once.
func (pl *Plan) rowShape() engine.Rows {
	return engine.Rows{Scale: pl.rowScale(), Norm: pl.Norm, Weights: pl.s.Label.RowWeights()}
}

func (pl *Plan) rowScale() float64 {
	scale := 1 / math.Sqrt(float64(len(pl.space.Columns)+1))
	return math.Nextafter(math.Nextafter(scale, 0), 0)
}

// addTerms is J, in mean units. It overwrites s.
func (u units) addTerms(s *engine.LossSums, b, w []float64) optimize.Point {
	p := optimize.Point{Value: s.Loss / u.n, Grad: s.Grad, Hess: s.Hess}
	for i := range p.Hess {
		p.Hess[i] /= u.n
	}
	for i := range p.Grad {
		p.Value += u.reg*w[i]*w[i]/2 + b[i]*w[i]/u.n
		p.Grad[i] = (p.Grad[i]+b[i])/u.n + u.reg*w[i]
		if p.Hess != nil {
			p.Hess[i*u.dim+i] += u.reg
		}
	}
	return p
}

// unscaleCoefficients turns released coefficients of scaled rows into coefficients of
// features.
func (pl *Plan) unscaleCoefficients(w []float64) *model.Logistic {
	scale := pl.rowShape().Scale
	for i := range w {
		w[i] *= scale
	}
	d := len(w) - 1
	l := &model.Logistic{Coef: w[:d], Bias: w[d]}
	if pl.Norm < 1 { // else no row is shortened
		l.Norm = pl.Norm / scale
	}
	return l
}

func (pl *Plan) privacyStatement(g *guard.Guard) model.Privacy {
	d := learn.Deal{Schema: pl.s, Scope: dp.WholeRow, Epsilon: pl.Epsilon, Bill: pl.Terms().Bill, Claim: pl.claimID(),
		NotPrivate: pl.NotPrivate}
	if pl.Noise != Laplace {
		d.Unprotected = []string{"the last bits of the noise: it is drawn in floating-point arithmetic and snapped to a " +
			"public grid"}
	}
	return d.Privacy(g)
}

func (pl *Plan) claimID() string {
	switch {
	case pl.parts != nil:
		return "erm: G-ERM-4"
	case pl.ask > 0:
		return "erm: G-ERM-6"
	case pl.Method == Output:
		return "erm: G-ERM-1"
	case pl.Mode == CMS11:
		return "erm: G-ERM-2"
	}
	return "erm: G-ERM-3"
}
