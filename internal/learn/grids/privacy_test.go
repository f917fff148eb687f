// SPDX-License-Identifier: Apache-2.0

package grids

import (
	"math"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/learn/learntest"
	"github.com/discreet-dp/discreet/internal/privacy/dp"
	"github.com/discreet-dp/discreet/internal/privacy/mech/mechtest"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
	"github.com/discreet-dp/discreet/internal/table/engine"
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
	const pairs = 30
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
		if best < 0.9 {
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

// Slopes of a row: a cell's length moves by the row's own, so a choice's scores of
// two grids may part by twice that, and by four times where a row is replaced.
func TestSpreadIsThatOfTheScores(t *testing.T) {
	r := rules{most: 1}
	for relation, want := range map[dp.Relation]float64{dp.AddRemove: 2, dp.ReplaceOne: 4} {
		if got := r.spread(relation); !(got >= want && got < want*1.001) {
			t.Errorf("%s: spread %g, want %g", relation, got, want)
		}
	}
	one := int64(engine.WeightOne)
	for _, norm := range []engine.SlopeNorm{engine.SlopesL1, engine.SlopesL2} {
		// The row's slope of one balances another row's in the first grid alone.
		first := engine.GridSums{Slopes: []int64{one, 0}, Curves: []int64{0, 0}}
		second := engine.GridSums{Slopes: []int64{0, 0}, Curves: []int64{0, 0}}
		if d := imbalanceOf(&first, norm) - imbalanceOf(&second, norm); d != one {
			t.Errorf("a slope of one is %d units of imbalance", d)
		}
		three := engine.GridSums{Slopes: []int64{3 * one, -4 * one, 0, 12 * one, 0, -5 * one}, Curves: []int64{0, 0}}
		want := map[engine.SlopeNorm]int64{engine.SlopesL1: 24 * one, engine.SlopesL2: 18 * one}[norm]
		if got := imbalanceOf(&three, norm); got != want {
			t.Errorf("imbalance %d, want %d", got, want)
		}
	}
}

// Declared moves by hand: rows whose slopes are as long as can be and opposite.
func TestMovesByHand(t *testing.T) {
	r := rules{most: 0.6, curves: true}
	for _, c := range []struct {
		relation dp.Relation
		scope    dp.Scope
		l1, l2   float64
	}{
		{dp.AddRemove, dp.WholeRow, 0.85, math.Hypot(0.6, 0.25)},
		{dp.ReplaceOne, dp.WholeRow, 1.7, math.Hypot(1.2, 0.25)},
		{dp.ReplaceOne, dp.PrivateFeatures, 1.7, math.Sqrt2 * math.Hypot(0.6, 0.25)},
	} {
		l1, l2 := r.moves(c.relation, c.scope)
		if math.Abs(l1-c.l1) > 1e-9 || math.Abs(l2-c.l2) > 1e-9 || l1 < c.l1 || l2 < c.l2 {
			t.Errorf("%s, %s: moves by %g and %g, want %g and %g", c.relation, c.scope, l1, l2, c.l1, c.l2)
		}
	}
}
