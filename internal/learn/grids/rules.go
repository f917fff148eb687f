// SPDX-License-Identifier: Apache-2.0

package grids

import (
	"math"

	"github.com/discreet-dp/discreet/internal/privacy/dp"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// rules are what follows from public numbers.
type rules struct {
	rounds     int
	candidates int     // grids to choose from in a round; 1 for the first that is drawn
	pickShare  float64 // part of a round's price that the choice costs
	cells      int     // of a grid, at most
	halves     bool    // half of the grids of one column have half as many
	cuts       int     // bins between which the cuts of a number are chosen
	axes       []int   // how many columns a grid may have; each is as likely
	most       float64 // what a row's slopes are shortened to
	curves     bool    // curves are released beside slopes
	stride     float64 // part of each step that is taken
	calm       float64 // noise deviations that a cell's curve is taken to be larger
	gaussian   bool    // Gaussian noise, which a δ pays for, in place of Laplace
}

const (
	priorShare = 0.02 // of the price, for the rows of each class
	curveUnit  = 0.25 // a row's curve counts for so much of a slope
)

// settle derives the rules; evidence/decisions/0007-grids.md has the sweeps. rho is
// what (ε, δ) buys, 0 without a δ.
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
	fewCuts                 = 64      // bins between which cuts are chosen where noise hides finer ones
	groupPieces             = 1 << 12 // into which products of one group cut rows; a statistic adds up as many at once
	pureRounds              = 11
	mostCells               = 256
	leastRounds, mostRounds = 10, 200 // of two classes
	// Without privacy.
	freeRounds, mostFreeRounds         = 500, 1000
	freeCandidates, mostFreeCandidates = 20, 40
	leastCandidates                    = 10
	mostCandidates                     = 60
	mostVisits                         = 400_000_000 // of rows, by all grids that are drawn
)

// powerOfTwo is the one nearest to x in ratio, within bounds that are such.
func powerOfTwo(x float64, least, most int) int {
	return min(max(least, int(math.Exp2(math.Round(math.Log2(x))))), most)
}

func countOr(n, rule int) int {
	if n > 0 {
		return n
	}
	return rule
}
