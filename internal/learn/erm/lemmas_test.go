// SPDX-License-Identifier: Apache-2.0

package erm

import (
	"math"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/learntest"
	"github.com/discreet-dp/discreet/internal/check/testkit/mechtest"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// The slides' lemmas, on the fits of this learner with a given term b: the perturbed
// minimum lies within ‖b‖/(λn) of the true one (1), and the regularised training loss
// within ‖b‖²/(λn²) of its least (2; by strong convexity half of that is enough). The
// shares printed are how much of the bounds is used.
func TestLemmasOfTheSlides(t *testing.T) {
	const rows, lambda = 40, 0.05
	s := &schema.Schema{Name: "line", Unit: "one row", Relation: dp.ReplaceOne,
		Columns: []schema.Column{{Name: "x", Role: schema.Private, Kind: schema.Number, Lower: -1, Upper: 1,
			Default: new(float64)}},
		Label: schema.Label{Name: "y", Role: schema.Private, Levels: []schema.Level{{Value: "n"}, {Value: "p"}}, Positive: 1,
			Position: 1}}
	src := replay.Seeded(1, "lemmas")
	unit := func() float64 { return float64(src.Uint64()>>11)*0x1p-52 - 1 } // in [-1, 1)
	largest := [2]float64{}
	for range 40 {
		tab := &dataset.Table{Schema: s, Rows: rows, Labels: make([]uint8, rows)}
		codes, values := make([]uint32, rows), make([]float64, rows)
		for i := range rows {
			codes[i], values[i] = uint32(i), float64(i)*2/(rows-1)-1
			if unit() < values[i] {
				tab.Labels[i] = 1
			}
		}
		tab.Cols = []column.Column{{Values: values, Codes: column.Narrow(codes, rows)}}
		b := []float64{20 * unit(), 20 * unit()}
		fit := func(b []float64) [2]float64 {
			p := Defaults()
			p.Epsilon, p.Method, p.Mode, p.Noise, p.Threshold = dp.Nano, Objective, CMS11, Gamma, NoThreshold
			p.Reg, p.Encoding = lambda, feature.Ordinal
			pl, err := p.Plan(s, rows)
			if err != nil {
				t.Fatal(err)
			}
			m := learntest.Fit(t, pl, tab, &mechtest.Recorder{Script: func(_ int, p mechtest.Passage) []float64 {
				if p.Label == termLabel {
					return b
				}
				return []float64{p.Values[0].Float(), p.Values[1].Float()} // the minimum as it was found
			}}, 1).Classifier.(*model.Logistic)
			return [2]float64{m.Coef[0] * math.Sqrt2, m.Bias * math.Sqrt2} // of rows (x, 1)/√2
		}
		loss := func(w [2]float64) (sum float64) {
			for i, x := range values {
				z := (w[0]*x + w[1]) / math.Sqrt2
				if tab.Labels[i] == 0 {
					z = -z
				}
				sum += math.Log1p(math.Exp(-z)) / rows
			}
			return sum + lambda/2*(w[0]*w[0]+w[1]*w[1])
		}
		best, noisy := fit([]float64{0, 0}), fit(b)
		length := math.Hypot(b[0], b[1])
		used := [2]float64{
			math.Hypot(noisy[0]-best[0], noisy[1]-best[1]) / (length / (lambda * rows)),
			(loss(noisy) - loss(best)) / (length * length / (lambda * rows * rows)),
		}
		for k := range used {
			largest[k] = max(largest[k], used[k])
		}
		if used[0] > 1+1e-6 || used[1] > 0.5+1e-6 {
			t.Errorf("b = %v: distance %g of its bound, loss %g", b, used[0], used[1])
		}
	}
	t.Logf("distance up to %.2f of its bound, loss up to %.2f", largest[0], largest[1])
	if largest[0] < 0.3 || largest[1] < 0.05 {
		t.Errorf("the bounds are hardly used: %v", largest)
	}
}
