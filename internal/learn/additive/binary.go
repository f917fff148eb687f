// SPDX-License-Identifier: Apache-2.0

package additive

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/model/shrink"
	"github.com/discreet-dp/discreet/internal/table/feature"
)

// start is a score of two classes that weighs rows: before any round the one in the model.
type start struct {
	score  feature.Additive
	totals []float64 // weights of all rows under it, the positive class's first, if public; otherwise nil
	// least is a lower bound on the score of rows of the positive class, and most an upper bound for the
	// others, in units of 1/feature.ScoreOne nat.
	least, most  int64
	classes      [2]float64 // rows of the positive class and of the other; at least 1 if released
	baseMoved    float64    // the variance that noise has in their log-odds
	mean, spread float64    // of the score over rows, nats
	// The distinct rows of public columns, and their rows of the positive class and of the other; nil without.
	groups  *guard.DistinctRows
	byClass [2][]float64
}

// binaryFit is the state of a fit of two classes. Its score includes part of each released shape; from
// then on totals are private, and hence nil.
type binaryFit struct {
	*fit
	start
	first    start        // the start, before any round
	cells    *guard.Cells // by private column, from column from on, for the current score; nil if that has changed
	from     int
	shapes   []binaryShape   // by private column
	finished []finishedShape // the public ones, then the private ones
	moved    model.Moved     // what noise alone does beside the shapes
}

// binaryShape is the estimate for one private column.
type binaryShape struct {
	steps    []float64 // nats
	weighing []float64 // the part of steps in the weights
	variance []float64 // of steps, see learnShape; nil if nothing was learnt
	left     []float64 // the last release minus steps
	moved    []float64 // the part of the variance of steps by which noise alone moves a score
	rows     []float64 // approximate weight by bin
	// byClass is the approximate weight of the rows of a class by bin, the positive one first, in the first release,
	// whose weights do not know the column.
	byClass [2][]float64
	cells   *model.Cells
	// certain is, if rounds pick, by how much a unit of imbalance makes the pick certain, and then how
	// certain it was: permute-and-flip picks a column without information instead of one with imbalance u
	// with probability exp(−ε·u/spread), if it comes first (G-MECH-3).
	certain float64
	fitted  float64 // see shrink.Cells.Fitted
}

// learnBinary makes every release of the bill.
func (f *fit) learnBinary(ctx context.Context) (*model.Model, error) {
	st, err := f.startBinary(ctx)
	if err != nil {
		return nil, err
	}
	if err := f.findBins(st.classes[0] + st.classes[1]); err != nil {
		return nil, err
	}
	f.plan = f.plan.forClasses(st.classes[0], st.classes[1])
	r := newBinaryFit(f, st)
	for t := range f.plan.rules.rounds {
		if err := r.makeRound(t); err != nil {
			return nil, err
		}
	}
	if f.plan.NotPrivate {
		r.finished = append(r.finishPublic(), r.finishPrivate()...)
	} else if err := r.calibrate(); err != nil {
		return nil, err
	}
	return r.buildModel(), nil
}

func newBinaryFit(f *fit, st *start) *binaryFit {
	r := &binaryFit{fit: f, start: *st, first: *st}
	for k := range f.bins {
		n := f.bins[k].Len()
		r.shapes = append(r.shapes, binaryShape{steps: make([]float64, n), weighing: make([]float64, n),
			left: make([]float64, n), moved: make([]float64, n)})
	}
	if r.spread > 0 {
		r.boundPublic()
	}
	return r
}

// boundPublic clips the score of public columns where it weighs rows. The clip changes what each class weighs in all, and
// every private column would learn that change, so the score is then moved until both classes weigh the same again.
func (r *binaryFit) boundPublic() {
	if r.boundWeighing(); r.score.Clip == nil {
		return
	}
	for range roundsToBalance {
		r.boundScores()
		by := math.Log((r.totals[0] + leastRows) / (r.totals[1] + leastRows))
		r.mean, r.score.Intercept = r.mean+by, r.score.Intercept+by
		r.score.Clip.Low, r.score.Clip.High = r.score.Clip.Low+by, r.score.Clip.High+by
	}
	r.boundScores()
}

// startBinary fits the public columns, or releases the classes and starts with their log-odds.
func (f *fit) startBinary(ctx context.Context) (*start, error) {
	if f.plan.scope == dp.PrivateFeatures {
		return f.startPublic(ctx)
	}
	counts, err := f.measureClasses()
	if err != nil {
		return nil, err
	}
	if f.plan.hasFew(counts) {
		return f.measureAgain(counts)
	}
	return f.startCounts(counts, f.plan.prices.classes.Variance(f.plan.classMoves())), nil
}

func (r *binaryFit) makeRound(t int) error {
	pl := r.plan
	k := pl.rules.columnOf(t)
	if k >= pl.columns {
		r.weighAllSteps()
	}
	if err := r.sumWeights(t, k); err != nil {
		return err
	}
	if pl.rules.picks {
		scores := r.cells.Imbalances(r.free) // of a column Σ_bins |positive − negative| in weight
		var err error
		if k, err = r.pick(t, scores); err != nil {
			return err
		}
		r.shapes[k].certain = pl.prices.picks[t].Epsilon.Float() / scores.Spread()
	}
	cells, err := r.measureWeights(cellsLabel(t), pl.prices.cells[t], k)
	if err != nil {
		return err
	}
	r.learnShape(k, cells, pl.rules.passOf(t))
	return nil
}

// sumWeights asks for the cells of round t unless earlier answers contain them: for all columns, or
// only for the k-th if the score changes before the next one is needed.
func (r *binaryFit) sumWeights(t, k int) error {
	if r.cells != nil {
		return nil
	}
	from, to := 0, r.plan.columns
	if !r.plan.rules.picks && r.plan.rules.passOf(t).weightShrinkage != 0 {
		from, to = k, k+1
	}
	cells, err := r.guard.Cells(&r.score, r.bins[from:to], r.capWeights())
	r.cells, r.from = cells, from
	return err
}

// learnShape adds the estimate from released cells to the shape of column k, and its part for the
// weights to the score. Everything from here on is post-processing.
func (r *binaryFit) learnShape(k int, c *shrink.Cells, in pass) {
	steps, variance := shrink.LogOdds(c, &r.bins[k])
	sh := &r.shapes[k]
	r.noteCells(sh, c, steps, in.modelShrinkage)
	if !r.plan.NotPrivate {
		sh.addMoved(c, steps, variance, in.modelShrinkage)
		sh.fitted = in.modelShrinkage * c.Fitted(steps, variance)
		sh.rows = r.centerColumn(c, steps)
		sh.noteClasses(steps)
	}
	for b := range steps {
		sh.steps[b] += in.modelShrinkage * steps[b]
		// The last release alone says how far the shape may be off: it measured all that the score
		// did not know. What does not enter the model may yet be so.
		sh.left[b] = (1 - in.modelShrinkage) * steps[b]
	}
	sh.variance = variance
	if in.weightShrinkage != 0 {
		r.weighSteps(k, floats.ScaleTo(make([]float64, len(steps)), in.weightShrinkage, steps))
	}
}

// mostBase is the most of the variance of the base log-odds, nats².
const mostBase = 0.25

// centerColumn moves the steps of a column to where they keep to the balance of the classes, and returns the weights
// of its bins. The balance is known while public totals hold. If everything is private, it is what all cells of the
// column say, drawn to 0 by their noise: by as much as the released rows by class say that it is 0, of which a variance of
// mostBase is believed. Where cells are noise, too, every column would otherwise add a balance of its own.
func (r *binaryFit) centerColumn(c *shrink.Cells, steps []float64) (rows []float64) {
	rows = shrink.BinWeights(c, steps)
	all, balance := sumAll(r.totals), 0.0
	switch {
	case all > 0:
		shrink.ProjectOntoSimplex(rows, all)
		balance = (r.totals[0] - r.totals[1]) / all
	case r.plan.protectsRow() && sumAll(rows) > 0:
		all = sumAll(rows)
		known, own := math.Min(r.baseMoved, mostBase)/4*all*all, c.Noise.DifferenceVariance()*float64(len(steps))
		balance = known / (known + own) * (sumAll(c.Positive) - sumAll(c.Negative)) / all
	default:
		return rows
	}
	floats.AddConst(shrink.CenterSteps(steps, rows, balance), steps)
	return rows
}

// weighSteps adds steps of column k to the score that weighs rows, and to its bounds.
func (r *binaryFit) weighSteps(k int, steps []float64) {
	lo, hi := int64(math.MaxInt64), int64(math.MinInt64)
	for b, s := range steps {
		r.shapes[k].weighing[b] += s
		lo, hi = min(lo, feature.Units(s)), max(hi, feature.Units(s))
	}
	r.score.Shapes = append(r.score.Shapes, feature.Shape{Bins: r.bins[k], Steps: steps})
	r.least, r.most, r.cells, r.totals = r.least+lo, r.most+hi, nil, nil
	r.boundWeighing()
}

// boundWeighing clips the weighting score on the sides where that bounds a row's weight. Otherwise a few columns with
// rows far out would determine the noise for all. If it clips low scores, it also clips those of positive rows that
// are above all others, and if it clips high scores, the reverse.
func (r *binaryFit) boundWeighing() {
	if r.plan.rules.reach == 0 {
		return
	}
	mean, spread := r.describeSum(func(sh *binaryShape) []float64 { return sh.weighing })
	middle, reach := r.mean+mean, r.plan.rules.reach*math.Hypot(r.spread, spread)
	low, high := r.least, r.most
	if z := feature.Units(middle - reach); z > 0 { // positive rows below it weigh 1
		low = max(low, z)
	}
	if z := feature.Units(middle + reach); z < 0 {
		high = min(high, z)
	}
	r.score.Clip = nil
	if low > r.least || high < r.most {
		r.score.Clip = &feature.Clip{Shapes: len(r.score.Shapes),
			Low: float64(low) / feature.ScoreOne, High: float64(high) / feature.ScoreOne}
	}
}

// weighAllSteps includes everything that was released in the weights. A pair adds to the effects of
// its columns, so that these must not remain in its cells.
func (r *binaryFit) weighAllSteps() {
	for k := range r.shapes {
		sh := &r.shapes[k]
		if slices.Equal(sh.steps, sh.weighing) {
			continue
		}
		r.weighSteps(k, floats.SubTo(make([]float64, len(sh.steps)), sh.steps, sh.weighing))
		copy(sh.weighing, sh.steps) // but for rounding it is so
	}
	r.cells = nil
}

func (r *binaryFit) buildModel() *model.Model {
	positive := r.plan.schema.Label.Positive
	add := &model.Additive{Intercept: r.first.score.Intercept + r.plan.logWeight(positive) - r.plan.logWeight(1-positive)}
	add.Moved = &r.moved
	var columns []int
	for _, sh := range r.finished {
		columns = append(columns, r.addShape(add, &sh)...)
	}
	add.Limit()
	slices.Sort(columns)
	return &model.Model{Learner: "additive", Schema: r.plan.schema.Part(columns), Classifier: add}
}

// finishedShape is a shape in the form of the model.
type finishedShape struct {
	bins               feature.Bins
	steps, noise, left []float64
	moved              []float64 // effect of noise alone, as a standard deviation; nil if the steps are exact
	cells              *model.Cells
}

// finishPublic finishes the shapes of the start, which are exact.
func (r *binaryFit) finishPublic() (out []finishedShape) {
	for _, sh := range r.first.score.Shapes {
		if sh.Second == nil {
			amounts := len(sh.Steps) - sh.Marks()
			shrink.MakeMonotone(r.plan.schema.Columns[sh.Column].Monotone, sh.Steps[:amounts], nil)
		}
		out = append(out, finishedShape{bins: sh.Bins, steps: sh.Steps, noise: make([]float64, len(sh.Steps)),
			cells: &model.Cells{Edges: sh.Bins.Edges, Groups: sh.Bins.Groups, Weights: r.countGroups(&sh.Bins)}})
	}
	return out
}

func (r *binaryFit) finishPrivate() (out []finishedShape) {
	for k := range r.shapes {
		if sh := &r.shapes[k]; sh.variance != nil {
			out = append(out, r.finishShape(r.bins[k], sh.steps, sh.variance, sh.left, sh.moved, sh.cells))
		}
	}
	return out
}

// finishShape makes the steps of a column monotone if the schema requires it, and interpolates between
// the middles of bins. variance is the variance of the steps, and moved the part due to noise alone.
func (r *binaryFit) finishShape(
	bins feature.Bins, steps, variance, left, moved []float64, cells *model.Cells,
) finishedShape {
	s := r.plan.schema
	f := finishedShape{bins, steps, make([]float64, len(steps)), left, make([]float64, len(steps)), cells}
	cells.Edges, cells.Groups = bins.Edges, bins.Groups
	for b, v := range variance {
		f.noise[b], f.moved[b] = math.Sqrt(v), math.Sqrt(moved[b])
	}
	if bins.Second != nil {
		return f
	}
	amounts := len(f.steps) - bins.Marks()
	shrink.MakeMonotone(s.Columns[bins.Column].Monotone, f.steps[:amounts], variance[:amounts])
	if !r.plan.NotPrivate && hasSlopes(s, &bins) {
		edges, finer := drawSlopes(s, &bins, 1, f.steps, f.noise, f.left, f.moved)
		f = finishedShape{feature.NewBins(s, bins.Column, edges), finer[0], finer[1], finer[2], finer[3], cells}
	}
	return f
}

// addShape adds the shape of a column, or of a pair, to a model, and returns its columns.
func (r *binaryFit) addShape(to *model.Additive, sh *finishedShape) (columns []int) {
	s, bins := r.plan.schema, &sh.bins
	name, logOdds, noise := s.Columns[bins.Column].Name, bins.ByLevel(sh.steps), bins.ByLevel(sh.noise)
	var moved []float64
	if sh.moved != nil {
		moved = bins.ByLevel(sh.moved)
	}
	second := bins.Second
	if second == nil {
		to.Shapes = append(to.Shapes, model.Shape{Column: name, Edges: bins.Edges, LogOdds: logOdds, Noise: noise,
			Moved: moved, Cells: sh.cells})
		return []int{bins.Column}
	}
	to.Pairs = append(to.Pairs, model.PairShape{Columns: [2]string{name, s.Columns[second.Column].Name},
		Edges: [2][]float64{bins.Edges, second.Edges}, LogOdds: logOdds, Noise: noise, Moved: moved,
		Weights: divideByLevel(bins, sh.cells.Weights)})
	return []int{bins.Column, second.Column}
}
