// SPDX-License-Identifier: Apache-2.0

package additive

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/internal/learn/learntest"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/mech/mechtest"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
	"github.com/discreet-dp/discreet/internal/table/dataset"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// TestFitEqualsTheNaiveTwin recomputes every release of cells, and what every
// pick compares, row by row in floats, from the definition, under one script, and
// then every score.
func TestFitEqualsTheNaiveTwin(t *testing.T) {
	for _, name := range []string{"partly private, picks", "partly private, boosted", "partly private, in turn", "private label, boosted", "add-remove, boosted", "partly private, gaussian", "add-remove, gaussian", "partly private, bins paid", "gaussian, bins paid",
		"partly private, pairs", "private label, pairs", "add-remove, pairs in turn", "gaussian, pairs", "pairs of groups"} {
		t.Run(name, func(t *testing.T) {
			tab, plan := with(settings()[name], 1500)
			anyPlan, err := plan()
			if err != nil {
				t.Fatal(err)
			}
			pl := anyPlan.(*Plan)
			tape := &mechtest.Recorder{Script: scripted(3)}
			m := learntest.Fit(t, pl, tab, tape, 5)
			eng, exit := learntest.Engine(t, tab), mech.NewTapedExit(replay.Seeded(5, "learntest"), &mechtest.Recorder{Script: scripted(3)})
			st, err := pl.begin(context.Background(), eng, exit)
			if err != nil {
				t.Fatal(err)
			}
			if pl, err = pl.cut(context.Background(), eng, exit, st); err != nil {
				t.Fatal(err)
			}
			w := newTwin(pl, tab, st)
			at, k := 0, 0
			free := make([]int, len(pl.private))
			for k := range free {
				free[k] = k
			}
			for j, p := range tape.Passages {
				answer := scripted(3)(j, p)
				switch {
				case p.Label == priorLabel || p.Label == countsLabel:
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
				if want := 1 / (1 + math.Exp(-z)); math.Abs(got[i]-want) > 1e-4 {
					t.Fatalf("row %d scores %g, the twin's %g", i, got[i], want)
				}
			}
		})
	}
}

// twin keeps a float score per row.
type twin struct {
	pl         *Plan
	tab        *dataset.Table
	seen, full []float64   // as weights see it, and whole
	low, high  float64     // what the released shapes can subtract and add
	base       []float64   // seen at the start
	rest       [][]float64 // by column: what the model adds and weights do not see
	totals     bool        // public totals still hold
}

func newTwin(pl *Plan, tab *dataset.Table, st *start) *twin {
	w := &twin{pl: pl, tab: tab, totals: st.totals != nil}
	rows := [2]float64{}
	for i := range tab.Rows {
		rows[tab.Labels[i]]++
	}
	rate := math.Log(rows[tab.Schema.Label.Positive] / rows[1-tab.Schema.Label.Positive])
	for i := range tab.Rows {
		z := st.score.Intercept
		for _, sh := range st.score.Shapes {
			z += sh.Steps[bin(tab, &sh.Bins, i)]
		}
		w.full = append(w.full, z)
		if w.totals {
			z = math.Min(math.Max(rate+pl.rules.sees/pl.rules.says*(z-rate), st.seen.Clip.Low), st.seen.Clip.High)
		}
		w.seen = append(w.seen, z)
	}
	w.base = slices.Clone(w.seen)
	for k := range pl.private {
		w.rest = append(w.rest, make([]float64, pl.private[k].Len()))
	}
	return w
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
			w.seen[i] += rest[bin(w.tab, &w.pl.private[k], i)]
		}
		w.low, w.high, w.totals = w.low+slices.Min(rest), w.high+slices.Max(rest), false
		clear(rest)
	}
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
		caps[label] = math.Max(caps[label], math.Min(1, math.Exp(-w.margin(worst, i))))
	}
	out = make([]float64, 2*w.pl.private[k].Len())
	for i := range w.tab.Rows {
		label := 1
		if int(w.tab.Labels[i]) == w.tab.Schema.Label.Positive {
			label = 0
		}
		out[2*bin(w.tab, &w.pl.private[k], i)+label] += math.Min(1, math.Exp(-w.margin(w.seen[i], i))) / caps[label]
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
	bins := &w.pl.private[k]
	c := cells{positive: make([]float64, bins.Len()), negative: make([]float64, bins.Len())}
	for b := range bins.Len() {
		c.positive[b], c.negative[b] = released[2*b]*caps[0], released[2*b+1]*caps[1]
	}
	if w.totals {
		var sum [2]float64
		for i := range w.tab.Rows {
			weight := math.Min(1, math.Exp(-w.margin(w.seen[i], i)))
			if int(w.tab.Labels[i]) == w.tab.Schema.Label.Positive {
				sum[0] += weight
			} else {
				sum[1] += weight
			}
		}
		meet(c.positive, sum[0])
		meet(c.negative, sum[1])
	}
	deviation, gaussian := w.pl.mechanismDeviation(round)
	c.noise = noise{deviation * caps[0], deviation * caps[1], gaussian}
	steps, _ := smooth(c, bins)
	in := pass{keep: 1, trust: 1} // of a pair
	if bins.Second == nil {
		in = w.pl.rules.passes[round/w.pl.columns]
	}
	for b, s := range steps {
		w.rest[k][b] += (in.trust - in.keep) * s
	}
	keep := in.keep
	for i := range w.tab.Rows {
		w.full[i] += in.trust * w.line(steps, bins, i)
		w.seen[i] += keep * steps[bin(w.tab, bins, i)]
	}
	if keep > 0 {
		w.low, w.high, w.totals = w.low+keep*slices.Min(steps), w.high+keep*slices.Max(steps), false
	}
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

// mechanismDeviation is that of the noise that the mechanism itself states.
func (pl *Plan) mechanismDeviation(round int) (deviation float64, gaussian bool) {
	switch m := pl.noise(pl.shares[round].cells, pl.s.Relation, 2).(type) {
	case mech.Gaussian:
		return m.Scale(), true
	case mech.Laplace:
		return math.Sqrt2 * m.Scale(), false
	default:
		return math.NaN(), false
	}
}

// One bin with known noise: the posterior mean of a normal, by hand.
func TestOneBinIsTheNormalPosterior(t *testing.T) {
	w := &weighed{diff: []float64{30}, weight: []float64{100}, noise: []float64{2500}}
	v := base*base + 0.25 // base² + spread²
	for name, p := range map[string]posterior{"exchangeable": w.exchangeable(0.5), "ordered": w.ordered(0.5, 1)} {
		if want := v * 100 * 30 / (v*100*100 + 2500); math.Abs(p.mean[0]-want) > 1e-12 {
			t.Errorf("%s: mean %g, want %g", name, p.mean[0], want)
		}
		if want := v * 2500 / (v*100*100 + 2500); math.Abs(p.variance[0]-want) > 1e-12 {
			t.Errorf("%s: variance %g, want %g", name, p.variance[0], want)
		}
		if want := -0.5 * (900/(v*10000+2500) + math.Log(v*10000+2500)); math.Abs(p.evidence-want) > 1e-9 {
			t.Errorf("%s: evidence %g, want %g", name, p.evidence, want)
		}
	}
}

// With neighbours that share nothing but the base, the closed form and the
// factored matrix are the same posterior.
func TestExchangeableAgreesWithTheMatrix(t *testing.T) {
	w := &weighed{diff: []float64{30, -5, 0, 12}, weight: []float64{100, 40, 0, 25}, noise: []float64{2500, 900, 100, 50}}
	a, b := w.exchangeable(0.25), w.ordered(0.25, 1e-3)
	for i := range w.diff {
		if math.Abs(a.mean[i]-b.mean[i]) > 1e-12 || math.Abs(a.variance[i]-b.variance[i]) > 1e-12 {
			t.Errorf("bin %d: mean %g and %g, variance %g and %g", i, a.mean[i], b.mean[i], a.variance[i], b.variance[i])
		}
	}
	if math.Abs(a.evidence-b.evidence) > 1e-9 {
		t.Errorf("evidence %g and %g", a.evidence, b.evidence)
	}
}

// The closed form of a pair, by blocks, and the posterior of the whole matrix of
// covariances are the same: of a level with a number, of two numbers, of two
// categories.
func TestPairAgreesWithTheMatrix(t *testing.T) {
	number, levels := feature.Bins{Edges: []float64{1, 2}}, feature.NewGroups(0, nil, 2)
	for what, bins := range map[string]feature.Bins{
		"level by number": feature.Cross(levels, number), "number by level": feature.Cross(number, levels),
		"numbers": feature.Cross(number, number), "levels": feature.Cross(levels, levels),
	} {
		n := bins.Len()
		w := &weighed{diff: make([]float64, n), weight: make([]float64, n), noise: make([]float64, n)}
		for b := range n {
			w.diff[b], w.weight[b], w.noise[b] = 40*math.Sin(float64(b)), float64(10*(b%4)), 300+float64(50*b)
		}
		got, want := w.pair(0.25, &bins), wholeMatrix(w, &bins, 0.25)
		for b := range n {
			if math.Abs(got.mean[b]-want.mean[b]) > 1e-12 || math.Abs(got.variance[b]-want.variance[b]) > 1e-12 {
				t.Errorf("%s, bin %d: mean %g and %g, variance %g and %g", what, b, got.mean[b], want.mean[b], got.variance[b], want.variance[b])
			}
		}
		if math.Abs(got.evidence-want.evidence) > 1e-9 {
			t.Errorf("%s: evidence %g and %g", what, got.evidence, want.evidence)
		}
	}
}

// wholeMatrix is the posterior from the covariance of every two bins.
func wholeMatrix(w *weighed, bins *feature.Bins, spread float64) posterior {
	n, second := bins.Len(), bins.Second
	first := *bins
	first.Second = nil
	prior, chol := make([]float64, n*n), make([]float64, n*n)
	for i := range n {
		for j := range n {
			near := 1 - rough
			if i == j {
				near = 1
			}
			for _, axis := range []struct {
				b    *feature.Bins
				x, y int
			}{{&first, i / second.Len(), j / second.Len()}, {second, i % second.Len(), j % second.Len()}} {
				if d := math.Abs(float64(axis.x - axis.y)); axis.b.Ordered() {
					near *= math.Exp(-d / (pairReach * float64(axis.b.Len())))
				} else if d > 0 {
					near = 0
				}
			}
			prior[i*n+j] = base*base + spread*spread*near
			chol[i*n+j] = w.weight[i] * w.weight[j] * prior[i*n+j]
		}
		chol[i*n+i] += w.noise[i]
	}
	logs := factor(chol, n)
	y := slices.Clone(w.diff)
	forward(chol, y)
	p := posterior{mean: make([]float64, n), variance: make([]float64, n)}
	quad := 0.0
	for i := range n {
		quad += y[i] * y[i]
		z := make([]float64, n)
		for j := range n {
			z[j] = w.weight[j] * prior[i*n+j]
		}
		forward(chol, z)
		p.variance[i] = prior[i*n+i]
		for j := range n {
			p.mean[i] += z[j] * y[j]
			p.variance[i] -= z[j] * z[j]
		}
	}
	p.evidence = -0.5*quad - logs
	return p
}
