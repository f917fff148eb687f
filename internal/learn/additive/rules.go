// SPDX-License-Identifier: Apache-2.0

package additive

import (
	"math"

	"github.com/discreet-dp/discreet/internal/privacy/dp"
)

// rules are what nobody has to choose. They follow from public numbers alone:
// ε, δ, the relation, the number of columns, and a number of rows that is public
// or declared.
type rules struct {
	bins      int     // of a number without declared edges, at most
	rounds    int     // releases of cells
	picks     bool    // each round picks its column; else rounds take the columns in turn
	pickShare float64 // part of a round's ε that its pick costs
	// sees is how much the weights see of what public columns add to the base rate.
	// Like keep: less than 1 counts in part twice what public and private columns
	// both say, and leaves more weight.
	sees float64
	// says is how much of the same enters the model: less than 1 where weights see
	// little of it, since private columns then say part of it again.
	says     float64
	gaussian bool   // Gaussian noise, which a δ pays for, in place of Laplace
	passes   []pass // over the columns in turn; one where rounds pick
	pairs    int    // so many pairs have a round each, after all passes
}

// pass is what the rounds of one pass have in common.
type pass struct {
	share float64 // of the price; all passes add up to 1
	// keep is how much of what was released the weights of later rounds see: 0
	// for none (rounds then share one pass over the rows), 1 for boosting. Less
	// than 1 counts correlated columns twice in part, which bends the log-odds,
	// and leaves more weight for later rounds, which quiets the noise.
	keep float64
	// trust is what of each step enters the model: less than 1 where later
	// rounds see little of it, since correlated columns then say the same thing several times, and
	// what was kept where another pass measures what is left.
	trust float64
}

// of returns the pass of round t. A pair costs what a column does in all passes.
func (r *rules) of(t int) pass {
	columns := r.rounds - r.pairs // rounds of them
	if t >= columns {
		return pass{share: 1, keep: 1, trust: 1}
	}
	return r.passes[t*len(r.passes)/columns]
}

// turn is what round t releases where columns, then pairs, are taken in turn: an
// index into Plan.private.
func (r *rules) turn(t int) int {
	columns := (r.rounds - r.pairs) / len(r.passes)
	if pair := t - columns*len(r.passes); pair >= 0 {
		return columns + pair
	}
	return t % columns
}

// whole is what the rounds cost together, of which a pass's rounds cost share.
func (r *rules) whole() float64 { return float64(r.rounds - r.pairs + r.pairs*len(r.passes)) }

const (
	priorShare = 0.05 // of ε, for the share of the positive label where that is private
	minBins    = 8
	maxBins    = 32
)

// once and twice are the passes of rounds that take the columns in turn. The
// first of two steps half-way; the second sees how columns overlap.
func once(keep, trust float64) []pass { return []pass{{1, keep, trust}} }

func twice() []pass { return []pass{{0.4, 0.4, 0.4}, {0.6, 1, 1}} }

// settle derives the rules; docs/decisions/0004-additive.md has the sweeps. rho
// is what (ε, δ) buys, 0 without a δ; offset says that public columns have a
// score of their own.
func settle(p Params, relation dp.Relation, rows, columns int, rho float64, offset bool) rules {
	if p.NotPrivate {
		third := pass{1.0 / 3, 1, 1}
		return rules{bins: greedyBinsFor(rows), rounds: 3 * columns, sees: 1, says: 1, passes: []pass{third, third, third}}
	}
	// signal is how many noise scales of a single release the table is long. A
	// Gaussian of deviation σ is reckoned as the Laplace noise of the same, and
	// the columns in turn as one release of all.
	signal := float64(rows) * p.Epsilon.Float() / step(relation)
	if joint := float64(rows) * 2 * math.Sqrt(rho*float64(columns)) / length(relation); joint > signal && turns(joint, columns) {
		r := inTurn(joint, columns, 150, 500, offset)
		r.gaussian = true
		return r
	}
	switch {
	case columns == 1:
		return rules{bins: binsFor(signal), rounds: 1, sees: 1, says: 1, passes: once(0, 1)}
	case turns(signal, columns):
		return inTurn(signal, columns, 400, 3000, offset)
	}
	r := rules{rounds: worth(signal), picks: true, sees: 0.3, says: 0.8, passes: once(0.5, 1)}
	r.pickShare = 0.25 + 0.15/float64(r.rounds)
	r.bins = binsFor(signal / float64(r.rounds))
	return r
}

// settleWith derives the rules where pairs are declared. They are for an ε at
// which columns are taken in turn; below, rounds pick columns and pairs wait.
func settleWith(pairs int, p Params, relation dp.Relation, rows, columns int, rho float64, offset bool) rules {
	if pairs > 0 {
		if r := settle(p, relation, rows, columns+pairs, rho, offset); !r.picks {
			r.rounds, r.pairs = columns*len(r.passes)+pairs, pairs
			return r
		}
	}
	return settle(p, relation, rows, columns, rho, offset)
}

// The rule of the counts from which bins follow. A table is to be so many noise
// scales long for each bin of a number, which costs less of the price the more of
// it there is.
const (
	countsForBin  = 2
	mostForCounts = 0.2 // of the price; what is left is what the bins are for
	leastCounts   = 2.5 // noise scales; below, the schema's bins are better than what could be bought
	leastRounds   = 3   // where rounds pick
)

// countShare is the share of the price for counts that move by moves, 0 where
// they are not worth it. The noise scale of a Gaussian is reckoned as in settle.
func countShare(eps dp.Epsilon, rho float64, rows int, moves float64, bins int) float64 {
	scales := float64(rows) * eps.Float() / moves // that rows are long, for all of the price
	part := func(of float64) float64 { return of / scales }
	if rho > 0 { // a price of ρ falls with the square
		scales = float64(rows) * 2 * math.Sqrt(rho/moves)
		part = func(of float64) float64 { return of * of / (scales * scales) }
	}
	if !(part(leastCounts) <= mostForCounts) {
		return 0
	}
	return math.Min(part(countsForBin*float64(bins)), mostForCounts)
}

// tooFew reports whether rules pick so few columns that the bins of most would be
// paid for in vain.
func tooFew(picks bool, rounds int) bool { return picks && rounds < leastRounds }

// worth is how many rounds a signal is worth.
func worth(signal float64) int {
	return int(max(1, math.Round(math.Pow(signal/130, 0.75))))
}

// turns reports whether taking every column is better than paying for picks.
func turns(signal float64, columns int) bool {
	return float64(worth(signal)) >= 0.75*float64(columns)
}

// trusted is what of each step enters the model where one pass takes all columns:
// more beside the score of public columns, which would gain weight against them.
// Without one, all steps alike change no order of rows.
func trusted(offset bool, beside, alone float64) float64 {
	if offset {
		return beside
	}
	return alone
}

// inTurn takes the columns in turn: twice, or once, keeping part or nothing.
func inTurn(signal float64, columns int, part, two float64, offset bool) rules {
	each := signal / float64(columns)
	r := rules{bins: binsFor(each), rounds: columns, sees: 1, says: 1}
	switch {
	case each >= two:
		r.rounds, r.passes = 2*columns, twice()
	case each >= part:
		r.passes = once(0.7, trusted(offset, 0.9, 0.8))
	default:
		r.passes = once(0, trusted(offset, 0.7, 0.55))
	}
	return r
}

// binsFor is a power of two: finer bins then cut coarser ones.
func binsFor(each float64) int {
	return min(maxBins, max(minBins, int(math.Exp2(math.Round(math.Log2(0.6*math.Sqrt(each)))))))
}

// step is by how much one release of cells of weight at most 1 moves between
// neighbours in L1: a row appears, or leaves one cell for another (1.2).
func step(relation dp.Relation) float64 {
	if relation == dp.AddRemove {
		return 1
	}
	return 2
}

// length is the same in L2 (1.2); the float64 next to √2 lies above it.
func length(relation dp.Relation) float64 {
	if relation == dp.AddRemove {
		return 1
	}
	return math.Sqrt2
}
