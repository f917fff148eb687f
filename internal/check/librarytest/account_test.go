// SPDX-License-Identifier: Apache-2.0

package librarytest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet"

	_ "modernc.org/sqlite"
)

func censusTable(t *testing.T) (*discreet.Schema, *discreet.Table) {
	t.Helper()
	schema, err := discreet.LoadSchema("../../../examples/quickstart/census.yaml")
	if err != nil {
		t.Fatal(err)
	}
	table, err := discreet.ReadTable(t.Context(), schema, "../../../examples/quickstart/census.csv")
	if err != nil {
		t.Fatal(err)
	}
	return schema, table
}

// An account of the caller's own is charged once, with the planned price, and when
// it refuses there is no model.
func TestCallersAccountIsChargedOnce(t *testing.T) {
	schema, table := censusTable(t)
	for _, learner := range []string{"additive", "brc", "erm", "grids"} {
		plan, err := schema.Plan(discreet.Options{Learner: learner, Epsilon: 0.7, Rows: table.Rows()})
		if err != nil {
			t.Fatal(err)
		}
		charged := 0
		pays := discreet.AccountFunc(func(_ context.Context, p discreet.Price, bill []discreet.Release) error {
			charged++
			if p != plan.Price || len(bill) != len(plan.Bill) {
				t.Errorf("%s: charged %v for %d releases, planned %v for %d", learner, p, len(bill), plan.Price, len(plan.Bill))
			}
			return nil
		})
		m, err := discreet.Train(t.Context(), table, discreet.Options{Learner: learner, Epsilon: 0.7, Account: pays})
		if err != nil {
			t.Fatal(err)
		}
		if s := m.Statement(); charged != 1 || !s.Counted || s.Price != plan.Price {
			t.Errorf("%s: charged %d times, stated %v, counted %v", learner, charged, s.Price, s.Counted)
		}
		broke := errors.New("broke")
		refuses := discreet.AccountFunc(func(context.Context, discreet.Price, []discreet.Release) error { return broke })
		if m, err := discreet.Train(t.Context(), table,
			discreet.Options{Learner: learner, Epsilon: 0.7, Account: refuses}); m != nil || !errors.Is(err, broke) {
			t.Errorf("%s: model %v, error %v", learner, m != nil, err)
		}
	}
}

// A job gives the same model again for nothing, and another with its name is
// refused.
func TestJobsAreDrawnOnce(t *testing.T) {
	_, table := censusTable(t)
	ledger, err := discreet.OpenLedger(t.Context(), filepath.Join(t.TempDir(), "l.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer ledger.Close()
	if err := ledger.Declare(t.Context(), "d", discreet.Price{Epsilon: 1}); err != nil {
		t.Fatal(err)
	}
	returned := false
	train := func(eps float64, job string) (string, error) {
		m, err := discreet.Train(t.Context(), table, discreet.Options{Epsilon: eps, Account: ledger.Job("d", job)})
		if err != nil {
			return "", err
		}
		returned = m.FromLedger()
		b, err := m.MarshalBinary()
		return string(b), err
	}
	first, err := train(0.6, "a")
	if err != nil || returned {
		t.Fatalf("error %v, from the ledger %v", err, returned)
	}
	if again, err := train(0.6, "a"); err != nil || again != first || !returned {
		t.Errorf("the same job: same model %v, from the ledger %v, %v", again == first, returned, err)
	}
	if _, err := train(0.3, "a"); err == nil {
		t.Error("another training took the name of a job")
	}
	if _, err := train(0.5, "b"); !errors.Is(err, discreet.ErrBudget) {
		t.Errorf("beyond the total: %v", err)
	}
	all, err := ledger.Show(t.Context())
	if err != nil || len(all) != 1 || all[0].Spent.Epsilon != 0.6 || all[0].Left.Epsilon != 0.4 {
		t.Errorf("%+v, %v", all, err)
	}
}

// A price beyond the schema's limit is refused before the account is asked.
func TestLimitsOfTheSchema(t *testing.T) {
	text, err := os.ReadFile("../../../examples/quickstart/census.yaml")
	if err != nil {
		t.Fatal(err)
	}
	schema, err := discreet.ParseSchema(append([]byte("max_epsilon: 0.5\n"), text...))
	if err != nil {
		t.Fatal(err)
	}
	table, err := discreet.ReadTable(t.Context(), schema, "../../../examples/quickstart/census.csv")
	if err != nil {
		t.Fatal(err)
	}
	asked := 0
	o := discreet.Options{Epsilon: 0.6, Account: discreet.AccountFunc(
		func(context.Context, discreet.Price, []discreet.Release) error { asked++; return nil })}
	if _, err := discreet.Train(t.Context(), table, o); !errors.Is(err, discreet.ErrBudget) || asked != 0 {
		t.Errorf("asked %d times, %v", asked, err)
	}
	if plan, err := schema.Plan(o); err != nil || plan.Refusal == "" {
		t.Errorf("plan %+v, %v", plan, err)
	}
	o.ExceedMax = true
	if m, err := discreet.Train(t.Context(), table, o); err != nil || len(m.Statement().Overrides) != 1 {
		t.Errorf("with the override: %v", err)
	}
}

type person struct {
	Age      *int    `discreet:"age"`
	Member   bool    `discreet:"member"`
	Income   float32 `discreet:"income"`
	Comment  string  `discreet:"-"`
	Returned string  `discreet:"returned"`
}

func memberSchema(t *testing.T) *discreet.Schema {
	t.Helper()
	s, err := discreet.NewSchema(discreet.TableSpec{
		Name: "members", Unit: "one member", Relation: discreet.ReplaceOne,
		Columns: []discreet.Column{
			discreet.NumberColumn("age", discreet.Private, 0, 120, 40),
			discreet.CategoryColumn("member", discreet.Public, "false", "true"),
			discreet.NumberColumn("income", discreet.Private, 0, 1000, 0),
		},
		Label: discreet.Label{Name: "returned", Role: discreet.Public, Values: []string{"no", "yes"}, Positive: "yes"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Structs, text and a query of the same rows are the same table.
func TestRowsInMemory(t *testing.T) {
	schema := memberSchema(t)
	age := 33
	people := []person{
		{Age: &age, Member: true, Income: 12.5, Returned: "yes"}, {Member: false, Income: 2000, Returned: "no"},
		{Age: &age, Income: 1, Returned: "yes"}, {Member: true, Returned: "no"},
	}
	text := [][]string{{"33", "true", "12.5", "yes"}, {"", "false", "1000", "no"}, {"33", "false", "1", "yes"},
		{"x", "true", "0", "no"}}

	structs, err := discreet.TableOf(schema, people)
	if err != nil {
		t.Fatal(err)
	}
	cells, err := discreet.TableOfRows(schema, func(yield func([]string) bool) {
		for _, row := range text {
			if !yield(row) {
				return
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.QueryContext(t.Context(), `SELECT 33 AS age, 'true' AS member, 12.5 AS income, 'yes' AS returned
		UNION ALL SELECT NULL, 'false', 2000, 'no' UNION ALL SELECT 33, 'false', 1, 'yes'
		UNION ALL SELECT NULL, 'true', 0, 'no'`)
	if err != nil {
		t.Fatal(err)
	}
	query, err := discreet.TableFromSQL(t.Context(), schema, rows)
	if err != nil {
		t.Fatal(err)
	}
	m, err := discreet.Train(t.Context(), structs,
		discreet.Options{Learner: "logistic", NotPrivate: true, Account: discreet.Uncounted})
	if err != nil {
		t.Fatal(err)
	}
	want, err := m.PredictTable(structs)
	if err != nil {
		t.Fatal(err)
	}
	for name, table := range map[string]*discreet.Table{"text": cells, "query": query} {
		got, err := m.PredictTable(table)
		if err != nil {
			t.Fatal(err)
		}
		sameScores(t, name, got.Scores, want.Scores)
		if got.Undeclared != nil {
			t.Errorf("%s: counts of a table that may be trained on: %v", name, got.Undeclared)
		}
	}

	// Rows to predict tell what they hold that is not declared.
	path := filepath.Join(t.TempDir(), "new.csv")
	if err := os.WriteFile(path, []byte("age,member,income\nforty,true,1\n33,perhaps,1e9\n33,false,1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := m.ReadTable(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	rows, err = db.QueryContext(t.Context(), `SELECT 'forty' AS age, 'true' AS member, 1 AS income
		UNION ALL SELECT 33, 'perhaps', 1e9 UNION ALL SELECT 33, 'false', 1`)
	if err != nil {
		t.Fatal(err)
	}
	if query, err = discreet.TableFromSQL(t.Context(), m.Schema(), rows); err != nil {
		t.Fatal(err)
	}
	for name, table := range map[string]*discreet.Table{"file": file, "query": query} {
		got, err := m.PredictTable(table)
		if err != nil {
			t.Fatal(err)
		}
		if want := map[string]int{"age.unreadable": 1, "member.other": 1, "income.clamped": 1}; !maps.Equal(got.Undeclared, want) {
			t.Errorf("%s: counts %v, want %v", name, got.Undeclared, want)
		}
	}
}

// What cannot be a table is refused, and no cell is repeated.
func TestRowsInMemoryRefused(t *testing.T) {
	schema := memberSchema(t)
	const secret = "s3cret"
	type stray struct {
		Age int `discreet:"age"`
		Own string
	}
	_, err := discreet.TableOf(schema, []stray{{}})
	if p, ok := errors.AsType[*discreet.ParamError](err); !ok || p.Param != "field Own" {
		t.Errorf("a field that is no column: %v", err)
	}
	for _, row := range [][]string{{"1", "true", "1", secret}, {"1", "true", secret}, {}} {
		_, err := discreet.TableOfRows(schema, func(yield func([]string) bool) { yield(row) })
		if err == nil || strings.Contains(err.Error(), secret) {
			t.Errorf("%d cells: %v", len(row), err)
		}
	}
	if _, err := discreet.TableOf(schema, []person(nil)); err == nil {
		t.Error("no rows are a table")
	}
}

// A training or an evaluation on some cohorts reads their rows alone and charges them alone.
func TestCohortsAreChargedAlone(t *testing.T) {
	schema, err := discreet.ParseSchema([]byte(`name: members
unit: one member
relation: replace-one
file: {delimiter: ",", quote: '"', header: true, trim: true, missing: []}
columns:
  - {name: joined, role: public, date: {format: YYYY-MM-DD, lower: 2020-01-01, upper: 2049-12-31, default: 2020-01-01}}
  - {name: age, role: private, number: {lower: 0, upper: 120, default: 40}}
  - {name: renewed, role: private, label: {levels: ["no", "yes"], positive: "yes", default: "no"}}
`))
	if err != nil {
		t.Fatal(err)
	}
	var rows strings.Builder
	rows.WriteString("joined,age,renewed\n")
	for i := range 300 {
		fmt.Fprintf(&rows, "2027-0%d-11,%d,%s\n", 1+i%3, 20+i%60, []string{"no", "yes"}[i/150])
	}
	table, err := discreet.ReadTableFrom(t.Context(), schema, strings.NewReader(rows.String()))
	if err != nil {
		t.Fatal(err)
	}
	ledger, err := discreet.OpenLedger(t.Context(), filepath.Join(t.TempDir(), "l.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer ledger.Close()
	if err := ledger.DeclareCohorts(t.Context(), "d", "joined", discreet.Price{Epsilon: 1}); err != nil {
		t.Fatal(err)
	}
	train := func(job string, eps float64, cohorts ...string) (*discreet.Model, error) {
		return discreet.Train(t.Context(), table, discreet.Options{Learner: "additive", Epsilon: eps, Cohorts: cohorts,
			Account: ledger.Job("d", job)})
	}
	m, err := train("a", 0.75, "2027-01", "2027-02")
	if err != nil {
		t.Fatal(err)
	}
	if text := m.Statement().String(); !strings.Contains(text, `"2027-01", "2027-02"`) {
		t.Errorf("the statement does not name the cohorts: %s", text)
	}
	if _, err := train("b", 0.5, "2027-02"); !errors.Is(err, discreet.ErrBudget) {
		t.Errorf("a cohort was charged beyond its total: %v", err)
	}
	report, err := m.EvaluatePrivately(t.Context(), table, discreet.EvaluationOptions{Epsilon: 0.5, Cohorts: []string{"2027-03"},
		Account: ledger.Job("d", "c")})
	if err != nil || report.Rows != 100 {
		t.Errorf("an evaluation of a cohort that was not charged: %+v, %v", report, err)
	}
	if _, err := train("d", 0.5, "2027-03"); err != nil {
		t.Errorf("half of a cohort's total is left: %v", err)
	}
	if _, err := discreet.Train(t.Context(), table, discreet.Options{Epsilon: 0.1, Cohorts: []string{"2027-03"},
		Account: discreet.Uncounted}); err == nil {
		t.Error("cohorts were trained on without a ledger")
	}
}
