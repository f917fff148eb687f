// SPDX-License-Identifier: Apache-2.0

package labeldp

import (
	"context"
	"fmt"
	"slices"

	"github.com/discreet-dp/discreet/internal/ground/optimize"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/table/engine/kernel"
)

// limits are public. After the release of s̃ the objective is public too, so that the end of the
// search reveals nothing.
var limits = optimize.Limits{GradNorm: 1e-10, Steps: 200}

// Fit charges acct, then reads the rows once.
func (pl *Plan) Fit(ctx context.Context, g *guard.Guard) (*model.Model, error) {
	g.DrawRows() // G-PERSONS-2
	groups, err := g.Groups(pl.space.Columns)
	if err != nil {
		return nil, fmt.Errorf("labeldp: %w", err)
	}
	us, err := pl.fitAll(ctx, g, groups)
	if err != nil {
		return nil, err
	}
	m := &model.Model{
		Learner: "labeldp",
		Schema:  pl.s.Part(pl.space.Columns),
		Privacy: pl.privacyStatement(g),
		Spaces:  []model.SpaceSpec{model.SpecOf(pl.s, pl.space)},
	}
	d := pl.space.Width()
	var parts []*model.Logistic
	for _, u := range us {
		parts = append(parts, &model.Logistic{Coef: u[:d], Bias: u[d]})
	}
	m.Classifier = model.OneVersusRestOf(parts)
	return m, nil
}

// Coefficients is Fit for a learner that has these terms on its bill and needs a public classifier: it
// measures the statistic and returns the coefficients of the public features, with the intercept last.
// groups are the rows by the public columns of the schema, whose label must have two levels.
func (pl *Plan) Coefficients(ctx context.Context, g *guard.Guard, groups *guard.Groups) ([]float64, error) {
	us, err := pl.fitAll(ctx, g, groups)
	if err != nil {
		return nil, err
	}
	return us[0], nil
}

// fitAll measures the statistic and minimises each fit's part.
func (pl *Plan) fitAll(ctx context.Context, g *guard.Guard, groups *guard.Groups) (us [][]float64, err error) {
	n := g.Units()
	statistic, err := pl.measureStatistic(g, groups)
	if err != nil {
		return nil, fmt.Errorf("labeldp: %w", err)
	}
	for _, s := range pl.splitStatistic(groups, n, statistic) {
		u, err := pl.minimiseLoss(ctx, groups, n, s)
		if err != nil {
			return nil, fmt.Errorf("labeldp: %w", err)
		}
		us = append(us, u)
	}
	return us, nil
}

// minimiseLoss is post-processing of s̃ and of public columns (1.4): it uses the number of rows of the
// groups, never their labels. Its variables are coefficients u for unscaled rows, in which (Λ/2)‖w‖²
// is (Λ/2)(columns+1)‖u‖².
func (pl *Plan) minimiseLoss(ctx context.Context, g *guard.Groups, n int, s []float64) ([]float64, error) {
	half := halfCounts(g)
	weigh := kernel.GroupWeights(half, half)
	// With both labels at half weight LogisticSums adds up softplus(z) - z/2, so
	// the linear term wanted is s̃ less half the mean row.
	linear := slices.Clone(s)
	for f, m := range pl.meanRow(g, half, float64(n)) {
		linear[f] -= m / 2
	}
	ridge := pl.ridgeFor(n) * float64(len(pl.space.Columns)+1)
	best, err := optimize.Newton(func(u []float64) (optimize.Point, error) {
		sums, err := kernel.LogisticSums(ctx, pl.space, g.Cols, g.Len, weigh, u)
		if err != nil {
			return optimize.Point{}, err
		}
		p := optimize.Point{Value: sums.Loss / float64(n), Grad: sums.Grad, Hess: sums.Hess}
		for i := range p.Hess {
			p.Hess[i] /= float64(n)
		}
		for f := range p.Grad {
			p.Value += ridge*u[f]*u[f]/2 - linear[f]*u[f]
			p.Grad[f] = p.Grad[f]/float64(n) - linear[f] + ridge*u[f]
			p.Hess[f*len(u)+f] += ridge
		}
		return p, nil
	}, make([]float64, pl.dim()), limits)
	return best.X, err
}

// halfCounts returns half the number of rows of each group.
func halfCounts(g *guard.Groups) []float64 {
	half := make([]float64, g.Len)
	for i, rows := range g.Rows {
		half[i] = rows / 2
	}
	return half
}

// meanRow returns the mean of all rows, regardless of labels.
func (pl *Plan) meanRow(g *guard.Groups, half []float64, n float64) []float64 {
	mean := make([]float64, pl.dim())
	pl.visitFeatures(g, func(group, f int, v float64) { mean[f] += 2 * half[group] * v })
	for f := range mean {
		mean[f] /= n
	}
	mean[len(mean)-1] = 1
	return mean
}

func (pl *Plan) privacyStatement(g *guard.Guard) model.Privacy {
	if pl.Noise == Gamma {
		return learn.State(g, pl.claimName(), "the last bits of the noise: it is drawn in floating-point arithmetic and snapped "+
			"to a public grid")
	}
	return learn.State(g, pl.claimName())
}
