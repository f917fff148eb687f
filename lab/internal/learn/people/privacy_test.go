// SPDX-License-Identifier: Apache-2.0

package people

import (
	"math"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/learntest"
	"github.com/discreet-dp/discreet/internal/check/testkit/mechtest"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
	"github.com/discreet-dp/discreet/internal/table/engine"
)

// rounding is 1 plus what the checks' own subtraction of nearly equal errors may
// lose; the learner itself compares exact rationals.
const rounding = 1 + 1e-9

// Nothing of a model but what left through the exit may depend on the protected
// part of a row: 1,000 neighbour pairs over all settings, byte for byte. The
// same runs check that no release moved further than it declared.
func TestReplayNonInterference(t *testing.T) {
	for name, pairs := range map[string]int{ // tabulating hundreds of stumps is what takes time
		"partly private": 50, "narrow": 50, "all of the rows": 50, "private label": 50, "no public column": 50,
		"random, ordinal": 400, "random, private label": 350,
	} {
		src := replay.Seeded(1, name)
		tab, plan := with(settings()[name], dp.Nano, 5, 40)
		pl, err := plan()
		if err != nil {
			t.Fatal(err)
		}
		scope := pl.(*Plan).scope
		for k := range pairs {
			b := learntest.Neighbour(tab, src, scope)
			shift := rng.Below(src, 1000)
			differs, worst, at := learntest.Interference(t, plan, tab, b, uint64(k), func(k int, p mechtest.Passage) []float64 {
				if p.Choice {
					return []float64{float64((int(shift) + 7*k) % len(p.Values))}
				}
				return []float64{0.5 + 0.45*math.Sin(float64(shift)+float64(3*k))}
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

// A sabotaged reader of the test above: where the exact error leaves, models
// must differ.
func TestNonInterferenceNoticesAnExactVote(t *testing.T) {
	tab, plan := with(settings()["partly private"], dp.Nano, 4, 60)
	src := replay.Seeded(1, "pairs")
	for range 50 {
		b := learntest.Neighbour(tab, src, dp.PrivateFeatures)
		exact := func(k int, p mechtest.Passage) []float64 {
			if p.Choice {
				return []float64{3}
			}
			return []float64{p.Values[0].Float()}
		}
		if differs, _, _ := learntest.Interference(t, plan, tab, b, 1, exact); differs != "" {
			return
		}
	}
	t.Error("50 neighbours with exact votes gave equal models: the check is blind")
}

// climb searches mistake patterns and a transcript for the neighbours whose
// weighted errors differ most against the cap. It drives the code under test.
func climb(n int, kappa float64, seed uint64) (worst float64) {
	const rounds = 6
	src := replay.Seeded(seed, "climb")
	type pair struct {
		rest  [3]uint64
		share [2]uint64 // how many rows follow the first two patterns; the third gets what is left
		a, b  uint64
		votes [rounds]float64
	}
	draw := func() (p pair) {
		for i := range p.rest {
			p.rest[i] = rng.Below(src, 1<<rounds)
		}
		p.share[0] = rng.Below(src, uint64(n))
		p.share[1] = rng.Below(src, uint64(n)-p.share[0])
		p.a, p.b = rng.Below(src, 1<<rounds), rng.Below(src, 1<<rounds)
		for t := range p.votes {
			p.votes[t] = 2 * (float64(rng.Below(src, 2001))/1000 - 1)
		}
		return p
	}
	ratio := func(p pair) (most float64) {
		var sides [2]*smooth
		for s, last := range []uint64{p.a, p.b} {
			sides[s] = newSmooth(&engine.Patterns{Words: 1, Bits: []uint64{p.rest[0], p.rest[1], p.rest[2], last},
				Count: []uint64{p.share[0], p.share[1], uint64(n) - 1 - p.share[0] - p.share[1], 1}}, n, kappa)
		}
		for t := range p.votes {
			for k := range rounds { // every candidate of the round, chosen or not
				moved := math.Abs(float64(sides[0].wrongWeight(k)) - float64(sides[1].wrongWeight(k)))
				most = max(most, moved/float64(sides[0].total)/sensitivity(sides[0].total))
			}
			sides[0].moveMargins(t, p.votes[t])
			sides[1].moveMargins(t, p.votes[t])
		}
		return most
	}
	best := draw()
	worst = ratio(best)
	for range 600 {
		p := best
		switch bit := uint64(1) << rng.Below(src, rounds); rng.Below(src, 6) {
		case 0:
			p.a ^= bit
		case 1:
			p.b ^= bit
		case 2:
			p.rest[rng.Below(src, 3)] ^= bit
		case 3:
			p.votes[rng.Below(src, rounds)] = 2 * (float64(rng.Below(src, 2001))/1000 - 1)
		case 4:
			p.share[0] = rng.Below(src, uint64(n)-p.share[1])
		default:
			p = draw()
		}
		if r := ratio(p); r >= worst {
			best, worst = p, r
		}
	}
	return worst
}

// The cap is held, to the last unit, and reached.
func TestDeclaredSensitivityIsHeldAndReached(t *testing.T) {
	for _, n := range []int{2, 20, 300} {
		for _, kappa := range []float64{0.07, 0.5, 1} {
			if kappa*float64(n) < 1 {
				continue // the cap is above 1 and an error stays in [0, 1]
			}
			worst := climb(n, kappa, uint64(n))
			if worst > rounding || worst < 0.98 {
				t.Errorf("n = %d, κ = %g: worst move is %.6f of the declared one", n, kappa, worst)
			}
		}
	}
}

// Lemma 1 rests on this: at every step the weights add up to κn exactly, none
// is above 1, and a row that the votes are more wrong about never weighs less.
func TestWeightsAreSmooth(t *testing.T) {
	src := replay.Seeded(4, "smooth")
	for range 300 {
		n := 1 + int(rng.Below(src, 50))
		kappa := 0.01 + 0.99*float64(rng.Below(src, 1000))/1000
		p := &engine.Patterns{Words: 1}
		for range n {
			p.Bits, p.Count = append(p.Bits, rng.Below(src, 1<<8)), append(p.Count, 1+rng.Below(src, 5))
		}
		rows := 0
		for _, c := range p.Count {
			rows += int(c)
		}
		s := newSmooth(p, rows, kappa)
		for k := range 8 {
			if !(s.sum[0] < s.total && s.total <= s.sum[1]) {
				t.Fatalf("levels with %d and %d units do not enclose %d", s.sum[0], s.sum[1], s.total)
			}
			whole := &engine.Patterns{Words: 1, Count: p.Count}
			for range p.Count { // a classifier that is wrong about everyone holds all the weight
				whole.Bits = append(whole.Bits, 1)
			}
			all := *s
			all.patterns = whole
			if got := all.wrongWeight(0); got != s.total {
				t.Fatalf("all rows weigh %d units, κn is %d", got, s.total)
			}
			for i := range p.Count {
				for j := range p.Count {
					for side := range s.weight {
						if s.weight[side][i] > engine.WeightOne || s.margin[i] < s.margin[j] && s.weight[side][i] < s.weight[side][j] {
							t.Fatalf("margins %d and %d weigh %d and %d", s.margin[i], s.margin[j], s.weight[side][i], s.weight[side][j])
						}
					}
				}
			}
			s.moveMargins(k, 6*(float64(rng.Below(src, 2001))/1000-1))
		}
	}
}

// Privacy guide V2 against this room: capping after dividing by the sum, without
// finding the level again, moves errors further than the cap.
func TestNormaliseThenCapIsNotTheProjection(t *testing.T) {
	const n, kappa = 100, 0.5
	capped := func(margins []float64, wrong []bool) float64 {
		sum, top, err := 0.0, 0.0, 0.0
		for _, m := range margins {
			sum += math.Exp(-m)
		}
		for i, m := range margins {
			w := min(math.Exp(-m)/sum, 1/(kappa*n))
			top += w
			if wrong[i] {
				err += w
			}
		}
		return err / top
	}
	margins, wrong := make([]float64, n), make([]bool, n)
	for i := range margins {
		margins[i] = 3
		if i < 20 {
			margins[i], wrong[i] = 0, true
		}
	}
	a := capped(margins, wrong)
	margins[n-1] = -9 // one row no one was ever right about
	if moved := math.Abs(capped(margins, wrong)-a) * kappa * n; moved < 2 {
		t.Errorf("moved %.2f caps: the counter-example is none", moved)
	}
}
