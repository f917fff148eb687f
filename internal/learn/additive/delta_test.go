// SPDX-License-Identifier: Apache-2.0

package additive

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/learntest"
	"github.com/discreet-dp/discreet/internal/check/testkit/size"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// A δ is a permission: it costs no log loss where a class is rare, by more than .003 and three standard errors of the
// mean of paired fits, and gains where columns are many. While all columns were taken with Gaussian noise, or none, a
// rare class lost .006, and many columns gained nothing. Seeds are fixed, so it never fails by chance.
func TestDeltaCostsNoAccuracy(t *testing.T) {
	type cell struct {
		rows, columns int
		eps           float64
		base, effect  float64
		most          float64 // log loss with a δ less that without
	}
	cells, fits := []cell{{20_000, 14, 0.17, -3.6, 1, 0.001}, {20_000, 32, 0.14, 0, 0.7, -0.004}}, 3
	if size.Long() {
		fits = 20
		for _, columns := range []int{6, 14, 32} {
			for _, eps := range []float64{0.03, 0.06, 0.1, 0.13, 0.17, 0.25, 0.4, 1} {
				cells = append(cells, cell{20_000, columns, eps, -3.6, 1, 0.003}, cell{20_000, columns, eps, 0, 1, 0.003})
			}
		}
	}
	for _, c := range cells {
		t.Run(fmt.Sprintf("%+v", c), func(t *testing.T) {
			test := invent(1, 8000, c.columns, c.base, c.effect)
			closeAll(test.Schema)
			var more, square float64
			for k := range fits {
				tab := invent(uint64(2+k), c.rows, c.columns, c.base, c.effect)
				closeAll(tab.Schema)
				var loss [2]float64
				for i, delta := range []float64{0, 1e-6} {
					p := Params{}
					p.Epsilon, _ = dp.EpsilonOf(c.eps)
					p.Delta, _ = dp.DeltaOf(delta)
					pl, err := p.Plan(tab.Schema, c.rows)
					if err != nil {
						t.Fatal(err)
					}
					scores, err := learntest.Fit(t, pl, tab, nil, uint64(k)).Scores(test.Cols, test.Rows)
					if err != nil {
						t.Fatal(err)
					}
					loss[i] = meanLoss(test.Labels, scores)
				}
				x := loss[1] - loss[0]
				more, square = more+x/float64(fits), square+x*x/float64(fits)
			}
			if most := c.most + 3*math.Sqrt(max(0, square-more*more)/float64(fits-1)); more > most {
				t.Errorf("log loss %.4f more with a δ, at most %.4f", more, most)
			}
		})
	}
}

// closeAll makes all columns private.
func closeAll(s *schema.Schema) {
	for j := range s.Columns {
		s.Columns[j].Role = schema.Private
	}
}

// Columns that share a cause, and whose own effects have either sign, hide each other: a column says little before the
// others are known. While weights saw .7 of earlier columns, and the model had .8, log loss was .004 more. Seeds are fixed,
// so it never fails by chance.
func TestColumnsThatHideEachOther(t *testing.T) {
	const columns = 24
	hidden := func(seed uint64, rows int) *dataset.Table {
		tab, r := invent(seed, rows, columns, 0, 0), rand.New(rand.NewPCG(seed, 3))
		closeAll(tab.Schema)
		codes := make([][]uint32, columns)
		for i := range rows {
			cause := r.NormFloat64()
			z := 0.5 * cause
			for j := range codes {
				x := 0.7*cause + 0.714*r.NormFloat64()
				z += 0.35 * float64(1-2*(j%2)) * x
				codes[j] = append(codes[j], uint32((max(-2.99, min(2.99, x))+3)/6*100))
			}
			tab.Labels[i] = 0
			if r.Float64() < 1/(1+math.Exp(-z)) {
				tab.Labels[i] = 1
			}
		}
		for j := range codes {
			tab.Cols[j].Codes = column.Narrow(codes[j], 100)
		}
		return tab
	}
	test, loss := hidden(1, 8000), 0.0
	const fits = 3
	for k := range uint64(fits) {
		tab := hidden(2+k, 20_000)
		pl, err := Params{Epsilon: dp.Nano * 3 / 10, Delta: dp.Femto / 1_000_000}.Plan(tab.Schema, tab.Rows)
		if err != nil {
			t.Fatal(err)
		}
		scores, err := learntest.Fit(t, pl, tab, nil, k).Scores(test.Cols, test.Rows)
		if err != nil {
			t.Fatal(err)
		}
		loss += meanLoss(test.Labels, scores) / fits
	}
	if loss > 0.607 {
		t.Errorf("log loss %.4f, want at most .607", loss)
	}
}
