// SPDX-License-Identifier: Apache-2.0

package additive

import (
	"math"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/learntest"
	"github.com/discreet-dp/discreet/internal/check/testkit/mechtest"
	"github.com/discreet-dp/discreet/internal/check/testkit/size"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
)

// rounding is 1 plus what the checks' own additions of floats may lose; the
// learner itself compares exact rationals.
const rounding = 1 + 1e-9

// scripted answers releases with numbers of the size that cells have. Three of four scripts say that rows by class,
// where their sum is private, are enough for columns.
func scripted(shift float64) func(k int, p mechtest.Passage) []float64 {
	return func(k int, p mechtest.Passage) []float64 {
		if p.Choice {
			return []float64{float64((k + int(shift)) % len(p.Values))}
		}
		out := make([]float64, len(p.Values))
		for i := range out {
			out[i] = 10 * math.Sin(shift+float64(3*k+5*i))
			if strings.HasPrefix(p.Label, "number of rows") && len(out) == 2 && int(shift)%4 != 0 {
				out[i] += 500
			}
		}
		return out
	}
}

// Nothing of a model but what left through the exit may depend on the protected
// part of a row: neighbour pairs over all settings, byte for byte, by
// replacement or by leaving a row out. The same runs check that no release moved
// further than it declared, and that a declared distance is nearly reached.
func TestReplayNonInterference(t *testing.T) {
	pairs := size.Of(1, 10)
	best := 0.0
	for name, c := range settings() {
		if strings.HasPrefix(name, "eps inf") {
			continue
		}
		src := replay.Seeded(uint64(len(name)), name)
		tab, plan := with(c, 60)
		pl, err := plan()
		if err != nil {
			t.Fatal(err)
		}
		scope := pl.(*Plan).scope
		for k := range pairs {
			b := learntest.Neighbour(tab, src, scope)
			a := tab
			if tab.Schema.Relation == dp.AddRemove {
				if k == 0 { // the smallest pair: one row, and none
					a = tab.Subset([]int{0})
				}
				b = learntest.WithoutRow(a, int(rng.Below(src, uint64(a.Rows))))
			}
			differs, worst, at := learntest.Interference(t, plan, a, b, uint64(k), scripted(float64(rng.Below(src, 1000))))
			if differs != "" {
				t.Fatalf("%s, pair %d: %s differ", name, k, differs)
			}
			if worst > rounding {
				t.Fatalf("%s, pair %d: %s moved %.6f times its declared bound", name, k, at, worst)
			}
			best = max(best, worst)
		}
	}
	if best < size.Of(0.7, 0.98) {
		t.Errorf("no release moved further than %.3f of its declared bound: noise is wasted", best)
	}
}

// A sabotaged reader of the test above: where exact cells leave, the models of
// neighbours must differ.
func TestNonInterferenceNoticesExactCells(t *testing.T) {
	tab, plan := with(settings()["partly private"], 60)
	src := replay.Seeded(1, "pairs")
	exact := func(_ int, p mechtest.Passage) []float64 {
		if p.Choice {
			return []float64{0}
		}
		var out []float64
		for _, v := range p.Values {
			out = append(out, v.Float())
		}
		return out
	}
	for range 50 {
		b := learntest.Neighbour(tab, src, dp.PrivateFeatures)
		if differs, _, _ := learntest.Interference(t, plan, tab, b, 1, exact); differs != "" {
			return
		}
	}
	t.Error("50 neighbours with exact cells gave equal models: the check is blind")
}

// Rows at extremes, and scripts that teach extreme shapes, reach the declared
// distance in every round and never pass it: lemma 3 with the caps of lemma 2.
func TestDeclaredSensitivityIsHeldAndReached(t *testing.T) {
	for _, name := range []string{"partly private, boosted", "private label, boosted", "add-remove, boosted",
		"partly private", "partly private, gaussian", "add-remove, gaussian", "private label, bins paid",
		"add-remove, bins paid", "gaussian, bins paid",
		"partly private, pairs", "add-remove, pairs in turn", "gaussian, pairs",
		"private label, in turn", "label alone", "label alone, picks", "label alone, gaussian",
		"everything, gaussian"} {
		c := settings()[name]
		reached := map[bool]float64{} // by whether it is a choice
		for seed := range uint64(60) {
			if seed >= size.Of[uint64](3, 15) && reached[false] >= 0.98 {
				break
			}
			src := replay.Seeded(seed, name)
			tab, plan := with(c, 40)
			pl, err := plan()
			if err != nil {
				t.Fatal(err)
			}
			b := learntest.Neighbour(tab, src, pl.(*Plan).scope)
			if tab.Schema.Relation == dp.AddRemove {
				b = learntest.WithoutRow(tab, int(rng.Below(src, 40)))
			}
			// All weight on one label in each bin, which one by a coin.
			coins := replay.Seeded(seed, "coins")
			bits := make([]uint64, 64)
			for i := range bits {
				bits[i] = coins.Uint64()
			}
			var tapes [2]*mechtest.Recorder
			for i, side := range []*dataset.Table{tab, b} {
				tapes[i] = &mechtest.Recorder{Script: func(k int, p mechtest.Passage) []float64 {
					if p.Choice {
						return []float64{float64(int(bits[k%64]) & 7 % len(p.Values))}
					}
					out := make([]float64, len(p.Values))
					for v := range out {
						out[v] = 1e6 * float64(bits[(k+v/2)%64]>>(v/2)&1^uint64(v&1))
					}
					return out
				}}
				pl, err := plan()
				if err != nil {
					t.Fatal(err)
				}
				learntest.Fit(t, pl, side, tapes[i], seed)
			}
			for k, p := range tapes[0].Passages {
				r := p.Moved(tapes[1].Passages[k]) / p.Bound
				if r > rounding {
					t.Fatalf("%s, seed %d: %q moved %.6f times its declared bound", name, seed, p.Label, r)
				}
				reached[p.Choice] = max(reached[p.Choice], r)
			}
		}
		if reached[false] < 0.98 {
			t.Errorf("%s: cells moved %.3f of their declared bound only", name, reached[false])
		}
	}
}

// Before a pair the weights take in all that columns say, by hand: a row's score lies between the
// sums of least and of largest steps, and the cap of a class is the weight at its end (lemma 2).
func TestBoundsOfWeightsBeforePairs(t *testing.T) {
	r := &binaryFit{fit: &fit{plan: &Plan{}, bins: make([]feature.Bins, 2)}, shapes: []binaryShape{
		{steps: []float64{-1, 2}, weighing: []float64{0.25, 0.5}},
		{steps: []float64{0.5, -0.25}, weighing: []float64{0, 0}},
	}}
	// The start's 3, and of the first column what weights see already.
	r.score, r.least, r.most = feature.Additive{Intercept: 3}, feature.Units(3.25), feature.Units(3.5)
	r.weighAllSteps()
	least, most := feature.Units(3.25-1.25-0.25), feature.Units(3.5+1.5+0.5)
	if r.least != least || r.most != most {
		t.Errorf("the score lies in [%d, %d], by hand in [%d, %d]", r.least, r.most, least, most)
	}
	if caps := r.capWeights(); caps != (guard.Caps{uint32(guard.Weight(least)) + 1, guard.WeightOne}) {
		t.Errorf("caps %v, by hand %d and 1", caps, guard.Weight(least)+1)
	}
}

// Two rows that stand alone in their bins and swap the extreme columns reach the spread of the
// scores: one column's imbalance falls by 2 while another's rises by 2 (lemma 3b), so less than 4
// would be too little.
func TestSpreadIsThatOfTheScores(t *testing.T) {
	tab, plan := with(settings()["partly private"], 60)
	pl, err := plan()
	if err != nil {
		t.Fatal(err)
	}
	tape := &mechtest.Recorder{}
	learntest.Fit(t, pl, tab, tape, 1)
	if p := tape.Passages[0]; !p.Choice || p.Bound < 3.9 { // balanced labels: a cap near 1
		t.Errorf("%q declares a spread of %g", p.Label, p.Bound)
	}
}
