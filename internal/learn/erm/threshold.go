// SPDX-License-Identifier: Apache-2.0

package erm

import (
	"math"
	"slices"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard/perturbed"
	"github.com/discreet-dp/discreet/internal/model"
)

// Threshold determines whether the intercept is chosen again once the other coefficients are released.
type Threshold string

const (
	// AutoThreshold chooses it if that is worth its price, by a rule on public numbers.
	AutoThreshold Threshold = "auto"
	// NoThreshold keeps the fitted intercept, and uses all of ε for the fit.
	NoThreshold Threshold = "none"
)

// Constants from sweeps over generated tables (evidence/benchmarks/erm-threshold.tsv, written by
// TestThresholdSweep) and real ones; evidence/guarantees/erm.md describes them.
const (
	thresholdPart = 5        // the divisor for the part of ε: one fifth
	coarse        = 1.0 / 30 // the largest noise of a choice, as a share of the rows
	cutCount      = 9
	cutReach      = 1.5 // range of the cuts around the middle, see planCuts
)

const thresholdLabel = "threshold"

// thresholdPrice is the part of ε for choosing a threshold, 0 if it is not chosen. A ridge that
// outweighs the rows also keeps the intercept near zero, and noise moves it as far as any coefficient:
// the order of scores is then more reliable than their sign. Otherwise the fitted intercept is as
// good. The noise of the choice must be small, and well below that of the fit; otherwise the choice
// does not help.
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

// chooseThreshold moves the intercept of released coefficients to a value at which nearly the largest
// number of rows is classified correctly.
func (pl *Plan) chooseThreshold(rows *perturbed.Rows, p *perturbed.Problem, l *model.Logistic) error {
	cuts := pl.planCuts(l)
	k, err := rows.ChooseCut(thresholdLabel, pl.ask, p, append(slices.Clone(l.Coef), l.Bias), cuts)
	if err != nil {
		return err
	}
	l.Bias -= cuts.At(k)
	return nil
}

// planCuts returns thresholds around the middle of the possible scores, within the distance that
// scores can have from it if columns are independent. They depend on released coefficients alone.
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
