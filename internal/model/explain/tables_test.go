// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/privacy/dp"
)

// gridded is summed's schema with two tables: over ward and age, and over age alone.
func gridded(t *testing.T) *model.Model {
	t.Helper()
	m := summed(t)
	width := m.Schema.Columns[columnOf(m, "ward")].Codes()
	parts := make([]int, width)
	for i := range parts {
		parts[i] = min(i, 1)
	}
	m.Learner = "grids"
	m.Classifier = &model.Grids{Intercepts: []float64{0.5}, Grids: []model.Grid{
		{Axes: []model.GridAxis{{Column: "age <b>", Edges: []float64{40}}}, Steps: [][]float64{{-0.1, 0.1}}},
		{Axes: []model.GridAxis{{Column: "ward", Parts: parts}, {Column: "age <b>", Edges: []float64{30}}},
			Steps: [][]float64{{0.1, -0.4, 0.2, 0.9}}},
	}}
	return m
}

// A model of grids is explained by its strongest tables and cells, and by its columns.
func TestGridsAreExplained(t *testing.T) {
	e, err := Of(gridded(t))
	if err != nil {
		t.Fatal(err)
	}
	if e.Intercept != 0.5 || e.TableCount != 2 || len(e.Tables) != 2 || !slices.Equal(e.Tables[0].Columns, []string{"ward", "age <b>"}) {
		t.Fatalf("%+v", e.Tables)
	}
	first := e.Tables[0]
	if math.Abs(first.Importance-0.4) > 1e-12 || len(first.Cells) != 4 || first.Cells[0].LogOdds != 0.9 ||
		first.Cells[0].Where[1] != "30 … 100" || first.Cells[1].LogOdds != -0.4 || first.Cells[1].Where[1] != "0 … 30" {
		t.Errorf("the strongest table is %+v", first)
	}
	if u := e.Uses[0]; u.Column != "age <b>" || u.Tables != 2 || math.Abs(u.Importance-0.5) > 1e-12 {
		t.Errorf("the most important column is %+v", u)
	}
	var page bytes.Buffer
	if err := e.WriteHTML(&page); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"The strongest of 2 tables", "ward × age &lt;b&gt;", "&#43;0.900", "protected, from noisy measurements"} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("%q is not on the page", want)
		}
	}
}

// A page of a model without privacy calls no column public.
func TestPageWithoutPrivacyHasNoPublicColumns(t *testing.T) {
	m := summed(t)
	m.Privacy = model.Privacy{Scope: dp.Nothing, Relation: m.Privacy.Relation, NotPrivate: true, Unit: "one row",
		Statement: "No noise was added."}
	text := written(t, m)
	if !strings.Contains(text, "no noise added") || strings.Contains(text, "</span> public") || !strings.Contains(text, "NOT PRIVATE") {
		t.Error("the legend of a page without privacy names public columns")
	}
}

// Of a category of many levels, the largest are drawn and the others counted.
func TestLargestLevelsAreDrawn(t *testing.T) {
	sh := &Shape{Kind: "category"}
	for i := range 300 {
		sh.Bins = append(sh.Bins, Bin{Level: strings.Repeat("x", i+1), LogOdds: float64(i%50) / 10})
	}
	d := drawShape(sh, nil, scaleOf([]Shape{*sh}))
	if len(d.Rows) != 15 || d.LeftOut != 285 || d.Height > 400 || len(sh.Bins) != 300 {
		t.Errorf("%d levels drawn, %d left out, %g high", len(d.Rows), d.LeftOut, d.Height)
	}
}

func TestBriefNumbersHaveNoExponent(t *testing.T) {
	for x, want := range map[float64]string{24500.3: "24500", 12345678: "12350000", 99999: "99999", 13.4217: "13.42", -250000: "−250000"} {
		if got := briefNumber(x); got != want {
			t.Errorf("%g is written %s, want %s", x, got, want)
		}
	}
}
