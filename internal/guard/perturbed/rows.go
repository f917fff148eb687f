// SPDX-License-Identifier: Apache-2.0

package perturbed

import (
	"context"
	"fmt"
	"slices"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ground/optimize"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/guard/internal/inside"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/engine/solver"
)

// Rows are the rows of a guard's table, with a label of two classes.
type Rows struct {
	in      guard.Inside
	table   inside.Sealed[engine.Table]
	weights []float64 // by the code of the label in the whole table, at most 1; nil: all rows have equal weight
	private bool
}

// OneVersusRest returns the rows of g, with one row per person: once if the label has two classes,
// otherwise once for each class against all others, in order.
func OneVersusRest(g *guard.Guard) ([]*Rows, error) {
	g.DrawRows() // G-PERSONS-2
	in := g.Inside(inside.Take())
	tab, err := in.OneRow()
	if err != nil {
		return nil, err
	}
	var out []*Rows
	for _, view := range engine.OneVersusRest(tab) {
		out = append(out, &Rows{in, inside.Seal(view), in.Schema().Label.RowWeights(), g.Private()})
	}
	return out, nil
}

// Minimise releases the minimum of p with its noise: coefficients for scaled rows, with the intercept
// last. The rows are read once per gradient.
func (r *Rows) Minimise(p *Problem) ([]float64, error) {
	p, err := r.own(p)
	if err != nil {
		return nil, err
	}
	s := p.Size(r.table().Rows())
	term, err := r.drawTerm(p, &s) // before any row is read
	if err != nil {
		return nil, err
	}
	w, err := r.findMinimum(r.in.Context(), p, &s, term)
	if err != nil {
		return nil, err
	}
	values := make([]mech.Ratio, len(w))
	for i := range w {
		values[i] = mech.RatioOf(w[i])
	}
	return r.in.Release(coefsLabel+p.Of, s.after, values...) // 1.3, 2.4
}

// own returns p with the features of the table's own schema. It refuses p if it cannot be protected.
func (r *Rows) own(p *Problem) (*Problem, error) {
	own := *p
	if err := own.check(r.in.Relation()); err != nil {
		return nil, err
	}
	var err error
	own.Space, err = r.in.Space(own.Space)
	return &own, err
}

// drawTerm returns b, or zeros. b protects the gradient of the rows, which is never released. The exit
// therefore receives zeros with the declared sensitivity.
func (r *Rows) drawTerm(p *Problem, s *Sizes) ([]float64, error) {
	if s.term == nil {
		return make([]float64, s.dim), nil
	}
	zeros := make([]mech.Ratio, s.dim)
	for i := range zeros {
		zeros[i].Den = 1
	}
	return r.in.Release(termLabel+p.Of, s.term, zeros...)
}

// findMinimum returns the certified minimum of J for the linear term b.
func (r *Rows) findMinimum(ctx context.Context, p *Problem, s *Sizes, b []float64) ([]float64, error) {
	all, err := r.table().Margins(ctx, p.Space, r.rowShape(p))
	if err != nil {
		return nil, err
	}
	some := func(rows int) slopes { return objectiveSlopes(ctx, all.Sample(rows), p, s, b) }
	x, done, err := minimiseQuickly(some(max(fewRows, 8*s.dim)), some(max(someRows, 20*s.dim, r.table().Rows()/8)),
		objectiveSlopes(ctx, all, p, s, b), s.dim, s.target)
	if done || err != nil {
		return x, err
	}
	return minimiseSurface(r.objectiveSurface(ctx, p, s, b), s.dim, s.reg, s.reg+s.curve*s.norm*s.norm, s.target)
}

// objectiveSlopes returns the derivatives of J over the rows of m. If these are a sample, each stands
// for several rows.
func objectiveSlopes(ctx context.Context, m engine.Margins, p *Problem, s *Sizes, b []float64) slopes {
	return func(w []float64, hess bool) (optimize.Point, error) {
		sums, err := m.Sums(ctx, p.Loss, w, hess)
		if err != nil {
			return optimize.Point{}, err
		}
		weight := s.n / float64(max(1, sums.Rows)) // 1 of all rows
		for i := range sums.Grad {
			sums.Grad[i] *= weight
		}
		for i := range sums.Hess {
			sums.Hess[i] *= weight
		}
		return s.addTerms(sums, b, w), nil
	}
}

// objectiveSurface returns the function J.
func (r *Rows) objectiveSurface(ctx context.Context, p *Problem, s *Sizes,
	b []float64) func(w []float64) (optimize.Point, error) {
	return func(w []float64) (optimize.Point, error) {
		sums, err := solver.Losses{Space: p.Space, Loss: p.Loss, Rows: r.rowShape(p), Coef: w, Value: true,
			Hess: true}.Floats(ctx, r.table())
		if err != nil {
			return optimize.Point{}, err
		}
		return s.addTerms(sums, b, w), nil
	}
}

// rowShape returns the scaling of rows to length at most 1. No row has a weight above 1.
func (r *Rows) rowShape(p *Problem) engine.Rows {
	return engine.Rows{Scale: p.RowScale(), Norm: p.Norm, Weights: r.weights}
}

// addTerms adds the other terms of J, in mean units. It overwrites s.
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

// Cuts are thresholds of a score: see engine.Cuts.
type Cuts = engine.Cuts

// ChooseCut selects, for eps, one of the cuts with many correctly classified rows. coef are
// coefficients of p's features, with the intercept last. Rows must have equal weights.
func (r *Rows) ChooseCut(label string, eps dp.Epsilon, p *Problem, coef []float64,
	cuts Cuts) (int, error) {
	p, err := r.own(p)
	if err != nil {
		return 0, err
	}
	if r.weights != nil {
		return 0, fmt.Errorf("perturbed: rows that weigh differently cannot be counted")
	}
	ctx := r.in.Context()
	rows, err := r.table().Margins(ctx, p.Space, r.rowShape(p))
	if err != nil {
		return 0, err
	}
	right, err := rows.Right(ctx, slices.Clone(coef), cuts)
	if err != nil {
		return 0, err
	}
	scores := make([]mech.Ratio, len(right))
	for k, n := range right {
		scores[k] = mech.RatioOf(n)
	}
	m := mech.Selector(mech.NoNoise{})
	if r.private {
		sized, err := mech.PermuteAndFlipFor(eps, 2) // 6.1: a replaced row moves a count by at most one, up or down
		if err != nil {
			return 0, err
		}
		m = sized
	}
	return r.in.Select(label, m, scores) // 6.2
}
