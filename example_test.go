// SPDX-License-Identifier: Apache-2.0

package discreet_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/discreet-dp/discreet"
)

// Train on a file at ε = 1 and predict.
func Example() {
	ctx := context.Background()
	schema, err := discreet.LoadSchema("examples/quickstart/census.yaml")
	check(err)
	table, err := discreet.ReadTable(ctx, schema, "examples/quickstart/census.csv")
	check(err)
	model, err := discreet.Train(ctx, table, discreet.Options{Epsilon: 1, Account: discreet.Uncounted})
	check(err)
	predictions, err := model.PredictTable(table)
	check(err)
	fmt.Println(len(predictions.Class), "rows predicted at", model.Statement().Price)
	// Output: 400 rows predicted at epsilon = 1
}

type visit struct {
	Age      int     `discreet:"age"`
	Ward     string  `discreet:"ward"`
	Glucose  float64 `discreet:"glucose"`
	Returned string  `discreet:"returned"`
}

// Train on rows in memory, with a schema built in Go.
func ExampleTableOf() {
	schema, err := discreet.NewSchema(discreet.TableSpec{
		Name: "visits", Unit: "one visit", Relation: discreet.ReplaceOne,
		Columns: []discreet.Column{
			discreet.NumberColumn("age", discreet.Public, 0, 120, 50),
			discreet.CategoryColumn("ward", discreet.Private, "surgery", "medicine"),
			discreet.NumberColumn("glucose", discreet.Private, 2, 30, 6),
		},
		Label: discreet.Label{Name: "returned", Role: discreet.Public, Values: []string{"no", "yes"}, Positive: "yes"},
	})
	check(err)
	var visits []visit // here invented
	for i := range 500 {
		v := visit{Age: 20 + i%60, Ward: "surgery", Glucose: 4 + float64(i%9), Returned: "no"}
		if v.Glucose > 8 {
			v.Ward, v.Returned = "medicine", "yes"
		}
		visits = append(visits, v)
	}
	table, err := discreet.TableOf(schema, visits)
	check(err)
	model, err := discreet.Train(context.Background(), table, discreet.Options{Epsilon: 2, Account: discreet.Uncounted})
	check(err)
	report, err := model.Evaluate(table) // exact, so not private: of these rows it may be shown
	check(err)
	fmt.Println("better than guessing:", report.Accuracy > 0.7)
	// Output: better than guessing: true
}

// Judge a model on private rows that it was not trained on.
func ExampleModel_EvaluatePrivately() {
	ctx := context.Background()
	schema, err := discreet.LoadSchema("examples/quickstart/census.yaml")
	check(err)
	table, err := discreet.ReadTable(ctx, schema, "examples/quickstart/census.csv")
	check(err)
	model, err := discreet.Train(ctx, table, discreet.Options{Epsilon: 1, Account: discreet.Uncounted})
	check(err)
	report, err := model.EvaluatePrivately(ctx, table, discreet.EvaluationOptions{ // here the same rows
		Epsilon: 2, Account: discreet.Uncounted, FalsePositiveCost: 1, FalseNegativeCost: 3})
	check(err)
	auc := report.Numbers["auc"]
	fmt.Println(report.Price, "for", report.Rows, "rows; the AUC lies in an interval:", auc.Low < auc.High)
	// Output: epsilon = 2 for 400 rows; the AUC lies in an interval: true
}

// Train with a ledger, which counts what trainings on a data set cost together.
func ExampleLedger() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "discreet")
	check(err)
	defer os.RemoveAll(dir)

	ledger, err := discreet.OpenLedger(ctx, filepath.Join(dir, "ledger.db"))
	check(err)
	defer ledger.Close()
	check(ledger.Declare(ctx, "census", discreet.Price{Epsilon: 1}))

	schema, err := discreet.LoadSchema("examples/quickstart/census.yaml")
	check(err)
	table, err := discreet.ReadTable(ctx, schema, "examples/quickstart/census.csv")
	check(err)
	model, err := discreet.Train(ctx, table, discreet.Options{Epsilon: 0.4, Account: ledger.Job("census", "monday")})
	check(err)
	fmt.Println("counted:", model.Statement().Counted)

	balances, err := ledger.Show(ctx, "census")
	check(err)
	fmt.Println("left:", balances[0].Left)

	_, err = discreet.Train(ctx, table, discreet.Options{Epsilon: 0.7, Account: ledger.Job("census", "tuesday")})
	fmt.Println("refused:", errors.Is(err, discreet.ErrBudget))
	// Output:
	// counted: true
	// left: epsilon = 0.6
	// refused: true
}

// Say what a training would cost, before any data.
func ExampleSchema_Plan() {
	schema, err := discreet.LoadSchema("examples/quickstart/census.yaml")
	check(err)
	plan, err := schema.Plan(discreet.Options{Learner: "erm", Epsilon: 0.5, Rows: 20_000})
	check(err)
	fmt.Println(plan.Price)
	for _, r := range plan.Bill {
		fmt.Println(r.Name, "by", r.Mechanism)
	}
	// Output:
	// epsilon = 0.5
	// linear term of the objective by objective blocks
	// coefficients by remainder
}

// Predict one row at low latency.
func ExampleModel_Predictor() {
	model := trained()
	predictor, err := model.Predictor()
	check(err)
	row := make([]discreet.Cell, len(predictor.Columns()))
	for i, name := range predictor.Columns() {
		switch name {
		case "age":
			row[i] = discreet.Number(47)
		case "education":
			row[i] = discreet.Text("master")
		case "sex", "region", "settlement", "origin":
			row[i] = discreet.Text("other")
		} // all else is missing
	}
	class, score, err := predictor.Predict(row)
	check(err)
	fmt.Println("consistent:", (class == "yes") == (score >= 0.5))
	// Output: consistent: true
}

// Load a model, and read what it promises and what it learnt.
func ExampleLoadModel() {
	dir, err := os.MkdirTemp("", "discreet")
	check(err)
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "model.json")
	check(trained().Save(path))

	model, err := discreet.LoadModel(path)
	check(err)
	statement := model.Statement()
	fmt.Println(statement.Price, "counted:", statement.Counted)
	explanation, err := model.Explain()
	check(err)
	page, err := os.Create(filepath.Join(dir, "model.html"))
	check(err)
	check(explanation.WriteHTML(page))
	check(page.Close())
	// Output: epsilon = 1 counted: false
}

func trained() *discreet.Model {
	ctx := context.Background()
	schema, err := discreet.LoadSchema("examples/quickstart/census.yaml")
	check(err)
	table, err := discreet.ReadTable(ctx, schema, "examples/quickstart/census.csv")
	check(err)
	model, err := discreet.Train(ctx, table, discreet.Options{Epsilon: 1, Account: discreet.Uncounted})
	check(err)
	return model
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
