// SPDX-License-Identifier: Apache-2.0

package grids

import (
	"math"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/learntest"
	"github.com/discreet-dp/discreet/internal/check/testkit/mechtest"
	"github.com/discreet-dp/discreet/internal/check/testkit/size"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
)

// rounding is 1 plus what the checks' own additions of floats may lose.
const rounding = 1 + 1e-9

// scripted answers releases with numbers of the given size.
func scripted(shift, size float64) func(k int, p mechtest.Passage) []float64 {
	return func(k int, p mechtest.Passage) []float64 {
		if p.Choice {
			return []float64{float64((k + int(shift)) % len(p.Values))}
		}
		out := make([]float64, len(p.Values))
		for i := range out {
			out[i] = size * math.Sin(shift+float64(3*k+5*i))
		}
		return out
	}
}

// Nothing of a model but what left through the exit may depend on the protected
// part of a row: neighbour pairs over all settings, byte for byte, by replacement
// or by leaving a row out. The same runs check that no release moved further than
// it declared, and, with scripts that teach extreme scores, that the declared
// distances are nearly reached.
func TestReplayNonInterference(t *testing.T) {
	pairs, reach := size.Of(4, 30), size.Of(0.5, 0.9)
	for name, c := range settings() {
		if strings.HasPrefix(name, "eps inf") {
			continue
		}
		best := 0.0
		src := replay.Seeded(uint64(len(name)), name)
		tab, plan := with(c, 40)
		pl, err := plan()
		if err != nil {
			t.Fatal(err)
		}
		for k := range pairs {
			a := tab
			b := learntest.Neighbour(tab, src, pl.(*Plan).scope)
			if tab.Schema.Relation == dp.AddRemove {
				if k == 0 { // the smallest pair: one row, and none
					a = tab.Subset([]int{0})
				}
				b = learntest.WithoutRow(a, int(rng.Below(src, uint64(a.Rows))))
			}
			size := []float64{10, 1e4}[k%2]
			differs, worst, at := learntest.Interference(t, plan, a, b, uint64(k), scripted(float64(rng.Below(src, 1000)), size))
			if differs != "" {
				t.Fatalf("%s, pair %d: %s differ", name, k, differs)
			}
			if worst > rounding {
				t.Fatalf("%s, pair %d: %s moved %.6f times its declared bound", name, k, at, worst)
			}
			best = max(best, worst)
		}
		if best < reach {
			t.Errorf("%s: no release moved further than %.3f of its declared bound: noise is wasted", name, best)
		}
	}
}

// A sabotaged reader of the test above: where exact slopes leave, the models of
// neighbours must differ.
func TestNonInterferenceNoticesExactSlopes(t *testing.T) {
	tab, plan := with(settings()["replace-one"], 60)
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
		b := learntest.Neighbour(tab, src, dp.WholeRow)
		if differs, _, _ := learntest.Interference(t, plan, tab, b, 1, exact); differs != "" {
			return
		}
	}
	t.Error("50 neighbours with exact slopes gave equal models: the check is blind")
}
