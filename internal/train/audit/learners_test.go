// SPDX-License-Identifier: Apache-2.0

package audit

import (
	"context"
	"testing"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/learn/additive"
	"github.com/discreet-dp/discreet/internal/learn/labeldp"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Every learner from outside on small tables: not
// refuted, and where one row can do so much that a bound should be seen, it is.
func TestAuditsOfEveryLearner(t *testing.T) {
	needsManyRuns(t)
	private := small(t, dp.ReplaceOne, schema.Private)
	counted := small(t, dp.AddRemove, schema.Private)
	features := small(t, dp.ReplaceOne, schema.Public)
	cut := small(t, dp.ReplaceOne, schema.Private) // its bins follow from counts
	cut.Columns[0].Upper, cut.Columns[0].Quantiles, cut.Columns[0].Integer = 40, true, true
	classes := map[dp.Relation]*schema.Schema{} // a label of three
	for _, relation := range []dp.Relation{dp.ReplaceOne, dp.AddRemove} {
		s := small(t, relation, schema.Private)
		s.Label.Levels, s.Label.Positive = append(s.Label.Levels, schema.Level{Value: "third"}), -1
		classes[relation] = s
	}
	crossed := small(t, dp.ReplaceOne, schema.Private)
	crossed.Pairs = [][2]int{{0, 1}}
	labels := small(t, dp.ReplaceOne, schema.Private) // the label alone
	for j := range labels.Columns {
		labels.Columns[j].Role = schema.Public
	}
	const rows, eps, delta = 8, dp.Nano, 0.01
	additively := func(e dp.Epsilon, s *schema.Schema, n int) (learn.Plan, error) {
		p := additive.Params{Epsilon: e, Rows: rows}
		return p.Plan(s, n)
	}
	counting := func(e dp.Epsilon, s *schema.Schema, _ int) (learn.Plan, error) {
		p := additive.Params{Epsilon: e, Rows: 2000} // of fewer rows neither counts nor a pair would be worth their price
		return p.Plan(s, rows)
	}
	manyClasses := func(reckoned int) func(e dp.Epsilon, s *schema.Schema, n int) (learn.Plan, error) {
		return func(e dp.Epsilon, s *schema.Schema, _ int) (learn.Plan, error) {
			p := additive.Params{Epsilon: e, Rows: reckoned}
			return p.Plan(s, rows)
		}
	}
	labelwise := func(noise labeldp.Noise, d dp.Delta) func(e dp.Epsilon, s *schema.Schema, n int) (learn.Plan, error) {
		return func(e dp.Epsilon, s *schema.Schema, n int) (learn.Plan, error) {
			p := labeldp.Defaults()
			p.Epsilon, p.Delta, p.Noise = e, d, noise
			return p.Plan(s, n)
		}
	}
	for name, c := range map[string]struct {
		s     *schema.Schema
		plan  func(e dp.Epsilon, s *schema.Schema, n int) (learn.Plan, error)
		delta float64
		runs  int     // of a long test; an ordinary one makes a thirtieth
		shown float64 // a long test must see a bound of so much
	}{
		"additive, whole rows":      {private, additively, 0, 30_000, 0},
		"additive, add or remove":   {counted, additively, 0, 30_000, 0},
		"additive, counted bins":    {cut, counting, 0, 15_000, 0},
		"additive, a pair":          {crossed, counting, 0, 15_000, 0},
		"additive, private column":  {features, additively, 0, 30_000, 0},
		"additive, three classes":   {classes[dp.ReplaceOne], manyClasses(rows), 0, 5_000, 0},
		"additive, classes weighed": {classes[dp.AddRemove], manyClasses(400), 0, 5_000, 0},
		"labeldp, gamma":            {labels, labelwise(labeldp.Gamma, 0), 0, 100_000, 0.4},
		"labeldp, laplace":          {labels, labelwise(labeldp.Laplace, 0), 0, 100_000, 0.6},
		"labeldp, gaussian":         {labels, labelwise(labeldp.Gaussian, dp.Femto/100), delta, 100_000, 0.5},
	} {
		t.Run(name, func(t *testing.T) {
			pl, err := c.plan(eps, c.s, map[bool]int{true: rows}[c.s.Relation == dp.ReplaceOne])
			if err != nil {
				t.Fatal(err)
			}
			sub, err := Learner(context.Background(), name, pl, c.s, rows, replay.Seeded(1, "pairs"))
			if err != nil {
				t.Fatal(err)
			}
			r := audited(t, sub, eps, c.delta, runs(c.runs/30, c.runs))
			if r.Verdict != NotRefuted {
				t.Errorf("a correct learner is refuted: ε ≥ %g", r.LowerBound)
			}
			if long && r.LowerBound < c.shown {
				t.Errorf("shows ε ≥ %g, want %g at least", r.LowerBound, c.shown)
			}
		})
	}
}
