// SPDX-License-Identifier: Apache-2.0

package collect

import (
	"math"

	"github.com/discreet-dp/discreet/internal/model/shrink"
	"github.com/discreet-dp/discreet/internal/privacy/response"
)

// table is the sum of the reports on one ask.
type table struct {
	cells, levels int
	reports       float64
	sums          []float64 // cells × levels, estimated sums of weights
	variance      float64   // of each of sums, due to noise alone
}

func newTable(law response.Law, t response.Tally, levels int) table {
	out := table{cells: law.Dim() / levels, levels: levels, reports: float64(t.Reports), sums: law.Sum(t)}
	out.variance = law.Variance(0) * out.reports
	return out
}

// estimateTotals estimates the average weight of one report, by level. All tables describe the same
// population, so that each gives an estimate, and smaller tables have less noise. The estimates have a
// public lower bound.
func estimateTotals(tables []table) []float64 {
	K := tables[0].levels
	sum, precision := make([]float64, K), 0.0
	for i := range tables {
		t := &tables[i]
		if t.reports == 0 {
			continue
		}
		p := t.reports * t.reports / (t.variance*float64(t.cells) + 1)
		precision += p
		for c := range t.cells {
			for k := range K {
				sum[k] += p * t.sums[c*K+k] / t.reports
			}
		}
	}
	for k := range sum {
		sum[k] = math.Max(sum[k]/math.Max(precision, 1e-300), least/float64(K))
	}
	return sum
}

// least is the smallest assumed share of a level, relative to an even share. It bounds the division in
// a rare level's cells.
const least = 0.05

// cellShares returns the cells' shares within each level: cells × K. Each level's column is
// non-negative with sum 1, and is the nearest such point to the estimates, whose noise is equal in all
// cells. Without reports the shares are even.
func (t *table) cellShares(total []float64) []float64 {
	K := t.levels
	out := make([]float64, len(t.sums))
	column := make([]float64, t.cells)
	for k := range K {
		scale := total[k] * t.reports
		for c := range column {
			column[c] = 0
			if scale > 0 {
				column[c] = t.sums[c*K+k] / scale
			}
		}
		shrink.ProjectOntoSimplex(column, 1)
		for c, x := range column {
			out[c*K+k] = x
		}
	}
	return out
}

// averageLevels averages the cells' shares over the levels.
func (t *table) averageLevels(shares []float64) []float64 {
	mean := make([]float64, t.cells)
	for c := range mean {
		for k := range t.levels {
			mean[c] += shares[c*t.levels+k] / float64(t.levels)
		}
	}
	return mean
}
