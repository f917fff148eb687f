// SPDX-License-Identifier: Apache-2.0

package brc

import (
	"math"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/learntest"
	"github.com/discreet-dp/discreet/internal/check/testkit/mechtest"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// naiveShape is a shape as a table of signs, and the bin of a row found by its value.
type naiveShape struct {
	column int
	signs  []float64
}

func (h naiveShape) answer(tab *dataset.Table, p Params, row int) float64 {
	c, col := &tab.Schema.Columns[h.column], &tab.Cols[h.column]
	code := int(col.Codes.At(row))
	if c.Kind == schema.Category && p.Encoding == feature.OneHot {
		return h.signs[code]
	}
	sp, err := feature.NewSpace(tab.Schema, p.Encoding, []int{h.column})
	if err != nil {
		panic(err)
	}
	_, value := sp.Cell(0, col, code)
	bins := float64(len(h.signs) - 1) // the cuts are the middles of so many parts of [-1, 1]
	return h.signs[int(max(0, math.Floor((value+1)*bins/2+0.5+1e-9)))]
}

// Shapes answer by the sign of the bin that a row's cell lies in: errors are of those
// answers, and the model's score is their weighted vote.
func TestShapesEqualTheNaiveTwin(t *testing.T) {
	for _, name := range []string{"shapes, private label", "shapes, ordinal"} {
		tab, p, plan := with(settings()[name], dp.Nano, 25, 800)
		pl, err := plan()
		if err != nil {
			t.Fatal(err)
		}
		src := replay.Seeded(5, "learntest")
		cols := tab.Schema.Features()
		var all []naiveShape
		for range p.Rounds {
			h := naiveShape{column: cols[rng.Below(src, uint64(len(cols)))]}
			c := &tab.Schema.Columns[h.column]
			bins := p.Candidates + 1
			if c.Kind == schema.Category && p.Encoding == feature.OneHot {
				bins = c.Codes()
			} else if c.Kind == schema.Category {
				bins = len(c.Levels)
			}
			for range bins {
				h.signs = append(h.signs, 2*float64(rng.Below(src, 2))-1)
			}
			all = append(all, h)
		}
		var errors []float64
		m := learntest.Fit(t, pl, tab, &mechtest.Recorder{Script: func(_ int, q mechtest.Passage) []float64 {
			errors = append(errors, q.Values[0].Float())
			return []float64{errors[len(errors)-1] + scripted(len(errors))}
		}}, 5)
		weights := weightsOf(p)
		weight, sum := make([]float64, tab.Rows), make([]float64, tab.Rows)
		for i := range weight {
			weight[i] = weights.one
		}
		for k, h := range all {
			wrong, total := 0.0, 0.0
			vote := 0.5 - errors[k] - scripted(k+1)
			for i, w := range weight {
				total += w
				answer := h.answer(tab, p, i)
				sum[i] += vote * answer
				if (answer > 0) == (int(tab.Labels[i]) == tab.Schema.Label.Positive) {
					continue
				}
				wrong += w
				weight[i] = weights.step(w, math.Exp(vote))
			}
			if math.Abs(wrong/total-errors[k]) > 1e-9 {
				t.Fatalf("%s: round %d has an error of %.9f, want %.9f", name, k+1, errors[k], wrong/total)
			}
		}
		scores, err := m.Scores(tab.Cols, tab.Rows)
		if err != nil {
			t.Fatal(err)
		}
		for i, s := range scores {
			if math.Abs(sum[i]) > 1e-9 && (s >= 0.5) != (sum[i] > 0) {
				t.Fatalf("%s: row %d scores %g where the shapes' vote is %g", name, i, s, sum[i])
			}
		}
	}
}
