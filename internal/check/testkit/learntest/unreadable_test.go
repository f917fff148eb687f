// SPDX-License-Identifier: Apache-2.0

package learntest_test

import (
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/censustest"
	"github.com/discreet-dp/discreet/internal/check/testkit/learntest"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// guarded are settings in which something is protected, and the scope of each
// learner's claim there.
var guarded = []struct {
	name   string
	change func(s *schema.Schema)
	whole  []string // learners that protect whole rows here; nil: all
}{
	{"public label", func(*schema.Schema) {}, []string{"erm"}},
	{"private label", func(s *schema.Schema) { s.Label.Role = schema.Private }, nil},
	{"add-remove", func(s *schema.Schema) { s.Relation = dp.AddRemove }, nil},
}

// What a protected cell holds, also what cannot be read, decides nothing: not whether
// the table is read, and with the same releases not a byte of the model. So no refusal
// says anything about a protected row.
func TestNonInterferenceWithUnreadableCells(t *testing.T) {
	for _, g := range guarded {
		tab := withDerived(t, 60)
		g.change(tab.Schema)
		text := censustest.CSV(9, 60)
		for name, plan := range planners() {
			if _, err := plan(tab.Schema, tab.Rows); err != nil {
				continue // not for this relation
			}
			t.Run(g.name+"/"+name, func(t *testing.T) {
				scope := scopeOf(name)
				if g.name == "private label" && name == "additive" {
					scope = dp.FeaturesAndLabel
				} else if name != "labeldp" && (g.whole == nil || slices.Contains(g.whole, name)) {
					scope = dp.WholeRow
				}
				src := replay.Seeded(2, g.name+name)
				for k := range 12 {
					a, b := learntest.Unreadable(t, tab.Schema, text, src, scope)
					again := func() (learn.Plan, error) { return plan(tab.Schema, tab.Rows) }
					differs, worst, at := learntest.Interference(t, again, a, b, uint64(k), answers(rng.Below(src, 1000)))
					if differs != "" {
						t.Fatalf("pair %d: %s differ", k, differs)
					}
					if tab.Schema.Relation == dp.AddRemove {
						worst /= 2 // a row that is replaced is one that goes and one that comes
					}
					if worst > 1+1e-9 {
						t.Fatalf("pair %d: %s moved %.6f times its declared bound", k, at, worst)
					}
				}
			})
		}
	}
}

// A schema by which a protected cell has no code is refused by the plan, before any
// row is read; one by which an unprotected cell has none is not.
func TestPlansAskForDefaults(t *testing.T) {
	without := map[string]func(s *schema.Schema){
		"a public number": func(s *schema.Schema) {
			s.Columns[slices.IndexFunc(s.Columns, func(c schema.Column) bool { return c.Name == "age" })].Default = nil
		},
		"a public label": func(s *schema.Schema) { s.Label.Default = -1 },
	}
	asks := map[string][]string{ // by setting and what has no default: who must ask
		"public label, a public number":  {"erm"},
		"public label, a public label":   {"erm", "labeldp"},
		"private label, a public number": {"brc", "erm"},
		"add-remove, a public number":    {"additive", "brc"},
		"add-remove, a public label":     {"additive", "brc"},
	}
	for _, g := range guarded {
		for what, strip := range without {
			setting := g.name + ", " + what
			if setting == "private label, a public label" {
				continue
			}
			for name, plan := range planners() {
				tab := withDerived(t, 60)
				g.change(tab.Schema)
				_, before := plan(tab.Schema, tab.Rows)
				strip(tab.Schema)
				_, after := plan(tab.Schema, tab.Rows)
				if before != nil {
					continue // not for this relation
				}
				if refused := after != nil; refused != slices.Contains(asks[setting], name) {
					t.Errorf("%s: %s without a default: error %v", name, setting, after)
				}
			}
		}
	}
}
