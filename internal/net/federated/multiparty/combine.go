// SPDX-License-Identifier: Apache-2.0

package multiparty

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
)

const (
	searchTarget = 1e-9 // for a search that only public numbers influence
	searchSteps  = 300
	sureTarget   = 1e-10
	sureSteps    = 1 << 20 // limit for a search that must converge; tens of steps are usual
)

// Combine charges acct and makes the classifier from the tally. After the charge it fails only for a
// cancelled context or for a public reason.
func (pl *Plan) Combine(ctx context.Context, aux *Auxiliary, t *Tally, acct guard.Account,
	exit *mech.Exit) (*model.Model, error) {
	if t.pl != pl || t.rows != aux.Rows || t.aux != aux.Digest {
		return nil, fmt.Errorf("multiparty: the tally must be of this plan and this auxiliary table")
	}
	if err := acct.Charge(ctx, dp.Pure(pl.bill), pl.bill); err != nil {
		return nil, fmt.Errorf("multiparty: %w", err)
	}
	w, err := pl.fit(ctx, newPublic(pl, aux), t, exit)
	if err != nil {
		return nil, fmt.Errorf("multiparty: %w", err)
	}
	m := pl.assembleModel(w)
	m.Privacy = pl.statePrivacy(acct, exit)
	return m, nil
}

// fit returns coefficients for scaled rows, one row per coordinate of the shares.
func (pl *Plan) fit(ctx context.Context, p *public, t *Tally, exit *mech.Exit) ([]float64, error) {
	switch pl.Method {
	case Average:
		return pl.average(t, exit), nil
	case NoisyMax:
		return pl.fitAnswers(ctx, p, t, exit)
	}
	g, err := p.computeMoments(ctx)
	if err != nil {
		return nil, err
	}
	if pl.Form == Output {
		return pl.output(ctx, p, g, t, exit)
	}
	tr := newTransform(pl.Shape, g, p.rows)
	s, err := p.computeStatistic(ctx, t)
	if err != nil {
		return nil, err
	}
	o := p.newObjective(g)
	o.setStatistic(p.release(tr, s, exit))
	w, _, err := o.findMinimum(ctx, searchTarget, searchSteps) // 1.6: of public numbers
	return w, err
}

// output is Algorithms 1 and 2 as printed in the paper: the minimum plus noise.
func (pl *Plan) output(ctx context.Context, p *public, g *mat.SymDense, t *Tally, exit *mech.Exit) ([]float64, error) {
	o := p.newObjective(g)
	if pl.Loss == Huber {
		o.setMargins(t)
	} else {
		s, err := p.computeStatistic(ctx, t)
		if err != nil {
			return nil, err
		}
		o.setStatistic(s)
	}
	w, length, err := o.findMinimum(ctx, sureTarget, sureSteps)
	if err != nil {
		return nil, err
	}
	if !(length <= sureTarget) {
		return nil, fmt.Errorf("the minimum must be found: rounding stops the search; give a larger ridge")
	}
	values := make([]mech.Ratio, len(w))
	for i := range w {
		values[i] = mech.RatioOf(w[i])
	}
	// 2.3: votes meet noise
	return exit.Release(coefsLabel, pl.noiseFor(pl.outputSensitivity(newTransform(Ball, g, p.rows)), len(w)),
		values...), nil
}

// outputSensitivity is the largest change of the search's result by one party. The gradient changes by
// at most slope/M, and the minimum of a λ-strongly convex function by that divided by λ (2.1). The
// search ends within target/λ of the minimum, for both neighbours (2.2).
func (pl *Plan) outputSensitivity(t *transform) float64 {
	slope := 2.0
	if pl.Mode == Tight {
		slope = pl.largestChange() * t.reach // ℓ'(z) + ℓ'(-z) = -1 for the logistic loss
		if pl.Loss == Huber {
			slope *= 2 // up to -2
		}
	}
	return (pl.perVote()*slope + 2*2*sureTarget) / pl.reg() * (1 + 0x1p-40)
}

// average returns the noisy mean of clipped coefficients.
func (pl *Plan) average(t *Tally, exit *mech.Exit) []float64 {
	values := make([]mech.Ratio, len(t.coefs))
	for f, sum := range t.coefs {
		values[f] = mech.Ratio{Num: sum, Den: int64(pl.Parties) << coefBits}
	}
	l2 := 2 * pl.Bound / float64(pl.Parties) * (1 + 0x1p-40) // 3.2
	// Parties meet noise.
	return exit.Release(averageLabel, pl.noiseFor(l2, len(values)), values...)
}

// assembleModel converts coefficients for scaled rows to coefficients of features. The model has no
// statement yet.
func (pl *Plan) assembleModel(w []float64) *model.Model {
	m := &model.Model{
		Learner: "multiparty",
		Schema:  pl.s.Part(pl.space.Columns),
		Spaces:  []model.SpaceSpec{model.SpecOf(pl.s, pl.space)},
	}
	scale := 1 / math.Sqrt(float64(len(pl.space.Columns)+1))
	for i := range w {
		w[i] *= scale
	}
	d := pl.countCoefficients()
	if pl.Levels() == 2 {
		m.Classifier = &model.Logistic{Coef: w[:d-1], Bias: w[d-1]}
		return m
	}
	l := &model.Linear{Link: model.Softmax, Coef: make([][]float64, pl.Levels()), Bias: make([]float64, pl.Levels())}
	at := make([]float64, pl.Levels()-1)
	for k := range l.Coef {
		l.Coef[k] = make([]float64, d-1)
	}
	for f := range d {
		for c := range at {
			at[c] = w[c*d+f]
		}
		for k, x := range fromHelmert(at) {
			if f < d-1 {
				l.Coef[k][f] = x
			} else {
				l.Bias[k] = x
			}
		}
	}
	m.Classifier = l
	return m
}

// statePrivacy returns the statement of one combination.
func (pl *Plan) statePrivacy(acct guard.Account, exit *mech.Exit) model.Privacy {
	p := model.Privacy{
		Scope: dp.Party, Relation: dp.ReplaceOne, Unit: pl.s.Unit, Epsilon: pl.Epsilon, Bill: pl.Events(),
		Claim: "multiparty: " + pl.nameClaim(), Counted: acct.Counted(), Seeded: exit.Seeded(), NotPrivate: pl.NotPrivate,
	}
	if pl.NotPrivate {
		p.Scope, p.Claim = dp.Nothing, ""
		p.Statement = "No noise was added. This model protects nothing; it exists for comparison."
		p.Unprotected = []string{"everything about the parties' rows"}
		return p
	}
	p.Statement = fmt.Sprintf("Whatever one of the %d parties holds, one row or all of its rows, and whether or not it "+
		"took part, the chance of this exact model changes by at most a factor e^%s; so it does for each single row.",
		pl.Parties, pl.Epsilon)
	p.Unprotected = []string{
		"the number of parties that were asked",
		"the auxiliary table, which is public: its rows must not depend on any party's",
		"votes from the combiner, and what a party gives away outside of its votes",
		"a person with rows at several parties, beyond that many times epsilon",
	}
	if pl.Method != NoisyMax {
		p.Unprotected = append(p.Unprotected,
			"the last bits of the noise: it is drawn in floating-point arithmetic and snapped to a public grid")
	}
	p.Unprotected = append(p.Unprotected,
		"what the model says about people in general, whether or not they are in a party's table",
		"how long combining took and how much memory it used")
	return p
}

func (pl *Plan) nameClaim() string {
	switch {
	case pl.Method == Average:
		return "G-MULTI-3"
	case pl.Method == NoisyMax:
		return "G-MULTI-4"
	case pl.Form == Output:
		return "G-MULTI-2"
	}
	return "G-MULTI-1"
}
