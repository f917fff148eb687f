// SPDX-License-Identifier: Apache-2.0

package labeldp

import "github.com/discreet-dp/discreet/internal/guard"

// measureStatistic measures s of each fit, with the intercept last, one fit after another: the mean
// over the rows of the features of those that have the fit's level. Which distinct rows occur is
// public; their labels are not.
func (pl *Plan) measureStatistic(g *guard.Guard, groups *guard.Groups) ([]float64, error) {
	levels := make([]int, pl.countFits())
	for fit := range levels {
		levels[fit] = pl.positiveLevel(fit)
	}
	means, err := groups.ClassMeans(levels, pl.dim())
	if err != nil {
		return nil, err
	}
	pl.visitFeatures(groups, means.Add)
	for i := range groups.Len {
		means.Add(i, pl.dim()-1, 1)
	}
	out, err := g.Measure(pl.releaseName(), pl.share(), means.Sum())
	return out.Values, err
}

// share returns the price of the statistic.
func (pl *Plan) share() guard.Share {
	switch {
	case pl.NotPrivate:
		return guard.Share{}
	case pl.Noise == Gaussian:
		return guard.Share{Rho: pl.bill[0].Rho}
	}
	return guard.Share{Epsilon: pl.Epsilon, Gamma: pl.Noise == Gamma}
}

// visitFeatures visits the non-zero features, column by column.
func (pl *Plan) visitFeatures(g *guard.Groups, visit func(group, f int, v float64)) {
	for k, j := range pl.space.Columns {
		c := &g.Cols[j]
		for i := range g.Len {
			f, v := 0, 0.0
			if code := c.Codes.At(i); c.Values != nil {
				f, v = pl.space.Number(k, c.Values[code])
			} else {
				f, v = pl.space.Code(k, int(code))
			}
			visit(i, f, v)
		}
	}
}
