// SPDX-License-Identifier: Apache-2.0

package accounting

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/dsp/fourier"
)

// transformOfPoint is the relative error of the transform of a unit mass at j,
// known in closed form.
func transformOfPoint(n, j int) float64 {
	x := make([]float64, n)
	x[j] = 1
	sum := 0.0
	for k, c := range fourier.NewFFT(n).Coefficients(nil, x) {
		sin, cos := math.Sincos(-2 * math.Pi * float64(j*k%n) / float64(n))
		d := math.Hypot(real(c)-cos, imag(c)-sin)
		sum += 2 * d * d
	}
	return math.Sqrt(sum / float64(n))
}

// The window of the transform against the whole: a composition whose window
// is much shorter than its range, by tilts far from the best one. Each is a true
// bound, and near the best tilt a tight one.
func TestEveryTiltIsABound(t *testing.T) {
	c := compose(Use{must(Gaussian(rho(0.001))), 1000})
	s := c.orders[0]
	for _, e := range []float64{0.5, 3, 8} {
		truth := deltaOf(e, gaussianLaw(1))
		for _, theta := range []float64{0, 0.5, 1, 2, 4, 8, 16} {
			if got := s.tiltBy(theta).boundDelta(e); !(got >= truth*(1-1e-7)) {
				t.Errorf("tilt %g at ε = %g: %g, truth %g", theta, e, got, truth)
			}
		}
	}
}
