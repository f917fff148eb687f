// SPDX-License-Identifier: Apache-2.0

package labeldp

import (
	"math"

	"github.com/discreet-dp/discreet/internal/guard"
)

// countFits is the number of binary fits for a label: one if it has two levels, otherwise one per
// level, each against the rest.
func (pl *Plan) countFits() int {
	if k := pl.s.Classes(); k > 2 {
		return k
	}
	return 1
}

// positiveLevel returns the code of the label that is positive in a fit.
func (pl *Plan) positiveLevel(fit int) int {
	if pl.countFits() == 1 {
		return pl.s.Label.Positive
	}
	return fit
}

// statisticSize is the length of the statistic.
func (pl *Plan) statisticSize() int { return pl.countFits() * pl.dim() }

// sensitivityNorms is the sensitivity of the statistic, in L1 and in L2, in row lengths: a label adds
// a row to a fit, or moves it from one fit to another.
func (pl *Plan) sensitivityNorms() (l1, l2 float64) {
	if pl.countFits() == 1 {
		return 1, 1
	}
	return 2, math.Sqrt2 * (1 + 0x1p-50)
}

// releaseName is the name of the release.
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

// splitStatistic splits the released statistic into those of the fits. The exact statistics of all
// levels add up to the mean row, which is public. The noisy ones do not, and the difference is divided
// among them (2.2).
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
