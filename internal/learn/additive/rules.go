// SPDX-License-Identifier: Apache-2.0

package additive

import (
	"math"
	"slices"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard"
)

// The numbers of the rules. Lengths of tables are in noise scales, shares are of the whole price if not
// said; evidence/benchmarks/default-constants.md has what each is worth.
const (
	assumedRows       = 10_000 // rows if none are given
	scalesForRound    = 130    // at which one round is worth its price
	scalesForGaussian = 110    // at which one round with Gaussian noise is worth its price
	quieterGaussian   = 2      // times as many rounds as would have the same noise of either kind, for it to be Gaussian
	worthAll          = 0.75   // share of columns that must be worth a round for all to be used
	pickShare         = 0.3    // of a round's price, for its pick
	minBins, maxBins  = 8, 32  // of a number; a pair has the fewest
	scalesToReach     = 600    // per column, at which reach is one standard deviation
	roundsToBalance   = 3      // after a clip of public columns
	publicBins        = 16     // of a number beside a public label, which nothing is paid for
	scoreParts        = 3      // of the score of public columns, in the calibration
	shareOfHidden     = 0.1    // for the calibration where weights see no private column
	fittedPart        = 0.6    // of what columns fit to the chance of rows, which the calibration sees again
	slopeParts        = 5      // steps between the middles of bins; odd, so that the middles stay
	scalesForLabels   = 900    // that each picked column needs beside a private label
	scalesForSecond   = 480    // from which on two are picked
	worthAllLabels    = 0.375  // worthAll beside a private label, where columns that overlap share what they say
	fewestAtOnce      = 1_200  // scales of all columns beside a private label; with fewer, their noise is too much for the base rate

	// For the number of rows by class.
	leastForClasses  = 0.05
	scalesOfClasses  = 70   // at which they take all
	mostForClasses   = 0.97 // from which on they take all
	mostAtFirst      = 0.3  // of two classes with Laplace noise
	fewestForColumns = 35   // scales; with fewer, two classes take all

	// For more than two classes.
	measuredShare    = 0.15  // for the weights of columns
	scalesForWeight  = 1_000 // of a picked column, from which its weight is worth measuring
	measuredPrior    = 0.4   // mean of the prior of a weight that is measured
	weightDeviation  = 0.3   // standard deviation of that prior
	stretchDeviation = 0.5   // standard deviation of the prior of the stretch of all columns, around 1
	classSlopes      = 0.5   // part of the way from a bin's value to the line: it would flatten peaks

	// For counted bins.
	countsForBin  = 2   // scales of the counts for each bin of a number
	mostForCounts = 0.2 // the rest is for learning with the bins
	leastCounts   = 2.5 // scales; with fewer, the schema's bins are better than counted ones
	leastRounds   = 3   // if rounds pick: with fewer, the bins of most columns would not be used

	// For what noise alone did. Correlated columns cancel part of each other's noise, by an amount that no
	// release shows: this share of the sum of the steps' variances is seen in scores. And so much of what
	// a picked column adds is missing in fits that do not pick it.
	movedTogether, movedByPicks = 0.65, 0.75
)

// rules are the choices that are made automatically. They depend on public numbers alone: ε, δ, the
// relation, the number of columns, and a number of rows that is public or declared.
type rules struct {
	bins         int     // of a number without declared edges, at most
	rounds       int     // releases of cells
	picks        bool    // each round picks its column; else rounds take the columns in turn
	gaussian     bool    // Gaussian noise, which a δ pays for, in place of Laplace
	classesShare float64 // part of the price for the number of rows by class, if that is private
	// sharesAlone says that the numbers of rows by class take the whole price, and the model has no columns.
	sharesAlone bool
	// calibrationShare is the share of the price for fitting the finished score to the rows.
	calibrationShare float64

	// For two classes.
	passes []pass // over the columns in turn; a single one if rounds pick
	pairs  int    // number of pairs that have a round each, after all passes
	// reach limits how far weights follow the score, in its standard deviations, on the side where that bounds a
	// row's weight. 0 is no limit.
	reach float64

	// For more than two classes.
	columnWeight float64 // weight of a column's steps before it is measured
	weightShare  float64 // share of the price for measuring it; 0 if it is not measured
}

// pass holds the common parameters of the rounds of one pass.
type pass struct {
	share float64 // of the price; the shares of all passes add up to 1
	// weightShrinkage is the part of a released step that enters the weights of later rounds: 0 for none (rounds then
	// share one pass over the rows), 1 for boosting. A value below 1 partly counts correlated columns twice, which
	// biases the log-odds, but leaves more weight for later rounds, which reduces their noise.
	weightShrinkage float64
	// modelShrinkage is the part of a released step that enters the model. It is below 1 if later
	// rounds use little of the step, since correlated columns then have the same effect several times.
	// It equals weightShrinkage if another pass measures the residual.
	modelShrinkage float64
}

// wholeStep is the pass of a pair, and of fits without privacy.
var wholeStep = pass{share: 1, weightShrinkage: 1, modelShrinkage: 1}

// passOf returns the pass of round t. A pair costs as much as a column does in all passes.
func (r *rules) passOf(t int) pass {
	columns := r.rounds - r.pairs // rounds of them
	if t >= columns {
		return wholeStep
	}
	return r.passes[t*len(r.passes)/columns]
}

// columnOf returns the column or pair of round t, as an index into Plan.private, if columns and then
// pairs are used in turn.
func (r *rules) columnOf(t int) int {
	columns := (r.rounds - r.pairs) / max(1, len(r.passes))
	if pair := t - columns*max(1, len(r.passes)); pair >= 0 {
		return columns + pair
	}
	return t % columns
}

// hidesColumns reports whether all columns are taken and weights see none of them, so that columns that say the same say it
// as often as there are of them.
func (r *rules) hidesColumns() bool {
	return !r.picks && len(r.passes) == 1 && r.passes[0].weightShrinkage == 0 && r.rounds > 1
}

// roundShare is the share of round t in the price, relative to totalShare for all rounds and what follows them.
func (r *rules) roundShare(t int) float64 {
	if r.passes == nil {
		return (1 - r.weightShare) / float64(r.rounds)
	}
	return r.passOf(t).share * float64(len(r.passes))
}

func (r *rules) totalShare() float64 {
	if r.passes == nil {
		return 1
	}
	return float64(r.rounds - r.pairs + r.pairs*len(r.passes))
}

// onePass and twoPasses are the passes of rounds that use the columns in turn. The first of two makes
// half steps; the second corrects for correlated columns.
func onePass(weightShrinkage, modelShrinkage float64) []pass {
	return []pass{{1, weightShrinkage, modelShrinkage}}
}

func twoPasses() []pass { return []pass{{0.4, 0.4, 0.4}, {0.6, 1, 1}} }

// countScales returns the number of rows divided by the noise scale, for a single release and for one
// release of all columns with Gaussian noise, whose standard deviation is treated as that of Laplace
// noise. rho is the ρ for (ε, δ), 0 without a δ.
func countScales(p Params, relation dp.Relation, rows, columns int, rho float64) (single, joint float64) {
	s := guard.OneCell(relation)
	return float64(rows) * p.Epsilon.Float() / s.L1, float64(rows) * 2 * math.Sqrt(rho*float64(columns)) / s.L2
}

// settleBinary derives the rules for two classes; evidence/benchmarks/default-constants.md derives
// them. rho is the ρ for (ε, δ), 0 without a δ; offset is set if public columns have their own
// score. useful is the share of rows that count for rounds, see countUseful.
func settleBinary(
	p Params, relation dp.Relation, rows, columns int, rho float64, offset bool, useful float64,
) rules {
	if p.NotPrivate {
		return rules{bins: 2 * maxBins, rounds: 3 * columns, passes: slices.Repeat([]pass{{1.0 / 3, 1, 1}}, 3)}
	}
	signal, joint := countScales(p, relation, rows, columns, rho)
	rounds := countGaussian(useful*joint, columns)
	all := p.TakeAll || rounds >= worthAll*float64(columns)
	if prefersGaussian(signal, joint, rounds, columns, all) {
		r := takeInTurn(joint, useful, columns, 500, offset)
		if !all {
			r = rules{rounds: int(max(1, math.Round(rounds))), picks: true, passes: onePass(0.5, 1)}
			r.bins = countBins(joint / math.Sqrt(float64(columns)*rounds))
		}
		r.gaussian = true
		return r
	}
	switch {
	case columns == 1:
		return rules{bins: countBins(signal), rounds: 1, passes: onePass(0, 1)}
	case p.TakeAll || takesAllColumns(useful*signal, columns):
		return takeInTurn(signal, useful, columns, 3000, offset)
	}
	r := rules{rounds: countRounds(useful * signal), picks: true, passes: onePass(0.5, 1)}
	// As of all columns once so many are worth a round, so that bins grow with ε where rounds do, too.
	r.bins = countBins(signal / math.Max(1, math.Min(float64(columns), (countWorth(useful*signal)+0.5)/worthAll)))
	return r
}

// prefersGaussian reports whether rounds have less noise if it is Gaussian: all columns, or rounds that pick, whose picks have
// not.
func prefersGaussian(signal, joint, rounds float64, columns int, all bool) bool {
	if all {
		return joint > signal
	}
	one := joint / math.Sqrt(float64(columns)) // a single column
	return one*math.Sqrt(min(rounds/quieterGaussian, float64(columns))) > signal
}

// countGaussian is the number of rounds that joint scales justify. Noise grows with its root only, so that the number
// grows faster than it does with Laplace noise.
func countGaussian(joint float64, columns int) float64 {
	return math.Pow(joint/math.Sqrt(float64(columns))/scalesForGaussian, 1.2)
}

// settleWithPairs is settleBinary with declared pairs. Pairs are used if ε is large enough to use
// columns in turn; with a smaller ε, rounds pick columns only.
func settleWithPairs(pairs int, p Params, relation dp.Relation, rows, columns int, rho float64, offset bool) rules {
	r := settleBinary(p, relation, rows, columns+pairs, rho, offset, 1)
	if pairs > 0 && r.picks {
		return settleBinary(p, relation, rows, columns, rho, offset, 1)
	}
	r.rounds, r.pairs = r.rounds-pairs*len(r.passes)+pairs, pairs
	return r
}

// countWorth is the number of rounds that a signal justifies, countRounds the number that it gets.
func countWorth(signal float64) float64 { return math.Pow(signal/scalesForRound, 0.75) }

func countRounds(signal float64) int { return int(max(1, math.Round(countWorth(signal)))) }

// takesAllColumns reports whether taking every column is better than paying for picks.
func takesAllColumns(signal float64, columns int) bool {
	return float64(countRounds(signal)) >= worthAll*float64(columns)
}

// takeInTurn takes the columns in turn: twice, or once. Weights see most of each step, and the far ends of the score
// the more the less noise there is.
func takeInTurn(signal, useful float64, columns int, two float64, offset bool) rules {
	each := signal / float64(columns)
	r := rules{bins: countBins(each), rounds: columns, passes: onePass(0.85, 0.85), reach: useful * each / scalesToReach}
	if offset { // a clip of public columns hides facts, not noise
		r.reach *= 2
		if 10*each < two { // they weigh rows well enough, and noise in weights would cost more
			r.passes = onePass(0, 0.8)
		}
	}
	if each >= two {
		r.passes = twoPasses()
		r.rounds = len(r.passes) * columns
	}
	return r
}

// settleClassesShare is the share of the price for the number of rows by class. It is larger if the
// table has fewer noise scales, since an error of the base rate costs more than the rest can correct.
func settleClassesShare(scales float64, classes int) float64 {
	few := scalesOfClasses * math.Max(1, float64(classes)/4) / scales
	return math.Min(mostForClasses, leastForClasses+few*few)
}

// settleSharesAlone is what the number of rows by class takes if the label is private and rows are few noise scales.
// For two classes it is at most three tenths of the price. Where what is left tells columns
// nothing but noise, the classes take all, and every row is answered with their shares.
func (pl *Plan) settleSharesAlone(signal float64) {
	r := &pl.rules
	if r.gaussian || r.classesShare == 0 {
		return
	}
	alone := r.classesShare >= mostForClasses
	if !pl.isMulticlass() {
		if !pl.protectsLabel() {
			alone = signal <= fewestForColumns
		}
		r.classesShare = math.Min(r.classesShare, mostAtFirst)
	}
	if alone {
		pl.rules = rules{bins: r.bins, classesShare: 1, sharesAlone: true}
	}
}

// settleMulticlass derives the rules for more than two classes, as settleBinary does.
func settleMulticlass(p Params, relation dp.Relation, rows, columns int, rho float64) rules {
	if p.NotPrivate {
		return rules{bins: maxBins, rounds: columns, columnWeight: measuredPrior, weightShare: measuredShare}
	}
	signal, joint := countScales(p, relation, rows, columns, rho)
	worth := int(max(1, math.Round(math.Sqrt(signal/150))))     // so many picked columns
	all := p.TakeAll || float64(worth) >= 0.75*float64(columns) // taking every column is better
	// All columns with Gaussian noise are worth a few with less noise each.
	gaussian := joint > signal && (all || joint/float64(columns) >= 0.6*signal/float64(worth))
	switch {
	case gaussian:
		signal = joint
	case !all:
		each := signal / float64(worth)
		r := rules{bins: countBins(each), rounds: worth, picks: true, columnWeight: math.Pow(float64(worth), -0.25)}
		if each >= scalesForWeight {
			r.weightShare, r.columnWeight = measuredShare, measuredPrior
		}
		return r
	}
	each := signal / float64(columns)
	r := rules{bins: countBins(each), rounds: columns, gaussian: gaussian, columnWeight: measuredPrior, weightShare: measuredShare}
	if columns == 1 {
		r.columnWeight, r.weightShare = 1, 0
	}
	return r
}

// countBins returns a power of two, so that finer bins subdivide coarser ones.
func countBins(each float64) int {
	return min(maxBins, max(minBins, int(math.Exp2(math.Round(math.Log2(0.6*math.Sqrt(each)))))))
}

// settleCountShare is the share of the price for counts with sensitivity moves, 0 if they are not
// worth it. The noise scale of Gaussian noise is defined as in settleBinary.
func settleCountShare(eps dp.Epsilon, rho float64, rows int, moves float64, bins int) float64 {
	scales := float64(rows) * eps.Float() / moves // that rows are long, for all of the price
	share := func(of float64) float64 { return of / scales }
	if rho > 0 { // a price of ρ falls with the square
		scales = float64(rows) * 2 * math.Sqrt(rho/moves)
		share = func(of float64) float64 { return of * of / (scales * scales) }
	}
	if !(share(leastCounts) <= mostForCounts) {
		return 0
	}
	return math.Min(share(countsForBin*float64(bins)), mostForCounts)
}
