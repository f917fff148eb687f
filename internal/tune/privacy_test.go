// SPDX-License-Identifier: Apache-2.0

package tune

import (
	"bytes"
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/learntest"
	"github.com/discreet-dp/discreet/internal/check/testkit/mechtest"
	"github.com/discreet-dp/discreet/internal/check/testkit/stattest"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
)

// dealt parts tab by position: the first rows judge. With the parts fixed, two
// neighbours can be followed release by release.
func dealt(t *testing.T, tab *dataset.Table, judging int) *parts {
	t.Helper()
	rows := make([]int, tab.Rows)
	for i := range rows {
		rows[i] = i
	}
	p, err := assembleParts(tab.Subset(rows[judging:]), tab.Subset(rows[:judging]))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// On fixed parts and one script, neighbours give equal models, no release moves
// further than it declares, and a row meets only what is paid for it: a training
// row the trainings, a judging row the judgement. 432 pairs over all methods and losses.
func TestReplayNonInterference(t *testing.T) {
	const rows, judging = 60, 20
	met := map[bool]int{}
	for _, m := range Methods() {
		for _, label := range []bool{false, true} {
			tab := small(rows, label)
			src := replay.Seeded(5, "pairs of "+string(m))
			var pl *Plan
			for k := range 54 {
				if k%18 == 0 {
					p := tuned(m, dp.Nano)
					p.Loss = Losses()[k/18]
					var err error
					if pl, err = p.Plan(tab.Schema, rows); err != nil {
						t.Fatal(err)
					}
				}
				b := learntest.Neighbour(tab, src, pl.scope)
				judges := false // does the replaced row?
				for j := range tab.Cols {
					for i := range judging {
						if tab.Cols[j].Codes.Len() > 0 && tab.Cols[j].Codes.At(i) != b.Cols[j].Codes.At(i) {
							judges = true
						}
					}
				}
				for i := range judging {
					judges = judges || tab.Labels[i] != b.Labels[i]
				}
				shift := float64(rng.Below(src, 1000))
				var tapes [2]*mechtest.Recorder
				var files [2][]byte
				for i, side := range []*dataset.Table{tab, b} {
					tapes[i] = &mechtest.Recorder{Script: func(k int, p mechtest.Passage) []float64 {
						if p.Choice {
							return []float64{float64(k % len(p.Values))}
						}
						out := make([]float64, len(p.Values))
						for v := range out {
							out[v] = 0.5 + 0.45*math.Sin(shift+float64(3*k+v))
						}
						return out
					}}
					model, err := pl.pickCandidate(context.Background(), dealt(t, side, judging), false,
						mech.NewTapedExit(replay.Seeded(uint64(k), "fit"), tapes[i]))
					if err != nil {
						t.Fatal(err)
					}
					files[i] = learntest.Bytes(t, model)
				}
				if !bytes.Equal(files[0], files[1]) || len(tapes[0].Passages) != len(tapes[1].Passages) {
					t.Fatalf("%s, pair %d: the model files or the numbers of releases differ", m, k)
				}
				for r, a := range tapes[0].Passages {
					moved := a.Moved(tapes[1].Passages[r])
					if moved > a.Bound*(1+1e-9) {
						t.Fatalf("%s, pair %d: %s moved %g, declared %g", m, k, a.Label, moved, a.Bound)
					}
					if judgement := strings.Contains(a.Label, "held-out"); moved > 0 && judgement != judges {
						t.Fatalf("%s, pair %d: a row that judges (%v) moved %q", m, k, judges, a.Label)
					} else if moved > 0 {
						met[judgement]++
					}
				}
			}
		}
	}
	if met[true] == 0 || met[false] == 0 {
		t.Errorf("judgements moved %d times and trainings %d: the test is one-sided", met[true], met[false])
	}
}

// The training table is a function of the training rows: numbers that only a
// judging row holds leave no trace in its dictionaries, and cells stay the same.
func TestTrainingForgetsWhatOthersHold(t *testing.T) {
	tab := small(200, false)
	mine := []int{3, 1, 4, 1, 5}
	p, err := assembleParts(tab.Subset(mine), tab.Subset([]int{9, 2, 6}))
	if err != nil {
		t.Fatal(err)
	}
	numbers := 0
	for j := range tab.Cols {
		if tab.Cols[j].Values == nil {
			continue
		}
		numbers++
		g, err := p.train.Groups(context.Background(), []int{j})
		if err != nil {
			t.Fatal(err)
		}
		want := map[float64]uint64{} // rows by number
		for _, i := range mine {
			want[tab.Cols[j].Values[tab.Cols[j].Codes.At(i)]]++
		}
		if values := g.Cols[j].Values; len(values) != len(want) || !slices.IsSorted(values) {
			t.Errorf("column %d: the dictionary is %v, the cells are %v", j, values, want)
		}
		for i := range g.Len {
			v := g.Cols[j].Values[g.Cols[j].Codes.At(i)]
			if got := g.Counts[0][i] + g.Counts[1][i]; got != want[v] {
				t.Errorf("column %d: %d rows hold %g, want %d", j, got, v, want[v])
			}
		}
	}
	if numbers == 0 {
		t.Error("the census has no numbers")
	}
}

// Which rows judge has nothing to do with what is in them: of four rows, the one
// whose label differs from the others' judges in a quarter of all deals.
func TestDealIgnoresWhatIsInARow(t *testing.T) {
	tab, rows := small(200, false), []int{0}
	for i := 1; len(rows) < 4; i++ {
		if tab.Labels[i] != tab.Labels[0] {
			rows = append(rows, i)
		}
	}
	odd, src := tab.Subset(rows), replay.Seeded(3, "deal")
	const deals = 2000
	hits := 0
	for range deals {
		p, err := dealRows(context.Background(), learntest.Engine(t, odd), 0.25, src)
		if err != nil {
			t.Fatal(err)
		}
		if p.judge.Rows != 1 || p.train.Rows() != 3 {
			t.Fatalf("%d rows judge and %d train", p.judge.Rows, p.train.Rows())
		}
		if p.judge.Labels[0] == tab.Labels[0] {
			hits++
		}
	}
	stattest.Binomial(t, stattest.Claim{FalsePositive: 1e-9, Detects: "rows are held out in the order they are listed"},
		hits, deals, 0.25)
}
