// SPDX-License-Identifier: Apache-2.0

package stump

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

var testSchema = &schema.Schema{Columns: []schema.Column{
	{Name: "c", Kind: schema.Category, Levels: []schema.Level{{Value: "a"}, {Value: "b"}, {Value: "c"}}, Missing: true},
	{Name: "x", Kind: schema.Number, Lower: 0, Upper: 8},
}}

// values include two that no score can tell apart, two that are neighbours on
// the grid of scores (2^-28 of it is 2^-26 in x), and one that never occurs.
var values = []float64{0, 1, 1 + 1e-12, 2, 2 + 0x1p-26, 3, 7, 8}

const absent = 5

func randomCase(t testing.TB, src rng.Source, enc feature.Encoding,
	n int) (*feature.Space, *engine.Groups, []float64, []float64) {
	t.Helper()
	sp, err := feature.NewSpace(testSchema, enc, []int{1, 0})
	if err != nil {
		t.Fatal(err)
	}
	cs, xs := make([]uint32, n), make([]uint32, n)
	pos, neg := make([]float64, n), make([]float64, n)
	for i := range n {
		cs[i] = uint32(rng.Below(src, 5))
		for xs[i] = absent; xs[i] == absent; {
			xs[i] = uint32(rng.Below(src, uint64(len(values))))
		}
		pos[i], neg[i] = float64(rng.Below(src, 9))/4, float64(rng.Below(src, 9))/4
	}
	g := &engine.Groups{Len: n, Cols: []column.Column{
		{Codes: column.Narrow(cs, 5)},
		{Codes: column.Narrow(xs, len(values)), Values: values},
	}}
	return sp, g, pos, neg
}

// wrongWeight asks the threshold itself, group by group. Quarters add exactly.
func wrongWeight(sp *feature.Space, g *engine.Groups, th feature.Threshold, pos, neg []float64) (wrong float64) {
	answers := make([]uint64, g.Len)
	feature.NewScorer(sp, []feature.Threshold{th}).Bind(g.Cols).Answers(0, answers)
	for i, a := range answers {
		if a == 1 {
			wrong += neg[i]
		} else {
			wrong += pos[i]
		}
	}
	return wrong
}

// naive tries every feature, both directions and a cut at every step of the
// grid next to a value, besides the constants.
func naive(sp *feature.Space, g *engine.Groups, pos, neg []float64) float64 {
	step := 1 / float64(sp.Fixed(1, 1))
	cuts := []float64{0.5, 2} // among 0/1 values, and beyond them all
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
			for _, sign := range []float64{1, -1} {
				th := feature.Threshold{Coef: make([]float64, sp.Width()), Bias: -sign * cut}
				th.Coef[f] = sign
				if math.Abs(cut) > 1 {
					th.Coef[f], th.Bias = 0, sign
				}
				best = min(best, wrongWeight(sp, g, th, pos, neg))
			}
		}
	}
	return best
}

func TestBestEqualsTheNaiveTwin(t *testing.T) {
	for _, enc := range []feature.Encoding{feature.Ordinal, feature.OneHot} {
		src := replay.Seeded(1, string(enc))
		for trial := range 400 {
			sp, g, pos, neg := randomCase(t, src, enc, 1+trial%9)
			th, wrong := NewSearch(sp, g).Best(pos, neg)
			if want := naive(sp, g, pos, neg); wrong != want {
				t.Fatalf("%s, trial %d: weight of mistakes %g, want %g", enc, trial, wrong, want)
			}
			if got := wrongWeight(sp, g, th, pos, neg); got != wrong {
				t.Fatalf("%s, trial %d: the stump %+v is wrong about %g, not %g", enc, trial, th, got, wrong)
			}
			nonzero := slices.DeleteFunc(slices.Clone(th.Coef), func(c float64) bool { return c == 0 })
			if len(nonzero) > 1 || len(nonzero) == 1 && math.Abs(nonzero[0]) != 1 || !(math.Abs(th.Bias) <= 1) {
				t.Fatalf("%s, trial %d: %+v is not a stump", enc, trial, th)
			}
		}
	}
}

// x: 0 1 | 7 8, positive above; 3 is in the dictionary and does not occur, so
// the cut is midway between 1 and 7: encoded, 0.
func TestCutIsMidwayBetweenValuesThatOccur(t *testing.T) {
	sp, _ := feature.NewSpace(testSchema, feature.Ordinal, []int{1})
	g := &engine.Groups{Len: 4, Cols: []column.Column{{}, {Codes: column.Codes{U8: []uint8{0, 1, 6, 7}}, Values: values}}}
	high, low := []float64{0, 0, 1, 1}, []float64{1, 1, 0, 0}
	for _, c := range []struct {
		pos, neg []float64
		coef     float64
	}{{high, low, 1}, {low, high, -1}} {
		th, wrong := NewSearch(sp, g).Best(c.pos, c.neg)
		if th.Coef[0] != c.coef || th.Bias != 0 || wrong != 0 {
			t.Errorf("stump %+v wrong about %g, want coefficient %g, cut 0 and no mistake", th, wrong, c.coef)
		}
	}
}

func TestOneClassAndNoGroupsGiveConstants(t *testing.T) {
	sp, g, _, _ := randomCase(t, replay.Seeded(3, "one"), feature.OneHot, 5)
	ones, zeros := []float64{1, 1, 1, 1, 1}, make([]float64, 5)
	empty := &engine.Groups{Cols: make([]column.Column, 2)}
	for _, c := range []struct {
		name     string
		g        *engine.Groups
		pos, neg []float64
		bias     float64
	}{{"positive", g, ones, zeros, 1}, {"negative", g, zeros, ones, -1}, {"none", empty, nil, nil, 1}} {
		th, wrong := NewSearch(sp, c.g).Best(c.pos, c.neg)
		if th.Bias != c.bias || wrong != 0 || slices.ContainsFunc(th.Coef, func(c float64) bool { return c != 0 }) {
			t.Errorf("%s: stump %+v wrong about %g, want the constant %g", c.name, th, wrong, c.bias)
		}
	}
}

func BenchmarkBest(b *testing.B) {
	for _, enc := range []feature.Encoding{feature.Ordinal, feature.OneHot} {
		sp, g, pos, neg := randomCase(b, replay.Seeded(1, "bench"), enc, 100_000)
		s := NewSearch(sp, g)
		b.Run(fmt.Sprint(enc), func(b *testing.B) {
			for b.Loop() {
				s.Best(pos, neg)
			}
		})
	}
}
