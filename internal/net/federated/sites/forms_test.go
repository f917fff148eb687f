// SPDX-License-Identifier: Apache-2.0

package sites

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/engine/question"
	"github.com/discreet-dp/discreet/internal/table/engine/statistic"
	"github.com/discreet-dp/discreet/internal/table/feature"
)

// The runs of a form are as many as it says, and a bin is in one of them.
func TestRunsBesideTheirNumberAreRefused(t *testing.T) {
	s := schemaOf(t, "n, p], positive: p")
	g, err := guard.Open(t.Context(), guard.Terms{Op: "test", Scope: dp.WholeRow, Price: dp.Price{Epsilon: dp.Nano},
		Bill: pureBill}, tableOf(t, s, []string{"1,a,p\n"}), guard.Uncounted{}, mech.NewExit(rng.System()))
	must(t, err)
	text, err := question.Encode(&question.Question{Kind: question.Sum, Against: engine.WholeLabel,
		Statistic: statistic.ClassCells{Bins: []feature.Bins{feature.NewBins(s, 0, []float64{5})}}})
	must(t, err)
	r := &Responder{Guard: g, Honest: 1, Values: 2 * maxRuns}
	for _, c := range []struct {
		first, second, runs int
		ok                  bool
	}{{0, 1, 2, true}, {1, 0, 2, true}, {0, 0, 1, true}, {0, 2, 2, false}, {-1, 0, 2, false}, {0, 1, 1, false}, {0, 0, 0, false},
		{0, 0, maxRuns, true}, {0, 0, maxRuns + 1, false}} {
		_, err := r.sum(&Ask{Questions: []json.RawMessage{text}, Forms: []AskedForm{{View: guard.ClassesOnce,
			Runs: []int{c.first, c.second, c.runs}}}})
		if (err == nil) != c.ok {
			t.Errorf("runs %d and %d of %d: %v", c.first, c.second, c.runs, err)
		}
	}
}

// The forms of a measurement have together at most as many numbers as the policy allows.
func TestFormsShareTheirNumbers(t *testing.T) {
	s := schemaOf(t, "n, p], positive: p")
	g, err := guard.Open(t.Context(), guard.Terms{Op: "test", Scope: dp.WholeRow, Price: dp.Price{Epsilon: dp.Nano},
		Bill: pureBill}, tableOf(t, s, []string{"1,a,p\n"}), guard.Uncounted{}, mech.NewExit(rng.System()))
	must(t, err)
	text, err := question.Encode(&question.Question{Kind: question.Sum, Against: engine.WholeLabel,
		Statistic: statistic.ClassCells{Bins: []feature.Bins{feature.NewBins(s, 0, []float64{5})}}})
	must(t, err)
	for forms, ok := range map[int]bool{1: true, 2: true, 3: false} {
		a := &Ask{Questions: []json.RawMessage{text}}
		for range forms {
			a.Forms = append(a.Forms, AskedForm{View: guard.RowsPart}) // of two numbers
		}
		if _, err := (&Responder{Guard: g, Honest: 1, Values: 5}).sum(a); (err == nil) != ok {
			t.Errorf("%d forms of 2 numbers where 5 are allowed: %v", forms, err)
		}
	}
}

// A total has the noise of all sites, each of which adds enough for the honest ones alone: learners reckon with it.
func TestVarianceIsThatOfAllSites(t *testing.T) {
	s := schemaOf(t, "n, p], positive: p")
	for _, c := range []struct{ honest, all int }{{1, 2}, {2, 3}, {3, 3}} {
		r := NewRemote(&Training{Honest: c.honest, Sites: make([]Member, c.all)}, "", func([]byte, guard.Answers) ([]mech.Whole, int, error) {
			return make([]mech.Whole, 2), c.all, nil
		})
		g, err := guard.OpenAcross(t.Context(), guard.Terms{Op: "test", Scope: dp.WholeRow, Price: dp.Price{Epsilon: dp.Nano}, Bill: pureBill},
			r.Table(s, 0), r)
		must(t, err)
		cells, err := g.ClassCells([]feature.Bins{feature.NewBins(s, 0, []float64{5})})
		must(t, err)
		share := guard.Share{Epsilon: dp.Nano}
		got, err := g.Measure("rows", share, cells.Rows(0))
		must(t, err)
		want := share.Variance(guard.OneCell(s.Relation)) * float64(c.all) / float64(c.honest)
		if math.Abs(got.Variance-want) > 1e-9*want {
			t.Errorf("%d of %d sites are enough: a variance of %g, want %g", c.honest, c.all, got.Variance, want)
		}
	}
}
