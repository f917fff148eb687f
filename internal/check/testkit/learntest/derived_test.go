// SPDX-License-Identifier: Apache-2.0

package learntest_test

import (
	"math"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/censustest"
	"github.com/discreet-dp/discreet/internal/check/testkit/learntest"
	"github.com/discreet-dp/discreet/internal/check/testkit/mechtest"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/learn/additive"
	"github.com/discreet-dp/discreet/internal/learn/brc"
	"github.com/discreet-dp/discreet/internal/learn/erm"
	"github.com/discreet-dp/discreet/internal/learn/labeldp"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// withDerived is a census with a public derived column and two private ones, one
// of them with a public source.
func withDerived(t *testing.T, rows int) *dataset.Table {
	t.Helper()
	tab := censustest.Table(9, rows)
	tab.Schema.Columns[slices.IndexFunc(tab.Schema.Columns,
		func(c schema.Column) bool { return c.Name == "years_in_job" })].Role = schema.Public
	text, err := tab.Schema.YAML()
	if err != nil {
		t.Fatal(err)
	}
	text = append(text, `derived:
  - {name: longest, largest: [years_in_job, age]}
  - {name: usual, mean: [age, weekly_hours]}
  - {name: least, smallest: [weekly_hours, household_size]}
`...)
	if tab.Schema, err = schema.Parse(text); err != nil {
		t.Fatal(err)
	}
	tab.Cols = append(tab.Cols, make([]column.Column, 3)...)
	tab.Derive()
	return tab
}

type planner func(s *schema.Schema, rows int) (learn.Plan, error)

func planners() map[string]planner {
	return map[string]planner{
		"additive": func(s *schema.Schema, rows int) (learn.Plan, error) {
			return additive.Params{Epsilon: dp.Nano}.Plan(s, rows)
		},
		"brc": func(s *schema.Schema, rows int) (learn.Plan, error) {
			p := brc.Defaults()
			p.Epsilon, p.Rounds = dp.Nano, 6
			return p.Plan(s, rows)
		},
		"erm": func(s *schema.Schema, rows int) (learn.Plan, error) {
			p := erm.Defaults()
			p.Epsilon = dp.Nano
			return p.Plan(s, rows)
		},
		"labeldp": func(s *schema.Schema, rows int) (learn.Plan, error) {
			p := labeldp.Defaults()
			p.Epsilon = dp.Nano
			return p.Plan(s, rows)
		},
	}
}

var scopes = map[string]dp.Scope{"erm": dp.WholeRow, "labeldp": dp.LabelOnly}

func scopeOf(name string) dp.Scope {
	if scope, ok := scopes[name]; ok {
		return scope
	}
	return dp.PrivateFeatures
}

func answers(shift uint64) func(k int, p mechtest.Passage) []float64 {
	return func(k int, p mechtest.Passage) []float64 {
		if p.Choice {
			return []float64{float64((int(shift) + k) % len(p.Values))}
		}
		out := make([]float64, len(p.Values))
		for i := range out {
			out[i] = 0.5 + 0.45*math.Sin(float64(shift)+float64(3*k+i))
		}
		return out
	}
}

// A derived column costs no learner anything: where the releases are the same,
// neighbours give the same model, and no release moves further than it declares.
func TestNonInterferenceWithDerivedColumns(t *testing.T) {
	tab := withDerived(t, 60)
	for name, plan := range planners() {
		t.Run(name, func(t *testing.T) {
			src := replay.Seeded(1, name)
			for k := range 25 {
				b := learntest.Neighbour(tab, src, scopeOf(name))
				differs, worst, at := learntest.Interference(t, func() (learn.Plan, error) { return plan(tab.Schema, tab.Rows) },
					tab, b, uint64(k), answers(rng.Below(src, 1000)))
				if differs != "" {
					t.Fatalf("pair %d: %s differ", k, differs)
				}
				if worst > 1+1e-9 {
					t.Fatalf("pair %d: %s moved %.6f times its declared bound", k, at, worst)
				}
			}
		})
	}
}

// A schema that calls what follows from a private column public would leak: the
// check above sees it.
func TestNonInterferenceNoticesAPublicDerivedColumn(t *testing.T) {
	tab := withDerived(t, 60)
	tab.Schema.Columns[len(tab.Schema.Columns)-2].Role = schema.Public
	for _, name := range []string{"additive", "brc"} {
		noticed := false
		src := replay.Seeded(1, name)
		for k := range 25 {
			b := learntest.Neighbour(tab, src, dp.PrivateFeatures)
			plan := func() (learn.Plan, error) { return planners()[name](tab.Schema, tab.Rows) }
			differs, worst, _ := learntest.Interference(t, plan, tab, b, uint64(k), answers(rng.Below(src, 1000)))
			noticed = noticed || differs != "" || worst > 1+1e-9
		}
		if !noticed {
			t.Errorf("%s: nobody noticed", name)
		}
	}
}

// A model has the derived columns that it uses with their sources, and predicts
// the same from a table that was read for it alone.
func TestModelsOfDerivedColumns(t *testing.T) {
	tab := withDerived(t, 400)
	for name, plan := range planners() {
		pl, err := plan(tab.Schema, tab.Rows)
		if err != nil {
			t.Fatal(err)
		}
		m := learntest.Fit(t, pl, tab, &mechtest.Recorder{Script: answers(3)}, 1)
		learntest.Bytes(t, m)
		own := &dataset.Table{Schema: m.Schema, Rows: tab.Rows, Cols: make([]column.Column, len(m.Schema.Columns))}
		for j := range m.Schema.FileColumns() {
			if m.Schema.Columns[j].Role != schema.Ignored {
				own.Cols[j] = tab.Cols[j]
			}
		}
		own.Derive()
		got, err := m.Scores(own.Cols, own.Rows)
		if err != nil {
			t.Fatal(err)
		}
		p, err := m.Bind(tab.Schema)
		if err != nil {
			t.Fatal(err)
		}
		want, err := p.Scores(tab.Cols, tab.Rows)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: other scores, error %v", name, err)
		}
		if name == "labeldp" {
			if n := len(m.Schema.Columns) - len(m.Schema.FileColumns()); n != 1 {
				t.Errorf("labeldp: %d derived columns, want the public one", n)
			}
		}
	}
}
