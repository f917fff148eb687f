// SPDX-License-Identifier: Apache-2.0

package feature

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/table/schema"
)

func TestFine(t *testing.T) {
	for _, c := range []struct {
		what string
		col  schema.Column
		want []float64
	}{
		{"few whole numbers", schema.Column{Kind: schema.Number, Lower: 0, Upper: 3, Integer: true},
			[]float64{0.5, 1.5, 2.5}},
		{"whole bounds alone", schema.Column{Kind: schema.Number, Lower: 0, Upper: 3}, []float64{0.75, 1.5, 2.25}},
		{"equal steps", schema.Column{Kind: schema.Number, Lower: 0, Upper: 80.5}, []float64{20.125, 40.25, 60.375}},
		{"heavy tail", schema.Column{Kind: schema.Number, Lower: 0, Upper: 9999}, []float64{9, 99, 999}},
		{"heavy tails", schema.Column{Kind: schema.Number, Lower: -9999, Upper: 9999}, []float64{-99, 0, 99}},
	} {
		got := Fine(&c.col, 4)
		if !slices.EqualFunc(got, c.want, func(a, b float64) bool { return math.Abs(a-b) < 1e-9*math.Max(1, math.Abs(b)) }) {
			t.Errorf("%s: %v, want %v", c.what, got, c.want)
		}
	}
}

func TestCuts(t *testing.T) {
	for _, c := range []struct {
		what string
		col  schema.Column
		bins int
		want []float64
	}{
		{"a category", schema.Column{Kind: schema.Category, Levels: []schema.Level{{Value: "a"}}}, 8, nil},
		{"few whole numbers", schema.Column{Kind: schema.Number, Lower: -1, Upper: 2, Integer: true}, 2,
			[]float64{-0.5, 0.5, 1.5}},
		{"a ratio between whole bounds", schema.Column{Kind: schema.Number, Lower: 0, Upper: 2}, 4, []float64{0.5, 1, 1.5}},
		{"equal steps", schema.Column{Kind: schema.Number, Lower: 0, Upper: 80}, 4, []float64{20, 40, 60}},
		{"declared", schema.Column{Kind: schema.Number, Lower: 0, Upper: 80, Edges: []float64{1, 7}}, 4, []float64{1, 7}},
		{"declared, too many", schema.Column{Kind: schema.Number, Lower: 0, Upper: 80,
			Edges: []float64{1, 2, 3, 4, 5, 6, 7, 8, 9}}, 4, []float64{2, 5, 8}},
		{"a fraction", schema.Column{Kind: schema.Number, Lower: 0, Upper: 1}, 2, []float64{0.5}},
		{"declared logarithm", schema.Column{Kind: schema.Number, Lower: 0, Upper: 8, Transform: schema.Log1p}, 2,
			[]float64{2}},
		{"a count", schema.Column{Kind: schema.Number, Lower: 0, Upper: 20, Integer: true}, 8,
			[]float64{0.5, 2.5, 5.5, 7.5, 10.5, 13.5, 16.5}},
		{"a count from 1 on", schema.Column{Kind: schema.Number, Lower: 1, Upper: 26, Integer: true}, 5,
			[]float64{1.5, 3.5, 7.5, 13.5, 19.5}},
		{"a count with a heavy tail", schema.Column{Kind: schema.Number, Lower: 0, Upper: 8000, Integer: true}, 2,
			[]float64{0.5, 245.5}},
		{"days from the first one on", schema.Column{Kind: schema.Number, Lower: 0, Upper: 80, Integer: true, Date: "YYYY"}, 4,
			[]float64{20, 40, 60}},
		{"days of a century", schema.Column{Kind: schema.Number, Lower: 0, Upper: 40_000, Date: "YYYY"}, 2, []float64{20_000}},
		{"whole numbers from 16 on", schema.Column{Kind: schema.Number, Lower: 16, Upper: 96, Integer: true}, 4,
			[]float64{36, 56, 76}},
		{"heavy tail", schema.Column{Kind: schema.Number, Lower: 0, Upper: 8000}, 2, []float64{8 * (math.Sqrt(1001) - 1)}},
		{"heavy tails", schema.Column{Kind: schema.Number, Lower: -8000, Upper: 8000}, 4,
			[]float64{-8 * (math.Sqrt(1001) - 1), 0, 8 * (math.Sqrt(1001) - 1)}},
	} {
		got := Cuts(&c.col, c.bins)
		if !slices.EqualFunc(got, c.want, func(a, b float64) bool { return math.Abs(a-b) < 1e-9 }) {
			t.Errorf("%s: %v, want %v", c.what, got, c.want)
		}
	}
}

// Finer bins add up to the ones they are parts of, on every scale.
func TestFinerKeepsTheEdges(t *testing.T) {
	for _, c := range []schema.Column{
		{Kind: schema.Number, Lower: 17, Upper: 90},
		{Kind: schema.Number, Lower: 0, Upper: 99999},
		{Kind: schema.Number, Lower: -500000, Upper: 2000000},
		{Kind: schema.Number, Lower: 0, Upper: 50, Transform: schema.Log1p},
	} {
		edges := Cuts(&c, 8)
		finer, middles := Finer(&c, edges, 5), Middles(&c, edges)
		if len(finer) != 5*len(edges)+4 || len(middles) != len(edges)+1 {
			t.Fatalf("%v: %d finer edges and %d middles of %d", c, len(finer), len(middles), len(edges))
		}
		of := Middles(&c, finer)
		for b, e := range edges {
			if finer[5*b+4] != e {
				t.Errorf("%v: edge %d became %g, was %g", c, b, finer[5*b+4], e)
			}
		}
		for b, m := range middles {
			if math.Abs(of[5*b+2]-m) > 1e-9*math.Max(1, math.Abs(m)) {
				t.Errorf("%v: the middle of bin %d is %g, of its middle part %g", c, b, m, of[5*b+2])
			}
		}
	}
}

// The page on schemas describes how whole numbers are cut, and gives the bins of one column.
func TestSchemaPageDescribesBins(t *testing.T) {
	page, err := os.ReadFile("../../../docs/schema.md")
	if err != nil {
		t.Fatal(err)
	}
	visits := schema.Column{Kind: schema.Number, Lower: 0, Upper: 60, Integer: true}
	var bins []string
	from := 0
	for _, e := range append(Cuts(&visits, 8), 60.5)[:5] {
		bin := strconv.Itoa(from)
		if last := int(e); last > from {
			bin += "–" + strconv.Itoa(last)
		}
		bins, from = append(bins, bin), int(e)+1
	}
	for _, want := range []string{
		fmt.Sprintf("If there are at most %d values", wholeNumbers), "If the lower bound is 0 or 1,",
		"from 0 to 60 in 8 bins: " + strings.Join(bins, ", ") + ", ...", "`edges` | the edges of the bins", "`quantiles`: bins with about the same number of rows",
	} {
		if !strings.Contains(string(page), want) {
			t.Errorf("docs/schema.md lacks %q", want)
		}
	}
}
