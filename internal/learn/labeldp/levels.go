// SPDX-License-Identifier: Apache-2.0

package labeldp

import (
	"math"

	"github.com/discreet-dp/discreet/internal/guard"
)

// countFits is the number of binary fits that a label takes: one if it has two levels, else
// one per level, each against the rest.
func (pl *Plan) countFits() int {
	if k := pl.s.Classes(); k > 2 {
		return k
	}
	return 1
}

// positiveLevel is the code of the label that is positive in a fit.
func (pl *Plan) positiveLevel(fit int) int {
	if pl.countFits() == 1 {
		return pl.s.Label.Positive
	}
	return fit
}

// statisticSize is the number of numbers that the statistic has.
func (pl *Plan) statisticSize() int { return pl.countFits() * pl.dim() }

// sensitivityNorms is by how many rows' lengths one label moves the statistic, in L1 and in
// L2: it adds a row, or takes one out of one fit and into another.
func (pl *Plan) sensitivityNorms() (l1, l2 float64) {
	if pl.countFits() == 1 {
		return 1, 1
	}
	return 2, math.Sqrt2 * (1 + 0x1p-50)
}

// releaseName names what leaves.
func (pl *Plan) releaseName() string {
	if pl.countFits() == 1 {
		return statisticLabel
	}
	return levelsLabel
}

func (pl *Plan) claimName() string {
	if pl.countFits() == 1 {
		return "labeldp: G-LABELDP-1"
	}
	return "labeldp: G-LABELDP-2"
}

// splitStatistic cuts the released statistic into those of the fits. Those of all levels
// add up to the mean row, which is public; noise does not, and what it is off is
// shared out among them (2.2).
func (pl *Plan) splitStatistic(g *guard.Groups, n int, s []float64) [][]float64 {
	dim, fits := pl.dim(), pl.countFits()
	parts := make([][]float64, fits)
	for fit := range parts {
		parts[fit] = s[fit*dim:][:dim]
	}
	if fits == 1 {
		return parts
	}
	for f, mean := range pl.meanRow(g, halfCounts(g), float64(n)) {
		off := mean
		for _, part := range parts {
			off -= part[f]
		}
		for _, part := range parts {
			part[f] += off / float64(fits)
		}
	}
	return parts
}
