// SPDX-License-Identifier: Apache-2.0

package audit

import (
	"context"
	"testing"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
	"github.com/discreet-dp/discreet/internal/table/schema"
	"github.com/discreet-dp/discreet/internal/train/evaluation"
)

// stepModel scores rows of small's schema by its first number.
func stepModel(s *schema.Schema) *model.Model {
	own := *s
	own.Person = nil
	c := &own.Columns[0]
	return &model.Model{Learner: "additive", Schema: &own, Privacy: model.Privacy{Scope: dp.Nothing, Relation: s.Relation,
		Unit: s.Unit, NotPrivate: true, Statement: "none"},
		Classifier: &model.Additive{Shapes: []model.Shape{{Column: c.Name, Edges: []float64{(c.Lower + c.Upper) / 2},
			LogOdds: []float64{-2, 2}, Noise: []float64{0, 0}}}}}
}

// No audit refutes an evaluation at its price, and one at a tenth of the price is refuted.
func TestEvaluationsAreNotRefuted(t *testing.T) {
	for _, relation := range []dp.Relation{dp.ReplaceOne, dp.AddRemove} {
		for _, persons := range []bool{false, true} {
			s := small(t, relation, schema.Private)
			if persons {
				s = ofPersons(s, 1)
			}
			params := evaluation.Params{Epsilon: dp.Nano, Models: []*model.Model{stepModel(s)}, Threshold: 0.5}
			for claim, want := range map[dp.Epsilon]string{dp.Nano: NotRefuted, dp.Nano / 10: Refuted} {
				sub, err := Evaluation(params, s, 6, replay.Seeded(1, "evaluation, neighbours"))
				if err != nil {
					t.Fatal(err)
				}
				r, err := Run(context.Background(), sub, Options{Epsilon: claim, Alpha: 1e-9, Runs: 4000,
					Source: func(batch uint64) rng.Source { return replay.Seeded(batch, "evaluation, "+string(relation)) }})
				if err != nil {
					t.Fatal(err)
				}
				if r.Verdict != want {
					t.Errorf("%s, persons %v, claim %s: %s with a bound of %g by %s in %s", relation, persons, claim, r.Verdict,
						r.LowerBound, r.Event, r.Pair)
				}
			}
		}
	}
}
