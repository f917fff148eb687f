// SPDX-License-Identifier: Apache-2.0

package additive

import (
	"errors"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/census"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/schema"
)

// The rules at a few points, by hand from the constants.
func TestSettle(t *testing.T) {
	for _, c := range []struct {
		rows, columns int
		eps           dp.Epsilon
		relation      dp.Relation
		want          rules
	}{
		{100, 9, 1, dp.ReplaceOne, rules{bins: 8, rounds: 1, picks: true, pickShare: 0.4, keep: 0.5, trust: 1}},
		{21_037, 9, 40_000_000, dp.ReplaceOne, rules{bins: 8, rounds: 2, picks: true, pickShare: 0.325, keep: 0.5, trust: 1}},
		{32_561, 9, 100_000_000, dp.ReplaceOne, rules{bins: 8, rounds: 9, trust: 0.85}},
		{32_561, 12, 500_000_000, dp.AddRemove, rules{bins: 16, rounds: 12, keep: 0.5, trust: 1}},
		{14_589, 1, 10_000_000, dp.ReplaceOne, rules{bins: 8, rounds: 1, trust: 1}},
		{1_000_000, 5, dp.Nano, dp.AddRemove, rules{bins: 32, rounds: 10, keep: 1, trust: 1}},
	} {
		if got := settle(Params{Epsilon: c.eps}, c.relation, c.rows, c.columns); got != c.want {
			t.Errorf("%d rows, %d columns, ε = %s, %s: %+v, want %+v", c.rows, c.columns, c.eps, c.relation, got, c.want)
		}
	}
}

func TestDivideAddsUpExactly(t *testing.T) {
	for _, eps := range []dp.Epsilon{3, 7, dp.Nano, dp.MaxEpsilon} {
		out, err := divide(eps, []float64{0.3, 1, 0.1, 2})
		if eps < 20 {
			var p *dp.ParamError
			if !errors.As(err, &p) {
				t.Errorf("ε of %d units was divided into %v", eps, out)
			}
			continue
		}
		sum := dp.Epsilon(0)
		for _, e := range out {
			sum += e
		}
		if err != nil || sum != eps {
			t.Errorf("%d units: %v, %v", eps, out, err)
		}
	}
}

func TestPlanRefuses(t *testing.T) {
	s := census.Schema()
	for _, p := range []Params{{}, {Epsilon: -1}, {Epsilon: dp.MaxEpsilon + 1}, {Epsilon: dp.Nano, NotPrivate: true}, {Epsilon: dp.Nano, Rows: -1}, {Epsilon: 1}} {
		if _, err := p.Plan(s, 100); err == nil {
			t.Errorf("%+v was accepted", p)
		}
	}
	open := *s
	open.Columns = slices.Clone(s.Columns)
	for j := range open.Columns {
		open.Columns[j].Role = schema.Public
	}
	if _, err := (Params{Epsilon: dp.Nano}).Plan(&open, 100); err == nil {
		t.Error("a schema without anything private was accepted")
	}
}

// Under add-remove the table's own number of rows must not be reckoned with.
func TestAddRemoveReckonsWithDeclaredRows(t *testing.T) {
	s := *census.Schema()
	s.Relation = dp.AddRemove
	for declared, want := range map[int]int{0: assumedRows, 500: 500} {
		pl, err := Params{Epsilon: dp.Nano, Rows: declared}.Plan(&s, 0)
		if err != nil || pl.rows != want {
			t.Errorf("declared %d: reckons with %d rows (error %v)", declared, pl.rows, err)
		}
	}
}
