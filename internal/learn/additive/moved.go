// SPDX-License-Identifier: Apache-2.0

package additive

import (
	"math"

	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/shrink"
)

// What noise alone does to a score: by how much the scores of another fit to the same rows would
// differ. All of it is reckoned from what was released.

const (
	// Correlated columns cancel part of each other's noise, by an amount that no release shows: this
	// share of the sum of the steps' variances is observed in scores.
	movedTogether = 0.65
	// This share of a picked column's contribution is missing in fits that do not pick it. Other
	// columns replace the rest.
	movedByPicks = 0.75
)

// addMoved adds the effect of noise on the steps of one more release, of which part enters the model.
// The effect of noise on earlier steps is observed again, as far as the release is informative, and is
// corrected.
func (sh *binaryShape) addMoved(c *shrink.Cells, steps, variance []float64, part float64) {
	o := c.Observe(steps)
	moved, shown := o.MovedByNoise(steps, variance)
	imbalance := 0.0
	for b, w := range o.Weights {
		sh.moved[b] = (1-shown)*(1-shown)*sh.moved[b] + movedTogether*part*part*moved[b]
		imbalance += w * math.Abs(math.Tanh(steps[b]/2))
	}
	sh.certain *= imbalance
}

// noteCertainty records how much a unit of imbalance increased the certainty that round t picks column
// k. Permute-and-flip picks a column without information instead of one with imbalance u with
// probability exp(−ε·u/spread), if it comes first (G-MECH-3).
func (r *binaryFit) noteCertainty(t, k int, spread float64) {
	r.shapes[k].certain = r.plan.prices.picks[t].Epsilon.Float() / spread
}

// noteMoved records the effect of noise on all rows alike and on the scale of the shapes.
func (r *binaryFit) noteMoved(l *shrink.Line) {
	// What it did to the base rate the calibration sees, and takes back as far as it shows anything.
	base := r.baseMoved * (1 - l.ShiftShown) * (1 - l.ShiftShown)
	r.moved = model.Moved{Slope: l.SlopeMoved / l.Slope, Middle: l.Slope * l.Middle}
	r.moved.Intercept = math.Sqrt(base + l.ShiftMoved*l.ShiftMoved + r.missedPicks(l.Slope))
}

// missedPicks is the variance of scores because another fit may not pick the columns of this one,
// the mean over rows: the chance of that (see noteCertainty; what it is measured by has shrunk as
// steps do, so half of it is counted) times the square of what a column adds.
func (r *binaryFit) missedPicks(slope float64) (variance float64) {
	if !r.plan.rules.picks {
		return 0
	}
	for k := range r.shapes {
		sh := &r.shapes[k]
		all, square := 0.0, 0.0
		for b, w := range sh.rows {
			all += w
			square += w * sh.steps[b] * sh.steps[b]
		}
		if all > 0 {
			variance += movedByPicks * math.Exp(-sh.certain/2) * slope * slope * square / all
		}
	}
	return variance
}

// movedByLevel returns moved in the layout of a model.
func (sh *finishedShape) movedByLevel() []float64 {
	if sh.moved == nil {
		return nil
	}
	return sh.bins.ByLevel(sh.moved)
}
