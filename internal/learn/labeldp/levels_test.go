// SPDX-License-Identifier: Apache-2.0

package labeldp

import (
	"math"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/censustest"
	"github.com/discreet-dp/discreet/internal/check/testkit/learntest"
	"github.com/discreet-dp/discreet/internal/check/testkit/mechtest"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
)

func TestConformanceOfLevels(t *testing.T) {
	for name, p := range settings() {
		t.Run(name, func(t *testing.T) {
			tab := learntest.Levels(censustest.Table(1, 400), 4, nil)
			learntest.Run(t, learntest.Case{Plan: planner(p, tab.Schema, 400), Table: tab, OrderFree: true})
		})
	}
}

// As TestReplayNonInterference, of four levels.
func TestReplayNonInterferenceOfLevels(t *testing.T) {
	for _, name := range []string{"auto", "gamma", "laplace", "gaussian"} {
		p := settings()[name]
		src := replay.Seeded(1, "levels "+name)
		tab := learntest.Levels(censustest.Table(4, 60), 4, nil)
		for k := range 200 {
			b := learntest.Neighbour(tab, src, dp.LabelOnly)
			shift := float64(rng.Below(src, 1000))
			differs, worst, at := learntest.Interference(t, planner(p, tab.Schema, tab.Rows), tab, b, uint64(k),
				func(_ int, p mechtest.Passage) []float64 {
					out := make([]float64, len(p.Values))
					for f := range out {
						out[f] = math.Sin(shift + float64(3*f))
					}
					return out
				})
			if differs != "" || worst > 1+1e-9 {
				t.Fatalf("%s, pair %d: %q differ, %s moved %.6f times its bound", name, k, differs, at, worst)
			}
		}
	}
}

// Whatever K is, the longest row's label moves the release as far as declared.
func TestSensitivityOfLevelsIsReached(t *testing.T) {
	for _, k := range []int{3, 6} {
		for _, name := range []string{"gamma", "laplace", "gaussian"} {
			p := settings()[name]
			tab := learntest.Levels(censustest.Table(4, 60), k, nil)
			best := 0.0
			for i := range tab.Rows {
				b := tab.Subset(all(tab.Rows))
				b.Labels[i] = (b.Labels[i] + 1) % uint8(k)
				_, worst, _ := learntest.Interference(t, planner(p, tab.Schema, tab.Rows), tab, b, 1, nil)
				best = max(best, worst)
			}
			if !(best <= 1 && best >= 0.999) {
				t.Errorf("%s, %d levels: changing any label moves the statistic by at most %.5f of what is declared, "+
					"want .999 to 1", name, k, best)
			}
		}
	}
}

// Without noise each level's function is that of a binary label, level against
// rest, to what rounding the statistic moves.
func TestLevelsEqualBinaryFits(t *testing.T) {
	tab := learntest.Levels(censustest.Table(6, 500), 3, nil)
	p := settings()["not private"]
	p.Reg = 0.003
	pl, err := p.Plan(tab.Schema, tab.Rows)
	if err != nil {
		t.Fatal(err)
	}
	m := learntest.Fit(t, pl, tab, nil, 1)
	for level := range 3 {
		two := learntest.Levels(censustest.Table(6, 500), 2, nil)
		for i := range two.Labels {
			two.Labels[i] = uint8(1 - two.Schema.Label.Positive)
			if int(tab.Labels[i]) == level {
				two.Labels[i] = uint8(two.Schema.Label.Positive)
			}
		}
		alone, err := p.Plan(two.Schema, two.Rows)
		if err != nil {
			t.Fatal(err)
		}
		want := learntest.Fit(t, alone, two, nil, 1).Classifier.(*model.Logistic)
		for f := range want.Coef {
			if !(math.Abs(m.Classifier.(*model.Linear).Coef[level][f]-want.Coef[f]) <= 1e-5) {
				t.Errorf("level %d, coefficient %d: %.9g, alone %.9g", level, f, m.Classifier.(*model.Linear).Coef[level][f],
					want.Coef[f])
			}
		}
	}
}

// The released parts are made to add up to the mean row again, each by the same.
func TestPartsAddUpToTheMeanRow(t *testing.T) {
	tab := learntest.Levels(censustest.Table(4, 60), 3, nil)
	pl, err := settings()["gamma"].Plan(tab.Schema, tab.Rows)
	if err != nil {
		t.Fatal(err)
	}
	open := learntest.Open(t, pl, learntest.Engine(t, tab), nil)
	g, err := open.Groups(pl.space.Columns)
	if err != nil {
		t.Fatal(err)
	}
	s := make([]float64, pl.statisticSize())
	for f := range s {
		s[f] = math.Sin(float64(f))
	}
	parts := pl.splitStatistic(g, tab.Rows, append([]float64(nil), s...))
	for f, mean := range pl.meanRow(g, halfCounts(g), 60) {
		sum := 0.0
		for _, part := range parts {
			sum += part[f]
		}
		if !(math.Abs(sum-mean) <= 1e-12) {
			t.Errorf("coordinate %d: parts add up to %g, the mean row has %g", f, sum, mean)
		}
		moved := parts[0][f] - s[f]
		for fit, part := range parts {
			if !(math.Abs(part[f]-s[fit*pl.dim()+f]-moved) <= 1e-12) {
				t.Errorf("coordinate %d: parts move by different amounts", f)
			}
		}
	}
}
