// SPDX-License-Identifier: Apache-2.0

package tune

import (
	"cmp"
	"fmt"
	"math/big"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/learntest"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// judges are numbers of judging rows about every size at which a sum or a sort could take another
// path.
var judges = []int{11, 12, 13, 255, 256, 257, 4999, 5000, 5001, 9999, 10_000, 10_001, 65_535, 65_536, 65_537,
	200_001}

// Losses of many rows are those of their kinds, each as often as it occurs, and one row more moves
// none by more than one.
func TestLossesOfManyJudges(t *testing.T) {
	kinds := everyJudge()
	for _, n := range judges {
		rows, times := make([]judged, n), make([]int64, len(kinds))
		for i := range rows {
			at := i * 7 % len(kinds)
			rows[i] = kinds[at]
			times[at]++
		}
		want := map[Loss]*big.Rat{LogLoss: new(big.Rat), AUC: new(big.Rat), Mistakes: new(big.Rat)}
		add := func(by Loss, x *big.Rat, times int64) { want[by].Add(want[by], x.Mul(x, big.NewRat(times, 1))) }
		for a, k := range kinds {
			for _, by := range []Loss{LogLoss, Mistakes} {
				add(by, lossOf(by, []judged{k}), times[a])
			}
			for b, o := range kinds {
				if k.positive && !o.positive {
					add(AUC, big.NewRat(int64(1-cmp.Compare(k.score, o.score)), 2*int64(n)), times[a]*times[b])
				}
			}
		}
		for _, by := range Losses() {
			before := lossOf(by, rows)
			if before.Cmp(want[by]) != 0 {
				t.Errorf("%s of %d rows is %s, want %s", by, n, before, want[by])
			}
			for _, at := range []int{0, n - 1} {
				was := rows[at]
				rows[at] = judged{0, true}
				high := lossOf(by, rows)
				rows[at] = judged{0, false}
				if moved := high.Sub(high, lossOf(by, rows)); moved.Abs(moved).Cmp(big.NewRat(1, 1)) > 0 {
					t.Errorf("%s of %d rows: row %d moves it by %s", by, n, at, moved)
				}
				rows[at] = was
			}
		}
	}
}

// Every row is dealt once, to the judges or to the rest, however many there are, and a model's loss
// on many judges is the sum of those on a few at a time.
func TestManyRowsAreDealtAndJudgedOnce(t *testing.T) {
	for _, n := range []int{19_999, 20_000, 20_004} {
		tab := small(n, false)
		p, err := dealRows(t.Context(), learntest.Engine(t, tab), 0.25, replay.Seeded(1, "deal"))
		if err != nil {
			t.Fatal(err)
		}
		if p.judge.Rows != n/4 || len(p.judge.Labels) != n/4 || p.train.Rows() != n-n/4 {
			t.Fatalf("of %d rows %d judge and %d train", n, p.judge.Rows, p.train.Rows())
		}
		left := map[string]int{}
		count := func(tab engine.Table, sign int) {
			cols := tab.Schema().Features()
			g, err := tab.Groups(t.Context(), cols)
			if err != nil {
				t.Fatal(err)
			}
			for i := range g.Len {
				key := ""
				for _, j := range cols {
					if c := int(g.Cols[j].Codes.At(i)); g.Cols[j].Values != nil {
						key += fmt.Sprint(g.Cols[j].Values[c], "|")
					} else {
						key += fmt.Sprint(c, "|")
					}
				}
				for label := range g.Counts {
					left[fmt.Sprint(key, label)] += sign * int(g.Counts[label][i])
				}
			}
		}
		count(learntest.Engine(t, tab), 1)
		count(p.train, -1)
		count(learntest.Engine(t, p.judge), -1)
		for key, times := range left {
			if times != 0 {
				t.Fatalf("of %d rows: %s is dealt %d times too few", n, key, times)
			}
		}
		pl, err := added().Plan(dp.Nano, tab.Schema, 300)
		if err != nil {
			t.Fatal(err)
		}
		m := learntest.Fit(t, pl, small(300, false), nil, 1)
		for _, by := range []Loss{LogLoss, Mistakes} {
			all, err := p.judgeModel(m, by)
			if err != nil {
				t.Fatal(err)
			}
			sum := int64(0)
			for from := 0; from < p.judge.Rows; from += 500 {
				rows := []int{}
				for i := from; i < min(from+500, p.judge.Rows); i++ {
					rows = append(rows, i)
				}
				few := parts{judge: p.judge.Subset(rows)}
				part, err := few.judgeModel(m, by)
				if err != nil {
					t.Fatal(err)
				}
				sum += part.Num
			}
			if sum != all.Num || sum == 0 {
				t.Errorf("%s on %d judges is %d, by a few at a time %d", by, p.judge.Rows, all.Num, sum)
			}
		}
	}
}

// Of up to as many candidates as there may be, each is tried, at its share of the price, and the
// only good one is chosen wherever it stands.
func TestTheLastOfManyCandidatesIsChosen(t *testing.T) {
	tab := small(400, false)
	rows := []int{}
	for i, l := range tab.Labels {
		if int(l) == tab.Schema.Label.Positive {
			rows = append(rows, i)
		}
	}
	tab = tab.Subset(rows[:60])
	for _, n := range []int{2, 7, 8, 9, 63, 64, 65, 255, 256, 257, maxCandidates - 1, maxCandidates, maxCandidates + 1} {
		for _, best := range []int{0, n / 2, n - 1} {
			p := Defaults()
			p.Method, p.Epsilon, p.HeldOut = All, 100*dp.Nano+1, 0.5
			spent := dp.Epsilon(0)
			for k := range n {
				p.Candidates = append(p.Candidates, Candidate{fmt.Sprint(k),
					func(eps dp.Epsilon, s *schema.Schema, _ int) (learn.Plan, error) {
						spent += eps
						return constant{eps: eps, s: s, yes: k == best}, nil
					}})
			}
			pl, err := p.Plan(tab.Schema, tab.Rows)
			if (err != nil) != (n > maxCandidates) {
				t.Fatalf("%d candidates: %v", n, err)
			}
			if err != nil {
				continue
			}
			at, _, err := pl.selectOne(t.Context(), dealt(t, tab, 30), mech.NewExit(replay.Seeded(1, "choose")))
			if err != nil || at != best || spent > p.Epsilon || spent+dp.Epsilon(n) <= p.Epsilon {
				t.Errorf("of %d candidates %d is chosen for %s, want %d (error %v)", n, at, spent, best, err)
			}
		}
	}
}

// scripted reads so many of the highest words, then what follows, then the lowest.
type scripted struct {
	high int
	then []uint64
}

func (s *scripted) Uint64() uint64 {
	if s.high > 0 {
		s.high--
		return 3<<62 | 1
	}
	if len(s.then) == 0 {
		return 1
	}
	w := s.then[0]
	s.then = s.then[1:]
	return w
}

func (*scripted) Seeded() bool { return true }

// There are as many runs as the proposal has and every factor keeps, the last one too.
func TestRunsHaveNoBound(t *testing.T) {
	for _, n := range []int{0, 1, 63, 64, 65, 999, 1000, 1001, 4999, 5000, 5001, maxPatience - 1, maxPatience,
		maxPatience + 1, 100_000} {
		for m, l := range laws {
			for _, patience := range []int{2, maxPatience} {
				if got := l.drawRuns(&scripted{high: n}, patience); got != int64(n)+1 {
					t.Errorf("%s, patience %d: %d runs, want %d", m, patience, got, n+1)
				}
			}
			if n == 0 || m == Geometric {
				continue
			}
			low := make([]uint64, n+1)
			for i := range low {
				low[i] = 1
			}
			low[n] = ^uint64(0) // what the last factor reads, after the end of the proposal and the other factors
			if got := l.drawRuns(&scripted{n, low}, 2); got != 1 {
				t.Errorf("%s: the last of %d factors is not asked: %d runs", m, n, got)
			}
		}
	}
	for patience, want := range map[int]bool{maxPatience - 1: true, maxPatience: true, maxPatience + 1: false} {
		p := tuned(Root, dp.Nano)
		p.Patience, p.Candidates = patience, []Candidate{boosted(2, feature.OneHot), added()}
		if _, err := p.Plan(small(10, false).Schema, 100); (err == nil) != want {
			t.Errorf("patience %d: %v", patience, err)
		}
	}
}
