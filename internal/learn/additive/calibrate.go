// SPDX-License-Identifier: Apache-2.0

package additive

import (
	"context"
	"math"

	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/privacy/dp"
	"github.com/discreet-dp/discreet/internal/shrink"
	"github.com/discreet-dp/discreet/internal/table/feature"
)

// Calibration is of two classes: each column alone keeps to the base rate, and the sum of all
// private ones is then measured as if it were one more column, and stretched to what it says.
// Columns that say the same thing several times say it once after that.

// forClasses is the plan for so many rows of either class, which are public or released. Rounds are
// counted by how many rows there are to learn from, and where a class is rare, those are its own.
// What the rounds of the bill cost together is divided again among those that are made, and a second
// count of the classes where their signal is worth that (1.9).
func (pl *Plan) forClasses(pos, neg float64) *Plan {
	useful := countUseful(pos, neg)
	if pl.rules.gaussian {
		return pl.leaveForAgain(useful)
	}
	if pl.NotPrivate || pl.rules.pairs > 0 || pl.rules.sharesAlone {
		return pl
	}
	done := *pl
	done.rules = settleBinary(pl.Params, pl.schema.Relation, pl.unitRows(), pl.columns, 0, len(pl.public) > 0, useful)
	done.rules.bins, done.rules.classesShare = pl.rules.bins, pl.rules.classesShare
	done.rules.calibrationShare = pl.rules.calibrationShare
	all := dp.Epsilon(0)
	for t := range pl.prices.cells {
		all += pl.prices.picks[t].Epsilon + pl.prices.cells[t].Epsilon
	}
	again := dp.Epsilon(pl.settleAgain(useful) * float64(all))
	list := done.listRounds()
	parts, err := dividePrice(all-again, list)
	if err != nil { // too little to divide so: the bill's own rounds
		return pl
	}
	for i, r := range list {
		*r.price = guard.Share{Epsilon: parts[i]}
	}
	done.prices.again = guard.Share{Epsilon: again}
	return &done
}

// leaveForAgain is forClasses with Gaussian noise: rounds are those of the bill, and leave part of
// what they cost to a second count of the classes (1.9).
func (pl *Plan) leaveForAgain(useful float64) *Plan {
	all := dp.Rho(0)
	for _, p := range pl.prices.cells {
		all += p.Rho
	}
	again := dp.Rho(pl.settleAgain(useful) * float64(all))
	if again == 0 {
		return pl
	}
	done := *pl
	rounds := done.listRounds()
	parts, err := dividePrice(all-again, rounds)
	if err != nil { // too little to divide so
		return pl
	}
	for i, r := range rounds {
		*r.price = guard.Share{Rho: parts[i]}
	}
	done.prices.again = guard.Share{Rho: again}
	return &done
}

// classScales is the number of noise scales of the number of rows by class the table is long: as many as
// of cells, or twice that where the total is public, for the count of one of two classes then moves
// by 1 if a row is replaced, and cells by 2.
func (pl *Plan) classScales() float64 {
	signal, _ := countScales(pl.Params, pl.schema.Relation, pl.unitRows(), 1, 0)
	if pl.isMulticlass() {
		return signal
	}
	return signal * pl.cellMoves().L1 / pl.classMoves().L1
}

// settleAgain is which part of what the rounds cost goes to a second count of the classes: where
// the label is private and its rarer class has few rows, the base rate takes more of the price than
// its share by the number of all rows. What a deviation of the count costs in log loss goes with
// its square over the rows of that class, so that noise would count by the root of their part;
// somewhat more of it keeps log loss below that of the classes' shares alone. With Gaussian noise
// all columns are taken in turn all the same, so that less is left for it.
func (pl *Plan) settleAgain(useful float64) float64 {
	if pl.prices.classes == (guard.Share{}) {
		return 0
	}
	// The rarer a class, the more may go to counting: its rows tell little of columns anyway.
	most := mostForClasses - (mostForClasses-mostOfCommon)*useful
	few := scalesOfAgain / (math.Pow(useful, 0.75) * pl.classScales())
	more := math.Min(most, leastForClasses+few*few) - pl.rules.classesShare
	if pl.rules.gaussian {
		rho := 0.0
		for _, e := range pl.bill {
			rho += e.Rho.Float()
		}
		_, joint := countScales(pl.Params, pl.schema.Relation, pl.unitRows(), 1, rho)
		few := jointOfAgain / (useful * joint)
		more = math.Min(mostOfTurns*(1-pl.rules.classesShare), few*few)
	}
	if more = more / (1 - pl.rules.classesShare); more < leastAgain || useful == 1 {
		return 0
	}
	return more
}

const (
	leastAgain    = 0.02 // the least part that is worth a release of its own
	scalesOfAgain = 80   // as scalesOfClasses, where a fifth of the rows has the rarer class
	mostOfCommon  = 0.5  // of the price, for both counts, where nearly a fifth has it
	jointOfAgain  = 7    // noise scales, as jointOfClasses
	mostOfTurns   = 0.35 // of what rounds in turn cost
)

// logWeight is what the schema's weight of a class adds to its score: where each of its rows counts
// w times its odds are w times as large, whatever the columns hold. Nothing that is released
// depends on weights.
func (pl *Plan) logWeight(class int) float64 {
	if weights := pl.schema.Label.RowWeights(); weights != nil {
		return math.Log(weights[class])
	}
	return 0
}

// countUseful is the part of the rows that tell as much if classes are about equal: all where a
// fifth has the rarer class, else five times those.
func countUseful(pos, neg float64) float64 {
	return math.Min(1, 5*math.Max(0, math.Min(pos, neg))/math.Max(pos+neg, 1))
}

// startCounts starts at the log-odds of released numbers of rows, the positive class's first, with
// noise of a variance.
func (f *fit) startCounts(counts []float64, noise float64) *start {
	rows := math.Max(1, counts[0]+counts[1])
	pos := f.estimateRows(counts[0], rows, noise)
	z := math.Log(pos / (rows - pos))
	score := feature.Additive{Intercept: z}
	st := &start{
		model: score, weighing: score, rows: rows,
		least: feature.Units(z), most: feature.Units(z),
		classes: [2]float64{pos, rows - pos}, counts: counts,
	}
	st.expectBalance(f.plan, noise)
	return st
}

// countAgain counts the classes a second time where the plan has a price for that, and starts at
// both counts together.
func (f *fit) countAgain(ctx context.Context, st *start) (*start, error) {
	pl := f.plan
	if pl.prices.again == (guard.Share{}) {
		return st, nil
	}
	counts, err := f.measureClasses(ctx, againLabel, pl.prices.again)
	if err != nil {
		return nil, err
	}
	first := pl.prices.classes.Variance(pl.classMoves())
	second := pl.prices.again.Variance(pl.classMoves())
	for k := range counts {
		counts[k] = (counts[k]*first + st.counts[k]*second) / (first + second)
	}
	return f.startCounts(counts, first*second/(first+second)), nil
}

// estimateRows is the number of rows with the positive class of which so many were released with noise
// of a variance, among all as far as they are known: at least half a row.
func (f *fit) estimateRows(count, rows, noise float64) float64 {
	if f.plan.NotPrivate {
		return math.Min(math.Max(count, leastRows), rows-leastRows)
	}
	return rows * shrink.Share(count, rows, f.plan.rules.gaussian, func(share float64) float64 {
		if f.plan.knowsTotal() { // their number is public
			return math.Sqrt(noise)
		}
		return math.Sqrt(noise * ((1-share)*(1-share) + share*share))
	})
}

// estimateClasses is estimateRows of more than two classes.
func (f *fit) estimateClasses(counts []float64, rows float64) []float64 {
	pl, others := f.plan, float64(len(counts)-1)
	if pl.NotPrivate {
		return counts
	}
	noise := pl.prices.classes.Variance(pl.cellMoves())
	out := shrink.Shares(counts, rows, pl.rules.gaussian, func(share float64) float64 {
		return math.Sqrt(noise * ((1-share)*(1-share) + others*share*share))
	})
	return shrink.ScaleAll(out, rows)
}

// expectBalance notes that rows weigh about the same in both classes under the log-odds of the
// released numbers of rows, and how much noise of a variance leaves that open.
func (st *start) expectBalance(pl *Plan, noise float64) {
	pos, neg := st.classes[0], st.classes[1]
	least := math.Min(pos, neg)
	st.expected = []float64{least, least}
	// Rows weigh 1 in the rarer class and least/pos or least/neg in the other.
	inPos, inNeg := least/pos, least/neg
	if pl.knowsTotal() { // what one class gains the other loses
		st.baseVariance = noise * (inPos + inNeg) * (inPos + inNeg)
	} else {
		st.baseVariance = noise * (inPos*inPos + inNeg*inNeg)
	}
}

// centerColumn moves the steps of a column to where they keep to the base rate, while the weights
// are those of the start, and returns the weights of its bins. Where the base rate is known by its
// release alone, what the column says of it is taken into account once for all columns.
func (r *binaryFit) centerColumn(c *shrink.Cells, steps []float64) (rows []float64) {
	rows = shrink.BinWeights(c, steps)
	all := sumAll(r.expected)
	if !(all > 0) {
		r.centerLater(c, steps, rows)
		return rows
	}
	shrink.ProjectOntoSimplex(rows, all)
	shift := shrink.CenterSteps(steps, rows, (r.expected[0]-r.expected[1])/all)
	for b := range steps {
		steps[b] += shift
	}
	own := c.Noise.DifferenceVariance() * float64(len(steps))
	gain := r.baseVariance / (r.baseVariance + own)
	r.baseVariance *= 1 - gain
	r.base += gain * (-shift - r.base)
	return rows
}

// centerLater is centerColumn where weights see earlier columns, for Gaussian noise, with which
// every column is taken however few rows a class has. Cells of a class that noise drowns would say
// of each column again that bins hold little of it, and all columns together that no row has it. How
// far the classes are out of balance under these weights is not known: before the cells tell, by
// laterBalance or so. Where fewer than a twentieth of the rows have the rarer class, steps move to
// what all cells together then say; where a fiftieth has it, all the way.
func (r *binaryFit) centerLater(c *shrink.Cells, steps, rows []float64) {
	all, useful := sumAll(rows), countUseful(r.classes[0], r.classes[1])
	if !r.plan.rules.gaussian || !r.plan.protectsRow() || useful >= drowns || !(all > 0) {
		return
	}
	known, own := laterBalance*laterBalance*all*all, c.Noise.DifferenceVariance()*float64(len(steps))
	balance := known / (known + own) * (sumAll(c.Positive) - sumAll(c.Negative)) / all
	shift := shrink.CenterSteps(steps, rows, math.Min(math.Max(balance, -mostLater), mostLater))
	shift *= math.Min(1, math.Log(drowns/useful)/math.Log(drowns/drowned))
	for b := range steps {
		steps[b] += shift
	}
}

const (
	laterBalance = 0.25 // a standard deviation
	mostLater    = 0.9
	// Of the rows, see countUseful: a twentieth of them has the class, or a fiftieth.
	drowns, drowned = 0.25, 0.1
)

// weighBase lets weights see what has been added to the base rate, and moves their bounds with it.
// Only a start without public columns has any, so there is no clip that it would pass by.
func (r *binaryFit) weighBase() {
	before := feature.Units(r.weighing.Intercept)
	r.weighing.Intercept += r.base - r.weighedBase
	r.weighedBase = r.base
	moved := feature.Units(r.weighing.Intercept) - before
	r.least, r.most = r.least+moved, r.most+moved
}

// The score of the private columns is cut at so many spreads from its mean, as they would be were
// the columns independent: copies of columns spread it further. scoreMiddles stand for what lies
// between.
var (
	scoreEdges   = []float64{-16, -8, -4, -2, -1.2, -0.6, -0.2, 0.2, 0.6, 1.2, 2, 4, 8, 16}
	scoreMiddles = []float64{-20, -11, -5.6, -2.8, -1.6, -0.9, -0.4, 0, 0.4, 0.9, 1.6, 2.8, 5.6, 11, 20}
)

// calibrate releases the cells of the sum of private shapes, as those of one more column (1.9), and
// stretches the shapes to what they say beyond the start.
func (r *binaryFit) calibrate(ctx context.Context) error {
	private := r.finishPrivate()
	if r.plan.rules.sharesAlone { // a model has a shape, though here it says nothing
		none := make([]float64, r.bins[0].Len())
		r.moved.Intercept = math.Sqrt(r.baseMoved())
		r.finished = []finishedShape{{r.bins[0], none, none, none, nil}}
		return nil
	}
	mean, spread := r.describeSum(func(sh *binaryShape) []float64 { return sh.steps })
	sum := &feature.Additive{}
	for _, sh := range private {
		sum.Shapes = append(sum.Shapes, feature.Shape{Bins: sh.bins, Steps: sh.steps})
	}
	var edges, middles []float64
	for _, e := range scoreEdges {
		edges = append(edges, mean+spread*e)
	}
	for _, m := range scoreMiddles {
		middles = append(middles, mean+spread*m)
	}
	r.weighAsModel()
	cells, err := r.guard.Cells(ctx, &r.weighing, []feature.Bins{feature.CutScore(sum, edges)}, r.capWeights())
	if err != nil {
		return err
	}
	r.cells, r.from = cells, 0
	c, err := r.measureWeights(calibrationLabel, r.plan.prices.calibration, 0)
	if err != nil {
		return err
	}
	line := shrink.FitLine(c, middles)
	r.noteMoved(&line)
	r.model.Intercept += line.Shift
	for k := range private {
		private[k].stretch(line.Slope)
	}
	r.finished = append(r.finishPublic(), private...)
	return nil
}

// stretch multiplies the steps. What they leave out of what was released may yet be so.
func (sh *finishedShape) stretch(slope float64) {
	for b, step := range sh.steps {
		sh.steps[b] = slope * step
		if sh.moved != nil {
			sh.moved[b] *= slope
		}
		sh.noise[b] = math.Hypot(sh.noise[b], sh.left[b]+(1-slope)*step)
	}
}

// weighAsModel weighs rows as the model without its private shapes does, with the bounds of that
// score (1.9).
func (r *binaryFit) weighAsModel() {
	if r.plan.scope == dp.PrivateFeatures {
		r.weighing, r.least, r.most, r.totals = r.first.weighing, r.first.least, r.first.most, r.first.totals
		return
	}
	r.model.Intercept += r.base
	z := feature.Units(r.model.Intercept)
	r.weighing, r.least, r.most = feature.Additive{Intercept: r.model.Intercept}, z, z
}

// describeSum is about the mean over rows of the sum of these steps of private shapes, and its
// standard deviation were the columns independent.
func (r *binaryFit) describeSum(stepsOf func(*binaryShape) []float64) (mean, spread float64) {
	variance := 0.0
	for k := range r.shapes {
		sh := &r.shapes[k]
		steps, all, first, second := stepsOf(sh), 1e-9, 0.0, 0.0
		for b, w := range sh.rows {
			all += w
			first += w * steps[b]
			second += w * steps[b] * steps[b]
		}
		mean += first / all
		variance += math.Max(0, second/all-first/all*(first/all))
	}
	return mean, math.Max(math.Sqrt(variance), 1e-3)
}
