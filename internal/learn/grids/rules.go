// SPDX-License-Identifier: Apache-2.0

package grids

import (
	"cmp"
	"math"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// The numbers of the rules; evidence/benchmarks/default-constants.md has what each is worth.
const (
	assumedRows     = 10_000 // rows if none are given
	maxRounds       = 2_000  // that a caller may ask for
	priorShare      = 0.02   // of the price, for the rows of each class
	curveUnit       = 0.25   // weight of a row's curve relative to a slope
	pureRounds      = 11     // what a pure price buys that is divided among rounds: the signal of one of so many
	fewCuts         = 64     // bins for cuts if noise hides finer ones
	mostCells       = 256    // of a grid
	leastCandidates = 10     // grids drawn in a round
	mostCandidates  = 60
	mostVisits      = 400_000_000 // rows visited by all grids drawn
	groupPieces     = 1 << 12     // pieces of the rows by the products of one group: what a statistic adds up at once
	mostStep        = 3           // nats

	// Without privacy.
	freeRounds, mostFreeRounds         = 500, 1000
	freeCandidates, mostFreeCandidates = 20, 40
	ridge                              = 10        // added to the curve of a cell, since few rows tell little
	chancePart                         = 0.6       // of the slopes that chance explains, left out while the labels are
	half, nearlyKnown                  = 0.5, 0.35 // unknown by half as at first; nothing below the second
)

// rules are derived from public numbers.
type rules struct {
	rounds     int
	candidates int     // grids to choose from per round
	pickShare  float64 // share of a round's price for the selection
	cells      int     // per grid, at most
	cuts       int     // bins at whose edges a number may be divided
	axes       []int   // possible numbers of columns of a grid, equally likely
	most       float64 // length to which a row's slopes are clipped
	curve      float64 // weight of a row's curve, released together with its slopes; 0 if it is not
	stride     float64 // part of each step that is used
	calm       float64 // standard deviations of the noise that are added to a cell's curve
	gaussian   bool    // Gaussian noise, paid for by a δ, instead of Laplace noise
}

// settle derives the rules. rho is the ρ for (ε, δ), 0 without a δ.
func settle(p Params, s *schema.Schema, rows int, rho float64) rules {
	if p.NotPrivate {
		columns := len(s.Features())
		return rules{rounds: cmp.Or(p.Rounds, min(max(freeRounds, 25*columns), mostFreeRounds)),
			candidates: min(max(freeCandidates, columns), mostFreeCandidates), cells: mostCells, cuts: 256,
			axes: []int{1, 2, 3, 4, 6}, most: 1, curve: curveUnit, stride: 0.15}
	}
	r := rules{pickShare: 0.15, cuts: fewCuts, most: 0.75, curve: curveUnit, stride: 0.3, calm: 3}
	// signal is how many deviations of the noise on one release the table is long.
	signal := float64(rows) * p.Epsilon.Float() / pureRounds
	if g := float64(rows) * math.Sqrt(2*rho); g > signal {
		signal, r.gaussian = g, true
	}
	if s.Relation == dp.ReplaceOne {
		signal /= 2
	}
	r.cells = powerOfTwo(math.Sqrt(signal/10), 16, 128)
	r.rounds = int(math.Round(8 * math.Pow(signal, 0.22)))
	if s.Classes() > 2 {
		// More classes tell more in each cell, and curves of so few rows are not worth their price.
		r.cells, r.most, r.curve, r.rounds = min(8*r.cells, mostCells), 0.6, 0, 5*r.rounds/2
		if r.gaussian {
			r.cuts = 1024
		} else { // the noise of a round grows with their number, not with its root
			r.rounds /= 6
		}
	}
	r.rounds = cmp.Or(p.Rounds, min(max(1, r.rounds), maxRounds))
	r.axes = []int{1, 2, 3, int(math.Log2(float64(r.cells)))}
	r.candidates = min(max(leastCandidates, mostVisits/(r.rounds*max(1, rows))), mostCandidates)
	return r
}

// IsSlow reports whether even the fewest grids to choose from visit more than mostVisits rows in all rounds.
func (pl *Plan) IsSlow() bool { return pl.rules.rounds*pl.rules.candidates*pl.rows > mostVisits }

// powerOfTwo returns the nearest power of two in ratio, within bounds that are powers of two.
func powerOfTwo(x float64, least, most int) int {
	return min(max(least, int(math.Exp2(math.Round(math.Log2(x))))), most)
}

// stepsOf converts released slopes and curves of the cells to steps, by cell and then score
// (post-processing). share is the share of each class. deviation is the standard deviation of the
// noise on a slope, and curveDeviation that on a curve. Each is a Newton step, with calm standard
// deviations of the noise added to the curve. In cells with few rows, the noise therefore moves a
// score by at most stride/calm; in cells with many rows, the addition has no effect.
func (r *rules) stepsOf(slopes, curves, share []float64, deviation, curveDeviation float64) []float64 {
	steps := make([]float64, len(slopes))
	width := len(slopes) / len(curves)
	parts := curveParts(share, width)
	mean := 0.0
	for _, c := range curves {
		mean += c / float64(len(curves))
	}
	mean = math.Max(mean, 0)
	// Cells differ about as much as they are large: a prior for what noise hides.
	trust := 1.0
	if v := curveDeviation * curveDeviation; v > 0 {
		trust = mean * mean / (mean*mean + v)
	}
	for c, x := range curves {
		curve := math.Max(0, mean+trust*(x-mean))
		for k := range width {
			i := c*width + k
			step := r.stride * slopes[i] / (curve*parts[k] + r.calm*deviation + 1)
			steps[i] = rounded(math.Max(-mostStep, math.Min(mostStep, step)))
		}
	}
	return steps
}

// curveParts returns the part of each score in a row's curve: p(1−p) at the shares of the classes.
func curveParts(share []float64, width int) []float64 {
	if width == 1 { // the curve was written as 4p(1−p)
		return []float64{0.25}
	}
	parts, sum := make([]float64, width), 0.0
	for k, p := range share {
		parts[k] = p * (1 - p)
		sum += parts[k]
	}
	for k := range parts {
		parts[k] /= sum
	}
	return parts
}

// rounded rounds x to six decimals, which are enough for a model's file.
func rounded(x float64) float64 { return math.Round(x*1e6) / 1e6 }

// Where nothing is private a choice may depend on a row by any amount, and no noise keeps
// steps from following what is chance in the labels.

// gainOf is twice the increase of the log-likelihood by a whole step in each cell, in units of
// 1/guard.WeightOne. parts are those of curveParts.
func gainOf(sums *guard.GridSums, parts []float64) int64 {
	gain := 0.0
	for i, x := range sums.Slopes {
		slope, curve := float64(x)/guard.WeightOne, float64(sums.Curves[i/len(parts)])/guard.WeightOne
		gain += slope * slope / (curve*parts[i%len(parts)] + ridge)
	}
	return int64(gain * guard.WeightOne)
}

// signalOf is the share of a grid's slopes that is not attributed to chance, from 0 to 1. Labels drawn
// from the model's own probabilities also have slopes, whose expected squares add up to the curves.
// unknown is the curve of all rows before the first round.
func signalOf(slopes, curves []float64, unknown float64) float64 {
	width, unit := len(slopes)/len(curves), 1.0
	if width == 1 {
		unit = 0.25 // the curve was written as 4p(1 − p)
	}
	seen, chance, left := 0.0, 0.0, 0.0
	for c, curve := range curves {
		squares := 0.0
		for _, slope := range slopes[c*width : (c+1)*width] {
			squares += slope * slope
		}
		seen += squares / (unit*curve + ridge)
		chance += unit * curve / (unit*curve + ridge)
		left += unit * curve
	}
	if seen == 0 {
		return 0
	}
	part := chancePart * math.Max(0, math.Min(1, (left/unknown-nearlyKnown)/(half-nearlyKnown)))
	return math.Max(0, 1-part*chance/seen)
}

// unknownOf is the curve, as in signalOf, of rows for which only the share of each class is known.
func unknownOf(share []float64, rows int) float64 {
	unknown := 1.0
	for _, p := range share {
		unknown -= p * p
	}
	if len(share) == 2 {
		unknown /= 2
	}
	return unknown * float64(rows)
}
