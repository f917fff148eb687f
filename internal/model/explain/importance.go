// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"math"
	"slices"

	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// meanDistance is the importance of steps: their mean absolute distance from their mean, in nats. Both means are over
// bins by weight, so that a bin without rows does not count. What all rows have in common belongs to the
// intercept. Without any weight bins count alike.
func meanDistance(weights, steps []float64) float64 {
	all, mean, distance := 0.0, 0.0, 0.0
	weight := func(int) float64 { return 1 }
	if slices.ContainsFunc(weights, func(w float64) bool { return w > 0 }) {
		weight = func(b int) float64 { return weights[b] }
	}
	for b, s := range steps {
		all += weight(b)
		mean += weight(b) * s
	}
	for b, s := range steps {
		distance += weight(b) * math.Abs(s-mean/all)
	}
	return distance / all
}

// importanceOf returns the importance of a shape.
func importanceOf(s *schema.Schema, sh *model.Shape) float64 {
	if sh.Cells == nil {
		return meanDistance(nil, sh.LogOdds)
	}
	bins := sh.Cells.Bins(s, s.Find(sh.Column))
	return meanDistance(sh.Cells.Weights, stepsOfBins(&bins, sh))
}

// stepsOfBins returns the steps of a shape in the bins in which rows were counted: for a number in the
// middle of each, from which the others are interpolated.
func stepsOfBins(bins *feature.Bins, sh *model.Shape) []float64 {
	out := make([]float64, bins.Len())
	if !bins.Ordered() {
		for code, z := range sh.LogOdds {
			b := code
			if bins.Groups != nil {
				b = int(bins.Groups[code])
			}
			out[b] = z
		}
		return out
	}
	finer, from := feature.Bins{Edges: sh.Edges}, 0
	for b := range len(bins.Edges) + 1 {
		to := len(sh.Edges) + 1
		if b < len(bins.Edges) {
			to = finer.Number(bins.Edges[b])
		}
		out[b] = sh.LogOdds[(from+to-1)/2]
		from = to
	}
	copy(out[len(bins.Edges)+1:], sh.LogOdds[len(sh.Edges)+1:]) // of marks
	return out
}

// mostTried bounds the time of the lines of a model: the bins of all columns together, of each release.
// Less important columns go without.
const mostTried = 1 << 14

// addLines adds to each shape the importance that its column would reach without an effect, where the law of
// its steps is known: of columns with releases of their own.
func (e *Explanation) addLines(m *model.Model, a *model.Additive) {
	e.eachLine(m, a, func(s *Shape, half, rare float64) bool {
		s.Noise, s.Noise95 = half, rare
		return true
	})
}

// eachLine calls use with these lines, the most important column first, until it returns false.
func (e *Explanation) eachLine(m *model.Model, a *model.Additive, use func(s *Shape, half, rare float64) bool) {
	shapes, tried := make(map[string]*model.Shape), 0
	for i := range a.Shapes {
		shapes[a.Shapes[i].Column] = &a.Shapes[i]
	}
	for i := range e.Shapes {
		cells := shapes[e.Shapes[i].Column].Cells
		if cells == nil || len(cells.Releases) == 0 {
			continue
		}
		if tried += len(cells.Weights) * len(cells.Releases); tried > mostTried {
			return
		}
		bins := cells.Bins(m.Schema, m.Schema.Find(e.Shapes[i].Column))
		c := &chance{bins: &bins, monotone: e.columns[i].Monotone, Cells: cells}
		if half, rare := c.findLines(); !use(&e.Shapes[i], half, rare) {
			return
		}
	}
}
