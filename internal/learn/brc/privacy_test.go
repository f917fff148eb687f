// SPDX-License-Identifier: Apache-2.0

package brc

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

// rounding is 1 plus what the checks' own subtraction of nearly equal errors may
// lose; the learner itself compares exact rationals.
const rounding = 1 + 1e-9

// Nothing of a model but what left through the exit may depend on the protected
// part of a row: neighbour pairs over all settings, byte for byte. The
// same runs check that no release moved further than it declared.
func TestReplayNonInterference(t *testing.T) {
	names := []string{"partly private", "paper sensitivity", "ordinal, zero", "selected", "private label",
		"no public column", "wide weights", "label for a share", "label alone", "stumps", "stumps, ordinal",
		"balanced", "balanced, private label", "balanced, declared", "balanced, label for a share", "weights",
		"weights, stumps, private label", "scores", "bayes", "bayes, ordinal", "shapes", "shapes, private label",
		"shapes, ordinal", "shapes, balanced", "by default", "no public column, by default"}
	pairs := size.Of(120, 1200)
	for i, name := range names {
		src := replay.Seeded(uint64(i), "pairs")
		tab, _, plan := with(settings()[name], dp.Nano, 8, 60)
		pl, err := plan()
		if err != nil {
			t.Fatal(err)
		}
		scope := pl.(*Plan).scope
		for k := range pairs/len(names) + 1 {
			b := learntest.Neighbour(tab, src, scope)
			shift := float64(rng.Below(src, 1000))
			differs, worst, at := learntest.Interference(t, plan, tab, b, uint64(k), func(k int, p mechtest.Passage) []float64 {
				if p.Choice {
					return []float64{float64(k % len(p.Values))}
				}
				out := make([]float64, len(p.Values))
				for i := range out {
					out[i] = 0.5 + 0.45*math.Sin(shift+float64(3*k+i))
				}
				return out
			})
			if differs != "" {
				t.Fatalf("%s, pair %d: %s differ", name, k, differs)
			}
			if worst > rounding {
				t.Fatalf("%s, pair %d: %s moved %.6f times its declared bound", name, k, at, worst)
			}
		}
	}
}

// A sabotaged reader of the test above: where the exact error leaves, models must differ. Without a public part every
// vote is in the model.
func TestNonInterferenceNoticesAnExactVote(t *testing.T) {
	tab, _, plan := with(settings()["no public column"], dp.Nano, 4, 60)
	src := replay.Seeded(1, "pairs")
	for range 50 {
		b := learntest.Neighbour(tab, src, dp.PrivateFeatures)
		exact := func(k int, p mechtest.Passage) []float64 { return []float64{p.Values[0].Float()} } // bug row 7
		if differs, _, _ := learntest.Interference(t, plan, tab, b, 1, exact); differs != "" {
			return
		}
	}
	t.Error("50 neighbours with exact votes gave equal models: the check is blind")
}
