// SPDX-License-Identifier: Apache-2.0

package labeldp

import (
	"math"

	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/table/engine"
)

// Values enter the statistic as multiples of 2^-unitBits: sums are then exact
// whatever their order, and so is the sensitivity.
const unitBits = 24

// statistic is n·s of each fit in units of 2^-24, the intercept last, one fit
// after the other, with the largest length of a row that occurs, in either norm.
// Which rows occur is public; how many of each have which label is not.
type statistic struct {
	sum    []int64
	l1, l2 float64 // in units
}

func newStatistic(pl *Plan, g *engine.Groups) *statistic {
	dim := pl.dim()
	st := &statistic{sum: make([]int64, pl.statisticSize())}
	sizes, squares := make([]float64, g.Len), make([]float64, g.Len)
	pl.visitFeatures(g, func(group, f int, v float64) {
		q := math.RoundToEven(math.Ldexp(v, unitBits))
		sizes[group] += math.Abs(q)
		squares[group] += q * q
		for fit := range pl.countFits() {
			st.sum[fit*dim+f] += int64(q) * int64(g.Counts[pl.positiveLevel(fit)][group])
		}
	})
	const one = 1 << unitBits
	for i := range sizes { // 1.2: over rows that occur, whatever their labels
		st.l1 = max(st.l1, sizes[i]+one)
		st.l2 = max(st.l2, math.Sqrt(squares[i]+one*one))
		for fit := range pl.countFits() {
			st.sum[fit*dim+dim-1] += one * int64(g.Counts[pl.positiveLevel(fit)][i])
		}
	}
	return st
}

// visitFeatures visits the features that are not zero, column by column.
func (pl *Plan) visitFeatures(g *engine.Groups, visit func(group, f int, v float64)) {
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

// releaseNoisy lets s out.
func (st *statistic) releaseNoisy(pl *Plan, n int, exit *mech.Exit) []float64 {
	values := make([]mech.Ratio, len(st.sum))
	for f, v := range st.sum {
		values[f] = mech.Ratio{Num: v, Den: int64(n) << unitBits}
	}
	return exit.Release(pl.releaseName(), st.noiseFor(pl, n), values...) // 1.3: labels meet noise
}

// noiseFor is sized for one label: it moves n·s by one row, of more than two levels
// out of one fit's and into another's.
func (st *statistic) noiseFor(pl *Plan, n int) mech.Mechanism {
	row := func(units float64) float64 { // 1.1; the factor is past the rounding of a few operations
		return math.Ldexp(units, -unitBits) / float64(n) * (1 + 0x1p-39)
	}
	l1, l2 := pl.sensitivityNorms()
	switch {
	case pl.NotPrivate:
		return mech.NoNoise{}
	case pl.Noise == Gaussian:
		return mech.Sized(mech.GaussianFor(pl.bill[0].Rho, row(st.l2)*l2, pl.statisticSize()))
	case pl.Noise == Laplace:
		return mech.Sized(mech.LaplaceFor(pl.Epsilon, row(st.l1)*l1, pl.statisticSize()))
	}
	return mech.Sized(mech.GammaFor(pl.Epsilon, row(st.l2)*l2, pl.statisticSize()))
}
