// SPDX-License-Identifier: Apache-2.0

package shrink

import (
	"math"
	"slices"

	"github.com/discreet-dp/discreet/internal/table/feature"
)

// GaussianLogOdds turns cells without noise, and noisy ones of a pair or of residuals, into
// log-odds per bin with their variances.
//
// Let t = (positive − negative)/(positive + negative) in a bin: the log-odds beyond the score are
// log((1+t)/(1−t)) = 2·atanh t. The prior of t over bins is normal with mean zero and covariance
//
//	commonVariance + spread²·(1 where the bins are one, decay where they are neighbours by |i−j|)
//
// and what was released is positive − negative = weight·t + noise, of a variance that is known but
// for sampling. The posterior mean shrinks each bin, and runs of bins, by exactly what their noise
// warrants. spread, and how fast neighbours decay, are averaged over a grid by how well they
// explain the cells.
func GaussianLogOdds(c *Cells, bins *feature.Bins) (steps, variance []float64) {
	if bins.Marks() > 0 {
		return c.takeMarksApart(bins, GaussianLogOdds)
	}
	n := len(c.Positive)
	o := &observations{diff: make([]float64, n), weight: make([]float64, n), noise: make([]float64, n)}
	for b := range n {
		o.diff[b] = c.Positive[b] - c.Negative[b]
		o.weight[b] = math.Max(c.Positive[b]+c.Negative[b], 0)
		// Sampling: squares of weights, which are at most 1, add up to less than the weights do.
		o.noise[b] = c.Noise.DifferenceVariance() + o.weight[b] + 1e-3
	}
	var posteriors []posterior
	for _, spread := range spreads {
		switch {
		case bins.Ordered():
			for _, reach := range reaches {
				prior := newDensePrior(n, commonVariance, spread*spread, neighbourCorrelation(reach*float64(n)))
				posteriors = append(posteriors, o.posteriorUnder(prior))
			}
		case bins.Second != nil:
			posteriors = append(posteriors, o.posteriorOfPair(spread, bins))
		default:
			posteriors = append(posteriors, o.posteriorOfExchangeable(commonVariance, spread*spread))
		}
	}
	mean, variance := averageByEvidence(posteriors)
	steps = make([]float64, n)
	for b, t := range mean {
		t = math.Min(math.Max(t, -mostImbalance), mostImbalance)
		steps[b] = 2 * math.Atanh(t)
		slope := 2 / (1 - t*t)
		variance[b] = variance[b] * slope * slope
	}
	return steps, variance
}

// The prior. Its grid is wide enough for a column that says nothing and for one that decides.
var (
	spreads = []float64{0.03, 0.06, 0.12, 0.25, 0.5, 1}
	reaches = []float64{0.1, 0.3, 1} // of the number of bins
)

const (
	commonVariance = 0.1 * 0.1 // of what all bins share
	rough          = 0.1       // part of spread² that neighbours do not share
	mostImbalance  = 0.97      // a step is at most 2·atanh(0.97) = 4.2 nats
)

// observations are, by bin, diff = weight·u + noise, of which u is to be estimated.
type observations struct {
	diff, weight []float64
	noise        []float64 // variances
}

// posteriorOfExchangeable takes bins that share a common part only: the covariance of the
// observations is diagonal plus shared·weight·weightᵀ, inverted in O(n) (Sherman and Morrison).
// shared and square are the variances of the common part and of each bin's own.
func (o *observations) posteriorOfExchangeable(shared, square float64) posterior {
	n := len(o.diff)
	p := newPosterior(n)
	// d is the diagonal; a, b are weightᵀd⁻¹diff and weightᵀd⁻¹weight.
	d := make([]float64, n)
	var a, b, quad, logs float64
	for i := range n {
		d[i] = square*o.weight[i]*o.weight[i] + o.noise[i]
		a += o.weight[i] * o.diff[i] / d[i]
		b += o.weight[i] * o.weight[i] / d[i]
		quad += o.diff[i] * o.diff[i] / d[i]
		logs += math.Log(d[i])
	}
	variance := shared / (1 + shared*b) // of the common part, after the observations
	mean := variance * a
	for i := range n {
		pull := square * o.weight[i] / d[i]
		own := o.noise[i] / d[i] // 1 − pull·weight
		p.mean[i] = mean + pull*(o.diff[i]-o.weight[i]*mean)
		p.square[i] = square*own + own*own*variance + p.mean[i]*p.mean[i]
	}
	p.evidence = -0.5 * (quad - variance*a*a + logs + math.Log1p(shared*b))
	return p
}

// posteriorUnder takes bins under any prior of which the whole covariance is known.
func (o *observations) posteriorUnder(prior *densePrior) posterior {
	logs := prior.factorObserved(o.weight, o.noise)
	half := slices.Clone(o.diff)
	solveLower(prior.factor, half)
	quad := 0.0
	for _, x := range half {
		quad += x * x
	}
	mean, variance := prior.conditionOn(o.weight, half)
	return posterior{mean: mean, evidence: -0.5*quad - logs}.withVariance(variance)
}

// densePrior is the covariance of n bins. Matrices are row-major.
type densePrior struct {
	n             int
	prior, factor []float64 // the covariance, and the Cholesky factor that factorObserved makes
}

// newDensePrior has the covariance shared + square·correlation(i, j), the correlation of a bin with
// itself being 1.
func newDensePrior(n int, shared, square float64, correlation func(i, j int) float64) *densePrior {
	p := &densePrior{n: n, prior: make([]float64, n*n), factor: make([]float64, n*n)}
	for i := range n {
		for j := range n {
			p.prior[i*n+j] = shared + square*correlation(i, j)
		}
	}
	return p
}

// neighbourCorrelation is the correlation of ordered bins: neighbours share what
// exp(−distance/reach) says, but for a rough part.
func neighbourCorrelation(reach float64) func(i, j int) float64 {
	return func(i, j int) float64 {
		if i == j {
			return 1
		}
		return (1 - rough) * math.Exp(-math.Abs(float64(i-j))/reach)
	}
}

// factorObserved prepares the Cholesky factor L of diag(slope)·prior·diag(slope) + diag(noise), the
// covariance of the observations slope·u + noise. It returns half the logarithm of its determinant.
func (p *densePrior) factorObserved(slope, noise []float64) (logs float64) {
	for i := range p.n {
		for j := range i + 1 {
			p.factor[i*p.n+j] = slope[i] * slope[j] * p.prior[i*p.n+j]
		}
		p.factor[i*p.n+i] += noise[i]
	}
	return factorCholesky(p.factor, p.n)
}

// conditionOn returns the means and variances of u given half = L⁻¹·observations: with z =
// L⁻¹·(slope ∘ row i of the prior), the mean is z·half and the variance the prior's less z·z.
func (p *densePrior) conditionOn(slope, half []float64) (mean, variance []float64) {
	mean, variance = make([]float64, p.n), make([]float64, p.n)
	z := make([]float64, p.n)
	for i := range p.n {
		for j := range z {
			z[j] = slope[j] * p.prior[i*p.n+j]
		}
		solveLower(p.factor, z)
		variance[i] = p.prior[i*p.n+i]
		for j, x := range z {
			mean[i] += x * half[j]
			variance[i] -= x * x
		}
		variance[i] = math.Max(variance[i], 0)
	}
	return mean, variance
}

// solveLower solves L·x = y in place.
func solveLower(factor, y []float64) {
	n := len(y)
	for i := range n {
		for k := range i {
			y[i] -= factor[i*n+k] * y[k]
		}
		y[i] /= factor[i*n+i]
	}
}
