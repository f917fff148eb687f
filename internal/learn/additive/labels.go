// SPDX-License-Identifier: Apache-2.0

package additive

import (
	"context"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/privacy/dp"
	"github.com/discreet-dp/discreet/internal/shrink"
	"github.com/discreet-dp/discreet/internal/table/feature"
)

// A private label beside public columns, G-ADDITIVE-6. How many rows each bin of a public column
// has is public; the label enters the fit of the public columns through one number by bin, the
// positive rows there. A row that is replaced keeps its public cells, so it moves one number of
// each column by at most 1. With Gaussian noise each row adds a vector of its public cells instead,
// whose length is the same for all rows: shrink.LabelVectors. Where ε is plentiful the labels of
// all public columns leave at once, and the rounds then take the private columns. Where it is
// scarce, rounds pick among all columns, and a public one that is picked before any private one
// leaves as its positive rows alone.

// protectsLabel reports whether the label is private and some columns in use are public.
func (pl *Plan) protectsLabel() bool {
	return pl.scope == dp.FeaturesAndLabel || pl.scope == dp.LabelOnly
}

// takesLabelsAlone reports whether nothing leaves but positive rows of public columns.
func (pl *Plan) takesLabelsAlone() bool {
	return pl.rules.labelShare == 1 || pl.scope == dp.LabelOnly && pl.rules.picks
}

const (
	// A public column is worth the price of so much of a private one: a row moves its numbers half as
	// far, and half as many are noisy.
	publicCost = 0.5
	// Each picked public column needs so many noise scales of rows.
	scalesForLabels = 900
	// Public columns are looked at again after the private ones where each release is so many noise
	// scales long.
	scalesToRepeat = 1100
	// Beyond this part of all columns it is better to take all of them.
	mostPickedLabels = 0.5
)

// settleLabel settles the rules for a private label beside so many public columns, with so many
// private ones. Useful is the part of the rows that the rarer class allows to count where rounds
// pick private columns, too.
func (pl *Plan) settleLabel(public, private, pairs int, rho, useful float64) rules {
	p, relation := pl.Params, pl.schema.Relation
	signal := float64(pl.rows) * p.Epsilon.Float()
	joint := float64(pl.rows) * 2 * math.Sqrt(rho*float64(public))
	if private == 0 && pairs == 0 {
		rounds := int(max(2, math.Round(signal/scalesForLabels)))
		if float64(rounds) >= mostPickedLabels*float64(public) || joint > signal {
			return rules{labelShare: 1, weightOffset: 1, modelOffset: 1, gaussian: joint > signal,
				bins: countBins(math.Max(signal, joint) / float64(public))}
		}
		r := rules{rounds: rounds, picks: true, pickShare: 0.25 + 0.15/float64(rounds), passes: onePass(0.5, 1),
			weightOffset: 1, modelOffset: 1}
		r.bins = countBins(signal / float64(rounds))
		return r
	}
	cost := publicCost * float64(public)
	r := settleWithPairs(pairs, p, relation, pl.rows, private+int(math.Ceil(cost)), rho, true)
	if r.picks {
		r = settleBinary(p, relation, pl.rows, private+int(math.Ceil(cost)), rho, true, useful)
		r.weightOffset, r.modelOffset = 0.5, 1
		return r
	}
	share := func(again int) float64 { return cost / (cost + float64(private*len(r.passes)+again+pairs)) }
	rest := func(again int) (Params, float64) {
		q := p
		q.Epsilon = max(1, dp.Epsilon(float64(p.Epsilon)*(1-share(again))))
		return q, rho * (1 - share(again))
	}
	again := public
	if q, left := rest(again); !pl.affordsAgain(private+again+pairs, q, left, r.gaussian) {
		again = 0
	}
	q, left := rest(again)
	out := pl.takePrivateInTurn(private, again+pairs, q, left, r.gaussian)
	out.labelShare, out.weightOffset, out.modelOffset = share(again), 0.8, 0.9
	out.again = again > 0
	return out
}

// affordsAgain reports whether so many releases leave each with enough to look at public columns
// again after the private ones.
func (pl *Plan) affordsAgain(releases int, p Params, rho float64, gaussian bool) bool {
	signal, joint := countScales(p, pl.schema.Relation, pl.rows, releases, rho)
	if gaussian {
		return joint/float64(releases) >= scalesToRepeat*150/400
	}
	return signal/float64(releases) >= scalesToRepeat
}

// takePrivateInTurn is the rules for all private columns in turn, with noise as settled for all.
func (pl *Plan) takePrivateInTurn(private, pairs int, p Params, rho float64, gaussian bool) rules {
	signal, joint := countScales(p, pl.schema.Relation, pl.rows, private+pairs, rho)
	r := takeInTurn(signal, 1, private+pairs, 400, 3000, true)
	if gaussian {
		r = takeInTurn(joint, 1, private+pairs, 150, 500, true)
		r.gaussian = true
	}
	r.rounds, r.pairs = r.rounds-pairs*len(r.passes)+pairs, pairs
	return r
}

// labelMoves is how far the labels of so many public columns move: replacing a row's label moves one
// bin of each by 1, or if noise is Gaussian the sum of vectors by one of them (2.1).
func (pl *Plan) labelMoves(columns int) guard.Moves {
	if pl.rules.gaussian {
		return guard.Toggled(math.Inf(1), 1)
	}
	return guard.Toggled(float64(columns), math.Sqrt(float64(columns)))
}

// labelDesign is the public columns of a table with a private label: rows by group, which are
// public, and positive rows by group, which are not.
type labelDesign struct {
	groups   *guard.Groups
	bins     []feature.Bins // by public column
	codes    [][]uint32     // by public column, then group
	rows     []float64      // by group
	released []int          // public columns whose positive rows have left, in that order
	sums     [][]float64
	noise    []float64 // of each such number, as a variance
	// Where labels leave as vectors, those of the groups and what has left of them, with noise of a
	// variance.
	vectors  *shrink.LabelVectors
	answer   []float64
	variance float64
}

// groupDesign reads the public columns.
func (f *fit) groupDesign(ctx context.Context) (*labelDesign, error) {
	pl := f.plan
	groups, err := f.guard.Groups(ctx, pl.public)
	if err != nil {
		return nil, err
	}
	d := &labelDesign{groups: groups, rows: groups.Rows}
	for _, j := range pl.public {
		bins := pl.cutByRows(d, j, pl.rules.bins)
		d.bins = append(d.bins, bins)
		d.codes = append(d.codes, listBins(&bins, &groups.Cols[j], groups.Len))
	}
	return d, nil
}

// cutByRows cuts public column j into bins by the rows of the groups, whatever their labels.
func (pl *Plan) cutByRows(d *labelDesign, j, most int) feature.Bins {
	bins, fine := pl.cutColumn(j, most), pl.cutFine(j)
	if fine.Len() <= bins.Len() {
		return bins
	}
	rows := make([]float64, fine.Len())
	for g, b := range listBins(&fine, &d.groups.Cols[j], d.groups.Len) {
		rows[b] += d.rows[g]
	}
	return feature.NewBins(pl.schema, j, halveAt(rows, most, &fine))
}

// measureLabels measures how many positive rows each bin of the given public columns has, in one
// vector (2.1).
func (f *fit) measureLabels(label string, p guard.Share, d *labelDesign, columns ...int) error {
	var bins [][]uint32
	var sizes []int
	for _, q := range columns {
		bins, sizes = append(bins, d.codes[q]), append(sizes, d.bins[q].Len())
	}
	out, err := f.guard.Measure(label, p, d.groups.ClassBins(f.plan.schema.Label.Positive, bins, sizes))
	if err != nil {
		return err
	}
	rest := out.Values
	for i, q := range columns {
		d.released = append(d.released, q)
		d.sums, d.noise = append(d.sums, rest[:sizes[i]]), append(d.noise, out.Variance)
		rest = rest[sizes[i]:]
	}
	return nil
}

// measureVectors measures the sum of the vectors of positive rows, of all public columns (2.1).
func (f *fit) measureVectors(p guard.Share, d *labelDesign) error {
	for q := range d.bins {
		d.released = append(d.released, q)
	}
	d.variance = p.Variance(f.plan.labelMoves(len(d.bins)))
	d.vectors = d.listSums().NewVectors(math.Sqrt(d.variance))
	sum := d.groups.ClassVectors(f.plan.schema.Label.Positive, d.vectors.Len(), d.vectors.Each)
	out, err := f.guard.Measure(labelsLabel, p, sum)
	if err != nil {
		return err
	}
	d.answer = out.Values
	d.noise = shrink.ScaleAll(d.vectors.BinVariances(), d.variance)
	return nil
}

// totalVariance is that of the noise on the number of all positive rows, as each release says it.
func (d *labelDesign) totalVariance() (out []float64) {
	if d.vectors != nil {
		return []float64{d.variance * d.vectors.TotalVariance()}
	}
	for i, v := range d.noise {
		out = append(out, v*float64(d.bins[d.released[i]].Len()))
	}
	return out
}

// fitLabels fits the public columns whose positive rows have left. All of it is post-processing.
func (d *labelDesign) fitLabels() *shrink.LabelFit { return d.listSums().Fit() }

// listSums is what has left of the labels, by public column, and where rows lie in those.
func (d *labelDesign) listSums() *shrink.LabelSums {
	sums := &shrink.LabelSums{Rows: d.rows, Sums: d.sums, Noise: d.noise,
		Vectors: d.vectors, Released: d.answer, Variance: d.variance}
	for _, q := range d.released {
		sums.Bins = append(sums.Bins, d.codes[q])
		n, ordered := d.bins[q].Len(), 0
		if d.bins[q].Ordered() {
			ordered = n - d.bins[q].Marks()
		}
		sums.Sizes, sums.Ordered = append(sums.Sizes, n), append(sums.Ordered, ordered)
	}
	return sums
}

// startLabels releases the labels of all public columns and starts at their fit.
func (f *fit) startLabels(ctx context.Context) (*start, error) {
	d, err := f.groupDesign(ctx)
	if err != nil {
		return nil, err
	}
	if f.plan.rules.again {
		copy(f.bins[f.plan.firstPublic:], d.bins)
	}
	if price := f.plan.prices.labels; f.plan.rules.gaussian {
		err = f.measureVectors(price, d)
	} else {
		columns := make([]int, len(d.bins))
		for q := range columns {
			columns[q] = q
		}
		err = f.measureLabels(labelsLabel, price, d, columns...)
	}
	if err != nil {
		return nil, err
	}
	st := &start{design: d}
	st.takeLabels(f.plan)
	return st, nil
}

// takeLabels puts the fit of the public columns in the place of the start's score.
func (st *start) takeLabels(pl *Plan) {
	d := st.design
	fit := d.fitLabels()
	score := feature.Additive{Intercept: fit.Intercept}
	st.variance, st.labelsMoved = nil, nil
	if !pl.rules.picks {
		st.labelsMoved = fit.Moved()
	}
	for i, q := range d.released {
		score.Shapes = append(score.Shapes, feature.Shape{Bins: d.bins[q], Steps: fit.Steps[i]})
		st.variance = append(st.variance, fit.Variance[i])
		if pl.rules.picks {
			st.labelsMoved = append(st.labelsMoved, d.movedPicked(i, fit))
		}
	}
	pos, neg := make([]float64, len(d.rows)), make([]float64, len(d.rows))
	for g, rows := range d.rows {
		p := 1 / (1 + math.Exp(-fit.Scores[g]))
		pos[g], neg[g] = rows*p, rows*(1-p)
	}
	st.rows = sumAll(d.rows)
	st.classes = [2]float64{math.Max(sumAll(pos), 0.5), math.Max(sumAll(neg), 0.5)}
	baseRate := math.Log(st.classes[0] / st.classes[1])
	st.model = scaleOffset(score, baseRate, pl.rules.modelOffset)
	st.weighing = scaleOffset(score, baseRate, pl.rules.weightOffset)
	st.boundDesign(d, pos, neg)
	st.expected, st.totals = st.totals, nil
	weight := sumAll(st.expected) / math.Max(st.rows, 1)
	for i, v := range d.totalVariance() { // the total is known from each column
		own := v * 4 * weight * weight
		if st.baseVariance = own; i > 0 {
			st.baseVariance = own / float64(i+1)
		}
	}
	st.publicMean = 0
	for g, z := range fit.Scores {
		st.publicMean += d.rows[g] * (z - fit.Intercept) / math.Max(st.rows, 1)
	}
	st.publicSpread = measureSpreadOf(&score, &d.groups.Groups, pos, neg)
	st.rescale = func(part float64) *start {
		out := &start{model: scaleOffset(score, baseRate, part)}
		out.weighing = out.model
		out.boundDesign(d, pos, neg)
		out.totals = nil
		return out
	}
}

// boundDesign is boundScores where labels are private: any row may have either, and nothing is
// clipped. pos and neg are the rows that the score expects, for the totals.
func (st *start) boundDesign(d *labelDesign, pos, neg []float64) {
	st.boundScores(&d.groups.Groups, pos, neg, 1)
	st.weighing.Clip = nil
	st.least, st.most = math.MaxInt64, math.MinInt64
	scores, scratch := make([]int64, d.groups.Len), make([]uint32, 2*d.groups.Len)
	st.weighing.Bind(d.groups.Cols).Scores(0, scores, scratch)
	for _, z := range scores {
		st.least, st.most = min(st.least, z), max(st.most, z)
	}
	if len(scores) == 0 {
		st.least, st.most = 0, 0
	}
}

// picksPublic reports whether candidate k is a public column that may leave as its positive rows:
// no private column has left, so weights follow from public cells.
func (r *binaryFit) picksPublic(k int) bool {
	return r.plan.protectsLabel() && !r.pastPublic && k >= r.plan.firstPublic && k < r.plan.columns
}

// learnPublic measures the positive rows of candidate k, a public column, and fits all public
// columns that have left.
func (r *binaryFit) learnPublic(t, k int) error {
	err := r.measureLabels(cellsLabel(t), r.plan.prices.cells[t], r.design, k-r.plan.firstPublic)
	if err != nil {
		return err
	}
	r.takeLabels(r.plan)
	r.cells = nil
	return nil
}

// candidates are the columns that rounds take: the private ones and, beside a private label, the
// public ones where rounds pick or look at those again.
func (pl *Plan) candidates(private []int) []int {
	pl.firstPublic = len(private)
	if pl.protectsLabel() && (pl.rules.picks || pl.rules.again) {
		return slices.Concat(private, pl.public)
	}
	return private
}

// publicShape finishes the shape of a public column whose labels were private.
func (r *binaryFit) publicShape(i int) finishedShape {
	sh := &r.model.Shapes[i]
	return r.finishShape(sh.Bins, sh.Steps, r.variance[i], make([]float64, len(sh.Steps)), r.labelsMoved[i])
}

// mergeShapes adds what a later round has said of a public column to its shape. The last release
// says how far both may be off.
func mergeShapes(public, private []finishedShape) []finishedShape {
	for i := range private {
		sh := &private[i]
		same := func(p finishedShape) bool {
			return p.bins.Second == nil && sh.bins.Second == nil && p.bins.Column == sh.bins.Column
		}
		k := slices.IndexFunc(public, same)
		if k < 0 {
			public = append(public, *sh)
			continue
		}
		for b, step := range sh.steps {
			public[k].steps[b] += step
		}
		public[k].noise, public[k].left, public[k].moved = sh.noise, sh.left, sh.moved
	}
	return public
}
