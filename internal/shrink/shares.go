// SPDX-License-Identifier: Apache-2.0

package shrink

import (
	"math"
	"slices"
)

// ClassShares turns noisy numbers of rows, by class and bin, into steps: log(share of the class in
// the bin / its share overall), with variances. share is of each class overall, in (0, 1) and
// adding up to 1; noise is the variance of the noise on each number.
//
// In a bin of weight R, the rows of all classes, a class of share π has R·σ(logit π + u) rows: u is
// how much the bin speaks for the class against all others. The prior of u over bins is that of
// GaussianLogOdds, on the scale of log-odds; the noise of rows − π·R is known but for sampling.
// Because the rows expected are a function of u, noise cannot make a rare class likely in every bin
// that it happens to fall into: with π·R far below the noise, u hardly moves them, and stays at its
// prior. Nor does R grow with its own noise: all bins together have the given number of rows. The
// mode and the curvature there are found by Newton's method and averaged over a grid of priors by
// their evidence (Laplace's approximation), to which all classes of the column contribute. The
// shares of all classes are then made to add up to 1.
func ClassShares(rows [][]float64, all, noise float64, share []float64, ordered bool) (
	steps, variance [][]float64) {
	return estimateShares(rows, binRows(rows, all, noise), noise, share, ordered)
}

// binRows is about how many rows of all classes each bin has: the released sums, drawn towards
// equal ones by as much of their spread as is noise (James and Stein 1961), at least none and all
// together.
func binRows(rows [][]float64, all, noise float64) []float64 {
	out := sumClasses(rows)
	n, mean, spread := float64(len(out)), 0.0, 0.0
	for _, x := range out {
		mean += x / n
	}
	for _, x := range out {
		spread += (x - mean) * (x - mean)
	}
	left := math.Max(0, 1-noise*float64(len(rows))*(n-1)/math.Max(spread, 1))
	for b, x := range out {
		out[b] = all/n + left*(x-mean)
	}
	ProjectOntoSimplex(out, all)
	return out
}

func sumClasses(rows [][]float64) []float64 {
	out := make([]float64, len(rows[0]))
	for _, ofClass := range rows {
		for b, x := range ofClass {
			out[b] += x
		}
	}
	return out
}

// estimateShares is ClassShares with so many rows of all classes in each bin.
func estimateShares(rows [][]float64, weight []float64, noise float64, share []float64, ordered bool) (
	steps, variance [][]float64) {
	classes, n, released := len(share), len(weight), sumClasses(rows)
	sum := make([]float64, n)
	var modes []classModes
	for k, pi := range share {
		o := &classObservations{share: pi, diff: make([]float64, n), weight: weight}
		o.noise = noise * ((1-pi)*(1-pi) + float64(classes-1)*(pi*pi))
		for b := range n {
			o.diff[b] = rows[k][b] - pi*released[b]
		}
		modes = append(modes, o.findModes(ordered))
	}
	prior := learnSpreads(modes)
	for k, pi := range share {
		u, v := modes[k].average(prior)
		for b, x := range u {
			u[b] = sigmoid(logit(pi) + x)
			sum[b] += u[b]
			v[b] *= (1 - u[b]) * (1 - u[b]) // of log σ
		}
		steps, variance = append(steps, u), append(variance, v)
	}
	for k, pi := range share {
		for b := range n {
			steps[k][b] = math.Log(steps[k][b] / sum[b] / pi)
		}
	}
	return steps, variance
}

// The prior of log-odds: twice that of GaussianLogOdds, and wider for classes that only some bins
// have.
var classSpreads = []float64{0.06, 0.12, 0.25, 0.5, 1, 2, 4}

const (
	classVariance = 4 * commonVariance // of what all bins share

	newtonSteps = 6   // each at most mostChange
	mostChange  = 1.5 // nats
	farthest    = 15  // |u| at most, nats
	nearEnough  = 1e-3

	negligible   = 1e-6 // part of what all priors count for
	spreadPasses = 10
)

// classObservations are what the cells of one class hold: diff = weight·(σ(logit share + u) −
// share) + noise, by bin.
type classObservations struct {
	share        float64
	diff, weight []float64
	noise        float64 // variance, of all bins alike
}

// classModes are the posteriors of one class over the grid of priors. Variances are costly, and few
// priors count.
type classModes struct {
	posteriors []posterior
	variances  []func() []float64
}

func (o *classObservations) findModes(ordered bool) (m classModes) {
	n := len(o.diff)
	chains := reaches
	if !ordered {
		chains = []float64{0}
	}
	for _, reach := range chains {
		u := make([]float64, n)
		for _, spread := range classSpreads {
			prior := classPrior(&exchangeablePrior{square: spread * spread})
			if ordered {
				prior = newDensePrior(n, classVariance, spread*spread, neighbourCorrelation(reach*float64(n)))
			}
			p, v := o.findMode(u, prior)
			m.posteriors, m.variances = append(m.posteriors, p), append(m.variances, v)
			u = p.mean // where the next, wider prior starts
		}
	}
	return m
}

// weighPriors is how likely each prior of the grid is after the observations.
func (m *classModes) weighPriors(before []float64) []float64 {
	best, all := largestEvidence(m.posteriors), 0.0
	out := make([]float64, len(before))
	for i := range out {
		out[i] = before[i] * math.Exp(m.posteriors[i].evidence-best)
		all += out[i]
	}
	for i := range out {
		out[i] /= all
	}
	return out
}

// learnSpreads is how likely each prior of the grid is for a class of this column, by what all
// classes say of it and as much again of none, for which narrow priors are the likelier: where
// noise leaves each of many classes room for wide steps, all together leave less (expectation and
// maximisation).
func learnSpreads(modes []classModes) []float64 {
	none, sum := make([]float64, len(modes[0].posteriors)), 0.0
	for i := range none {
		none[i] = 1 / classSpreads[i%len(classSpreads)]
		sum += none[i]
	}
	for i := range none {
		none[i] /= sum
	}
	prior, part := none, 1/float64(len(modes)+1)
	for range spreadPasses {
		next := make([]float64, len(none))
		for i := range next {
			next[i] = part * none[i]
		}
		for k := range modes {
			for i, w := range modes[k].weighPriors(prior) {
				next[i] += part * w
			}
		}
		prior = next
	}
	return prior
}

// average is the mean and variance of u over the grid.
func (m *classModes) average(prior []float64) (mean, variance []float64) {
	var counted []posterior
	for i, w := range m.weighPriors(prior) {
		if w >= negligible {
			p := m.posteriors[i].withVariance(m.variances[i]())
			p.evidence += math.Log(prior[i])
			counted = append(counted, p)
		}
	}
	return averageByEvidence(counted)
}

// classPrior is a prior of u with the covariance P. Observations are slope·u + noise, of the
// covariance C = diag(slope)·P·diag(slope) + diag(noise).
type classPrior interface {
	// factorObserved prepares C and returns half the logarithm of its determinant.
	factorObserved(slope, noise []float64) (logs float64)
	// solveMean overwrites y with diag(slope)·C⁻¹·y, and returns P times that: the posterior mean.
	solveMean(slope, y []float64) (mean []float64)
	// posteriorVariances are those of u given the observations.
	posteriorVariances(slope []float64) []float64
}

// findMode is the posterior around its mode, which Newton's method looks for from a start, and what
// computes its variances.
func (o *classObservations) findMode(from []float64, prior classPrior) (p posterior, variances func() []float64) {
	n := len(o.diff)
	u, slope, noise, y := slices.Clone(from), make([]float64, n), make([]float64, n), make([]float64, n)
	linearize := func() (next []float64) { // the observations as they are near u, and their posterior mean
		for b, w := range o.weight {
			q := sigmoid(logit(o.share) + u[b])
			slope[b] = w * (q * (1 - q))
			noise[b] = o.noise + slope[b] + 1e-3 // sampling
			y[b] = o.diff[b] - w*(q-o.share) + slope[b]*u[b]
		}
		p.evidence = -prior.factorObserved(slope, noise)
		return prior.solveMean(slope, y)
	}
	for range newtonSteps {
		next, most := linearize(), 0.0
		for b := range u {
			most = math.Max(most, math.Abs(next[b]-u[b]))
		}
		scale := 1.0
		if most > mostChange {
			scale = mostChange / most
		}
		for b := range u {
			u[b] += scale * (next[b] - u[b])
			u[b] = math.Min(math.Max(u[b], -farthest), farthest)
		}
		if most < nearEnough {
			break
		}
	}
	linearize()
	p.mean = u
	for b, w := range o.weight {
		r := o.diff[b] - w*(sigmoid(logit(o.share)+u[b])-o.share)
		p.evidence -= 0.5 * (r*r/noise[b] + u[b]*y[b])
	}
	return p, func() []float64 { return prior.posteriorVariances(slope) }
}

// exchangeablePrior has the covariance classVariance·11ᵀ + square·I: everything takes O(n) (Sherman
// and Morrison).
type exchangeablePrior struct {
	square float64
	diag   []float64 // the covariance of the observations is diag + classVariance·slope·slopeᵀ
	shared float64   // classVariance over 1 + classVariance·slopeᵀdiag⁻¹slope
}

func (p *exchangeablePrior) factorObserved(slope, noise []float64) (logs float64) {
	p.diag = make([]float64, len(slope))
	sum := 0.0
	for b, s := range slope {
		p.diag[b] = p.square*(s*s) + noise[b]
		sum += s * s / p.diag[b]
		logs += math.Log(p.diag[b]) / 2
	}
	p.shared = classVariance / (1 + classVariance*sum)
	return logs + math.Log1p(classVariance*sum)/2
}

func (p *exchangeablePrior) solveMean(slope, y []float64) (mean []float64) {
	along := 0.0
	for b := range y {
		y[b] /= p.diag[b]
		along += slope[b] * y[b]
	}
	sum := 0.0
	for b, s := range slope {
		y[b] -= p.shared * along * s / p.diag[b]
		y[b] *= s
		sum += y[b]
	}
	mean = make([]float64, len(y))
	for b, v := range y {
		mean[b] = p.square*v + classVariance*sum
	}
	return mean
}

func (p *exchangeablePrior) posteriorVariances(slope []float64) []float64 {
	out := make([]float64, len(slope))
	for b, s := range slope {
		own := 1 - p.square*(s*s)/p.diag[b] // noise/diag: what of its own part stays unknown
		out[b] = math.Max(0, p.square*own+own*own*p.shared)
	}
	return out
}

func (p *densePrior) solveMean(slope, y []float64) (mean []float64) {
	solveLower(p.factor, y)
	for i := p.n - 1; i >= 0; i-- { // Lᵀx = y
		for k := i + 1; k < p.n; k++ {
			y[i] -= p.factor[k*p.n+i] * y[k]
		}
		y[i] /= p.factor[i*p.n+i]
	}
	mean = make([]float64, p.n)
	for i, s := range slope {
		y[i] *= s
	}
	for i := range mean {
		for j, v := range y {
			mean[i] += p.prior[i*p.n+j] * v
		}
	}
	return mean
}

func (p *densePrior) posteriorVariances(slope []float64) []float64 {
	_, variance := p.conditionOn(slope, make([]float64, p.n))
	return variance
}

func sigmoid(z float64) float64 { return 1 / (1 + math.Exp(-z)) }
func logit(p float64) float64   { return math.Log(p / (1 - p)) }
