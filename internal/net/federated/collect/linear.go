// SPDX-License-Identifier: Apache-2.0

package collect

import (
	"math"

	"github.com/discreet-dp/discreet/internal/net/federated/wire"
	"github.com/discreet-dp/discreet/internal/table/feature"
)

// nearestCentroid returns the nearest-centroid classifier (3.5.1) in the space of all questions. For a
// category, a level's centroid consists of the shares of the codes; for a number, it is the mean of
// the bins' middles.
func (a *Aggregator) nearestCentroid(shapes []wire.Shape, means [][]float64) (*wire.Argmax, error) {
	sp, err := a.task.Space()
	if err != nil {
		return nil, err
	}
	K := a.task.Schema.Classes()
	out := &wire.Argmax{Coef: make([][]float64, K), Bias: make([]float64, K)}
	for k := range K {
		mu := make([]float64, sp.Width())
		for i := range shapes {
			s := &shapes[i]
			at, _ := sp.Block(s.Question)
			share := make([]float64, len(s.Leaves))
			all := 0.0
			for c, leaf := range s.Leaves {
				share[c] = means[i][c] * math.Exp(leaf[k])
				all += share[c]
			}
			for c := range share {
				share[c] /= math.Max(all, 1e-300)
			}
			if a.isNumber(s.Question) {
				for c, x := range a.binCentres(s.Question) {
					mu[at] += share[c] * x
				}
				continue
			}
			copy(mu[at:], share)
		}
		// ‖x−μ‖² = ‖x‖² − 2μ·x + ‖μ‖²: the nearest has the largest 2μ·x − ‖μ‖².
		out.Coef[k] = make([]float64, len(mu))
		for f, x := range mu {
			out.Coef[k][f] = 2 * x
			out.Bias[k] -= x * x
		}
	}
	return out, nil
}

// fitLine replaces the scores of a number's bins by those of the best straight line through them, with
// bins weighted by mean. Only this part can be represented by a linear function of the features.
func (a *Aggregator) fitLine(s *wire.Shape, mean []float64) {
	if !a.isNumber(s.Question) {
		return
	}
	x := a.binCentres(s.Question)
	for k := range s.Leaves[0] {
		y := make([]float64, len(x))
		for c := range y {
			y[c] = s.Leaves[c][k]
		}
		slope, at := weightedLine(x, y, mean)
		for c := range y {
			s.Leaves[c][k] = at + slope*x[c]
		}
	}
}

// weightedLine returns the weighted least squares line through points: its slope, and its value at 0.
// If the points do not determine a slope, it is 0.
func weightedLine(x, y, weight []float64) (slope, at float64) {
	var w, wx, wy, wxx, wxy float64
	for c := range x {
		w += weight[c]
		wx += weight[c] * x[c]
		wy += weight[c] * y[c]
	}
	if !(w > 0) {
		return 0, 0
	}
	mx, my := wx/w, wy/w
	for c := range x {
		wxx += weight[c] * (x[c] - mx) * (x[c] - mx)
		wxy += weight[c] * (x[c] - mx) * (y[c] - my)
	}
	if wxx > 1e-12*w {
		slope = wxy / wxx
	}
	return slope, my - slope*mx
}

// binCentres returns the middles of a number's bins, encoded.
func (a *Aggregator) binCentres(q int) []float64 {
	col := &a.task.Schema.Columns[a.task.Column(q)]
	sp, err := feature.NewSpace(a.task.Schema, feature.OneHot, []int{a.task.Column(q)})
	if err != nil {
		panic("aggregator: a checked task has no space: " + err.Error())
	}
	ends := append(append([]float64{col.Lower}, a.task.Questions[q].Edges...), col.Upper)
	out := make([]float64, len(ends)-1)
	for c := range out {
		_, lo := sp.Number(0, ends[c])
		_, hi := sp.Number(0, ends[c+1])
		out[c] = (lo + hi) / 2
	}
	return out
}
