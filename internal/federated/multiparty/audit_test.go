// SPDX-License-Identifier: Apache-2.0

package multiparty

import (
	"context"
	"math"
	"os"
	"testing"

	"github.com/discreet-dp/discreet/internal/audit"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/privacy/dp"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/dataset"
	"github.com/discreet-dp/discreet/internal/table/feature"
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

// tie is the pair of a tie of ten parties against a tie and one vote more.
func tie(t *testing.T, p Params) audit.Pair {
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
	pair := audit.Pair{Name: "a tie of ten parties against a tie and one vote",
		Outputs: []string{"coefficient", "intercept"}, Maximum: p.Epsilon.Float()}
	pair.Draw = audit.Each(2, func(ctx context.Context, side int, src rng.Source, out []float64) error {
		m, err := pl.Combine(ctx, aux, tallies[side], guard.Uncounted{}, mech.NewExit(src))
		if err != nil {
			return err
		}
		out[0], out[1] = m.Classifier.(*model.Logistic).Coef[0]/scale, m.Classifier.(*model.Logistic).Bias/scale
		return nil
	})
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
	pair.Score = func(w []float64) float64 {
		a, b := left(w)
		return math.Hypot(a-centre[1][0], b-centre[1][1]) - math.Hypot(a-centre[0][0], b-centre[0][1])
	}
	return pair
}

// TestAudit attacks whole combinations: a tie against a tie and one vote. A true
// claim is refuted with probability 1e-6 per row. With DISCREET_AUDIT=1 there are
// enough runs to show nine tenths of what is claimed.
func TestAudit(t *testing.T) {
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
			r, err := audit.Run(t.Context(), audit.Subject{Name: name, Pairs: []audit.Pair{tie(t, p)}}, audit.Options{
				Epsilon: p.Epsilon, Alpha: audit.DefaultAlpha, Runs: runs,
				Source: func(batch uint64) rng.Source { return replay.Seeded(batch, "audit "+name) },
			})
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("epsilon >= %.3f at claimed %s", r.LowerBound, p.Epsilon)
			if r.Verdict != audit.NotRefuted {
				t.Errorf("%s: epsilon >= %.3f at claimed %s", r.Verdict, r.LowerBound, p.Epsilon)
			}
			if !(r.LowerBound >= least*p.Epsilon.Float()) {
				t.Errorf("the audit shows %.3f of claimed %s, want %.1f of it: no teeth", r.LowerBound, p.Epsilon, least)
			}
		})
	}
}
