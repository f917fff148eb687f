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

// forClasses returns the plan for the given numbers of rows of the two classes, which are public or
// released. The number of rounds depends on the number of rows to learn from, which is smaller if a
// class is rare. The price of the bill's rounds is divided among the actual rounds and, if the signal
// justifies it, a second count of the classes (1.9).
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

// leaveForAgain is forClasses for Gaussian noise: the rounds are those of the bill, and give up part
// of their price for a second count of the classes (1.9).
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

// classScales is the number of rows divided by the noise scale of the class counts. It is the same as
// for cells, or twice that if the total is public: the count of one of two classes then changes by 1
// if a row is replaced, and cells by 2.
func (pl *Plan) classScales() float64 {
	signal, _ := countScales(pl.Params, pl.schema.Relation, pl.unitRows(), 1, 0)
	if pl.isMulticlass() {
		return signal
	}
	return signal * pl.cellMoves().L1 / pl.classMoves().L1
}

// settleAgain returns the part of the rounds' price for a second count of the classes. If the label is
// private and its rarer class has few rows, the base rate needs more than its usual share. The cost of
// an error of the count in log loss is proportional to its square divided by the rows of that class.
// That alone would imply a share proportional to the square root of their part; slightly more keeps
// log loss below that of the classes' shares alone. With Gaussian noise all columns are used in any
// case, so that less is left for the count.
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
	leastAgain    = 0.02 // smallest part that is worth a separate release
	scalesOfAgain = 80   // as scalesOfClasses, if a fifth of the rows has the rarer class
	mostOfCommon  = 0.5  // of the price, for both counts, if nearly a fifth has it
	jointOfAgain  = 7    // noise scales, as jointOfClasses
	mostOfTurns   = 0.35 // of the price of rounds in turn
)

// logWeight is the schema's weight of a class as an addition to its score: if each of its rows has the
// weight w, its odds are multiplied by w for any columns. No release depends on weights.
func (pl *Plan) logWeight(class int) float64 {
	if weights := pl.schema.Label.RowWeights(); weights != nil {
		return math.Log(weights[class])
	}
	return 0
}

// countUseful returns the share of rows that count for rounds: 1 if at least a fifth has the rarer
// class, otherwise five times its share.
func countUseful(pos, neg float64) float64 {
	return math.Min(1, 5*math.Max(0, math.Min(pos, neg))/math.Max(pos+neg, 1))
}

// startCounts starts with the log-odds of released numbers of rows, the positive class's first. noise
// is the variance of their noise.
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

// countAgain counts the classes a second time if the plan has a price for that, and starts from both
// counts together.
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

// estimateRows estimates the number of rows with the positive class, given the released count, the
// number of all rows as far as known, and the variance of the noise: at least half a row.
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

// estimateClasses is estimateRows for more than two classes.
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

// expectBalance records that rows of both classes have about equal total weight under the log-odds of
// the released counts, and the uncertainty due to noise.
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

// centerColumn shifts the steps of a column so that they agree with the base rate, as long as the
// weights are those of the start, and returns the weights of its bins. If the base rate is known only
// from its release, the column's information about it is used once for all columns.
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

// centerLater is centerColumn if weights include earlier columns, for Gaussian noise, with which every
// column is used even if a class has few rows. The cells of a class whose rows are fewer than the
// noise would suggest in each column that the class is rare, and in all columns together that it does
// not occur. The imbalance of the classes under these weights is unknown; its prior standard deviation
// is laterBalance. If fewer than a twentieth of the rows have the rarer class, steps are shifted
// towards the estimate from all cells together, and completely so at a fiftieth.
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
	// As values of countUseful: a twentieth of the rows has the class, or a fiftieth.
	drowns, drowned = 0.25, 0.1
)

// weighBase includes the changes to the base rate in the weights, and shifts the weights' bounds. Only
// a start without public columns has such changes, so that no clip is affected.
func (r *binaryFit) weighBase() {
	before := feature.Units(r.weighing.Intercept)
	r.weighing.Intercept += r.base - r.weighedBase
	r.weighedBase = r.base
	moved := feature.Units(r.weighing.Intercept) - before
	r.least, r.most = r.least+moved, r.most+moved
}

// The score of the private columns is divided at these distances from its mean, in standard deviations
// for independent columns; correlated columns spread it further. scoreMiddles represent the intervals
// between them.
var (
	scoreEdges   = []float64{-16, -8, -4, -2, -1.2, -0.6, -0.2, 0.2, 0.6, 1.2, 2, 4, 8, 16}
	scoreMiddles = []float64{-20, -11, -5.6, -2.8, -1.6, -0.9, -0.4, 0, 0.4, 0.9, 1.6, 2.8, 5.6, 11, 20}
)

// calibrate releases the cells of the sum of private shapes, as those of one more column (1.9), and
// scales the shapes to fit them.
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

// stretch multiplies the steps by slope. It does not remove the uncertainty about what the steps leave
// out.
func (sh *finishedShape) stretch(slope float64) {
	for b, step := range sh.steps {
		sh.steps[b] = slope * step
		if sh.moved != nil {
			sh.moved[b] *= slope
		}
		sh.noise[b] = math.Hypot(sh.noise[b], sh.left[b]+(1-slope)*step)
	}
}

// weighAsModel weights rows by the model without its private shapes, with the bounds of that score
// (1.9).
func (r *binaryFit) weighAsModel() {
	if r.plan.scope == dp.PrivateFeatures {
		r.weighing, r.least, r.most, r.totals = r.first.weighing, r.first.least, r.first.most, r.first.totals
		return
	}
	r.model.Intercept += r.base
	z := feature.Units(r.model.Intercept)
	r.weighing, r.least, r.most = feature.Additive{Intercept: r.model.Intercept}, z, z
}

// describeSum returns the approximate mean over rows of the sum of these steps of private shapes, and
// its standard deviation if columns were independent.
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
