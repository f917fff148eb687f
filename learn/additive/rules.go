// SPDX-License-Identifier: Apache-2.0

package additive

import (
	"math"

	"github.com/discreet-dp/discreet/dp"
)

// rules are what nobody has to choose. They follow from public numbers alone:
// ε, the relation, the number of columns, and a number of rows that is public
// or declared.
type rules struct {
	bins      int     // of a number without declared edges, at most
	rounds    int     // releases of cells
	picks     bool    // each round picks its column; else rounds take the columns in turn
	pickShare float64 // part of a round's ε that its pick costs
	// keep is how much of what was released the weights of later rounds see: 0
	// for none (rounds then share one pass over the rows), 1 for boosting. Less
	// than 1 counts correlated columns twice in part, which bends the log-odds,
	// and leaves more weight for later rounds, which quiets the noise.
	keep float64
	// trust is what of each step enters the model: less than 1 where nothing is
	// kept, since correlated columns then say the same thing several times.
	trust float64
}

const (
	priorShare = 0.05 // of ε, for the share of the positive label where that is private
	minBins    = 8
	maxBins    = 32
)

// settle derives the rules; docs/decisions/0004-additive.md has the sweeps.
func settle(p Params, relation dp.Relation, rows, columns int) rules {
	if p.NotPrivate {
		return rules{bins: maxBins, rounds: 3 * columns, keep: 1, trust: 1}
	}
	// signal is how many noise scales of a single release the table is long.
	signal := float64(rows) * p.Epsilon.Float() / step(relation)
	r := rules{rounds: int(max(1, math.Round(math.Pow(signal/130, 0.75)))), trust: 1}
	switch {
	case columns == 1:
		r.rounds, r.keep = 1, 0
	case float64(r.rounds) < 0.75*float64(columns):
		r.picks, r.keep = true, 0.5
		r.pickShare = 0.25 + 0.15/float64(r.rounds)
	default:
		r.rounds = columns
		switch each := signal / float64(columns); {
		case each >= 4000:
			r.rounds, r.keep = 2*columns, 1
		case each >= 400:
			r.keep = 0.5
		default:
			r.trust = 0.85
		}
	}
	// A power of two: finer bins then cut coarser ones.
	r.bins = int(math.Exp2(math.Round(math.Log2(0.6 * math.Sqrt(signal/float64(r.rounds))))))
	r.bins = min(maxBins, max(minBins, r.bins))
	return r
}

// step is by how much one release of cells of weight at most 1 moves between
// neighbours: a row appears, or leaves one cell for another (1.2).
func step(relation dp.Relation) float64 {
	if relation == dp.AddRemove {
		return 1
	}
	return 2
}
