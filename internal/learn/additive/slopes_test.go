// SPDX-License-Identifier: Apache-2.0

package additive

import (
	"math"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Four bins from 0 to 40, by hand: flat before the first middle and after the
// last, a line between, the middle as it was.
func TestSlopeByHand(t *testing.T) {
	s := &schema.Schema{Columns: []schema.Column{{Name: "x", Kind: schema.Number, Lower: 0, Upper: 40}}}
	bins := feature.NewBins(s, 0, []float64{10, 20, 30})
	edges, got := drawSlopes(s, &bins, 1, []float64{0, 5, 5, -5}, []float64{1, 1, 2, 2})
	var at []float64
	for x := 2.0; x < 40; x += 2 {
		at = append(at, x)
	}
	if !slices.EqualFunc(edges, at, func(a, b float64) bool { return math.Abs(a-b) < 1e-12 }) {
		t.Fatalf("edges %v, want %v", edges, at)
	}
	for i, want := range [][]float64{
		{0, 0, 0, 1, 2, 3, 4, 5, 5, 5, 5, 5, 5, 3, 1, -1, -3, -5, -5, -5},
		{1, 1, 1, 1, 1, 1, 1, 1, 1.2, 1.4, 1.6, 1.8, 2, 2, 2, 2, 2, 2, 2, 2},
	} {
		if !slices.EqualFunc(got[i], want, func(a, b float64) bool { return math.Abs(a-b) < 1e-12 }) {
			t.Errorf("values %v, want %v", got[i], want)
		}
	}
}

// What was cut by something else than bounds keeps its steps.
func TestWhatKeepsItsSteps(t *testing.T) {
	number := schema.Column{Kind: schema.Number, Lower: 0, Upper: 40}
	declared, counted, few := number, number, number
	declared.Edges, counted.Quantiles, few.Upper = []float64{10, 20}, true, 7
	few.Integer = true
	s := &schema.Schema{Columns: []schema.Column{number, declared, counted, few,
		{Kind: schema.Category, Levels: make([]schema.Level, 3)}}}
	for j, want := range []bool{true, false, false, false, false} {
		bins := feature.NewBins(s, j, feature.Cuts(&s.Columns[j], 8))
		if got := hasSlopes(s, &bins); got != want {
			t.Errorf("column %d: slopes %t, want %t", j, got, want)
		}
	}
	pair := feature.Cross(feature.NewBins(s, 0, []float64{10}), feature.NewBins(s, 3, []float64{2}))
	if hasSlopes(s, &pair) {
		t.Error("a pair would get slopes")
	}
}
