// SPDX-License-Identifier: Apache-2.0

package additive

import (
	"math"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/learntest"
	"github.com/discreet-dp/discreet/internal/check/testkit/mechtest"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
)

// releaseLabels trains by a setting in which what the labels say of public columns leaves at once: that is the passage.
// With Laplace noise the number of rows by label leaves before it.
func releaseLabels(t *testing.T, name string) (*dataset.Table, *Plan, mechtest.Passage) {
	t.Helper()
	tab, plan := with(settings()[name], 300)
	anyPlan, err := plan()
	if err != nil {
		t.Fatal(err)
	}
	pl, tape := anyPlan.(*Plan), &mechtest.Recorder{}
	learntest.Fit(t, pl, tab, tape, 5)
	p := tape.Passages[len(tape.Passages)-1]
	if p.Label != labelsLabel || len(tape.Passages) != 2-min(1, int(pl.Delta)) || tape.Passages[0].Label != pl.classesLabel() && pl.Delta == 0 {
		t.Fatalf("%s: %d releases, the last of %s", name, len(tape.Passages), p.Label)
	}
	return tab, pl, p
}

// Row by row from the definition: the positive rows of each bin of each public column leave,
// after their number in all.
func TestPositiveRowsEqualTheNaiveTwin(t *testing.T) {
	for _, name := range []string{"label alone"} {
		tab, pl, p := releaseLabels(t, name)
		var want []int64
		for _, j := range pl.public {
			bins := pl.cutColumn(j, pl.rules.bins)
			counts := make([]int64, bins.Len())
			for i := range tab.Rows {
				if int(tab.Labels[i]) == tab.Schema.Label.Positive {
					counts[bin(tab, &bins, i)]++
				}
			}
			want = append(want, counts...)
		}
		if len(want) != len(p.Values) {
			t.Fatalf("%s: %d numbers leave, want %d", name, len(p.Values), len(want))
		}
		for i, v := range p.Values {
			if v.Num != want[i] || v.Den != 1 {
				t.Errorf("%s: number %d is %v, want %d", name, i, v, want[i])
			}
		}
	}
}

// With Gaussian noise, row by row: the sum of the positive rows' vectors leaves, each the solution
// of a triangular system made of all rows, scaled to a length of 1.
func TestVectorsOfPositiveRowsEqualTheNaiveTwin(t *testing.T) {
	for _, name := range []string{"label alone, gaussian"} {
		tab, pl, p := releaseLabels(t, name)
		rows, square := naiveVectors(pl, tab)
		n := len(square)
		lower := eliminateBelow(square)
		want := make([]float64, n)
		for r, x := range rows {
			length := 0.0
			for i := range n { // L·z = x
				for k := range i {
					x[i] -= lower[i][k] * x[k]
				}
				x[i] /= lower[i][i]
				length = math.Hypot(length, x[i])
			}
			if int(tab.Labels[r]) != tab.Schema.Label.Positive {
				continue
			}
			for i, z := range x {
				want[i] += z / length
			}
		}
		if len(p.Values) != n {
			t.Fatalf("%s: %d numbers leave, want %d", name, len(p.Values), n)
		}
		for i, v := range p.Values { // each row may lose a unit
			if off := math.Abs(v.Float() - want[i]); !(off <= 300.0/engine.WeightOne) {
				t.Errorf("%s: number %d is %g, want %g", name, i, v.Float(), want[i])
			}
		}
	}
}

// naiveVectors lists each row's bins of public columns as zeros and ones, with a 1 behind them, and
// the sum of their squares with the ridge.
func naiveVectors(pl *Plan, tab *dataset.Table) (rows, square [][]float64) {
	var bins []feature.Bins
	width := 0
	for _, j := range pl.public {
		bins = append(bins, pl.cutColumn(j, pl.rules.bins))
		width += bins[len(bins)-1].Len()
	}
	variance := 1 / (2 * pl.prices.labels.Rho.Float())
	ridge := math.Max(1e-3, 1000*float64(len(bins))*variance/float64(tab.Rows+1))
	for range width + 1 {
		square = append(square, make([]float64, width+1))
	}
	square[width][width] = 1e-3
	first := 0
	for q := range bins {
		n, ordered := bins[q].Len(), 0
		if bins[q].Ordered() {
			ordered = bins[q].Len() - bins[q].Marks()
		}
		alike := make([][]float64, n)
		for i := range n {
			alike[i] = make([]float64, n)
			for j := range ordered {
				if i < ordered {
					alike[i][j] = math.Exp(-math.Abs(float64(i-j)) / (0.3 * float64(n)))
				}
			}
			alike[i][i] = 1
		}
		for i, row := range invertNaively(alike) {
			for j, x := range row {
				square[first+i][first+j] += ridge * x
			}
		}
		first += n
	}
	for i := range tab.Rows {
		x := make([]float64, width+1)
		first = 0
		for q := range bins {
			x[first+bin(tab, &bins[q], i)] = 1
			first += bins[q].Len()
		}
		x[width] = 1
		for a := range x {
			for b := range x {
				square[a][b] += x[a] * x[b]
			}
		}
		rows = append(rows, x)
	}
	return rows, square
}

// invertNaively inverts a matrix by elimination.
func invertNaively(of [][]float64) [][]float64 {
	n := len(of)
	var a [][]float64
	for i := range n {
		row := append(slices.Clone(of[i]), make([]float64, n)...)
		row[n+i] = 1
		a = append(a, row)
	}
	for k := range n {
		pivot := a[k][k]
		for j := range a[k] {
			a[k][j] /= pivot
		}
		for i := range n {
			if times := a[i][k]; i != k && times != 0 {
				for j := range a[i] {
					a[i][j] -= times * a[k][j]
				}
			}
		}
	}
	for i := range a {
		a[i] = a[i][n:]
	}
	return a
}

// eliminateBelow is L of L·Lᵀ = a, column by column.
func eliminateBelow(a [][]float64) [][]float64 {
	n := len(a)
	lower := make([][]float64, n)
	for i := range n {
		lower[i] = make([]float64, n)
	}
	for k := range n {
		for i := k; i < n; i++ {
			lower[i][k] = a[i][k] / math.Sqrt(a[k][k])
		}
		for i := k + 1; i < n; i++ {
			for j := k + 1; j < n; j++ {
				a[i][j] -= lower[i][k] * lower[j][k]
			}
		}
	}
	return lower
}

// What a schema declares decides what is protected.
func TestScopeFollowsTheSchema(t *testing.T) {
	for name, want := range map[string]dp.Scope{
		"partly private": dp.PrivateFeatures, "private label": dp.FeaturesAndLabel, "label alone": dp.LabelOnly,
		"everything private": dp.WholeRow, "add-remove": dp.WholeRow,
	} {
		_, plan := with(settings()[name], 60)
		pl, err := plan()
		if err != nil {
			t.Fatal(err)
		}
		if got := pl.(*Plan).scope; got != want {
			t.Errorf("%s: protects %s, want %s", name, got, want)
		}
	}
}
