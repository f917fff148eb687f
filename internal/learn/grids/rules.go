// SPDX-License-Identifier: Apache-2.0

package grids

import (
	"math"

	"github.com/discreet-dp/discreet/internal/privacy/dp"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// rules are derived from public numbers.
type rules struct {
	rounds     int
	candidates int     // grids to choose from per round; 1 uses the first one drawn
	pickShare  float64 // share of a round's price for the selection
	cells      int     // per grid, at most
	halves     bool    // half of the grids with one column have half as many cells
	cuts       int     // bins at whose edges a number may be divided
	axes       []int   // possible numbers of columns of a grid, equally likely
	most       float64 // length to which a row's slopes are clipped
	curves     bool    // curves are released together with slopes
	stride     float64 // part of each step that is used
	calm       float64 // standard deviations of the noise that are added to a cell's curve
	gaussian   bool    // Gaussian noise, paid for by a δ, instead of Laplace noise
}

const (
	priorShare = 0.02 // of the price, for the rows of each class
	curveUnit  = 0.25 // weight of a row's curve relative to a slope
)

// settle derives the rules; evidence/decisions/0007-grids.md has the sweeps. rho is the ρ for (ε, δ),
// 0 without a δ.
func settle(p Params, s *schema.Schema, rows int, rho float64) rules {
	if p.NotPrivate {
		columns := len(s.Features())
		return rules{rounds: countOr(p.Rounds, min(max(freeRounds, 25*columns), mostFreeRounds)),
			candidates: min(max(freeCandidates, columns), mostFreeCandidates), cells: mostCells, cuts: 256, axes: []int{1, 2, 3, 4, 6}, most: 1, curves: true, stride: 0.15}
	}
	r := rules{pickShare: 0.15, cuts: fewCuts, most: 0.75, curves: true, stride: 0.3, calm: 3}
	// signal is how many deviations of the noise on one release the table is long;
	// a pure price that is divided among rounds buys as much as a third of it.
	signal := float64(rows) * p.Epsilon.Float() / pureRounds
	if g := float64(rows) * math.Sqrt(2*rho); g > signal {
		signal, r.gaussian = g, true
	}
	if s.Relation == dp.ReplaceOne {
		signal /= 2
	}
	r.cells = powerOfTwo(math.Sqrt(signal/10), 16, 128)
	r.rounds = min(max(leastRounds, int(math.Round(8*math.Pow(signal, 0.22)))), mostRounds)
	if s.Classes() > 2 {
		// More classes have more to tell in each cell, and need finer ones; curves
		// of cells with so few rows are not worth their price.
		r.cells, r.most, r.curves, r.rounds = min(8*r.cells, mostCells), 0.6, false, 5*r.rounds/2
		if r.gaussian {
			r.halves, r.cuts = true, 1024
		} else { // the noise of a round grows with their number, not with its root
			r.rounds /= 6
		}
	}
	r.rounds = countOr(p.Rounds, r.rounds)
	r.axes = []int{1, 2, 3, int(math.Log2(float64(r.cells)))}
	r.candidates = min(max(leastCandidates, mostVisits/(r.rounds*max(1, rows))), mostCandidates)
	return r
}

const (
	fewCuts                 = 64      // bins for cuts if noise hides finer ones
	groupPieces             = 1 << 12 // pieces into which the products of one group divide rows, as many as a statistic adds up at once
	pureRounds              = 11
	mostCells               = 256
	leastRounds, mostRounds = 10, 200 // for two classes
	// Without privacy.
	freeRounds, mostFreeRounds         = 500, 1000
	freeCandidates, mostFreeCandidates = 20, 40
	leastCandidates                    = 10
	mostCandidates                     = 60
	mostVisits                         = 400_000_000 // rows visited by all grids drawn
)

// powerOfTwo returns the nearest power of two in ratio, within bounds that are powers of two.
func powerOfTwo(x float64, least, most int) int {
	return min(max(least, int(math.Exp2(math.Round(math.Log2(x))))), most)
}

func countOr(n, rule int) int {
	if n > 0 {
		return n
	}
	return rule
}
