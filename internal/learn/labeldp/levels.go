// SPDX-License-Identifier: Apache-2.0

package labeldp

import (
	"math"

	"github.com/discreet-dp/discreet/internal/table/engine"
)

// fits is how many binary fits a label takes: one where it has two levels, else
// one per level, each against the rest.
func (pl *Plan) fits() int {
	if k := pl.s.Classes(); k > 2 {
		return k
	}
	return 1
}

// level is the code of the label that is positive in a fit.
func (pl *Plan) level(fit int) int {
	if pl.fits() == 1 {
		return pl.s.Label.Positive
	}
	return fit
}

// size is how many numbers the statistic has.
func (pl *Plan) size() int { return pl.fits() * pl.dim() }

// moves is by how many rows' lengths one label moves the statistic, in L1 and in
// L2: it adds a row, or takes one out of one fit and into another (2.1).
func (pl *Plan) moves() (l1, l2 float64) {
	if pl.fits() == 1 {
		return 1, 1
	}
	return 2, math.Sqrt2 * (1 + 0x1p-50)
}

// release names what leaves.
func (pl *Plan) release() string {
	if pl.fits() == 1 {
		return statisticLabel
	}
	return levelsLabel
}

func (pl *Plan) claim() string {
	if pl.fits() == 1 {
		return "labeldp: G-LABELDP-1"
	}
	return "labeldp: G-LABELDP-2"
}

// parts cuts the released statistic into those of the fits. Those of all levels
// add up to the mean row, which is public; noise does not, and what it is off is
// shared out among them (2.2).
func (pl *Plan) parts(g *engine.Groups, n int, s []float64) [][]float64 {
	dim, fits := pl.dim(), pl.fits()
	parts := make([][]float64, fits)
	for fit := range parts {
		parts[fit] = s[fit*dim:][:dim]
	}
	if fits == 1 {
		return parts
	}
	for f, mean := range pl.meanRow(g, halves(g), float64(n)) {
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
