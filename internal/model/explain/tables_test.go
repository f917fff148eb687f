// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// gridded is summed's schema with two tables: over ward and age, and over age alone.
func gridded(t *testing.T) *model.Model {
	t.Helper()
	m := summed(t)
	width := m.Schema.Columns[m.Schema.Find("ward")].Codes()
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
	if !strings.Contains(text, "not protected") || strings.Contains(text, "</span> public") || !strings.Contains(text, "NOT PRIVATE") {
		t.Error("the legend of a page without privacy names public columns")
	}
}

// Of a category of many levels, the largest are drawn and the others counted.
func TestLargestLevelsAreDrawn(t *testing.T) {
	sh := &Shape{Origin: Origin{Kind: "category"}}
	for i := range 300 {
		sh.Bins = append(sh.Bins, Bin{Cut: Cut{Level: strings.Repeat("x", i+1)}, LogOdds: float64(i%50) / 10})
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

// An axis has round numbers, powers of ten if it is a logarithm, or the years of dates.
func TestTicksAreRound(t *testing.T) {
	for _, c := range []struct {
		column schema.Column
		want   string
	}{
		{schema.Column{Lower: 17, Upper: 90}, "20 40 60 80"},
		{schema.Column{Lower: -0.3, Upper: 0.8}, "−0.2 0 0.2 0.4 0.6 0.8"},
		{schema.Column{Lower: 0, Upper: 9}, "0 2 4 6 8"},
		{schema.Column{Lower: 0, Upper: 500000, Transform: schema.Log1p}, "0 1 10 100 1000 10000 100000"},
		{schema.Column{Lower: 0, Upper: 3652, Date: "DD.MM.YYYY", Since: 16436}, "2016 2018 2020 2022 2024"}, // 2015-01-01
		{schema.Column{Lower: 0, Upper: 300, Date: "YYYY-MM-DD", Since: 16436}, "2015 2015-04-11 2015-07-20 2015-10-28"},
	} {
		lo, hi := c.column.Lower, c.column.Upper
		place := func(v float64) float64 { return v }
		if c.column.Transform == schema.Log1p {
			lo, hi, place = math.Log1p(lo), math.Log1p(hi), math.Log1p
		}
		var texts []string
		for _, tick := range roundTicks(&c.column, func(v float64) float64 { return 40 + 308*(place(v)-lo)/(hi-lo) }) {
			texts = append(texts, tick.Text)
		}
		if got := strings.Join(texts, " "); got != c.want {
			t.Errorf("from %g to %g: %q, want %q", c.column.Lower, c.column.Upper, got, c.want)
		}
	}
}

// Where all bins are drawn equally wide, an axis has the roundest numbers within them.
func TestTicksOfEqualBinsAreRound(t *testing.T) {
	for _, c := range []struct {
		low, high float64
		whole     bool
		want      float64
	}{{1.517, 4.686, true, 2}, {4.686, 13.2, true, 5}, {-3.2, 2.2, true, -2}, {97.5, 98.4, true, 98}, {1.517, 1.686, false, 1.55}, {1e5, 1e6, true, 1e5},
		{0.5, 1.5, true, 1}, {10.00001, 10.00002, false, 10.00001}, {0, 0.3, false, 0}, {380.2, 1170.9, true, 500}, {11, 1e5, true, 1000}} {
		if got := roundestIn(c.low, c.high, c.whole); math.Abs(got-c.want) > 1e-4*math.Abs(c.want) || got < c.low || got >= c.high {
			t.Errorf("from %g to %g: %g, not %g", c.low, c.high, got, c.want)
		}
	}
	column := schema.Column{Name: "visits", Upper: 900, Integer: true}
	var bins []Bin
	var cuts []float64
	edges := []float64{0, 0.5, 1.517, 4.686, 13.2, 40.7, 131.4, 900}
	for b := range len(edges) - 1 {
		bins, cuts = append(bins, Bin{Cut: Cut{From: &edges[b], To: &edges[b+1]}}), append(cuts, float64(b)/7)
	}
	var texts []string
	for _, tick := range edgeTicks(&column, bins, append(cuts, 1), func(cut float64) float64 { return 40 + 308*cut }) {
		texts = append(texts, tick.Text)
	}
	if got := strings.Join(texts, " "); got != "0 1 2 5 20 50 200 900" {
		t.Errorf("ticks %s", got)
	}
}

// A public column beside a protected label is read through noise too, and the legend of a page says so.
func TestLegendOfPublicColumnsBesideAProtectedLabel(t *testing.T) {
	for scope, want := range map[dp.Scope]string{
		dp.PrivateFeatures:  "public, part of the public offset, free",
		dp.FeaturesAndLabel: "public, but from noisy measurements, because the label is protected",
		dp.LabelOnly:        "public, but from noisy measurements, because the label is protected",
	} {
		m := summed(t)
		m.Privacy.Scope = scope
		if !strings.Contains(written(t, m), "swatch grey\"></span> "+want+"</span>") {
			t.Errorf("%s: the legend does not say %q", scope, want)
		}
	}
	m := summed(t)
	m.Privacy.Scope = dp.WholeRow
	if strings.Contains(written(t, m), "> public") {
		t.Error("the legend names public columns, and all are protected")
	}
}
