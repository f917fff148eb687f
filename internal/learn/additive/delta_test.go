// SPDX-License-Identifier: Apache-2.0

package additive

import (
	"fmt"
	"math"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/learntest"
	"github.com/discreet-dp/discreet/internal/check/testkit/size"
	"github.com/discreet-dp/discreet/internal/ground/dp"
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
