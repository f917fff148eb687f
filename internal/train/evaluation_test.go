// SPDX-License-Identifier: Apache-2.0

//go:build !js

package train

import (
	"bytes"
	"context"
	"reflect"
	"testing"

	"github.com/discreet-dp/discreet/internal/census"
	"github.com/discreet-dp/discreet/internal/evaluation"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/privacy/dp"
	"github.com/discreet-dp/discreet/internal/table/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// judged returns an evaluation of a model on rows of the census under a relation.
func judged(t *testing.T, relation dp.Relation, seed uint64, rows int) *Evaluation {
	t.Helper()
	s := *census.Schema()
	s.Relation, s.Label.Role, s.Label.Default = relation, schema.Private, 0 // classes are not public, either
	text := censusText(t, &s)
	read := func(rows int) func(context.Context) (*dataset.Table, error) {
		return func(context.Context) (*dataset.Table, error) {
			tab := census.Generate(1, rows)
			tab.Schema = &s
			return tab, nil
		}
	}
	trained := &Training{Op: "train", Request: requestOf(t, "additive", "inf"), Schema: &s, SchemaText: text, Read: read(300 + int(seed))}
	m, err := trained.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return &Evaluation{Training: Training{Op: "evaluate", Schema: &s, SchemaText: text, Data: []string{"x"}, Read: read(rows)},
		Params: evaluation.Params{Epsilon: dp.Nano, Models: []*model.Model{m}, Threshold: 0.5}}
}

// otherEvaluation are the parameters of an evaluation and other values of them.
var otherEvaluation = map[string]func(*testing.T, *evaluation.Params){
	"Epsilon":   func(_ *testing.T, p *evaluation.Params) { p.Epsilon++ },
	"Delta":     func(_ *testing.T, p *evaluation.Params) { p.Delta = 1 },
	"Models":    func(t *testing.T, p *evaluation.Params) { p.Models = judged(t, dp.ReplaceOne, 1, 0).Params.Models },
	"Threshold": func(_ *testing.T, p *evaluation.Params) { p.Threshold = 0.25 },
}

// An evaluation that differs in any parameter, and has the ID of one that has a result, is refused: it
// is not given that result, and nothing is charged.
func TestEveryParameterOfAnEvaluationIsATermOfTheJob(t *testing.T) {
	ctx := context.Background()
	l, spent := newLedger(t, ctx, t.TempDir())
	run := func(change func(*testing.T, *evaluation.Params)) (*evaluation.Release, error) {
		e := judged(t, dp.ReplaceOne, 0, 200)
		e.Job = &Job{Ledger: l, Dataset: "people", ID: "monday"}
		change(t, &e.Params)
		return e.Run(ctx)
	}
	same := func(*testing.T, *evaluation.Params) {}
	first, err := run(same)
	if err != nil {
		t.Fatal(err)
	}
	for f := range reflect.TypeFor[evaluation.Params]().Fields() {
		change := otherEvaluation[f.Name]
		if change == nil {
			t.Errorf("the parameter %s is not tried", f.Name)
			continue
		}
		if _, err := run(change); err == nil || spent() != dp.Nano {
			t.Errorf("another %s: error %v, and %s is spent", f.Name, err, spent())
		}
	}
	again, err := run(same)
	if err != nil || spent() != dp.Nano {
		t.Fatalf("the same evaluation again: error %v, and %s is spent", err, spent())
	}
	a, errA := first.Marshal()
	b, errB := again.Marshal()
	if errA != nil || errB != nil || !bytes.Equal(a, b) {
		t.Errorf("the same evaluation again has another result, or %v, %v", errA, errB)
	}
}

// Nothing in an evaluation but its noisy counts depends on how many rows or persons there are if that is private,
// and nothing on how many rows persons have.
func TestEvaluationsDoNotTellSizes(t *testing.T) {
	for name, c := range map[string]struct {
		relation dp.Relation
		persons  bool
	}{"rows": {dp.AddRemove, false}, "persons": {dp.AddRemove, true}, "rows of persons": {dp.ReplaceOne, true}} {
		release := func(rows int) *evaluation.Release {
			e := judged(t, c.relation, 0, rows)
			if c.persons {
				s := *e.Schema
				s.Person = &schema.Person{Column: "person", Rows: 1000}
				e.Schema, e.SchemaText = &s, nil
				read := e.Read
				e.Read = func(ctx context.Context) (*dataset.Table, error) {
					tab, err := read(ctx)
					for i := range tab.Rows {
						tab.Persons = append(tab.Persons, uint32(1+i%50))
					}
					tab.Schema = &s
					return tab, err
				}
			}
			r, err := e.Run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for k := range r.Cells {
				clear(r.Cells[k])
			}
			return r
		}
		few, many := release(100), release(20_000)
		if c.relation == dp.ReplaceOne && few.Units != 50 {
			t.Errorf("%s: %d units, want 50 persons", name, few.Units)
		}
		if !reflect.DeepEqual(few, many) {
			t.Errorf("%s: 100 rows and 20,000 make different releases:\n%+v\n%+v", name, few, many)
		}
	}
}
