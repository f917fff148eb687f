// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/internal/ground/dp"
)

// changes are other values of every field of a request. A field that is not here fails
// TestOneJobIsOneRequest, so that a new one is not forgotten.
var changes = map[string]func(*Request){
	"Dataset":     func(r *Request) { r.Dataset = "other" },
	"ID":          func(r *Request) { r.ID = "two" },
	"Config":      func(r *Request) { r.Config = []byte("config2") },
	"Part":        func(r *Request) { r.Part = "south" },
	"PartsBy":     func(r *Request) { r.PartsBy = "street" },
	"Definition":  func(r *Request) { r.Definition = "y" },
	"Cohorts":     func(r *Request) { r.Part, r.Cohorts = "", []string{"2027-01"} },
	"Institution": func(r *Request) { r.Institution = true },
	"Exposed":     func(r *Request) { r.Exposed = true },
	"By":          func(r *Request) { r.By = aliceKey },
	"Resume":      func(r *Request) { r.Resume = true },
	"Output":      func(r *Request) { r.Output = "/elsewhere" },
	"Worker":      func(r *Request) { r.Worker = "another machine" },

	"Terms.Unit":      func(r *Request) { r.Terms.Unit = "household" },
	"Terms.Relation":  func(r *Request) { r.Terms.Relation = dp.AddRemove },
	"Terms.Protected": func(r *Request) { r.Terms.Protected = []string{"a"} },
	"Terms.Person":    func(r *Request) { r.Terms.Person = "pid" },
}

// noTerms do not change what is released.
var noTerms = []string{"Exposed", "Resume", "Output", "Worker"}

func fieldsOf(t reflect.Type, before string) (names []string) {
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Type == reflect.TypeFor[Terms]() {
			names = append(names, fieldsOf(f.Type, f.Name+".")...)
		} else {
			names = append(names, before+f.Name)
		}
	}
	return names
}

// A job that differs in any one field is no repetition: its price is charged or it is refused, and
// it is not given the result of the other, whichever step that one has reached.
func TestOneJobIsOneRequest(t *testing.T) {
	fields := fieldsOf(reflect.TypeFor[Request](), "")
	if len(fields) != len(changes) {
		t.Fatalf("a request has the fields %q, and %d are tried", fields, len(changes))
	}
	onBoth(t, func(t *testing.T, fresh func(testing.TB) place) {
		l := create(t, fresh(t))
		ctx := context.Background()
		steps := []Kind{Began, Committed, Published}
		for _, state := range steps {
			must(t, l.Declare(ctx, Dataset{Name: "d-" + string(state), Epsilon: 100, Parts: towns}))
		}
		must(t, l.Declare(ctx, Dataset{Name: "other", Epsilon: 100, Parts: towns}))
		for _, state := range steps {
			first := onPart("one", "north")
			first.Dataset = "d-" + string(state)
			j := mustJob(t, l, first)
			must(t, charge(ctx, j, 3))
			if state != Began {
				must(t, j.Commit(ctx, []byte("result")))
			}
			if state == Published {
				must(t, j.Publish(ctx, t.TempDir()+"/m.json"))
			}
			for _, field := range fields {
				change, known := changes[field]
				if !known {
					t.Fatalf("the field %s is not tried", field)
				}
				again := first
				again.Terms.Protected = slices.Clone(first.Terms.Protected)
				change(&again)
				if reflect.DeepEqual(again, first) {
					t.Fatalf("%s is not another", field)
				}
				second, err := l.Job(ctx, again)
				var conflict *Conflict
				var param *dp.ParamError
				switch repeats := err == nil && second.Stored() != nil; {
				case slices.Contains(noTerms, field):
					if repeats != (state != Began) {
						t.Errorf("%s: another %s: %v, stored %v", state, field, err, repeats)
					}
				case repeats:
					t.Errorf("%s: another %s is given the result of the first", state, field)
				case err != nil && !errors.As(err, &conflict) && !errors.As(err, &param):
					t.Errorf("%s: another %s: %v", state, field, err)
				case err == nil:
					before := spentOn(t, l, again.Dataset)
					must(t, charge(ctx, second, 1))
					if after := spentOn(t, l, again.Dataset); after == before && again.Part == first.Part {
						t.Errorf("%s: another %s is not charged", state, field)
					}
				}
			}
		}
		verify(t, l)
	})
}

// spentOn is what a data set's parts and jobs on all of it have spent, added up.
func spentOn(t *testing.T, l *Ledger, dataset string) (sum dp.Epsilon) {
	t.Helper()
	b, err := l.Balances(t.Context(), dataset)
	must(t, err)
	for _, p := range b[0].ByPart {
		sum += p.Spent.Epsilon
	}
	return sum + b[0].Spent
}

// A job under other terms than the first is refused, each term alone; more protected columns add
// up.
func TestEveryTermMustAgree(t *testing.T) {
	l := create(t, sqlitePlace(t))
	ctx := context.Background()
	must(t, l.Declare(ctx, Dataset{Name: "d", Epsilon: 100, Parts: towns}))
	must(t, charge(ctx, mustJob(t, l, onPart("one", "north")), 3))
	for _, field := range fieldsOf(reflect.TypeFor[Terms](), "Terms.") {
		req := onPart("two", "north")
		changes[field](&req)
		var p *dp.ParamError
		if _, err := l.Job(ctx, req); !errors.As(err, &p) {
			t.Errorf("other %s: %v", field, err)
		}
	}
	for at, c := range request("x").Terms.Protected { // whichever column is missing
		req := onPart("three", "north")
		req.Terms.Protected = slices.Delete(slices.Clone(req.Terms.Protected), at, at+1)
		if _, err := l.Job(ctx, req); err == nil {
			t.Errorf("a job that does not protect %s is let in", c)
		}
	}
}
