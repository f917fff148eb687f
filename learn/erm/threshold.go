// SPDX-License-Identifier: Apache-2.0

package erm

import (
	"context"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/mech"
	"github.com/discreet-dp/discreet/model"
)

// Threshold says whether the intercept is chosen again once the other
// coefficients are released.
type Threshold string

const (
	// AutoThreshold is by a rule of public numbers, where it pays.
	AutoThreshold Threshold = "auto"
	// NoThreshold leaves the intercept as fitted, and all of ε to the fit.
	NoThreshold Threshold = "none"
)

// The first two come from a sweep over generated tables
// (docs/benchmarks/erm-threshold.tsv, written by TestThresholdSweep), which
// real tables bear out; the number and reach of the cuts from both, on which
// little depends (docs/guarantees/erm.md).
const (
	thresholdPart = 5   // the part of ε: one fifth
	thresholdRows = 400 // least n·ε: below it the noise of the choice costs more than the choice brings
	cutCount      = 9
	cutReach      = 1.5 // how far cuts lie from the middle, see cuts
)

const thresholdLabel = "threshold"

// thresholdPrice is what the choice of a threshold takes of ε, 0 where there is
// none. A ridge that outweighs the rows holds the intercept near zero too, and
// noise moves it as far as any coefficient, so the order of scores is worth more
// than their sign; elsewhere the fitted one is as good.
func (pl *Plan) thresholdPrice() dp.Epsilon {
	switch {
	case pl.Threshold != AutoThreshold, pl.NotPrivate, pl.Method != Output, pl.Mode != Tight, pl.Reg != 0:
		return 0
	case pl.of != "", pl.s.Label.RowWeights() != nil: // one level against the rest; rows that are not counted
		return 0
	case pl.crowd(pl.rows) < swamped, float64(pl.rows)*pl.Epsilon.Float() < thresholdRows:
		return 0
	}
	return pl.Epsilon / thresholdPart
}

// choose moves the intercept of released coefficients to where the most rows
// are answered rightly, or nearly so.
func (pl *Plan) choose(ctx context.Context, tab engine.Table, l *model.Logistic, exit *mech.Exit) error {
	rows, err := tab.Margins(ctx, pl.space, pl.shape())
	if err != nil {
		return err
	}
	cuts := pl.cuts(l)
	right, err := rows.Right(ctx, append(slices.Clone(l.Coef), l.Bias), cuts)
	if err != nil {
		return err
	}
	scores := make([]mech.Ratio, len(right))
	for k, n := range right {
		scores[k] = mech.RatioOf(n)
	}
	// 6.1: a replaced row moves a count by at most one, up or down.
	l.Bias -= cuts.At(exit.Select(thresholdLabel, mech.Sized(mech.PermuteAndFlipFor(pl.ask, 2)), scores)) // 6.2: rows meet noise
	return nil
}

// cuts are thresholds around the middle of the scores that rows can have, as
// far as columns that have nothing to do with each other would let scores lie
// from it. They depend on released coefficients alone.
func (pl *Plan) cuts(l *model.Logistic) engine.Cuts {
	middle, square := l.Bias, 0.0
	for k := range pl.space.Columns {
		first, width := pl.space.Block(k)
		low, high := -l.Coef[first], l.Coef[first] // of one number in [-1, 1]
		if width > 1 {
			low, high = slices.Min(l.Coef[first:first+width]), slices.Max(l.Coef[first:first+width])
		}
		middle += (low + high) / 2
		square += float64((high - low) * (high - low) / 4)
	}
	reach := cutReach * math.Sqrt(square)
	if !(reach > 0) { // no coefficient: all rows score the intercept
		reach = 1
	}
	return engine.Cuts{First: middle - reach, Step: 2 * reach / (cutCount - 1), Count: cutCount}
}
