// SPDX-License-Identifier: Apache-2.0

package multiparty

import (
	"context"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/size"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ground/stats"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// ties is an auxiliary table whose rows are all one, of length 1.
func ties() *dataset.Table {
	s := &schema.Schema{
		Name: "ties", Unit: "one row", Relation: dp.ReplaceOne,
		Columns: []schema.Column{{Name: "x", Role: schema.Public, Kind: schema.Number, Lower: -1, Upper: 1}},
		Label: schema.Label{Name: "y", Role: schema.Public, Levels: []schema.Level{{Value: "0"}, {Value: "1"}}, Positive: 1,
			Default: -1, Position: 1},
	}
	return &dataset.Table{Schema: s, Rows: 4, Labels: make([]uint8, 4),
		Cols: []column.Column{{Codes: column.Narrow(make([]uint32, 4), 1), Values: []float64{1}}}}
}

// score draws a combination of a side, and returns a number that is larger the more it looks like side 0.
type score func(side int, src rng.Source) float64

// tie is the pair of a tie of ten parties against a tie and one vote more.
func tie(t *testing.T, p Params) score {
	p.Parties, p.Encoding = 10, feature.Ordinal
	tab := ties()
	pl := plan(t, p, tab)
	aux := auxiliary(tab)
	var tallies [2]*Tally
	for side := range tallies {
		var files [][]byte
		for k := range 10 {
			vote := uint8(0)
			if k < 5+side {
				vote = 1
			}
			files = append(files, labelFile(t, tab, string(rune('a'+k)), []uint8{vote, vote, vote, vote}))
		}
		tallies[side] = tally(t, pl, tab, files...)
	}
	scale := 1 / math.Sqrt2
	// What left, read off the coefficients: of a statistic, the point where the
	// gradient vanishes.
	left := func(w []float64) (a, b float64) { return w[0], w[1] }
	var centre [2][2]float64
	if p.Form == Statistic {
		left = func(w []float64) (a, b float64) {
			share := scale / (1 + math.Exp(-(w[0]+w[1])*scale))
			return share + pl.reg()*w[0], share + pl.reg()*w[1]
		}
	}
	for side := range centre {
		exact := params(func(q *Params) { *q = p; q.Epsilon, q.NotPrivate, q.Reg = 0, true, pl.reg() })
		open := plan(t, exact, tab)
		w, err := open.fit(context.Background(), newPublic(open, aux),
			&Tally{pl: open, rows: tab.Rows, parties: tallies[side].parties, votes: tallies[side].votes},
			mech.NewExit(replay.Seeded(1, "none")))
		if err != nil {
			t.Fatal(err)
		}
		centre[side][0], centre[side][1] = left(w)
	}
	return func(side int, src rng.Source) float64 {
		m, err := pl.Combine(t.Context(), aux, tallies[side], guard.Uncounted{}, mech.NewExit(src))
		if err != nil {
			t.Error(err)
			return 0
		}
		a, b := left([]float64{m.Classifier.(*model.Logistic).Coef[0] / scale, m.Classifier.(*model.Logistic).Bias / scale})
		return math.Hypot(a-centre[1][0], b-centre[1][1]) - math.Hypot(a-centre[0][0], b-centre[0][1])
	}
}

// boundLoss is a lower bound on ε at error alpha: half of the runs choose a threshold and a side, the other
// half count.
func boundLoss(of score, name string, runs int, alpha float64) float64 {
	var found [2][]float64
	for side := range found {
		src := replay.Seeded(uint64(side), "audit "+name)
		for range runs {
			found[side] = append(found[side], of(side, src))
		}
	}
	half := runs / 2
	above := func(side int, from float64, of []float64) (k int) {
		for _, x := range of {
			if (x >= from) == (side == 0) {
				k++
			}
		}
		return k
	}
	best, likely, from := math.Inf(-1), 0, 0.0
	candidates := slices.Sorted(slices.Values(slices.Concat(found[0][:half], found[1][:half])))
	for i := range 200 {
		at := candidates[i*len(candidates)/200]
		for side := range found {
			shows := stats.EpsilonLowerBound(above(side, at, found[side][:half]), half, above(side, at, found[1-side][:half]), half,
				0, alpha)
			if shows > best {
				best, likely, from = shows, side, at
			}
		}
	}
	rest := runs - half
	return stats.EpsilonLowerBound(above(likely, from, found[likely][half:]), rest, above(likely, from, found[1-likely][half:]),
		rest, 0, alpha)
}

// TestAudit attacks whole combinations: a tie against a tie and one vote. A true
// claim is refuted with probability 1e-6 per row. With DISCREET_AUDIT=1 there are
// enough runs to show nine tenths of what is claimed.
func TestAudit(t *testing.T) {
	size.OnlyLong(t, "thousands of runs; TestReplayNonInterference judges the same claim")
	runs, least := 6_000, 0.5
	if os.Getenv("DISCREET_AUDIT") != "" {
		runs, least = 600_000, 0.9
	}
	for name, p := range map[string]Params{
		"statistic":     params(func(p *Params) { p.Shape = Ball; p.Reg = 0.5; p.Epsilon = 2 * dp.Nano }),
		"output 1/(Mλ)": params(func(p *Params) { p.Form, p.Reg = Output, 5; p.Epsilon = 2 * dp.Nano }),
		"majority statistic": params(func(p *Params) {
			p.Method, p.Shape, p.Reg = Majority, Ball,
				0.5
			p.Epsilon = 2 * dp.Nano
		}),
	} {
		t.Run(name, func(t *testing.T) {
			bound, claim := boundLoss(tie(t, p), name, runs, 1e-6), p.Epsilon.Float()
			t.Logf("epsilon >= %.3f at claimed %g", bound, claim)
			if bound > claim {
				t.Errorf("epsilon >= %.3f at claimed %g: refuted", bound, claim)
			}
			if !(bound >= least*claim) {
				t.Errorf("the audit shows %.3f of claimed %g, want %.1f of it: no teeth", bound, claim, least)
			}
		})
	}
}
