// SPDX-License-Identifier: Apache-2.0

package stump

import (
	"math"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/feature"
)

// sides asks the threshold itself, group by group.
func sides(sp *feature.Space, g *engine.Groups, th feature.Threshold, w [][]float64) (out [2][]float64) {
	answers := make([]uint64, g.Len)
	feature.NewScorer(sp, []feature.Threshold{th}).Bind(g.Cols).Answers(0, answers)
	for a := range out {
		out[a] = make([]float64, len(w))
	}
	for i, a := range answers {
		for k := range w {
			out[a][k] += w[k][i]
		}
	}
	return out
}

// impurity is Gini's: the weight of each side times the chance that two of its
// rows have different levels.
func impurity(of [2][]float64) (sum float64) {
	for _, side := range of {
		all := 0.0
		for _, x := range side {
			all += x
		}
		for _, x := range side {
			if all > 0 {
				sum += all * (x / all) * (1 - x/all)
			}
		}
	}
	return sum
}

// naiveSplit tries every feature and every cut next to a value.
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
			th := feature.Threshold{Coef: make([]float64, sp.Width()), Bias: -cut}
			th.Coef[f] = 1
			if cut < -1 {
				th.Coef[f], th.Bias = 0, 1
			}
			best = min(best, impurity(sides(sp, g, th, w)))
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
			got := NewSearch(sp, g).BestSplit(w)
			parts := sides(sp, g, got.Threshold, w)
			if is, want := impurity(parts), naiveSplit(sp, g, w); !(math.Abs(is-want) <= 1e-12*(1+want)) {
				t.Fatalf("%s, trial %d: impurity %g, the least is %g", enc, trial, is, want)
			}
			for a, says := range []int{got.No, got.Yes} {
				heaviest := slices.Index(parts[a], slices.Max(parts[a]))
				if constant := parts[a][heaviest] == 0; says != heaviest && !constant {
					t.Fatalf("%s, trial %d: side %d says %d, its levels weigh %g", enc, trial, a, says, parts[a])
				}
			}
		}
	}
}

// Nothing to tell apart: the heaviest level, the first of several, everywhere.
func TestBestSplitOfEqualGroups(t *testing.T) {
	src := replay.Seeded(3, "equal")
	sp, g, _, _ := randomCase(t, src, feature.Ordinal, 1)
	s := NewSearch(sp, g).BestSplit([][]float64{{1}, {2}, {2}})
	if s.Yes != 1 || s.No != 1 || s.Bias != 1 {
		t.Errorf("split %+v", s)
	}
}
