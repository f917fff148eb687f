// SPDX-License-Identifier: Apache-2.0

package continuous

import (
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/discreet-dp/discreet/internal/privacy/rng"
)

// laplace adds noise to each coordinate at ε/d (section 4 of the paper).
type laplace struct {
	d     int
	scale float64
}

// Laplace is the mechanism of scale 2d/ε on each coordinate.
func Laplace(d int, eps float64) Mechanism { return laplace{d, 2 * float64(d) / eps} }

// Sum draws the sum of n noises at once: it has the law of the difference of
// two Gamma variables of shape n, and no one looks at single reports.
func (l laplace) Sum(rows Rows, from, to int, src rng.Source) []float64 {
	sum, row := make([]float64, l.d), make([]float64, l.d)
	for i := from; i < to; i++ {
		rows.Row(i, row)
		for j, t := range row {
			sum[j] += clamp(t)
		}
	}
	if from < to {
		gamma := distuv.Gamma{Alpha: float64(to - from), Beta: 1 / l.scale, Src: src}
		for j := range sum {
			sum[j] += gamma.Rand() - gamma.Rand()
		}
	}
	return sum
}

func (l laplace) Variance(float64) float64 { return 2 * l.scale * l.scale }
