// SPDX-License-Identifier: Apache-2.0

//go:build !js

package train

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/censustest"
	"github.com/discreet-dp/discreet/internal/check/testkit/size"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ledger"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
	"github.com/discreet-dp/discreet/internal/table/census"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
	"github.com/discreet-dp/discreet/internal/train/evaluation"
)

// judged returns an evaluation of a model on rows of the census under a relation.
func judged(t *testing.T, relation dp.Relation, seed uint64, rows int) *Evaluation {
	t.Helper()
	s := *census.Schema()
	s.Relation, s.Label.Role, s.Label.Default = relation, schema.Private, 0 // classes are not public, either
	text := censusText(t, &s)
	read := func(rows int) func(context.Context) (*dataset.Table, error) {
		return func(context.Context) (*dataset.Table, error) {
			tab := censustest.Table(1, rows)
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
	"By":        func(_ *testing.T, p *evaluation.Params) { p.By = "sex" },
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
// and nothing on how many rows persons have: for every relation and unit, with and without a δ, whatever the
// schema protects, and for one model or two.
func TestEvaluationsDoNotTellSizes(t *testing.T) {
	src := replay.Seeded(4, "settings")
	toss := func() bool { return rng.Below(src, 2) == 0 }
	for turn := range size.Of(6, 60) {
		delta := dp.Delta(turn % 2)
		c := struct {
			relation dp.Relation
			persons  bool
		}{[]dp.Relation{dp.AddRemove, dp.AddRemove, dp.ReplaceOne}[turn/2%3], turn/2%3 > 0}
		public, two := toss(), toss()
		threshold := float64(1+rng.Below(src, 9)) / 10
		name := fmt.Sprintf("%s, persons %t, delta %s, public columns %t, two models %t", c.relation, c.persons, delta, public, two)
		release := func(rows int) *evaluation.Release {
			e := judged(t, c.relation, 0, rows)
			e.Params.Delta, e.Params.Threshold = delta, threshold
			if e.Params.By = "sex"; two {
				e.Params.By = ""
				e.Params.Models = append(e.Params.Models, judged(t, c.relation, 1, rows).Params.Models...)
			}
			s := *e.Schema
			s.Columns = slices.Clone(s.Columns)
			for j := range s.Columns {
				if s.Columns[j].Role != schema.Ignored && !public {
					s.Columns[j].Role = schema.Private
					if c := &s.Columns[j]; c.Default == nil && c.Kind == schema.Number {
						c.Default = &c.Lower
					}
				}
			}
			if c.persons {
				s.Person = &schema.Person{Column: "person", Rows: 1000}
			}
			e.Schema, e.SchemaText = &s, nil
			read := e.Read
			e.Read = func(ctx context.Context) (*dataset.Table, error) {
				tab, err := read(ctx)
				for i := range tab.Rows {
					if c.persons {
						tab.Persons = append(tab.Persons, uint32(1+i%50))
					}
				}
				tab.Schema = &s
				return tab, err
			}
			r, err := e.Run(t.Context())
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			for k := range r.Cells {
				clear(r.Cells[k])
			}
			return r
		}
		few, many := release(100), release(4000)
		if c.relation == dp.ReplaceOne && few.Units != 50 {
			t.Errorf("%s: %d units, want 50 persons", name, few.Units)
		}
		if !reflect.DeepEqual(few, many) {
			t.Errorf("%s: 100 rows and 4,000 make different releases:\n%+v\n%+v", name, few, many)
		}
	}
}

// newLedger is a ledger in a folder with a budget of ε = 3 for a data set, people, and what of it
// is spent.
func newLedger(t *testing.T, ctx context.Context, folder string) (l *ledger.Ledger, spent func() dp.Epsilon) {
	t.Helper()
	l, err := ledger.Create(ctx, filepath.Join(folder, "ledger.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	if err := l.Declare(ctx, ledger.Dataset{Name: "people", Epsilon: 3 * dp.Nano}); err != nil {
		t.Fatal(err)
	}
	return l, func() dp.Epsilon {
		t.Helper()
		b, err := l.Balances(ctx, "people")
		if err != nil || len(b) != 1 {
			t.Fatal(b, err)
		}
		return b[0].Spent
	}
}

func censusText(t *testing.T, s *schema.Schema) []byte {
	t.Helper()
	text, err := s.YAML()
	if err != nil {
		t.Fatal(err)
	}
	return text
}
