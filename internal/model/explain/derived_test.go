// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// derived is summed with the mean of two columns, one of which it reads for
// nothing else.
func derived(t *testing.T) *model.Model {
	t.Helper()
	text := strings.Replace(fixture, "  - {name: ward",
		"  - {name: tenure, role: public, number: {lower: 0, upper: 100, default: 50}}\n  - {name: ward", 1)
	s, err := schema.Parse([]byte(text + "derived:\n  - {name: usual, mean: [tenure, \"age <b>\"]}\n"))
	if err != nil {
		t.Fatal(err)
	}
	m := summed(t)
	m.Schema = s
	m.Classifier.(*model.Additive).Shapes = append(m.Classifier.(*model.Additive).Shapes,
		model.Shape{Column: "usual", Edges: []float64{50}, LogOdds: []float64{-3, 2}, Noise: []float64{0.5, 0.5}})
	return m
}

// A reader is told what a column follows from that no file has.
func TestDerivedColumnsSayWhatTheyAre(t *testing.T) {
	m := derived(t)
	e, err := Of(m)
	if err != nil {
		t.Fatal(err)
	}
	sh := e.Shapes[0]
	if sh.Column != "usual" || sh.Derived != schema.Mean || !slices.Equal(sh.Sources, []string{"tenure", "age <b>"}) ||
		!sh.Protected {
		t.Errorf("got %+v", sh)
	}
	const says = `<p class="name">the mean of tenure, age &lt;b&gt;</p>`
	if page := written(t, m); strings.Count(page, says) != 1 || strings.Contains(page, ">tenure<") {
		t.Error("the page does not say what follows from what, or has a column without a shape")
	}

	m.Classifier = &model.MulticlassAdditive{Intercepts: []float64{0, 0, 0}, Shapes: []model.ClassShape{
		{Column: "usual", LogShares: [][]float64{{1}, {0}, {0}}, Noise: [][]float64{{0}, {0}, {0}}},
		{Column: "bill", LogShares: [][]float64{{0}, {0}, {0}}, Noise: [][]float64{{0}, {0}, {0}}},
	}}
	m.Schema.Label.Positive = -1
	m.Schema.Label.Levels = append(m.Schema.Label.Levels, schema.Level{Value: "unknown"})
	if page := written(t, m); strings.Count(page, says) != 1 {
		t.Error("the page of classes does not say what follows from what")
	}
}

func TestDerivedContributions(t *testing.T) {
	m := derived(t)
	tab := &dataset.Table{Schema: m.Schema, Rows: 2, Cols: make([]column.Column, 5)}
	for j, values := range [][]float64{{20, 80}, {1, 2}, {70, 40}} { // means 45 and 60
		tab.Cols[j] = column.Column{Codes: column.Narrow([]uint32{0, 1}, 2), Values: values}
	}
	tab.Cols[3].Codes = column.Narrow([]uint32{0, 1}, 4)
	tab.Derive()
	parts, err := Contributions(m, tab.Cols)
	if err != nil || len(parts) != 4 {
		t.Fatalf("%d contributions, error %v", len(parts), err)
	}
	if last := parts[3]; last.Column != "usual" || last.At(0, 0) != -3 || last.At(1, 0) != 2 {
		t.Errorf("%s: %g and %g", last.Column, last.At(0, 0), last.At(1, 0))
	}
}
