// SPDX-License-Identifier: Apache-2.0

package shrink

import "math"

// Observed is what was released of a column, by bin: how much it weighs, and the variances of what
// was released, by the rows that happened to be there and by noise.
type Observed struct {
	Weights, Rows []float64
	Noise         float64
}

// Observe is what cells hold where log-odds are steps. There must be noise.
func (c *Cells) Observe(steps []float64) *Observed {
	o := &Observed{Weights: BinWeights(c, steps), Noise: c.Noise.DifferenceVariance()}
	for b, s := range steps {
		o.Rows = append(o.Rows, curveOf(math.Max(c.Positive[b]+c.Negative[b], 0), s))
	}
	return o
}

// curveOf is by how much the difference of the two cells of a bin of a weight grows where its
// log-odds, a step, grow by one nat; and about the variance of that difference by rows.
func curveOf(weight, step float64) float64 {
	share := 1 / (1 + math.Exp(-step))
	return 2 * weight * share * (1 - share)
}

// MovedByNoise is what noise alone has in steps that are posterior means, as variances, and which
// part of the truth the steps show. variance is the posterior's.
//
// Of a normal with a normal prior, the posterior mean shows the part 1 − v/p of the truth and
// varies with what was observed by v·(1 − v/p), v being the posterior's variance and p the
// prior's. Of the variance of what was observed the noise is a part. The priors here are no
// normals and are averaged over how wide they are, so v and p are means over bins by their weight:
// p is as wide as steps and their variances have it together.
func (o *Observed) MovedByNoise(steps, variance []float64) (moved []float64, shown float64) {
	all, mean, square, v := 0.0, 0.0, 0.0, 0.0
	for b, w := range o.Weights {
		all += w
		mean += w * steps[b]
		square += w * steps[b] * steps[b]
		v += w * variance[b]
	}
	moved = make([]float64, len(steps))
	spread := (square - mean*mean/all) / all
	if !(spread > 0) { // nor if no bin has weight
		return moved, 0
	}
	shown = spread / (spread + v/all)
	for b := range steps {
		moved[b] = variance[b] * shown * o.Noise / (o.Noise + o.Rows[b])
	}
	return moved, shown
}
