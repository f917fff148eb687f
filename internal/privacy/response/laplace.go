// SPDX-License-Identifier: Apache-2.0

package response

import (
	"math"
	"math/bits"

	"github.com/discreet-dp/discreet/internal/ground/dp"
)

// Laplace reports every coordinate with noise. It is the baseline in the papers: ε is divided among
// all coordinates, so that the variance grows with Dim². Each coordinate is rounded at random, without
// bias, to one of Steps+1 points, and discrete Laplace noise of scale Scale is added, in steps.
// Report: for each coordinate the sum in steps, counted from 64 scales below the range of true values
// and clamped to 64 scales above it.
//
// Claim G-LOCAL-4. Two vectors are at most Dim·Steps steps apart, and Scale ≥ Dim·Steps/ε: a report is
// (ε, 0)-DP.
type Laplace struct {
	eps   dp.Epsilon
	dim   int
	Steps uint64
	Scale uint64
}

// tailScales is the point, in scales, at which noise is clamped: that changes an expectation by less
// than e^-64 scales.
const tailScales = 64

// LaplaceFor makes the mechanism. The input grid is the finest for which the reported numbers fit 32
// bits.
func LaplaceFor(eps dp.Epsilon, dim int) (Laplace, error) {
	const op, most = "laplace", 1 << 24 // of Scale: 2·65·2^24 < 2^32
	if err := checkSize(op, eps, "dim", dim, maxDim); err != nil {
		return Laplace{}, err
	}
	for bit := inputBits; bit >= 0; bit-- {
		hi, lo := bits.Mul64(uint64(dim)<<bit, dp.Nano)
		scale, rest := bits.Div64(hi, lo, uint64(eps))
		if rest > 0 {
			scale++ // 4.1
		}
		if scale <= most {
			return Laplace{eps, dim, 1 << bit, scale}, nil
		}
	}
	return Laplace{}, dp.Refuse(op, "epsilon", "must be at least 6e-8 for each coordinate", eps)
}

// Top is the largest reportable number; a coordinate of 0 without noise is reported as Top/2.
func (l Laplace) Top() uint64 { return l.Steps + 2*tailScales*l.Scale }

func (l Laplace) Name() string     { return "laplace" }
func (l Laplace) Loss() dp.Epsilon { return l.eps }
func (l Laplace) Dim() int         { return l.dim }
func (l Laplace) Words() int       { return l.dim }
func (l Laplace) vector()          {}
func (l Laplace) tally() int       { return l.dim }

// inputStep is the distance between neighbouring points of the input grid on [-1, 1].
func (l Laplace) inputStep() float64 { return 2 / float64(l.Steps) }

// Bias implements Law. The only bias comes from clamping the noise.
func (l Laplace) Bias() float64 {
	return l.inputStep() * float64(l.Scale+1) * math.Exp(-tailScales)
}

// Variance implements Law. Clamping can only lower the variance.
func (l Laplace) Variance(x float64) float64 {
	r := math.Exp(-1 / float64(l.Scale))
	gap := -math.Expm1(-1 / float64(l.Scale))
	_, f := math.Modf((x + 1) / 2 * float64(l.Steps))
	return l.inputStep() * l.inputStep() * (2*r/(gap*gap) + f*(1-f))
}

// Reach implements Law.
func (l Laplace) Reach() float64 { return l.inputStep() / 2 * float64(l.Top()) }

// Check implements Law.
func (l Laplace) Check(r Report) error {
	if len(r) != l.dim {
		return reportError(l, "has %d words, not %d", len(r), l.dim)
	}
	for _, w := range r {
		if uint64(w) > l.Top() {
			return reportError(l, "names step %d of %d", w, l.Top())
		}
	}
	return nil
}

// Add implements Law.
func (l Laplace) Add(t *Tally, r Report) {
	t.Reports++
	for j, w := range r {
		t.Sums[j] += int64(w)
	}
}

// Sum implements Law.
func (l Laplace) Sum(t Tally) []float64 {
	out := make([]float64, l.dim)
	for j, s := range t.Sums {
		out[j] = l.inputStep() / 2 * float64(2*s-t.Reports*int64(l.Top()))
	}
	return out
}
