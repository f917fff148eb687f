// SPDX-License-Identifier: Apache-2.0

package census

import (
	"math"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// TestWhatCanBeLearned holds the two numbers that make the demo worth looking
// at: a linear model on every column is good, one on public columns is not. The
// bands are wide of the measured values by ten times their spread over seeds,
// and the seed is fixed, so a red result is a change of the model. Both halves
// are balanced, as in Shen et al. section 5.1.
func TestWhatCanBeLearned(t *testing.T) {
	train, test := balanced(t, Generate(7, 100_000), 20_000), balanced(t, Generate(8, 100_000), 20_000)
	for _, c := range []struct {
		name                           string
		cols                           []int
		accLow, accHigh, aucLow, aucHi float64
	}{
		{"all", train.Schema.Features(), 0.80, 0.85, 0.88, 0.93},
		{"public", train.Schema.ByRole(schema.Public), 0.60, 0.66, 0.65, 0.71},
	} {
		t.Run(c.name, func(t *testing.T) {
			sp, err := feature.NewSpace(train.Schema, feature.OneHot, c.cols)
			if err != nil {
				t.Fatal(err)
			}
			coef := fitLogistic(sp, train)
			acc, auc := judge(sp, test, coef)
			t.Logf("balanced accuracy %.3f, auc %.3f", acc, auc)
			if !(acc >= c.accLow && acc <= c.accHigh) {
				t.Errorf("balanced accuracy %.3f, want %g to %g", acc, c.accLow, c.accHigh)
			}
			if !(auc >= c.aucLow && auc <= c.aucHi) {
				t.Errorf("auc %.3f, want %g to %g", auc, c.aucLow, c.aucHi)
			}
		})
	}
}

// balanced keeps the first each rows of either label.
func balanced(t *testing.T, tab *dataset.Table, each int) *dataset.Table {
	var rows []int
	var have [2]int
	for i, y := range tab.Labels {
		if have[y] < each {
			have[y]++
			rows = append(rows, i)
		}
	}
	if have != [2]int{each, each} {
		t.Fatalf("got %v rows of the two labels, want %d of each", have, each)
	}
	return tab.Subset(rows)
}

// pairs encodes one row as (feature, value) pairs.
func pairs(sp *feature.Space, tab *dataset.Table, row int, index []int, value []float64) {
	for k, j := range sp.Columns {
		code := int(tab.Cols[j].Codes.At(row))
		if v := tab.Cols[j].Values; v != nil {
			index[k], value[k] = sp.Number(k, v[code])
		} else {
			index[k], value[k] = sp.Code(k, code)
		}
	}
	index[len(sp.Columns)], value[len(sp.Columns)] = sp.Width(), 1
}

// fitLogistic is Newton's method with a little ridge, and a plain Cholesky.
func fitLogistic(sp *feature.Space, tab *dataset.Table) []float64 {
	d, cols := sp.Width()+1, len(sp.Columns)+1
	coef, index, value := make([]float64, d), make([]int, cols), make([]float64, cols)
	for range 8 {
		grad, hess := make([]float64, d), make([]float64, d*d)
		for a := range d {
			grad[a], hess[a*d+a] = coef[a], 1
		}
		for i := range tab.Rows {
			pairs(sp, tab, i, index, value)
			p := 1 / (1 + math.Exp(-dot(coef, index, value)))
			for a, ia := range index {
				grad[ia] += (p - float64(tab.Labels[i])) * value[a]
				for b, ib := range index {
					hess[ia*d+ib] += p * (1 - p) * value[a] * value[b]
				}
			}
		}
		solve(hess, grad, d)
		for a := range d {
			coef[a] -= grad[a]
		}
	}
	return coef
}

// solve overwrites x with a⁻¹x for a positive definite d×d matrix a, which it
// destroys.
func solve(a, x []float64, d int) {
	for k := range d {
		for i := k + 1; i < d; i++ {
			f := a[i*d+k] / a[k*d+k]
			for j := k; j < d; j++ {
				a[i*d+j] -= f * a[k*d+j]
			}
			x[i] -= f * x[k]
		}
	}
	for k := d - 1; k >= 0; k-- {
		for j := k + 1; j < d; j++ {
			x[k] -= a[k*d+j] * x[j]
		}
		x[k] /= a[k*d+k]
	}
}

func dot(coef []float64, index []int, value []float64) (z float64) {
	for k, i := range index {
		z += coef[i] * value[k]
	}
	return z
}

// judge returns balanced accuracy at even odds and the area under the curve.
func judge(sp *feature.Space, tab *dataset.Table, coef []float64) (acc, auc float64) {
	cols := len(sp.Columns) + 1
	index, value := make([]int, cols), make([]float64, cols)
	type scored struct {
		z float64
		y uint8
	}
	rows := make([]scored, tab.Rows)
	var right, total [2]float64
	for i := range rows {
		pairs(sp, tab, i, index, value)
		y := tab.Labels[i]
		rows[i] = scored{dot(coef, index, value), y}
		total[y]++
		if (rows[i].z >= 0) == (y == 1) {
			right[y]++
		}
	}
	slices.SortFunc(rows, func(a, b scored) int {
		switch {
		case a.z < b.z:
			return -1
		case a.z > b.z:
			return 1
		}
		return 0
	})
	var below float64
	for _, r := range rows { // ties count by their order, a negligible part here
		if r.y == 0 {
			below++
		} else {
			auc += below
		}
	}
	return (right[0]/total[0] + right[1]/total[1]) / 2, auc / total[0] / total[1]
}
