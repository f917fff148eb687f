// SPDX-License-Identifier: Apache-2.0

//go:build !js

package train

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/check/testkit/censustest"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/ledger/policy"
	"github.com/discreet-dp/discreet/internal/table/census"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// otherTraining are the fields of a training and other values of them; nil for those that change
// nothing that is released. A field that is not here fails the test.
var otherTraining = map[string]func(*testing.T, *Training){
	"Op": nil, "Read": nil, "Rows": nil, "Output": nil, "Job": nil, "Account": nil, "Say": nil, "plan": nil, "excess": nil,
	"cohortBy": nil, "FromLedger": nil, "Now": nil, "Checked": nil, "facts": nil,

	"Request":    func(t *testing.T, tr *Training) { tr.Request = requestOf(t, "erm", "1") },
	"Schema":     func(t *testing.T, tr *Training) { tr.Schema = editSchema(t, tr) },
	"SchemaText": func(t *testing.T, tr *Training) { tr.SchemaText = append(slices.Clone(tr.SchemaText), '\n') },
	"Data":       func(t *testing.T, tr *Training) { tr.Data = append(slices.Clone(tr.Data), tr.Data[0]) },
	"Part":       func(t *testing.T, tr *Training) { tr.Part = "coast" },
	"Cohorts":    func(t *testing.T, tr *Training) { tr.Cohorts = []string{"2027-01"} },
	"Policy":     func(t *testing.T, tr *Training) { tr.Policy, tr.Now = policyOf(t), time.Unix(1_790_000_000, 0) },
	"Exceed":     func(t *testing.T, tr *Training) { tr.Exceed = true },

	"Request.Learner":   func(t *testing.T, tr *Training) { tr.Request.Learner = requestOf(t, "erm", "1").Learner },
	"Request.Price":     func(t *testing.T, tr *Training) { tr.Request.Price.Epsilon++ },
	"Request.defaulted": nil,
	"Request.given":     func(t *testing.T, tr *Training) { tr.Request.given = map[string]string{"rounds": "2"} },
	"Price.Epsilon":     func(t *testing.T, tr *Training) { tr.Request.Price.Epsilon *= 2 },
	"Price.Delta":       func(t *testing.T, tr *Training) { tr.Request.Price.Delta = 1 },
	"Price.NotPrivate":  func(t *testing.T, tr *Training) { tr.Request = requestOf(t, "logistic", "inf") },
}

// editSchema is the schema of a training in which the first private column is public.
func editSchema(t *testing.T, tr *Training) *schema.Schema {
	t.Helper()
	tr.SchemaText = bytes.Replace(tr.SchemaText, []byte("role: private"), []byte("role: public"), 1)
	s, err := schema.Parse(tr.SchemaText)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Where the number of rows is public, a training counts them before it charges.
func TestRowsAreCountedWhereTheyArePublic(t *testing.T) {
	ctx, folder := context.Background(), t.TempDir()
	l, spent := newLedger(t, ctx, folder)
	for minimum, refused := range map[int]bool{200: false, 201: true} {
		s := census.Schema()
		before, allowed := spent(), policyOf(t)
		allowed.Rows = policy.Rows{Minimum: minimum, Declared: 1000}
		_, err := (&Training{Op: "train", Request: requestOf(t, "additive", "1"), Schema: s, SchemaText: censusText(t, s),
			Read:   func(context.Context) (*dataset.Table, error) { return censustest.Table(1, 200), nil },
			Policy: allowed, Now: time.Unix(1_790_000_000, 0), Job: &Job{Ledger: l, Dataset: "people"}}).Run(ctx)
		_, is := errors.AsType[*policy.Refused](err)
		if is != refused || refused == (err == nil) || refused == (spent() != before) {
			t.Errorf("at least %d of 200 rows: %v", minimum, err)
		}
	}
}

// policyOf is a policy that allows what the tests of terms ask.
func policyOf(t *testing.T) *policy.Project {
	t.Helper()
	_, officer, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if _, err := policy.SignProject([]byte("version: 1\nnumber: 1\ndata: people\nunit: row\ntraining: {epsilon: \"9\"}\n"+
		"lifetime: {epsilon: \"99\"}\nuntil: \"2099-12-31\"\n"), officer, nil, &b); err != nil {
		t.Fatal(err)
	}
	p, err := policy.ParseProject(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// A training that differs in any one field, and has the ID of one that has a model, is refused: it
// is not given that model, and nothing is charged.
func TestEveryFieldIsATermOfTheJob(t *testing.T) {
	var fields []string
	for _, of := range []struct {
		t      reflect.Type
		before string
	}{{reflect.TypeFor[Training](), ""}, {reflect.TypeFor[Request](), "Request."}, {reflect.TypeFor[Price](), "Price."}} {
		for f := range of.t.Fields() {
			fields = append(fields, of.before+f.Name)
		}
	}
	if len(fields) != len(otherTraining) {
		t.Errorf("there are the fields %q, and %d are tried", fields, len(otherTraining))
	}
	ctx, folder := context.Background(), t.TempDir()
	l, spent := newLedger(t, ctx, folder)
	s := census.Schema()
	text := censusText(t, s)
	training := func() *Training {
		parsed, err := schema.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		return &Training{Op: "train", Request: requestOf(t, "additive", "1"), Schema: parsed, SchemaText: text,
			Data: []string{"x"}, Output: Output{Path: filepath.Join(folder, "m.json")},
			Read: func(context.Context) (*dataset.Table, error) { return censustest.Table(1, 200), nil },
			Job:  &Job{Ledger: l, Dataset: "people", ID: "monday"}}
	}
	first := training()
	if _, err := first.Run(ctx); err != nil || first.FromLedger {
		t.Fatalf("error %v, from the ledger %v", err, first.FromLedger)
	}
	before, err := os.ReadFile(filepath.Join(folder, "m.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, field := range fields {
		change, known := otherTraining[field]
		switch {
		case !known:
			t.Errorf("the field %s is not tried", field)
			continue
		case change == nil:
			continue
		}
		again := training()
		change(t, again)
		if m, err := again.Run(ctx); err == nil {
			t.Errorf("another %s is given a model, of %s", field, m.Learner)
		}
		if got := spent(); got != dp.Nano {
			t.Errorf("another %s: %v spent", field, got)
		}
	}
	same := training()
	if _, err := same.Run(ctx); err != nil || !same.FromLedger {
		t.Errorf("the same training again: %v", err)
	}
	after, err := os.ReadFile(filepath.Join(folder, "m.json"))
	if err != nil || !bytes.Equal(before, after) || spent() != dp.Nano {
		t.Errorf("the same training again has another model, or a price: %v", err)
	}
}

// A training makes one plan, and where the number of rows is public one more, with it, once it has read
// them: it is what is charged and fitted. A training that Check refuses stays refused.
func TestTrainingsArePlannedOnce(t *testing.T) {
	for relation, want := range map[string][]int{"add-remove": {0}, "replace-one": {0, 2}} {
		var planned []int
		run := &Training{Op: "train", Request: requestOf(t, "additive", "1"), Schema: writtenSchema(t, relation, "private", 2, false)}
		run.Read = func(ctx context.Context) (*dataset.Table, error) {
			return dataset.Read(ctx, run.Schema, dataset.Options{Stdin: strings.NewReader("x,z,c,y\n1,0,a,k0\n9,0,b,k1\n")}, "-")
		}
		plan := run.Request.Make
		run.Request.Make = func(price Price, s *schema.Schema, rows int) (learn.Plan, error) {
			planned = append(planned, rows)
			return plan(price, s, rows)
		}
		if err := run.Check(); err != nil {
			t.Fatal(err)
		}
		if _, err := run.Run(t.Context()); err != nil || !slices.Equal(planned, want) {
			t.Errorf("%s: planned for %v rows, want %v: %v", relation, planned, want, err)
		}
		run.Schema.MaxEpsilon = 1
		for range 2 {
			if err := run.Check(); err == nil {
				t.Error("a price above the limit is accepted")
			}
			if _, err := run.Run(t.Context()); err == nil {
				t.Error("a training is run that was refused")
			}
		}
	}
}

// Every private column of the file is a term, the label too, and no other is: whichever changes its
// role.
func TestTermsNameEveryProtectedColumn(t *testing.T) {
	all := census.Schema()
	for j := range all.Columns {
		all.Columns[j].Role = schema.Private
	}
	all.Label.Role = schema.Private
	all.Person = &schema.Person{Column: all.Columns[0].Name}
	every := Terms(all)
	if len(every.Protected) != len(all.FileColumns())+1 || !slices.IsSorted(every.Protected) {
		t.Fatalf("%q are protected, of %d columns and a label", every.Protected, len(all.FileColumns()))
	}
	roles := []*schema.Role{&all.Label.Role}
	names := []string{all.Label.Name}
	for j := range all.Columns {
		roles, names = append(roles, &all.Columns[j].Role), append(names, all.Columns[j].Name)
	}
	for i, role := range roles {
		*role = schema.Public
		got := Terms(all).Protected
		*role = schema.Private
		if len(got) != len(every.Protected)-1 || slices.Contains(got, names[i]) {
			t.Errorf("%s is public, and %q are protected", names[i], got)
		}
	}
	changed := map[string]func(*schema.Schema){
		"Unit":      func(s *schema.Schema) { s.Unit += "s" },
		"Relation":  func(s *schema.Schema) { s.Relation = dp.AddRemove },
		"Protected": func(s *schema.Schema) { s.Label.Role = schema.Public },
		"Person":    func(s *schema.Schema) { s.Person = nil },
	}
	for f := range reflect.TypeOf(every).Fields() {
		s := *all
		change := changed[f.Name]
		if change == nil {
			t.Errorf("the term %s is not tried", f.Name)
			continue
		}
		if change(&s); reflect.DeepEqual(Terms(&s), every) {
			t.Errorf("another %s in the schema makes the same terms", f.Name)
		}
	}
}
