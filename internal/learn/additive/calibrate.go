// SPDX-License-Identifier: Apache-2.0

package additive

import (
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/model/shrink"
	"github.com/discreet-dp/discreet/internal/privacy/accounting"
	"github.com/discreet-dp/discreet/internal/table/feature"
)

// Calibration is of two classes: the sum of all private columns is measured as if it were one more column, crossed with
// the score of the public ones, and both are stretched to what it says. Columns that say the same thing several times,
// private or public, say it once after that.

// forClasses is the plan for so many rows of either class, which are public or released. Rounds are counted by how
// many rows there are to learn from, and where a class is rare, those are its own. What the rounds of the bill cost
// together is divided again among those that are made (1.9). A rare class may leave rounds that have less noise without
// a δ.
func (pl *Plan) forClasses(pos, neg float64) *Plan {
	if pl.NotPrivate || pl.Listed || pl.rules.pairs > 0 || pl.rules.sharesAlone {
		return pl
	}
	done := *pl
	useful := countUseful(pos, neg)
	done.rules = settleBinary(pl.Params, pl.schema.Relation, pl.countRows(pos+neg), pl.columns, pl.rho, len(pl.public) > 0, useful)
	done.rules.bins, done.rules.classesShare = pl.rules.bins, pl.rules.classesShare
	done.rules.calibrationShare = pl.rules.calibrationShare
	if err := done.divideAgain(pl); err != nil { // too little to divide so: the bill's own rounds
		return pl
	}
	return &done
}

// countRows is unitRows, or fewer if the number of rows was only declared or assumed, and a release says that all rows
// together weigh so much.
func (pl *Plan) countRows(weight float64) int {
	if pl.knowsTotal() {
		return pl.unitRows()
	}
	return min(pl.unitRows(), max(1, int(weight)/pl.most))
}

// hasFew reports whether released rows by class are fewer than what was declared or assumed, and may by their noise be so
// few that columns would tell nothing but noise.
func (pl *Plan) hasFew(counts []float64) bool {
	if !pl.protectsRow() || pl.NotPrivate || pl.rules.sharesAlone || pl.TakeAll || pl.Listed || // the bill's lines alone
		pl.prices.classes.Epsilon >= pl.Epsilon { // nothing is left of ε: a large δ bought more of it for the classes
		return false
	}
	all := sumAll(counts)
	least := all - 2*math.Sqrt(2*pl.prices.classes.Variance(pl.classMoves()))
	signal, _ := countScales(pl.Params, pl.schema.Relation, pl.countRows(least), 1, 0)
	return pl.countRows(all) < pl.unitRows() && signal <= fewestForColumns
}

// measureAgain measures the rows by class for all that is left of ε, so that every row is answered with their shares.
func (f *fit) measureAgain(first []float64) (*start, error) {
	pl := *f.plan
	before := pl.prices.classes.Variance(pl.classMoves())
	pl.prices.classes = epsilonShare(pl.Epsilon - pl.prices.classes.Epsilon)
	pl.rules, pl.counts = rules{bins: pl.rules.bins, classesShare: 1, sharesAlone: true}, counting{}
	f.plan = &pl
	counts, err := f.measureClasses()
	if err != nil {
		return nil, err
	}
	noise := pl.prices.classes.Variance(pl.classMoves())
	for k := range counts {
		counts[k] += (first[k] - counts[k]) * noise / (noise + before)
	}
	return f.startCounts(counts, noise*before/(noise+before)), nil
}

// divideAgain divides what all rounds of a plan cost among those of this one. If only this one has no Gaussian noise,
// its releases are all pure: it has the rest of ε.
func (pl *Plan) divideAgain(of *Plan) error {
	list, eps, rho := pl.listRounds(), dp.Epsilon(0), dp.Rho(0)
	for t := range of.prices.cells {
		eps += of.prices.picks[t].Epsilon + of.prices.cells[t].Epsilon
		rho += accounting.PureRho(of.prices.picks[t].Epsilon) + of.prices.cells[t].Rho
	}
	switch {
	case pl.rules.gaussian:
		return shareOut(rho, list, rhoShare)
	case of.rules.gaussian:
		if len(pl.counts.asking) > 0 {
			return errors.New("additive: counts of bins had Gaussian noise")
		}
		pl.prices.calibration = epsilonShare(dp.Epsilon(pl.rules.calibrationShare * float64(pl.Epsilon)))
		eps = pl.Epsilon - pl.prices.classes.Epsilon - pl.prices.calibration.Epsilon
	}
	return shareOut(eps, list, epsilonShare)
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

// logWeight is what the schema's weight of a class adds to its score: where each of its rows counts w times its odds
// are w times as large, whatever the columns hold. Nothing that is released depends on weights.
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
	pos := f.estimateClasses(counts, rows, noise)[0]
	z := math.Log(pos / (rows - pos))
	st := &start{score: feature.Additive{Intercept: z}, mean: z, least: feature.Units(z), most: feature.Units(z),
		classes: [2]float64{pos, rows - pos}}
	inPos, inNeg := 1/pos, 1/(rows-pos)
	if f.plan.knowsTotal() { // what one class gains the other loses
		st.baseMoved = noise * (inPos + inNeg) * (inPos + inNeg)
	} else {
		st.baseMoved = noise * (inPos*inPos + inNeg*inNeg)
	}
	return st
}

// estimateClasses is the number of rows of each class, as released with noise of a variance, among all
// as far as they are known: at least half a row.
func (f *fit) estimateClasses(counts []float64, rows, noise float64) []float64 {
	pl, others := f.plan, float64(len(counts)-1)
	if pl.NotPrivate {
		for k, n := range counts {
			counts[k] = math.Min(math.Max(n, leastRows), math.Max(rows-leastRows, leastRows))
		}
		return counts
	}
	out := shrink.Shares(counts, rows, pl.prices.classes.Rho > 0, func(share float64) float64 {
		if len(counts) == 2 && pl.knowsTotal() { // their number is public
			return math.Sqrt(noise)
		}
		return math.Sqrt(noise * ((1-share)*(1-share) + others*share*share))
	})
	floats.Scale(rows, out)
	return out
}

// The score of the private columns is cut at so many spreads from its mean, as they would be were the columns
// independent: copies of columns spread it further. scoreMiddles stand for what lies between.
var (
	scoreEdges   = []float64{-3, -1.5, -0.5, 0.5, 1.5, 3}
	scoreMiddles = []float64{-4, -2.1, -1, 0, 1, 2.1, 4}
)

// calibrate releases the cells of the sum of private shapes, as those of one more column (1.9), and
// scales the shapes to fit them.
func (r *binaryFit) calibrate() error {
	private := r.finishPrivate()
	if r.plan.rules.sharesAlone { // a model has a shape, though here it says nothing
		none := make([]float64, r.bins[0].Len())
		r.moved.Intercept = math.Sqrt(r.baseMoved)
		r.finished = []finishedShape{{bins: r.bins[0], steps: none, noise: none}}
		return nil
	}
	mean, spread := r.describeSum(func(sh *binaryShape) []float64 { return sh.steps })
	sum := &feature.Additive{}
	for _, sh := range private {
		sum.Shapes = append(sum.Shapes, feature.Shape{Bins: sh.bins, Steps: sh.steps})
	}
	at := func(spreads []float64) []float64 {
		scores := floats.ScaleTo(make([]float64, len(spreads)), spread, spreads)
		floats.AddConst(mean, scores)
		return scores
	}
	r.start = r.first // rows weigh as under the model without its private shapes
	parts, edges, center := r.splitPublic()
	bins := feature.CutScore(sum, at(scoreEdges))
	if len(edges) > 0 {
		bins = feature.Cross(bins, feature.CutScore(&r.first.score, edges))
	}
	cells, err := r.guard.Cells(&r.score, []feature.Bins{bins}, r.capWeights())
	if err != nil {
		return err
	}
	r.cells, r.from = cells, 0
	c, err := r.measureWeights(calibrationLabel, r.plan.prices.calibration, 0)
	if err != nil {
		return err
	}
	var x, z []float64
	for _, score := range at(scoreMiddles) {
		for k := range parts {
			x, z = append(x, score), append(z, parts[k].mean-center)
		}
	}
	if r.totals != nil {
		for k := range parts {
			projectPart(c.Positive, k, len(parts), parts[k].totals[0])
			projectPart(c.Negative, k, len(parts), parts[k].totals[1])
		}
	}
	line := shrink.FitLine(c, x, z, r.countFitted())
	r.noteMoved(&line)
	if r.plan.scope != dp.PrivateFeatures {
		r.stretchPublic(&line, center)
	} else {
		rows := r.first.divideRows(edges)
		r.stretchPublic(&line, center)
		r.first.score.Intercept += r.rateShift(line.Slope, r.describeParts(c, x, parts), rows)
	}
	for k := range private {
		private[k].stretch(line.Slope)
	}
	r.finished = append(r.finishPublic(), private...)
	return nil
}

// countFitted is for how many numbers private shapes have fitted the chance of rows, as the calibration counts it. Rows of
// persons count for less than one, nobody knows for how much.
func (r *binaryFit) countFitted() (sum float64) {
	if r.plan.schema.Person != nil {
		return 0
	}
	for k := range r.shapes {
		sum += fittedPart * r.shapes[k].fitted
	}
	return sum
}

// publicPart describes rows with similar scores of public columns: the mean by weight, and the weight of either class.
type publicPart struct {
	mean   float64
	totals [2]float64
}

// splitPublic cuts the score of public columns, in steps of 1/scoreGrid nat, into at most scoreParts parts of about the
// same weight. Without public columns there is one. center is the mean by weight of all.
func (r *binaryFit) splitPublic() (parts []publicPart, edges []float64, center float64) {
	st := &r.first
	if st.groups == nil {
		return []publicPart{{}}, nil, 0
	}
	nats := st.boundScores()
	least := math.Floor(scoreGrid * floats.Min(nats))
	steps := make([]publicPart, 1+int(scoreGrid*floats.Max(nats)-least))
	for g, z := range nats {
		pos, neg := st.byClass[0][g]*math.Min(1, math.Exp(-z)), st.byClass[1][g]*math.Min(1, math.Exp(z))
		at := &steps[int(math.Floor(scoreGrid*z)-least)]
		at.mean, at.totals[0], at.totals[1] = at.mean+(pos+neg)*z, at.totals[0]+pos, at.totals[1]+neg
	}
	all, sum := 0.0, 0.0
	for k := range steps {
		all += sumAll(steps[k].totals[:])
	}
	if !(all > 0) { // no row has weight
		return []publicPart{{}}, nil, 0
	}
	part := publicPart{}
	for k := range steps {
		part.mean, sum = part.mean+steps[k].mean, sum+sumAll(steps[k].totals[:])
		part.totals[0], part.totals[1] = part.totals[0]+steps[k].totals[0], part.totals[1]+steps[k].totals[1]
		last, own := k == len(steps)-1, sumAll(part.totals[:])
		if !last && (sum*scoreParts < all*float64(len(parts)+1) || own == 0) { // steps between scores hold no row
			continue
		}
		if own == 0 { // scores so far out that no weight is left belong to the part before
			edges = edges[:len(edges)-1]
			break
		}
		if !last {
			edges = append(edges, (least+float64(k+1))/scoreGrid)
		}
		center += part.mean / all
		part.mean /= own
		parts, part = append(parts, part), publicPart{}
	}
	return parts, edges, center
}

// projectPart projects the cells of every parts-th bin from k on to a known sum.
func projectPart(cells []float64, k, parts int, sum float64) {
	own := make([]float64, 0, len(cells)/parts)
	for b := k; b < len(cells); b += parts {
		own = append(own, cells[b])
	}
	shrink.ProjectOntoSimplex(own, sum)
	for i, x := range own {
		cells[k+i*parts] = x
	}
}

// stretchPublic multiplies the score of public columns, about center, by the line's slope of what is known.
func (r *binaryFit) stretchPublic(l *shrink.Line, center float64) {
	score := &r.first.score
	score.Intercept = center + l.Known*(score.Intercept-center) + l.Shift
	score.Shapes = slices.Clone(score.Shapes)
	for k, sh := range score.Shapes {
		score.Shapes[k].Steps = floats.ScaleTo(make([]float64, len(sh.Steps)), l.Known, sh.Steps)
	}
}

// sumOfPart is the mean and the variance of the sum of private shapes over the rows of a class in a part of the score of
// public columns.
type sumOfPart struct{ mean, variance float64 }

// describeParts describes the sum of private shapes by part, then class, the positive one first: as if it were independent
// of public columns, and moved to what cells of the sum say as far as they are above their noise. x is the sum by bin.
func (r *binaryFit) describeParts(c *shrink.Cells, x []float64, parts []publicPart) (out [][2]sumOfPart) {
	var alike [2]sumOfPart
	for k := range r.shapes {
		for class := range alike {
			m, v := r.shapes[k].describeRows(class)
			alike[class].mean, alike[class].variance = alike[class].mean+m, alike[class].variance+v
		}
	}
	cells, noise := [2][]float64{c.Positive, c.Negative}, [2]float64{c.Noise.Positive, c.Noise.Negative}
	for k := range parts {
		out = append(out, alike)
		for class, all := range parts[k].totals {
			if !(all > 0) {
				continue
			}
			// told is the mean of what is asked of a bin's sum, whose prior is normal around 0
			told := func(deviation float64, ask func(x float64) float64) float64 {
				mean, variance := 0.0, 0.0
				for b := k; b < len(x); b += len(parts) {
					a := ask(x[b]) / all
					mean, variance = mean+cells[class][b]*a, variance+noise[class]*noise[class]*a*a
				}
				return mean * deviation * deviation / (deviation*deviation + variance + 1e-300)
			}
			p := &out[k][class]
			before := p.mean
			p.mean += told(partDeviation*math.Sqrt(p.variance), func(x float64) float64 { return x - before })
			spread := p.variance
			p.variance += told(partDeviation*spread, func(x float64) float64 { return (x-p.mean)*(x-p.mean) - spread })
			p.variance = math.Max(0, p.variance)
		}
	}
	return out
}

// divideRows says in which part of the score of public columns each of their distinct rows is.
func (st *start) divideRows(edges []float64) (parts []int) {
	for _, z := range st.boundScores() {
		part := 0
		for part < len(edges) && z >= edges[part] {
			part++
		}
		parts = append(parts, part)
	}
	return parts
}

// rateShift is by how much all scores must move for their mean to be the known rate of the positive class, if the sum of
// private shapes, times slope, is normal within each class of a part; of is the part of distinct rows. The shift is free.
func (r *binaryFit) rateShift(slope float64, sums [][2]sumOfPart, of []int) float64 {
	at := r.first
	nats, pos := at.boundScores(), at.classes[0]
	if !(pos+at.classes[1] > 0) {
		return 0
	}
	least := floats.Min(nats)
	rows := make([][2][]float64, len(sums)) // by part, class, and public score in steps of 1/scoreGrid nat
	for g, z := range nats {
		for class := range at.byClass {
			to := &rows[of[g]][class]
			if *to == nil {
				*to = make([]float64, 1+int(scoreGrid*(floats.Max(nats)-least)))
			}
			(*to)[int(scoreGrid*(z-least))] += at.byClass[class][g]
		}
	}
	off := func(shift float64) (sum float64) {
		all := 0.0
		for x := -normalReach; x <= normalReach; x += normalStep {
			weight := math.Exp(-x * x / 2)
			all += weight
			for part := range rows {
				for class, rows := range rows[part] {
					own := &sums[part][class]
					from := least + 0.5/scoreGrid + slope*(own.mean+x*math.Sqrt(own.variance)) + shift
					for k, n := range rows {
						if n > 0 {
							sum += weight * n / (1 + math.Exp(-from-float64(k)/scoreGrid))
						}
					}
				}
			}
		}
		return sum/all - pos
	}
	low, high := -mostShift, mostShift
	for range shiftSteps {
		if middle := (low + high) / 2; off(middle) < 0 {
			low = middle
		} else {
			high = middle
		}
	}
	return low
}

// noteClasses keeps the weights of the rows of either class by bin if none are kept yet.
func (sh *binaryShape) noteClasses(steps []float64) {
	if sh.byClass[0] != nil {
		return
	}
	for b, w := range sh.rows {
		p := 1 / (1 + math.Exp(-steps[b]))
		sh.byClass[0], sh.byClass[1] = append(sh.byClass[0], w*p), append(sh.byClass[1], w*(1-p))
	}
}

// describeRows is the mean and the variance of the steps over rows of a class.
func (sh *binaryShape) describeRows(class int) (mean, variance float64) {
	square, all := 0.0, sumAll(sh.byClass[class])+1e-300
	for b, w := range sh.byClass[class] {
		mean += w / all * sh.steps[b]
		square += w / all * sh.steps[b] * sh.steps[b]
	}
	return mean, math.Max(0, square-mean*mean)
}

const (
	mostShift     = 2.0 // nats
	partDeviation = 0.5 // of the mean of a part, in deviations of its class, and of its variance as a share
	shiftSteps    = 20
	scoreGrid     = 256
	normalReach   = 3.5 // standard deviations
	normalStep    = 0.5
)

// stretch multiplies the steps by slope. It does not remove the uncertainty about what the steps leave out.
func (sh *finishedShape) stretch(slope float64) {
	sh.cells.Stretch = slope
	for b, step := range sh.steps {
		sh.steps[b] = slope * step
		if sh.moved != nil {
			sh.moved[b] *= slope
		}
		sh.noise[b] = math.Hypot(sh.noise[b], sh.left[b]+(1-slope)*step)
	}
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

// What noise alone does to a score: by how much the scores of another fit to the same rows would
// differ. All of it is reckoned from what was released.

// addMoved adds the effect of noise on the steps of one more release, of which part enters the model. The effect of
// noise on earlier steps is observed again, as far as the release is informative, and is corrected.
func (sh *binaryShape) addMoved(c *shrink.Cells, steps, variance []float64, part float64) {
	moved, weights, shown := c.MovedByNoise(steps, variance)
	imbalance := 0.0
	for b, w := range weights {
		sh.moved[b] = (1-shown)*(1-shown)*sh.moved[b] + movedTogether*part*part*moved[b]
		imbalance += w * math.Abs(math.Tanh(steps[b]/2))
	}
	sh.certain *= imbalance
}

// noteMoved records the effect of noise on all rows alike and on the scale of the shapes.
func (r *binaryFit) noteMoved(l *shrink.Line) {
	// What it did to the base rate the calibration sees, and takes back as far as it shows anything.
	base := r.baseMoved * (1 - l.ShiftShown) * (1 - l.ShiftShown)
	base += l.KnownMoved * l.KnownMoved * r.first.spread * r.first.spread // the mean over rows
	r.moved = model.Moved{Slope: l.SlopeMoved / l.Slope, Middle: l.Slope * l.Middle}
	r.moved.Intercept = math.Sqrt(base + l.ShiftMoved*l.ShiftMoved + r.missedPicks(l.Slope))
}

// missedPicks is the variance of scores because another fit may not pick the columns of this one,
// the mean over rows: the chance of that (see binaryShape; what it is measured by has shrunk as
// steps do, so half of it is counted) times the square of what a column adds.
func (r *binaryFit) missedPicks(slope float64) (variance float64) {
	if !r.plan.rules.picks {
		return 0
	}
	for k := range r.shapes {
		sh := &r.shapes[k]
		all, square := 0.0, 0.0
		for b, w := range sh.rows {
			all += w
			square += w * sh.steps[b] * sh.steps[b]
		}
		if all > 0 {
			variance += movedByPicks * math.Exp(-sh.certain/2) * slope * slope * square / all
		}
	}
	return variance
}
