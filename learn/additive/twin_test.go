// SPDX-License-Identifier: Apache-2.0

package additive

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/dataset"
	"github.com/discreet-dp/discreet/feature"
	"github.com/discreet-dp/discreet/learn/learntest"
	"github.com/discreet-dp/discreet/mech"
	"github.com/discreet-dp/discreet/mech/mechtest"
	"github.com/discreet-dp/discreet/rng/replay"
)

// TestFitEqualsTheNaiveTwin recomputes every release of cells, and what every
// pick compares, row by row in floats, from the definition, under one script, and
// then every score.
func TestFitEqualsTheNaiveTwin(t *testing.T) {
	for _, name := range []string{"partly private, picks", "partly private, boosted", "partly private, in turn", "private label, boosted", "add-remove, boosted", "partly private, gaussian", "add-remove, gaussian", "partly private, bins paid", "gaussian, bins paid"} {
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
					k = at % len(pl.private)
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
	seen, full []float64 // as weights see it, and whole
	low, high  float64   // what the released shapes can subtract and add
	base       []float64 // seen at the start
	totals     bool      // public totals still hold
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
			z = math.Min(math.Max(rate+pl.rules.sees*(z-rate), st.seen.Clip.Low), st.seen.Clip.High)
		}
		w.seen = append(w.seen, z)
	}
	w.base = slices.Clone(w.seen)
	return w
}

func bin(tab *dataset.Table, b *feature.Bins, i int) int {
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
	c.variance = math.Pow(w.pl.mechanismScale(round), 2) * (caps[0]*caps[0] + caps[1]*caps[1])
	steps, _ := smooth(c, bins.Ordered())
	in := w.pl.rules.passes[round/len(w.pl.private)]
	keep := in.keep
	for i := range w.tab.Rows {
		s := steps[bin(w.tab, bins, i)]
		w.full[i] += in.trust * s
		w.seen[i] += keep * s
	}
	if keep > 0 {
		w.low, w.high, w.totals = w.low+keep*slices.Min(steps), w.high+keep*slices.Max(steps), false
	}
}

// mechanismScale is the standard deviation that the mechanism itself states.
func (pl *Plan) mechanismScale(round int) float64 {
	switch m := pl.noise(pl.shares[round].cells, pl.s.Relation, 2).(type) {
	case mech.Gaussian:
		return m.Scale()
	case mech.Laplace:
		return math.Sqrt2 * m.Scale()
	default:
		return math.NaN()
	}
}

// One bin with known noise: the posterior mean of a normal, by hand.
func TestSmoothOfOneBinIsTheNormalPosterior(t *testing.T) {
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

// Pure noise is shrunk to almost nothing; a clear signal is left almost alone.
func TestSmoothShrinksNoiseAndKeepsSignals(t *testing.T) {
	quiet := cells{positive: []float64{300, 250, 350, 280}, negative: []float64{260, 330, 290, 300}, variance: 4 * 300 * 300}
	loud := cells{positive: []float64{9000, 2000, 500, 5000}, negative: []float64{3000, 6000, 4500, 5000}, variance: 100}
	for _, ordered := range []bool{false, true} {
		steps, _ := smooth(quiet, ordered)
		for b, s := range steps {
			if math.Abs(s) > 0.05 {
				t.Errorf("ordered %v: noise became a step of %g in bin %d", ordered, s, b)
			}
		}
		steps, _ = smooth(loud, ordered)
		for b, s := range steps {
			if want := math.Log(loud.positive[b] / loud.negative[b]); math.Abs(s-want) > 0.1 {
				t.Errorf("ordered %v: bin %d has log-odds %g, smoothed to %g", ordered, b, want, s)
			}
		}
	}
}
