// SPDX-License-Identifier: Apache-2.0

package stump

import (
	"math"
	"testing"

	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/feature"
	"github.com/discreet-dp/discreet/rng"
	"github.com/discreet-dp/discreet/rng/replay"
)

// wrongLevels asks the split itself, group by group.
func wrongLevels(sp *feature.Space, g *engine.Groups, s Split, w [][]float64) (wrong float64) {
	answers := make([]uint64, g.Len)
	feature.NewScorer(sp, []feature.Threshold{s.Threshold}).Bind(g.Cols).Answers(0, answers)
	for i, a := range answers {
		says := s.No
		if a == 1 {
			says = s.Yes
		}
		for k := range w {
			if k != says {
				wrong += w[k][i]
			}
		}
	}
	return wrong
}

// naiveSplit tries every feature, every cut next to a value and every two levels.
func naiveSplit(sp *feature.Space, g *engine.Groups, w [][]float64) float64 {
	step := 1 / float64(sp.Fixed(1, 1))
	cuts := []float64{-2, 0.5}
	for _, x := range values {
		_, v := sp.Number(0, x)
		cuts = append(cuts, v-step, v, v+step)
	}
	for code := range 5 {
		if _, v := sp.Code(1, code); sp.Encoding == feature.Ordinal {
			cuts = append(cuts, v-step, v, v+step)
		}
	}
	best := math.Inf(1)
	for f := range sp.Width() {
		for _, cut := range cuts {
			for yes := range w {
				for no := range w {
					s := Split{feature.Threshold{Coef: make([]float64, sp.Width()), Bias: -cut}, yes, no}
					s.Coef[f] = 1
					if cut < -1 {
						s.Coef[f], s.Bias = 0, 1
					}
					best = min(best, wrongLevels(sp, g, s, w))
				}
			}
		}
	}
	return best
}

func TestBestSplitEqualsTheNaiveTwin(t *testing.T) {
	for _, enc := range []feature.Encoding{feature.Ordinal, feature.OneHot} {
		src := replay.Seeded(2, string(enc))
		for trial := range 100 {
			sp, g, pos, neg := randomCase(t, src, enc, 1+trial%9)
			w := [][]float64{pos, neg, make([]float64, g.Len)}
			for i := range w[2] {
				w[2][i] = float64(rng.Below(src, 9)) / 4
			}
			search := NewSearch(sp, g)
			got, wrong := search.BestSplit(w)
			if real, want := wrongLevels(sp, g, got, w), naiveSplit(sp, g, w); real != wrong || wrong != want {
				t.Fatalf("%s, trial %d: says it is wrong about %g, is about %g, the least is %g", enc, trial, wrong, real, want)
			}
			// Of two levels it is no worse than Best, which cannot say one on both sides of a cut.
			_, two := search.BestSplit(w[:2])
			if _, one := search.Best(pos, neg); two != one {
				t.Fatalf("%s, trial %d: %g of two levels, Best has %g", enc, trial, two, one)
			}
		}
	}
}

// Nothing to tell apart: the heaviest level, the first of several, everywhere.
func TestBestSplitOfEqualGroups(t *testing.T) {
	src := replay.Seeded(3, "equal")
	sp, g, _, _ := randomCase(t, src, feature.Ordinal, 1)
	s, wrong := NewSearch(sp, g).BestSplit([][]float64{{1}, {2}, {2}})
	if s.Yes != 1 || s.No != 1 || wrong != 3 || s.Bias != 1 {
		t.Errorf("split %+v, wrong about %g", s, wrong)
	}
}
