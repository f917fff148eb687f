// SPDX-License-Identifier: Apache-2.0

package noninterference

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/stattest"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/response"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/table/engine/memory"
)

// listener lets what passes draw its own noise, and keeps the noise of numbers in units
// of what it was sized by.
type listener struct {
	exit  *mech.Exit
	noise []float64
}

func (l *listener) Numbers(label string, m mech.Mechanism, values []mech.Ratio) []float64 {
	out := l.exit.Release(label, m, values...)
	for i, v := range values {
		l.noise = append(l.noise, (out[i]-v.Float())/m.Sensitivity())
	}
	return out
}

func (l *listener) Choice(label string, m mech.Selector, scores []mech.Ratio) int {
	return l.exit.Select(label, m, scores)
}

func (l *listener) Report(string, response.Priced, []mech.Ratio) response.Report { return nil }

// The noise of one fit, all its releases together, and that of the next fit is
// independent: signs are those of fair coins, alone, in pairs and in random sets. The guard alone draws
// it, so one learner for each mechanism says as much as all.
func TestNoiseOfFitsIsIndependent(t *testing.T) {
	const fits, most = 100, 30
	src := rand.New(rand.NewPCG(23, 0))
	set := setting{classes: 2, relation: dp.ReplaceOne, privateLabel: true, onlyPrivate: true}
	s := parse(set)
	rows := table{}
	for range 40 {
		var r row
		for j, n := range []int{3, 4, 5, 3, 5, 2} {
			r[j] = cellsOf(j, 2)[src.IntN(n)]
		}
		rows = append(rows, r)
	}
	type candidate struct {
		mode
		bill []dp.Event
	}
	var all, families []candidate
	for _, m := range trainings() {
		if pl, err := m.request().Plan(s, len(rows)); err == nil {
			all = append(all, candidate{m, pl.Terms().Bill})
		}
	}
	slices.SortStableFunc(all, func(a, b candidate) int { return len(a.bill) - len(b.bill) }) // short fits first
	drawn := map[string]bool{}                                                                // mechanisms of vectors
	for _, c := range all {
		known := len(drawn)
		for _, e := range c.bill {
			if e.Mechanism != (mech.PermuteAndFlip{}).Name() {
				drawn[e.Mechanism] = true
			}
		}
		if len(drawn) > known {
			families = append(families, c)
		}
	}
	if !drawn[mech.Gaussian{}.Name()] || !drawn[mech.Laplace{}.Name()] || len(families) < 5 {
		t.Fatalf("%d modes take this table", len(families))
	}
	for _, m := range families {
		t.Run(m.String(), func(t *testing.T) {
			tab, err := read(s, rows)
			if err != nil {
				t.Fatal(err)
			}
			mem, err := memory.New(tab)
			if err != nil {
				t.Fatal(err)
			}
			fit := func() []float64 {
				pl, err := m.request().Plan(s, len(rows))
				if err != nil {
					t.Fatal(err)
				}
				l := &listener{exit: mech.NewExit(rng.System())}
				if _, err := guard.Train(context.Background(), pl, mem, guard.Uncounted{}, mech.NewTapedExit(rng.System(), l)); err != nil {
					t.Fatal(err)
				}
				return l.noise
			}
			var noise [2 * fits][]float64
			shortest := math.MaxInt // columns that were picked may have more bins in one fit
			for k := range noise {
				noise[k] = fit()
				shortest = min(shortest, len(noise[k]))
			}
			var flips [][]bool
			for k := range fits {
				var flip []bool
				for _, one := range noise[2*k : 2*k+2] {
					for i := 0; i < shortest; i += max(1, shortest/most) { // from all over the fit
						flip = append(flip, math.Signbit(one[i]))
					}
				}
				flips = append(flips, flip)
			}
			fair := slices.Repeat([]float64{0.5}, len(flips[0]))
			stattest.Independent(t, stattest.Claim{FalsePositive: 1e-9 / float64(len(families)),
				Detects: "a fit that uses noise again"}, flips, fair)
			stattest.Rejects(t, func(t stattest.T) {
				for _, f := range flips {
					f[1] = !f[0]
				}
				stattest.Independent(t, stattest.Claim{FalsePositive: 1e-9, Detects: "a fit that uses noise again"}, flips, fair)
			})
		})
	}
}
