// SPDX-License-Identifier: Apache-2.0

package erm

import (
	"context"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/internal/guard/perturbed"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/privacy/dp"
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

// They come from sweeps over generated tables (evidence/benchmarks/erm-threshold.tsv,
// written by TestThresholdSweep) and real ones; evidence/guarantees/erm.md has what
// was looked at.
const (
	thresholdPart = 5        // the part of ε: one fifth
	coarse        = 1.0 / 30 // the largest noise of a choice, in parts of the rows
	cutCount      = 9
	cutReach      = 1.5 // how far cuts lie from the middle, see cuts
)

const thresholdLabel = "threshold"

// thresholdPrice is what the choice of a threshold takes of ε, 0 if there is
// none. A ridge that outweighs the rows holds the intercept near zero too, and
// noise moves it as far as any coefficient, so the order of scores is worth more
// than their sign; elsewhere the fitted one is as good. Noise of the choice must
// be small, and well below that of the fit, or it takes away what the choice
// brings.
func (pl *Plan) thresholdPrice() dp.Epsilon {
	switch {
	case pl.Threshold != AutoThreshold, pl.NotPrivate, pl.Method != Output, pl.Mode != Tight, pl.Reg != 0:
		return 0
	case pl.of != "", pl.s.Label.RowWeights() != nil: // one level against the rest; rows that are not counted
		return 0
	}
	coin := 2 * thresholdPart / (float64(pl.rows) * pl.Epsilon.Float()) // the scale of its noise, in parts of the rows
	if crowd := pl.noiseLength(pl.rows); crowd < swamped || crowd < 2*coin || coin > coarse {
		return 0
	}
	return pl.Epsilon / thresholdPart
}

// chooseThreshold moves the intercept of released coefficients to where the most rows
// are answered rightly, or nearly so.
func (pl *Plan) chooseThreshold(ctx context.Context, rows *perturbed.Rows, p *perturbed.Problem, l *model.Logistic) error {
	cuts := pl.planCuts(l)
	k, err := rows.ChooseCut(ctx, thresholdLabel, pl.ask, p, append(slices.Clone(l.Coef), l.Bias), cuts)
	if err != nil {
		return err
	}
	l.Bias -= cuts.At(k)
	return nil
}

// planCuts are thresholds around the middle of the scores that rows can have, as
// far as columns that have nothing to do with each other would let scores lie
// from it. They depend on released coefficients alone.
func (pl *Plan) planCuts(l *model.Logistic) perturbed.Cuts {
	middle, square := l.Bias, 0.0
	for k := range pl.space.Columns {
		first, width := pl.space.Block(k)
		low, high := -l.Coef[first], l.Coef[first] // of one number in [-1, 1]
		if width > 1 {
			low, high = slices.Min(l.Coef[first:first+width]), slices.Max(l.Coef[first:first+width])
		}
		middle += (low + high) / 2
		square += (high - low) * (high - low) / 4
	}
	reach := cutReach * math.Sqrt(square)
	if !(reach > 0) { // no coefficient: all rows score the intercept
		reach = 1
	}
	return perturbed.Cuts{First: middle - reach, Step: 2 * reach / (cutCount - 1), Count: cutCount}
}
