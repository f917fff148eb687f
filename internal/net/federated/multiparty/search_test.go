// SPDX-License-Identifier: Apache-2.0

package multiparty

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
)

// The slope that form output follows with the Huber-hinge is that of the mean loss, by
// central differences: each party's vote once for its level, an absent one's half for both.
func TestHuberGradient(t *testing.T) {
	tab := worlds()["two levels"]
	p := params(func(p *Params) { p.Form, p.Loss, p.Parties = Output, Huber, 4 })
	pl := plan(t, p, tab)
	src := replay.Seeded(3, "huber")
	votes := [][]uint8{random(tab, src), random(tab, src), random(tab, src)}
	var files [][]byte
	for k, v := range votes {
		files = append(files, labelFile(t, tab, fmt.Sprint(k), v))
	}
	o := newPublic(pl, auxiliary(tab)).newObjective(nil)
	o.setMargins(tally(t, pl, tab, files...))
	d, loss := pl.countCoefficients(), pl.marginLoss()
	scale := 1 / math.Sqrt(float64(len(pl.space.Columns)+1))
	value := func(w []float64) (sum float64) {
		for i := range tab.Rows {
			z := w[d-1] * scale
			for k, j := range pl.space.Columns {
				f, x := pl.space.Cell(k, &tab.Cols[j], int(tab.Cols[j].Codes.At(i)))
				z += w[f] * x * scale
			}
			up, _, _ := loss.At(z)
			down, _, _ := loss.At(-z)
			total := up/2 + down/2 // the absent party
			for _, v := range votes {
				if int(v[i]) == tab.Schema.Label.Positive {
					total += up
				} else {
					total += down
				}
			}
			sum += total / 4 / float64(tab.Rows)
		}
		return sum
	}
	w := make([]float64, d)
	for f := range w {
		w[f] = float64(f%7) - 3
	}
	grad, err := o.slope(context.Background(), w)
	if err != nil {
		t.Fatal(err)
	}
	for f, at := range w {
		w[f] = at + 1e-5
		up := value(w)
		w[f] = at - 1e-5
		down := value(w)
		w[f] = at
		if want := (up - down) / 2e-5; !(math.Abs(grad[f]-want) < 1e-5) {
			t.Errorf("slope %d is %.9g, want %.9g", f, grad[f], want)
		}
	}
}

// The search arrives wherever the bound on the Hessian holds, also where a step through
// the bound lengthens the gradient.
func TestSearchArrives(t *testing.T) {
	const dim = 4
	src := rand.New(rand.NewPCG(1, 2))
	for world := range 100 {
		var to [dim][dim]float64 // the value is Σ of softplus along rows of to, and a ridge
		bend := make([]float64, dim*dim)
		for k := range to {
			size := math.Exp(2 * src.Float64())
			for i := range to[k] {
				to[k][i] = size * src.NormFloat64()
			}
			for i := range dim {
				for j := range dim {
					bend[i*dim+j] += to[k][i] * to[k][j] / 4
				}
			}
		}
		for i := range dim {
			bend[i*dim+i] += 0.1
		}
		f := func(w []float64) ([]float64, error) {
			g := make([]float64, dim)
			for k := range to {
				z := -1.0
				for i := range w {
					z += to[k][i] * w[i]
				}
				for i := range w {
					g[i] += to[k][i] / (1 + math.Exp(-z))
				}
			}
			for i := range w {
				g[i] += 0.1 * (w[i] - 1)
			}
			return g, nil
		}
		_, length, err := descendGradient(f, bend, dim, 1e-6, 20_000)
		if !(length <= 1e-6) || err != nil {
			t.Errorf("world %d: a gradient of %g is left (%v)", world, length, err)
		}
	}
}
