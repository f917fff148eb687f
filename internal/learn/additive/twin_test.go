// SPDX-License-Identifier: Apache-2.0

package additive

import (
	"cmp"
	"context"
	"math"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/learntest"
	"github.com/discreet-dp/discreet/internal/check/testkit/mechtest"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/model/shrink"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// TestFitEqualsTheNaiveTwin recomputes every release of cells, and what every
// pick compares, row by row in floats, from the definition, under one script, and
// then every score.
func TestFitEqualsTheNaiveTwin(t *testing.T) {
	for _, name := range []string{"partly private, picks", "partly private, boosted", "partly private, in turn",
		"everything, boosted", "everything, gaussian", "add-remove, in turn",
		"add-remove, boosted", "partly private, gaussian", "add-remove, gaussian",
		"partly private, bins paid", "gaussian, bins paid",
		"partly private, pairs", "everything, pairs", "add-remove, pairs in turn", "gaussian, pairs", "pairs of groups"} {
		t.Run(name, func(t *testing.T) {
			tab, plan := with(settings()[name], 1500)
			anyPlan, err := plan()
			if err != nil {
				t.Fatal(err)
			}
			pl := anyPlan.(*Plan)
			tape := &mechtest.Recorder{Script: scripted(3)}
			m := learntest.Fit(t, pl, tab, tape, 5)
			eng, exit := learntest.Engine(t, tab), mech.NewTapedExit(replay.Seeded(5, "learntest"),
				&mechtest.Recorder{Script: scripted(3)})
			f := newFit(pl, learntest.Open(t, pl, eng, exit))
			st, err := f.startBinary(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			if err := f.findBins(st.classes[0] + st.classes[1]); err != nil {
				t.Fatal(err)
			}
			pl = pl.forClasses(st.classes[0], st.classes[1])
			f.plan = pl
			w := newTwin(f, tab, st)
			at, k := 0, 0
			free := make([]int, len(f.bins))
			for k := range free {
				free[k] = k
			}
			for j, p := range tape.Passages {
				answer := scripted(3)(j, p)
				switch {
				case p.Label == pl.classesLabel() || p.Label == countsLabel:
					continue
				case p.Label == calibrationLabel:
					w.calibrate(t, p, answer)
					continue
				case p.Choice:
					for i, v := range p.Values {
						if want := w.imbalance(free[i]); math.Abs(v.Float()-want) > 1e-3*want {
							t.Fatalf("%q, column %d: %g, the twin has %g", p.Label, free[i], v.Float(), want)
						}
					}
					i := int(answer[0])
					k = free[i]
					free = slices.Delete(free, i, i+1)
					continue
				case !pl.rules.picks:
					if k = pl.turnByHand(at); k >= pl.columns {
						w.see()
					}
				}
				want, caps := w.cells(k)
				for i, v := range p.Values {
					if d := v.Float() - want[i]; math.Abs(d) > 1e-3*math.Max(1, want[i]) { // caps are rounded up by one unit of 2^-20
						t.Fatalf("%q, value %d: %g, the twin has %g", p.Label, i, v.Float(), want[i])
					}
				}
				w.learn(k, answer, caps, at)
				at++
			}
			got, err := m.Scores(tab.Cols, tab.Rows)
			if err != nil {
				t.Fatal(err)
			}
			for i, z := range w.full {
				if want := 1 / (1 + math.Exp(-z)); math.Abs(got[i]-want) > 2e-4 {
					t.Fatalf("row %d scores %g, the twin's %g", i, got[i], want)
				}
			}
		})
	}
}

// twin keeps a float score per row.
type twin struct {
	*fit
	tab        *dataset.Table
	seen, full []float64       // as weights see it, and whole
	low, high  float64         // what the released shapes can subtract and add
	least      float64         // weights see no score below it
	most       float64         // nor above it
	rows       [][]float64     // by column, the weights of its bins
	base       []float64       // seen at the start
	rest       [][]float64     // by column: what the model adds and weights do not see
	totals     bool            // public totals still hold
	moved      float64         // the variance of the log-odds of the start
	fitted     map[int]float64 // by column, see shrink.Cells.Fitted
	start      []float64       // the model without its private columns
	mean       []float64       // by column, of its steps over the released rows
	spread     []float64       // the same, of their squares around it
	model      [][]float64     // by column, the steps of the model
	early      [][2][]float64  // by column, the weights of its bins and their steps in its first release
}

func newTwin(f *fit, tab *dataset.Table, st *start) *twin {
	w := &twin{fit: f, tab: tab, totals: st.totals != nil, moved: math.Min(st.baseMoved, mostBase)}
	for i := range tab.Rows {
		z := st.score.Intercept
		for _, sh := range st.score.Shapes {
			z += sh.Steps[bin(tab, &sh.Bins, i)]
		}
		w.full = append(w.full, z)
		w.seen = append(w.seen, z)
	}
	w.least, w.most, w.rows = math.Inf(-1), math.Inf(1), make([][]float64, len(f.bins))
	w.base, w.start = slices.Clone(w.seen), slices.Clone(w.full)
	w.model, w.early = make([][]float64, len(f.bins)), make([][2][]float64, len(f.bins))
	w.mean, w.spread = make([]float64, len(f.bins)), make([]float64, len(f.bins))
	for k := range f.bins {
		w.rest = append(w.rest, make([]float64, f.bins[k].Len()))
	}
	w.bound()
	for range roundsToBalance * min(1, len(st.score.Shapes)) {
		if math.IsInf(w.least, 0) && math.IsInf(w.most, 0) {
			break
		}
		sum := w.weights()
		by := math.Log((sum[0] + 0.5) / (sum[1] + 0.5))
		for i := range w.seen {
			w.seen[i], w.base[i] = w.seen[i]+by, w.base[i]+by
		}
		w.least, w.most = w.least+by, w.most+by
	}
	return w
}

// weights returns the weight of all positive rows, and of all others.
func (w *twin) weights() (sum [2]float64) {
	for i := range w.tab.Rows {
		label := 1
		if int(w.tab.Labels[i]) == w.tab.Schema.Label.Positive {
			label = 0
		}
		sum[label] += w.weight(w.seen[i], i)
	}
	return sum
}

// turnByHand is what round t is about: all columns as often as there are passes,
// then each pair once.
func (pl *Plan) turnByHand(t int) int {
	var order []int
	for range pl.rules.passes {
		for k := range pl.private {
			if pl.private[k].Second == nil {
				order = append(order, k)
			}
		}
	}
	for k := range pl.private {
		if pl.private[k].Second != nil {
			order = append(order, k)
		}
	}
	return order[t]
}

// see lets weights see the whole of what the model adds.
func (w *twin) see() {
	for k, rest := range w.rest {
		if slices.Max(rest) == 0 && slices.Min(rest) == 0 {
			continue
		}
		for i := range w.tab.Rows {
			w.seen[i] += rest[bin(w.tab, &w.bins[k], i)]
		}
		w.low, w.high, w.totals = w.low+slices.Min(rest), w.high+slices.Max(rest), false
		clear(rest)
		w.bound()
	}
}

// bound is how far weights see, where the rules bound that.
func (w *twin) bound() {
	reach := w.plan.rules.reach
	if reach == 0 {
		return
	}
	mean, variance := 0.0, 0.0
	for k, rows := range w.rows {
		weighed := slices.Clone(w.sums(k))
		for b := range weighed {
			weighed[b] -= w.rest[k][b]
		}
		if rows != nil {
			m, v := moments(weighed, rows)
			mean, variance = mean+m, variance+v
		}
	}
	w.least, w.most = math.Inf(-1), math.Inf(1)
	first, own := moments(w.base, slices.Repeat([]float64{1}, len(w.base)))
	middle := first + mean
	reach *= math.Hypot(math.Max(math.Sqrt(variance), 1e-3), math.Sqrt(own))
	// A clip on one side also clips rows of one class that are beyond all of the other on the other side.
	least, most := math.Inf(1), math.Inf(-1) // of positive rows, of others
	for i := range w.tab.Rows {
		if w.margin(1, i) > 0 {
			least = math.Min(least, w.base[i]+w.low)
		} else {
			most = math.Max(most, w.base[i]+w.high)
		}
	}
	low, high := least, most
	if middle-reach > 0 {
		low = math.Max(least, middle-reach)
	}
	if middle+reach < 0 {
		high = math.Min(most, middle+reach)
	}
	if low > least || high < most {
		w.least, w.most = low, high
	}
}

// weight is that of row i at a score.
func (w *twin) weight(z float64, i int) float64 {
	return math.Min(1, math.Exp(-w.margin(math.Min(math.Max(z, w.least), w.most), i)))
}

func bin(tab *dataset.Table, b *feature.Bins, i int) int {
	if b.Second != nil {
		first := *b
		first.Second = nil
		return bin(tab, &first, i)*b.Second.Len() + bin(tab, b.Second, i)
	}
	col := &tab.Cols[b.Column]
	if code := int(col.Codes.At(i)); col.Values == nil {
		return int(b.ByCode(col)[code])
	} else {
		n := 0
		for _, e := range b.Edges {
			if col.Values[code] >= e {
				n++
			}
		}
		return n
	}
}

// margin has the sign of the label.
func (w *twin) margin(z float64, i int) float64 {
	if int(w.tab.Labels[i]) == w.tab.Schema.Label.Positive {
		return z
	}
	return -z
}

func (w *twin) cells(k int) (out []float64, caps [2]float64) {
	for i := range w.tab.Rows {
		label := 1
		worst := w.base[i] + w.high
		if int(w.tab.Labels[i]) == w.tab.Schema.Label.Positive {
			label, worst = 0, w.base[i]+w.low
		}
		caps[label] = math.Max(caps[label], w.weight(worst, i))
	}
	out = make([]float64, 2*w.bins[k].Len())
	for i := range w.tab.Rows {
		label := 1
		if int(w.tab.Labels[i]) == w.tab.Schema.Label.Positive {
			label = 0
		}
		out[2*bin(w.tab, &w.bins[k], i)+label] += w.weight(w.seen[i], i) / caps[label]
	}
	return out, caps
}

// imbalance is what picks compare, in rows of weight 1.
func (w *twin) imbalance(k int) (sum float64) {
	cells, caps := w.cells(k)
	for b := 0; b < len(cells); b += 2 {
		sum += math.Abs(cells[b]*caps[0] - cells[b+1]*caps[1])
	}
	return sum
}

func (w *twin) learn(k int, released []float64, caps [2]float64, round int) {
	bins := &w.bins[k]
	c := &shrink.Cells{Positive: make([]float64, bins.Len()), Negative: make([]float64, bins.Len())}
	for b := range bins.Len() {
		c.Positive[b], c.Negative[b] = released[2*b]*caps[0], released[2*b+1]*caps[1]
	}
	var sum [2]float64
	if w.totals {
		sum = w.weights()
		shrink.ProjectOntoSimplex(c.Positive, sum[0])
		shrink.ProjectOntoSimplex(c.Negative, sum[1])
	}
	deviation, gaussian := w.plan.mechanismDeviation(round)
	c.Noise = shrink.Noise{Positive: deviation * caps[0], Negative: deviation * caps[1], Gaussian: gaussian}
	steps, variance := shrink.LogOdds(c, bins)
	rows := shrink.BinWeights(c, steps)
	fitted := -1.0
	for b, s := range steps { // how far each follows its own cells
		curve := rows[b] / 2 / math.Pow(math.Cosh(s/2), 2)
		fitted += math.Min(1, variance[b]*curve*curve/(curve+c.Noise.DifferenceVariance()+1e-300))
	}
	if w.totals { // the steps keep to them
		shrink.ProjectOntoSimplex(rows, sum[0]+sum[1])
		by := shrink.CenterSteps(steps, rows, (sum[0]-sum[1])/(sum[0]+sum[1]))
		for b := range steps {
			steps[b] += by
		}
	} else if all := sumAll(rows); w.plan.scope == dp.WholeRow && all > 0 {
		difference, error2 := 0.0, 0.0
		for b := range steps {
			difference += c.Positive[b] - c.Negative[b]
			error2 += c.Noise.Positive*c.Noise.Positive + c.Noise.Negative*c.Noise.Negative
		}
		u, v := 4/(w.moved*all*all), 1/error2 // the balance is 0, but for half of the log-odds' noise, and what cells have
		by := shrink.CenterSteps(steps, rows, v*difference/(u+v)/all)
		for b := range steps {
			steps[b] += by
		}
	}
	in := wholeStep // of a pair
	if bins.Second == nil {
		in = w.plan.rules.passes[round/w.plan.columns]
	}
	if w.fitted == nil {
		w.fitted = map[int]float64{}
	}
	w.fitted[k] = in.modelShrinkage * math.Max(0, fitted)
	whole := make([]float64, len(steps)) // of the model
	for b, s := range steps {
		w.sums(k)[b] += in.modelShrinkage * s
		whole[b] = w.sums(k)[b]
	}
	w.mean[k], w.spread[k] = moments(whole, rows)
	if w.rows[k] = rows; w.early[k][0] == nil {
		w.early[k] = [2][]float64{rows, steps}
	}
	for b, s := range steps {
		w.rest[k][b] += (in.modelShrinkage - in.weightShrinkage) * s
	}
	keep := in.weightShrinkage
	for i := range w.tab.Rows {
		w.full[i] += in.modelShrinkage * w.line(steps, bins, i)
		w.seen[i] += keep * steps[bin(w.tab, bins, i)]
	}
	if keep > 0 {
		w.low, w.high, w.totals = w.low+keep*slices.Min(steps), w.high+keep*slices.Max(steps), false
		w.bound()
	}
}

// sums are the steps of column k that the model has so far.
func (w *twin) sums(k int) []float64 {
	if w.model[k] == nil {
		w.model[k] = make([]float64, w.bins[k].Len())
	}
	return w.model[k]
}

func moments(x, rows []float64) (mean, variance float64) {
	all := sumAll(rows) + 1e-9
	for b := range x {
		mean += rows[b] * x[b] / all
	}
	for b := range x {
		variance += rows[b] * (x[b] - mean) * (x[b] - mean) / all
	}
	return mean, variance
}

// calibrate checks the cells of the finished score and takes their line in.
func (w *twin) calibrate(t *testing.T, p mechtest.Passage, answer []float64) {
	mean, spread := sumAll(w.mean), math.Max(math.Sqrt(sumAll(w.spread)), 1e-3)
	var caps, totals [2]float64
	weight, label := make([]float64, w.tab.Rows), make([]int, w.tab.Rows)
	for i := range weight {
		weight[i] = math.Min(1, math.Exp(-w.margin(w.start[i], i)))
		if int(w.tab.Labels[i]) != w.tab.Schema.Label.Positive {
			label[i] = 1
		}
		caps[label[i]] = math.Max(caps[label[i]], weight[i])
		totals[label[i]] += weight[i]
	}
	bySpread := func(z float64) (b int) {
		for b < len(scoreEdges) && z >= mean+spread*scoreEdges[b] {
			b++
		}
		return b
	}
	of, parts, middle := w.splitPublic(weight, label)
	cut := func(z float64, i int) int { return bySpread(z)*len(parts) + of[i] }
	// The learner rounds each step to 2^-20, so a row this close to an edge may lie on either side.
	const nearEdge = 1e-5
	least, most := make([]float64, len(answer)), make([]float64, len(answer))
	for i, x := range weight {
		z := w.full[i] - w.start[i]
		low, high := cut(z-nearEdge, i), cut(z+nearEdge, i)
		most[2*low+label[i]] += x / caps[label[i]]
		if low == high {
			least[2*low+label[i]] += x / caps[label[i]]
		} else {
			most[2*high+label[i]] += x / caps[label[i]]
		}
	}
	for i, v := range p.Values {
		if got := v.Float(); got < least[i]-1e-3*math.Max(1, least[i]) || got > most[i]+1e-3*math.Max(1, most[i]) {
			t.Fatalf("cells of the score, value %d: %g, the twin has %g to %g", i, got, least[i], most[i])
		}
	}
	c := &shrink.Cells{Positive: make([]float64, len(answer)/2), Negative: make([]float64, len(answer)/2)}
	for b := range c.Positive {
		c.Positive[b], c.Negative[b] = answer[2*b]*caps[0], answer[2*b+1]*caps[1]
	}
	if w.plan.scope == dp.PrivateFeatures {
		for label, cells := range [2][]float64{c.Positive, c.Negative} {
			shrink.ProjectOntoSimplex(cells, totals[label])
			for k, p := range parts {
				var own []float64
				for b := range scoreMiddles {
					own = append(own, cells[b*len(parts)+k])
				}
				shrink.ProjectOntoSimplex(own, p.totals[label])
				for b := range scoreMiddles {
					cells[b*len(parts)+k] = own[b]
				}
			}
		}
	}
	deviation, gaussian := w.plan.deviationOf(w.plan.prices.calibration)
	c.Noise = shrink.Noise{Positive: deviation * caps[0], Negative: deviation * caps[1], Gaussian: gaussian}
	var x, z []float64
	for _, m := range scoreMiddles {
		for _, p := range parts {
			x, z = append(x, mean+spread*m), append(z, p.mean-middle)
		}
	}
	own := 0.0
	for k := range w.mean {
		own += fittedPart * w.fitted[k]
	}
	l := shrink.FitLine(c, x, z, own)
	for i := range w.full {
		w.full[i] = l.Slope*(w.full[i]-w.start[i]) + l.Shift
		w.start[i] = middle + l.Known*(w.start[i]-middle)
		w.full[i] += w.start[i]
	}
	if w.plan.scope != dp.PrivateFeatures {
		return
	}
	by := w.shift(l, c, x, parts, of, label)
	for i := range w.full {
		w.full[i] += by
	}
}

// splitPublic puts rows in order of their public score into up to three parts of about the same weight, and returns the
// part of each, what describes the parts, and the mean of all by weight.
func (w *twin) splitPublic(weight []float64, label []int) (of []int, parts []publicPart, middle float64) {
	rows := make([]int, len(weight))
	for i := range rows {
		rows[i] = i
	}
	step := func(i int) float64 { return math.Floor(scoreGrid * w.start[i]) }
	slices.SortFunc(rows, func(a, b int) int { return cmp.Compare(step(a), step(b)) })
	of, all, sum := make([]int, len(rows)), sumAll(weight), 0.0
	for at, i := range rows {
		if at == 0 || len(parts) < scoreParts && sum >= all*float64(len(parts))/scoreParts-1e-6 && step(i) > step(rows[at-1]) {
			parts = append(parts, publicPart{})
		}
		p := &parts[len(parts)-1]
		of[i] = len(parts) - 1
		p.totals[label[i]] += weight[i]
		p.mean += weight[i] * w.start[i]
		middle += weight[i] * w.start[i] / all
		sum += weight[i]
	}
	for k := range parts {
		parts[k].mean /= sumAll(parts[k].totals[:])
	}
	return of, parts, middle
}

// shift moves the mean of all scores to the share of positive rows, if what a row's private columns add is normal: with the
// mean and the variance that they have over the rows of its label, moved to what cells of its part say as far as that is
// above their noise.
func (w *twin) shift(l shrink.Line, c *shrink.Cells, sums []float64, parts []publicPart, of, label []int) (by float64) {
	positives := 0.0
	for i := range w.tab.Rows {
		if w.margin(1, i) > 0 {
			positives++
		}
	}
	var mean, variance [2]float64
	for k, rows := range w.rows {
		if rows == nil {
			continue
		}
		for label := range mean {
			of := make([]float64, len(rows))
			for b, s := range w.early[k][1] {
				of[b] = w.early[k][0][b] / (1 + math.Exp(s*float64(2*label-1)))
			}
			m, v := moments(w.sums(k), of)
			mean[label], variance[label] = mean[label]+m, variance[label]+v
		}
	}
	means, variances := make([][2]float64, len(parts)), make([][2]float64, len(parts))
	for k := range parts {
		for label, all := range parts[k].totals {
			m, v := mean[label], variance[label]
			cells, noise := c.Positive, c.Noise.Positive
			if label == 1 {
				cells, noise = c.Negative, c.Noise.Negative
			}
			asked, unsure := 0.0, 0.0
			for b := k; b < len(cells) && all > 0; b += len(parts) {
				asked, unsure = asked+cells[b]*(sums[b]-m)/all, unsure+math.Pow(noise*(sums[b]-m)/all, 2)
			}
			if all > 0 {
				m += asked * (v / 4) / (v/4 + unsure)
			}
			asked, unsure = 0, 0
			for b := k; b < len(cells) && all > 0; b += len(parts) {
				x := (sums[b]-m)*(sums[b]-m) - v
				asked, unsure = asked+cells[b]*x/all, unsure+math.Pow(noise*x/all, 2)
			}
			if all > 0 {
				v = math.Max(0, v+asked*(v*v/4)/(v*v/4+unsure))
			}
			means[k][label], variances[k][label] = l.Slope*m, l.Slope*l.Slope*v
		}
	}
	normal := 0.0
	for x := -3.5; x <= 3.5; x += 0.5 {
		normal += math.Exp(-x * x / 2)
	}
	for low, high := -2.0, 2.0; high-low > 1e-5; {
		by = (low + high) / 2
		expected := 0.0
		for i, z := range w.start {
			mean, variance := means[of[i]][label[i]], variances[of[i]][label[i]]
			for x := -3.5; x <= 3.5; x += 0.5 {
				expected += math.Exp(-x*x/2) / normal / (1 + math.Exp(-(z + l.Shift + mean + x*math.Sqrt(variance) + by)))
			}
		}
		if expected < positives {
			low = by
		} else {
			high = by
		}
	}
	return by
}

// line is what the steps are for row i in the model: for a number, what a line
// from the middle of its bin to the next one's has in the middle of the fifth of
// the bin that the cell lies in.
func (w *twin) line(steps []float64, bins *feature.Bins, i int) float64 {
	b := bin(w.tab, bins, i)
	c := &w.tab.Schema.Columns[bins.Column]
	if c.Kind == schema.Category || bins.Second != nil || c.Quantiles || c.Upper-c.Lower < 13 {
		return steps[b]
	}
	to := func(x float64) float64 { return x }
	if c.Transform == schema.Log1p {
		to = math.Log1p
	} else if c.Upper >= 256*math.Max(1, c.Lower) {
		to = func(x float64) float64 { return math.Log1p(x / math.Max(1, c.Upper/1000)) }
	} else if c.Integer && (c.Lower == 0 || c.Lower == 1) {
		to = func(x float64) float64 {
			u := (x - c.Lower) / (c.Upper - c.Lower)
			return u + math.Sqrt(u)
		}
	}
	bounds := func(b int) (low, high float64) {
		edges := append(append([]float64{c.Lower}, bins.Edges...), c.Upper)
		return to(edges[b]), to(edges[b+1])
	}
	low, high := bounds(b)
	col := &w.tab.Cols[bins.Column]
	fifth := 0 // of the whole column
	for _, e := range feature.Finer(c, bins.Edges, 5) {
		if col.Values[col.Codes.At(i)] >= e {
			fifth++
		}
	}
	off := float64(fifth%5-2) / 5 * (high - low) // from the middle
	next := b + 1
	if off < 0 {
		next = b - 1
	}
	if off == 0 || next < 0 || next == len(steps) {
		return steps[b]
	}
	nextLow, nextHigh := bounds(next)
	return steps[b] + (steps[next]-steps[b])*off/((nextLow+nextHigh)/2-(low+high)/2)
}

func (pl *Plan) mechanismDeviation(round int) (deviation float64, gaussian bool) {
	return pl.deviationOf(pl.prices.cells[round])
}

// deviationOf is that of the noise that the mechanism itself states.
func (pl *Plan) deviationOf(p guard.Share) (deviation float64, gaussian bool) {
	switch {
	case pl.NotPrivate:
		return math.NaN(), false
	case p.Rho > 0:
		return mech.Sized(mech.GaussianFor(p.Rho, pl.cellMoves().L2, 2)).Scale(), true
	}
	return math.Sqrt2 * mech.Sized(mech.LaplaceFor(p.Epsilon, pl.cellMoves().L1, 2)).Scale(), false
}
