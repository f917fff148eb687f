// SPDX-License-Identifier: Apache-2.0

package memory_test

import (
	"context"
	"math"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/censustest"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/engine/memory"
	"github.com/discreet-dp/discreet/internal/table/engine/statistic"
	"github.com/discreet-dp/discreet/internal/table/feature"
)

// Cells against a sum over rows from the definition, with a clip that bites.
func TestCellsAgreeWithNaiveTwin(t *testing.T) {
	tab := censustest.Table(3, 40_000) // more than one chunk
	s := tab.Schema
	var bins []feature.Bins
	f := &feature.Additive{Intercept: -0.5, Clip: &feature.Clip{Shapes: 2, Low: -0.75, High: 0.25}}
	for k, j := range s.Features()[:5] {
		b := feature.NewBins(s, j, []float64{20, 40, 60})
		bins = append(bins, b)
		sh := feature.Shape{Bins: b, Steps: make([]float64, b.Len())}
		for i := range sh.Steps {
			sh.Steps[i] = math.Sin(float64(7*k + 3*i))
		}
		f.Shapes = append(f.Shapes, sh)
	}
	// Pairs: of a number and a category, of two numbers, inside the clip and after it.
	for _, p := range [][2]int{{0, 1}, {3, 2}} {
		b := feature.Cross(bins[p[0]], bins[p[1]])
		bins = append(bins, b)
		sh := feature.Shape{Bins: b, Steps: make([]float64, b.Len())}
		for i := range sh.Steps {
			sh.Steps[i] = math.Cos(float64(p[0] + 5*i))
		}
		f.Shapes = append(f.Shapes, sh)
	}
	first, last := len(f.Shapes)-2, len(f.Shapes)-1
	f.Shapes[1], f.Shapes[first] = f.Shapes[first], f.Shapes[1] // the first pair is clipped
	bins[1], bins[first] = bins[first], bins[1]
	if bins[1].Second == nil || bins[last].Second == nil {
		t.Fatal("the pairs are elsewhere")
	}
	m, err := memory.New(tab)
	if err != nil {
		t.Fatal(err)
	}
	got, err := statistic.Cells{Under: f, Bins: bins, Caps: statistic.FullCaps}.Of(context.Background(), m)
	if err != nil {
		t.Fatal(err)
	}
	want := make([][2][]float64, len(bins))
	for k := range bins {
		want[k] = [2][]float64{make([]float64, bins[k].Len()), make([]float64, bins[k].Len())}
	}
	for i := range tab.Rows {
		at := make([]int, len(bins))
		z := f.Intercept
		for k := range bins {
			for b := &bins[k]; b != nil; b = b.Second {
				col := &tab.Cols[b.Column]
				own := int(col.Codes.At(i))
				if col.Values != nil {
					own = b.Number(col.Values[own])
				}
				if b != &bins[k] {
					at[k] *= b.Len()
				}
				at[k] += own
			}
			z += f.Shapes[k].Steps[at[k]]
			if k == 1 {
				z = math.Min(math.Max(z, -0.75), 0.25)
			}
		}
		label := 0
		if int(tab.Labels[i]) == s.Label.Positive {
			label, z = 1, -z
		}
		for k := range bins {
			want[k][label][at[k]] += math.Min(1, math.Exp(z))
		}
	}
	for k := range bins {
		for label, sums := range [][]int64{got[k].Negative, got[k].Positive} {
			for b, sum := range sums {
				if g := float64(sum) / engine.WeightOne; math.Abs(g-want[k][label][b]) > 1e-4*(1+want[k][label][b]) {
					t.Errorf("column %d, label %d, bin %d: %g, the twin has %g", k, label, b, g, want[k][label][b])
				}
			}
		}
	}
}
