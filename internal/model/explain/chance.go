// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/model/shrink"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// chance draws what the learner would have made of a column without an effect. What was released of the
// column says how many rows lie in each bin and how much noise its cells have. Labels that do not depend on
// the column and the noise are drawn, and become steps by the functions that the learner calls. Draws follow
// from what was released, so that equal models give equal numbers.
type chance struct {
	bins     *feature.Bins
	monotone schema.Monotone
	*model.Cells
	draws draws
}

// trials makes the line of one half the middle of all trials, and that of one in twenty the second largest: one
// more trial reaches the i-th largest of n with a probability of i/(n+1), whatever their law.
const trials = 39

// findLines returns the importance that a column without an effect reaches in one half of all trainings, and
// that which it reaches in one of twenty. Time: that of shrink.LogOdds for each trial and each release.
func (c *chance) findLines() (half, rare float64) {
	c.draws = seedDraws(c.Weights)
	found := make([]float64, trials)
	for i := range found {
		found[i] = c.Stretch * meanDistance(c.try())
	}
	slices.Sort(found)
	return found[trials/2], found[trials-2]
}

// try draws the steps of a column without an effect, and what is then estimated of the weights of its bins.
func (c *chance) try() (weights, steps []float64) {
	n := len(c.Weights)
	steps = make([]float64, n)
	odds := c.tryLabels()
	var variance []float64
	for i := range c.Releases {
		r := &c.Releases[i]
		weight, shift := weightOf(r), shiftOf(r, n)
		cells := &shrink.Cells{Positive: make([]float64, n), Negative: make([]float64, n),
			Noise: shrink.Noise{Positive: r.Noise[0], Negative: r.Noise[1], Gaussian: r.Gaussian}}
		mean := 0.0 // of the steps so far, which is part of the shift
		for b, w := range c.Weights {
			mean += w * steps[b]
		}
		for b, w := range c.Weights {
			share := 1 / (1 + math.Exp(steps[b]-mean-odds[b]-shift))
			cells.Positive[b] = weight*w*share + c.draws.noise(r.Noise[0], r.Gaussian)
			cells.Negative[b] = weight*w*(1-share) + c.draws.noise(r.Noise[1], r.Gaussian)
		}
		if r.Balanced {
			shrink.ProjectOntoSimplex(cells.Positive, r.Weights[0])
			shrink.ProjectOntoSimplex(cells.Negative, r.Weights[1])
		}
		more, vary := shrink.LogOdds(cells, c.bins)
		weights, variance = cells.ShareWeights(more), vary
		for b, s := range more {
			steps[b] += r.Part * s
		}
	}
	amounts := n - c.bins.Marks()
	shrink.MakeMonotone(c.monotone, steps[:amounts], variance[:amounts])
	return weights, steps
}

// mostApart is the largest share of a weight by which two classes are taken to differ, so that log-odds are finite.
const mostApart = 0.999

// tryLabels draws labels that do not depend on the column, and returns the log-odds that they have in each
// bin by chance. All bins together keep to the balance of the classes.
func (c *chance) tryLabels() []float64 {
	r := &c.Releases[len(c.Releases)-1]
	weight := weightOf(r)
	// A row whose rarer label has probability p weighs 2p on average, and the difference of the classes has a
	// variance of p/(1−p).
	rarer := math.Min(weight/(2*math.Max(r.Rows, 1)), 0.5)
	variance := weight / (2 * (1 - rarer))
	out, all := make([]float64, len(c.Weights)), 0.0
	for b, w := range c.Weights {
		out[b] = c.draws.normal() * math.Sqrt(variance*w)
		all += out[b]
	}
	for b, w := range c.Weights {
		difference := out[b] - w*all
		if out[b] = 0; w*weight > 0 {
			out[b] = oddsApart(difference / (w * weight))
		}
	}
	return out
}

// weightOf is the weight of all rows, which noise may have made negative.
func weightOf(r *model.Release) float64 { return math.Max(0, r.Weights[0]+r.Weights[1]) }

// shiftOf estimates by how much the log-odds of all rows together differed from the score that weighed them, from
// all cells of n bins: closer to 0 the less the noise lets them tell.
func shiftOf(r *model.Release, n int) float64 {
	weight, difference, noise := weightOf(r), r.Weights[0]-r.Weights[1], 0.0
	if !r.Balanced {
		noise = (r.Noise[0]*r.Noise[0] + r.Noise[1]*r.Noise[1]) * float64(n)
	}
	if !(weight > 0) || difference*difference <= noise {
		return 0
	}
	return oddsApart(difference * (1 - noise/(difference*difference)) / weight)
}

// oddsApart is the log-odds of classes that differ by a share of their weight.
func oddsApart(share float64) float64 {
	return 2 * math.Atanh(math.Min(math.Max(share, -mostApart), mostApart))
}

// draws are numbers that follow from a hash. They protect nothing.
type draws struct {
	seed [sha256.Size]byte
	left int // bytes of the seed that were not used
}

func seedDraws(weights []float64) draws {
	var text []byte
	for _, w := range weights {
		text = binary.LittleEndian.AppendUint64(text, math.Float64bits(w))
	}
	return draws{seed: sha256.Sum256(text)}
}

// uniform is inside (0, 1).
func (d *draws) uniform() float64 {
	if d.left == 0 {
		d.seed, d.left = sha256.Sum256(d.seed[:]), len(d.seed)
	}
	d.left -= 8
	return (float64(binary.LittleEndian.Uint64(d.seed[d.left:])>>11) + 0.5) / (1 << 53)
}

func (d *draws) normal() float64 { return math.Sqrt2 * math.Erfinv(2*d.uniform()-1) }

func (d *draws) noise(deviation float64, gaussian bool) float64 {
	if gaussian {
		return deviation * d.normal()
	}
	u := 2*d.uniform() - 1
	return math.Copysign(deviation/math.Sqrt2*math.Log1p(-math.Abs(u)), u)
}
