// SPDX-License-Identifier: Apache-2.0

package additive

import (
	"math"

	"github.com/discreet-dp/discreet/internal/privacy/dp"
)

// levelRules are rules for a label of more than two levels.
type levelRules struct {
	bins       int     // of a number without declared edges, at most
	rounds     int     // releases of cells
	picks      bool    // each round picks its column; else each column has a round
	pickShare  float64 // part of a round's price that its pick costs
	gaussian   bool    // Gaussian noise, which a δ pays for, in place of Laplace
	believed   float64 // what of each step enters the model before it is measured
	trustShare float64 // part of the price for measuring that; 0 where it is not
	boosts     int     // passes over the columns for what is left over
	restShare  float64 // part of the price for those
	stride     float64 // part of each of their steps that is taken
}

// settleLevels derives the rules; docs/decisions/0004-additive.md has the sweeps.
// rho is what (ε, δ) buys, 0 without a δ.
func settleLevels(p Params, relation dp.Relation, rows, columns int, rho float64) levelRules {
	if p.NotPrivate {
		return levelRules{bins: maxBins, rounds: columns, believed: levelsBelieved, trustShare: levelsTrust, boosts: 3, restShare: 0.6, stride: 0.6}
	}
	signal := float64(rows) * p.Epsilon.Float() / step(relation)
	// A Gaussian of deviation σ is reckoned as the Laplace noise of the same. All
	// columns with it are worth a few with less noise each.
	joint := float64(rows) * 2 * math.Sqrt(rho*float64(columns)) / length(relation)
	if joint > signal && (levelsTurn(signal, columns) || joint/float64(columns) >= 0.6*signal/float64(levelsWorth(signal))) {
		r := levelsInTurn(joint, columns)
		r.gaussian = true
		return r
	}
	if levelsTurn(signal, columns) {
		return levelsInTurn(signal, columns)
	}
	r := levelRules{rounds: levelsWorth(signal), picks: true, pickShare: 0.3, believed: 0.7}
	each := signal / float64(r.rounds)
	r.bins = binsFor(each)
	if each >= levelsPlenty {
		r.trustShare, r.believed = levelsTrust, 0.5
	}
	return r
}

// levelsWorth is how many picked columns a signal is worth.
func levelsWorth(signal float64) int {
	return int(max(1, math.Round(math.Sqrt(signal/150))))
}

// levelsTurn reports whether taking every column is better than picking some.
func levelsTurn(signal float64, columns int) bool {
	return float64(levelsWorth(signal)) >= 0.75*float64(columns)
}

// levelsPlenty is from how many noise scales of a column on it pays to measure
// what columns count for.
const levelsPlenty = 1000

// levelsTrust is the part of the price for measuring what columns count for.
const levelsTrust = 0.15

// levelsBelieved is the mean of the prior of what a column's steps count for.
const levelsBelieved = 0.4

// levelsRich is from how many noise scales of a column on it pays to go over the
// columns once more, for what is left over.
const levelsRich = 4000

func levelsInTurn(signal float64, columns int) levelRules {
	each := signal / float64(columns)
	r := levelRules{bins: binsFor(each), rounds: columns, believed: levelsBelieved, trustShare: levelsTrust}
	if each >= levelsRich && columns > 1 {
		r.boosts, r.restShare, r.stride = 1, 0.4, 1
	}
	if columns == 1 {
		r.believed, r.trustShare = 1, 0
	}
	return r
}
