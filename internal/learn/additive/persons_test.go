// SPDX-License-Identifier: Apache-2.0

package additive

import (
	"fmt"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/learntest"
	"github.com/discreet-dp/discreet/internal/check/testkit/mechtest"
	"github.com/discreet-dp/discreet/internal/check/testkit/size"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
)

// maker is with, or withClasses.
type maker func(c setting, rows int) (*dataset.Table, func() (learn.Plan, error))

// withPersons deals the rows of a setting to persons who count for at most most rows each.
func (with maker) withPersons(c setting, rows, most int) (*dataset.Table, func() (learn.Plan, error)) {
	tab, plan := with(c, rows) // which is about tab's schema
	out := learntest.WithPersons(tab, replay.Seeded(9, "persons"), most)
	*tab.Schema, out.Schema = *out.Schema, tab.Schema
	return out, plan
}

// Tables that differ in all rows of one person: no byte of a model but through a release, no
// release beyond its declared distance, and that distance nearly reached, in every setting.
func TestPersonReleasesMoveByTheDeclared(t *testing.T) {
	for _, most := range []int{1, 3} {
		checkPersonReleases(t, settings(), with, most, size.Of(1, 4), size.Of(0.7, 0.98))
		checkPersonReleases(t, multiclassSettings(), withClasses, most, size.Of(1, 2), size.Of(0.7, 0.9))
	}
}

func checkPersonReleases(t *testing.T, all map[string]setting, with maker, most, pairs int, reach float64) {
	t.Helper()
	best := 0.0
	for name, c := range all {
		if strings.HasPrefix(name, "eps inf") {
			continue
		}
		name = fmt.Sprintf("%s, most %d", name, most)
		src := replay.Seeded(uint64(most), name)
		tab, plan := with.withPersons(c, 60, most)
		pl, err := plan()
		if err != nil {
			t.Fatal(err)
		}
		for k := range pairs {
			a, b := learntest.PersonNeighbours(tab, src, pl.(*Plan).scope)
			script := scripted(float64(rng.Below(src, 1000)))
			differs, worst, at := learntest.Interference(t, plan, a, b, uint64(k), script)
			if differs != "" {
				t.Fatalf("%s, pair %d: %s differ", name, k, differs)
			}
			if worst > rounding {
				t.Fatalf("%s, pair %d: %s moved %.6f times its declared bound", name, k, at, worst)
			}
			best = max(best, worst)
		}
	}
	if best < reach {
		t.Errorf("at most %d rows: no release moved further than %.3f of its declared bound", most, best)
	}
}

// Where the unit is a person the plan and the model say so.
func TestStatementNamesThePerson(t *testing.T) {
	tab, plan := maker(with).withPersons(settings()["private label"], 200, 1)
	pl, err := plan()
	if err != nil {
		t.Fatal(err)
	}
	m := learntest.Fit(t, pl, tab, &mechtest.Recorder{}, 1)
	if !strings.Contains(m.Privacy.Statement, "was, for all rows of one person") {
		t.Errorf("the statement is %q", m.Privacy.Statement)
	}
	if got := strings.Join(m.Privacy.Unprotected, "; "); !strings.Contains(got, "the number of persons") {
		t.Errorf("not protected: %q", got)
	}
}

// So few persons that nothing can be learnt are told so, with the price at which something could.
func TestPlanSaysTooFewPersons(t *testing.T) {
	tab, _ := maker(with).withPersons(settings()["private label"], 60, 1)
	p := Params{Epsilon: dp.Nano}
	for rows, want := range map[int]bool{30: true, 36: true, 20_000: false} {
		pl, err := p.Plan(tab.Schema, rows)
		if err != nil {
			t.Fatal(err)
		}
		told := ""
		for _, f := range pl.Facts() {
			if f.Key == "epsilon_needed" {
				told = f.Text
			}
		}
		if (told != "") != want || rows == 36 && (!strings.Contains(told, "about 7.2") || !strings.Contains(told, "with so few persons")) {
			t.Errorf("%d persons: %q", rows, told)
		}
	}
}
