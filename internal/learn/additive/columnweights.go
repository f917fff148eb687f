// SPDX-License-Identifier: Apache-2.0

package additive

import (
	"context"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/internal/shrink"
	"github.com/discreet-dp/discreet/internal/table/feature"
)

// Columns that are measured in turn say things twice, since the weights of rows see part of earlier
// columns or nothing. With Gaussian noise two more releases say how the likelihood changes with a
// weight for each private column, and one Newton step from equal weights mends most of that.

const (
	shareOfColumnWeights = 0.1  // of the price
	slopesPart           = 0.6  // of that; the rest is for the curves
	leastScale           = 0.2  // nats: columns that spread less are not stretched to 1
	lengthOfRows         = 0.85 // rows are shortened to this part of their root mean square
	weightsPrior         = 0.15 // a deviation of the change of a weight, in units of that length
	interceptSays        = 0.5  // of every row, as a scaled column would
	mostWeighed          = 100  // columns and pairs: a row costs time with their square
)

// scaledColumns are the private shapes that have been learnt, centred and scaled by their means and
// deviations over rows.
type scaledColumns struct {
	at            []int // their indices
	means, scales []float64
	vectors       []feature.Shape // what they say of a row; last the intercept
	most          float64         // the length that rows are shortened to
}

// weighColumns releases how the likelihood changes with the weight of each private column under the
// model so far, and takes one step.
func (r *binaryFit) weighColumns(ctx context.Context) error {
	if r.plan.rules.columnWeightsShare == 0 {
		return nil
	}
	score := r.scoreSoFar()
	w := r.scaleColumns()
	for _, k := range w.at {
		score.Shapes = append(score.Shapes, feature.Shape{Bins: r.bins[k], Steps: slices.Clone(r.shapes[k].steps)})
	}
	slopes, curves, err := r.releaseColumnSlopes(ctx, &score, w)
	if err != nil {
		return err
	}
	prior := slices.Repeat([]float64{weightsPrior * w.most}, len(w.vectors))
	prior[len(prior)-1] = w.most
	bySlope, byCurve := r.plan.columnSlopeSensitivity()
	change, moved := shrink.NewtonStep(slopes, curves,
		math.Sqrt(r.plan.prices.slopes.noiseVariance(bySlope)),
		math.Sqrt(r.plan.prices.curves.noiseVariance(byCurve)), prior)
	for i, k := range w.at {
		r.shapes[k].stretchAround(w.means[i], 1+change[i]/(w.most*w.scales[i]), moved[i]/(w.most*w.scales[i]))
	}
	if r.rescale == nil {
		r.base += interceptSays * change[len(w.at)] / w.most
	}
	r.sums = nil
	return nil
}

// scoreSoFar is the model without its private shapes, as weighAsModel has it.
func (r *binaryFit) scoreSoFar() feature.Additive {
	if r.rescale == nil {
		return feature.Additive{Intercept: r.model.Intercept + r.base}
	}
	_, spread := r.describeSum(func(sh *binaryShape) (_, _ []float64) { return sh.steps, sh.rows })
	score := r.rescaleModel(spread).model
	score.Shapes = slices.Clone(score.Shapes)
	return score
}

// scaleColumns centres and scales the private shapes, over rows that count 1 each.
func (r *binaryFit) scaleColumns() *scaledColumns {
	w, square := &scaledColumns{}, interceptSays*interceptSays
	for k := range r.shapes {
		sh := &r.shapes[k]
		if sh.variance == nil {
			continue
		}
		steps, rows := r.countRows(sh)
		mean, variance := momentsOf(steps, rows)
		scale := math.Max(math.Sqrt(variance), leastScale)
		x := make([]float64, len(steps))
		for b, s := range steps {
			x[b] = (s - mean) / scale
		}
		w.at, w.means, w.scales = append(w.at, k), append(w.means, mean), append(w.scales, scale)
		w.vectors = append(w.vectors, feature.Shape{Bins: r.bins[k], Steps: x})
		square += variance / (scale * scale)
	}
	w.vectors = append(w.vectors, feature.Shape{Bins: r.bins[0],
		Steps: slices.Repeat([]float64{interceptSays}, r.bins[0].Len())})
	w.most = lengthOfRows * math.Sqrt(square)
	return w
}

// stretchAround multiplies what the steps are beyond their mean by a weight, at least 0, of which
// noise alone moves so much.
func (sh *binaryShape) stretchAround(mean, weight, moved float64) {
	weight = math.Max(0, weight)
	for b, s := range sh.steps {
		beyond := s - mean
		by := moved * moved * beyond * beyond
		sh.steps[b] = mean + weight*beyond
		sh.moved[b] = movedBeforeWeights*weight*weight*sh.moved[b] + movedByWeights*by
		sh.variance[b] = weight*weight*sh.variance[b] + by
	}
}
