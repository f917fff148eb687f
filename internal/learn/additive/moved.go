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
	// A column takes back part of what noise did to those that say the same, which no release tells:
	// of the sum of the variances of the steps so much is seen in scores.
	movedTogether = 0.65
	// Of what a picked column adds so much is missed in fits that do not pick it. The rest others say
	// in its place.
	movedByPicks = 0.75
)

// addMoved adds to what noise does to a shape what it does to the steps of one more release, of
// which part enters the model. What it did to earlier steps is seen again as far as the release
// shows anything, and taken back.
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

// noteCertainty notes by how much a unit of imbalance made it more certain that round t would take
// column k. Permute-and-flip takes a column that says nothing in the place of one whose imbalance
// is u with probability exp(−ε·u/spread), where it comes first (G-MECH-3).
func (r *binaryFit) noteCertainty(t, k int, spread float64) {
	r.shapes[k].certain = r.plan.prices.picks[t].Epsilon.Float() / spread
}

// noteMoved notes what noise does to all rows alike and to the stretch of the shapes.
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

// movedByLevel is moved as a model has it.
func (sh *finishedShape) movedByLevel() []float64 {
	if sh.moved == nil {
		return nil
	}
	return sh.bins.ByLevel(sh.moved)
}
