// SPDX-License-Identifier: Apache-2.0

package auto

import (
	"math"
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

// scripted answers releases with numbers that teach scores of some size; the lead of
// this learner is that of additive or of a product.
func scripted(shift, size float64, together bool) func(k int, p mechtest.Passage) []float64 {
	return func(k int, p mechtest.Passage) []float64 {
		switch {
		case p.Label == leadLabel && together:
			return []float64{1e12}
		case p.Label == leadLabel:
			return []float64{0}
		case p.Choice:
			return []float64{float64((k + int(shift)) % len(p.Values))}
		}
		out := make([]float64, len(p.Values))
		for i := range out {
			out[i] = size * math.Abs(math.Sin(shift+float64(3*k+5*i)))
		}
		return out
	}
}

// Nothing of a model but what left through the exit may depend on the protected part
// of a row, whichever fit is chosen: neighbour pairs over all settings, byte for byte,
// by replacement or by leaving a row out. The same runs check that no release moved
// further than it declared.
func TestReplayNonInterference(t *testing.T) {
	pairs := size.Of(1, 6)
	for name, c := range settings() {
		src := replay.Seeded(uint64(len(name)), name)
		tab, plan := with(c, 40)
		pl, err := plan()
		if err != nil {
			t.Fatal(err)
		}
		for k := range pairs {
			a := tab
			b := learntest.Neighbour(tab, src, pl.Terms().Scope)
			if tab.Schema.Relation == dp.AddRemove {
				if k == 0 { // the smallest pair: one row, and none
					a = tab.Subset([]int{0})
				}
				b = learntest.WithoutRow(a, int(rng.Below(src, uint64(a.Rows))))
			}
			differs, worst, at := learntest.Interference(t, plan, a, b, uint64(k),
				scripted(float64(rng.Below(src, 1000)), []float64{10, 1e4}[k%2], k%3 > 0))
			if differs != "" {
				t.Fatalf("%s, pair %d: %s differ", name, k, differs)
			}
			if worst > rounding {
				t.Fatalf("%s, pair %d: %s moved %.6f times its declared bound", name, k, at, worst)
			}
		}
	}
}
