// SPDX-License-Identifier: Apache-2.0

package additive

import (
	"math"
	"slices"
)

// levelCells are released cells of one column, in rows.
type levelCells struct {
	rows     [][]float64 // by level, then bin
	variance float64     // of the noise on each
}

// shares turns noisy cells into steps, log(share of the level in the bin / its
// share overall), by level and bin, with variances.
//
// In a bin of weight R, the rows of all levels, a level of share π has
// R·σ(logit π + u) rows: u is how much the bin speaks for the level against all
// others. The prior of u over bins is that of normal, on the scale of
// log-odds; the noise of rows − π·R is known but for sampling. Because the rows
// expected are a function of u, noise cannot make a rare level likely in every
// bin that it happens to fall into: with π·R far below the noise, u hardly moves
// them, and stays at its prior. The mode and the curvature there are found by
// Newton's method and averaged over a grid of priors by their evidence (Laplace's
// approximation). The shares of all levels are then made to add up to 1.
func (c *levelCells) shares(share []float64, ordered bool) (steps, variance [][]float64) {
	levels, n := len(share), len(c.rows[0])
	weight := make([]float64, n)
	for _, rows := range c.rows {
		for b, x := range rows {
			weight[b] += x
		}
	}
	sum := make([]float64, n)
	for k, pi := range share {
		t := &tilt{share: pi, diff: make([]float64, n), weight: make([]float64, n)}
		t.noise = c.variance * (float64((1-pi)*(1-pi)) + float64(levels-1)*float64(pi*pi))
		for b := range n {
			t.diff[b] = c.rows[k][b] - float64(pi*weight[b])
			t.weight[b] = math.Max(weight[b], 0)
		}
		u, v := t.posterior(ordered)
		for b, x := range u {
			u[b] = sigmoid(logit(pi) + x)
			sum[b] += u[b]
			v[b] *= float64((1 - u[b]) * (1 - u[b])) // of log σ
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

func sigmoid(z float64) float64 { return 1 / (1 + math.Exp(-z)) }
func logit(p float64) float64   { return math.Log(p / (1 - p)) }

// The prior of log-odds: twice that of normal, and wider for levels that only
// some bins have.
var tilts = []float64{0.06, 0.12, 0.25, 0.5, 1, 2, 4}

const (
	tiltBase  = 2 * base
	tiltSteps = 6   // of Newton; each at most mostTilt
	mostTilt  = 1.5 // nats
	farTilt   = 15  // |u| at most, nats
	nearTilt  = 1e-3

	negligible = 1e-6 // part of the best evidence
)

// tilt is what one level's cells say.
type tilt struct {
	share        float64
	diff, weight []float64
	noise        float64 // variance of diff
}

// posterior is the mean and variance of u over the grid of priors.
func (t *tilt) posterior(ordered bool) (mean, variance []float64) {
	n := len(t.diff)
	var posts []tiltPosterior
	best := math.Inf(-1)
	look := func(u []float64, prior tiltPrior) []float64 {
		p := t.mode(u, prior)
		posts = append(posts, p)
		best = math.Max(best, p.evidence)
		return p.mean // where the next, wider prior starts
	}
	if !ordered {
		u := make([]float64, n)
		for _, spread := range tilts {
			u = look(u, newExchangeable(spread*spread, n))
		}
	} else {
		for _, reach := range reaches {
			u := make([]float64, n)
			for _, spread := range tilts {
				u = look(u, newOrderedPrior(spread*spread, reach*float64(n), n))
			}
		}
	}
	mean, variance = make([]float64, n), make([]float64, n)
	all := 0.0
	for _, p := range posts {
		w := math.Exp(p.evidence - best)
		if w < negligible {
			continue
		}
		p.variance = p.prior.variances(p.slope)
		all += w
		for b := range n {
			mean[b] += float64(w * p.mean[b])
			variance[b] += w * (p.variance[b] + float64(p.mean[b]*p.mean[b]))
		}
	}
	for b := range n {
		mean[b] /= all
		variance[b] = math.Max(0, variance[b]/all-float64(mean[b]*mean[b]))
	}
	return mean, variance
}

// tiltPrior is a prior of u: its covariance P in the forms that Newton's method
// needs. Observations are slope·u + noise.
type tiltPrior interface {
	// solve prepares (diag(slope)·P·diag(slope) + diag(noise))⁻¹ and returns half
	// the logarithm of the determinant of what is inverted.
	solve(slope, noise []float64) (logs float64)
	// inverse overwrites y with the prepared inverse times y.
	inverse(y []float64)
	// times returns P·x.
	times(x []float64) []float64
	// variances are those of the posterior.
	variances(slope []float64) []float64
}

// tiltPosterior is a posterior whose variances are not reckoned yet.
type tiltPosterior struct {
	posterior
	prior tiltPrior
	slope []float64
}

// mode starts from u, which it does not change.
func (t *tilt) mode(from []float64, prior tiltPrior) tiltPosterior {
	n := len(t.diff)
	u, slope, noise, y := slices.Clone(from), make([]float64, n), make([]float64, n), make([]float64, n)
	var logs float64
	linear := func() { // the observations seen from u
		for b, w := range t.weight {
			q := sigmoid(logit(t.share) + u[b])
			slope[b] = w * float64(q*(1-q))
			noise[b] = t.noise + slope[b] + 1e-3 // sampling
			y[b] = t.diff[b] - float64(w*(q-t.share)) + float64(slope[b]*u[b])
		}
		logs = prior.solve(slope, noise)
		prior.inverse(y)
		for b := range y {
			y[b] *= slope[b]
		}
	}
	for range tiltSteps {
		linear()
		next, most := prior.times(y), 0.0
		for b := range u {
			most = math.Max(most, math.Abs(next[b]-u[b]))
		}
		scale := 1.0
		if most > mostTilt {
			scale = mostTilt / most
		}
		for b := range u {
			u[b] += float64(scale * (next[b] - u[b]))
			u[b] = math.Min(math.Max(u[b], -farTilt), farTilt)
		}
		if most < nearTilt {
			break
		}
	}
	linear()
	p := tiltPosterior{posterior{mean: u, evidence: -logs}, prior, slope}
	for b, w := range t.weight {
		r := t.diff[b] - float64(w*(sigmoid(logit(t.share)+u[b])-t.share))
		p.evidence -= 0.5 * (float64(r*r/noise[b]) + float64(u[b]*y[b]))
	}
	return p
}

// exchangeable is tiltBase²·11ᵀ + square·I: everything takes O(n) (Sherman and
// Morrison).
type exchangeable struct {
	square      float64
	diag, along []float64 // what is inverted is diag + tiltBase²·along·alongᵀ
	shared      float64   // tiltBase² over 1 + tiltBase²·alongᵀdiag⁻¹along
}

func newExchangeable(square float64, n int) *exchangeable {
	return &exchangeable{square: square, diag: make([]float64, n), along: make([]float64, n)}
}

func (e *exchangeable) solve(slope, noise []float64) (logs float64) {
	sum := 0.0
	copy(e.along, slope)
	for b, s := range slope {
		e.diag[b] = float64(e.square*float64(s*s)) + noise[b]
		sum += float64(s*s) / e.diag[b]
		logs += math.Log(e.diag[b]) / 2
	}
	e.shared = tiltBase * tiltBase / (1 + float64(tiltBase*tiltBase*sum))
	return logs + math.Log1p(float64(tiltBase*tiltBase*sum))/2
}

func (e *exchangeable) inverse(y []float64) {
	sum := 0.0
	for b := range y {
		y[b] /= e.diag[b]
		sum += float64(e.along[b] * y[b])
	}
	for b := range y {
		y[b] -= float64(e.shared * sum * e.along[b] / e.diag[b])
	}
}

func (e *exchangeable) times(x []float64) []float64 {
	out, sum := make([]float64, len(x)), 0.0
	for _, v := range x {
		sum += v
	}
	for b, v := range x {
		out[b] = float64(e.square*v) + float64(tiltBase*tiltBase*sum)
	}
	return out
}

// variances are P − P·S·(S·P·S + N)⁻¹·S·P on the diagonal.
func (e *exchangeable) variances(slope []float64) []float64 {
	out := make([]float64, len(slope))
	for b, s := range slope {
		own := 1 - float64(e.square*float64(s*s))/e.diag[b] // noise/diag: what of its own part stays unknown
		out[b] = math.Max(0, float64(e.square*own)+float64(own*own*e.shared))
	}
	return out
}

// orderedPrior is the covariance of normal: neighbouring bins share what
// exp(−distance/reach) says.
type orderedPrior struct {
	n           int
	prior, chol []float64 // row-major
}

func newOrderedPrior(square, reach float64, n int) *orderedPrior {
	o := &orderedPrior{n: n, prior: make([]float64, n*n), chol: make([]float64, n*n)}
	for i := range n {
		for j := range n {
			k := 1.0
			if i != j {
				k = (1 - rough) * math.Exp(-math.Abs(float64(i-j))/reach)
			}
			o.prior[i*n+j] = tiltBase*tiltBase + float64(square*k)
		}
	}
	return o
}

func (o *orderedPrior) solve(slope, noise []float64) (logs float64) {
	for i := range o.n {
		for j := range i + 1 {
			o.chol[i*o.n+j] = slope[i] * slope[j] * o.prior[i*o.n+j]
		}
		o.chol[i*o.n+i] += noise[i]
	}
	return factor(o.chol, o.n)
}

func (o *orderedPrior) inverse(y []float64) {
	forward(o.chol, y)
	for i := o.n - 1; i >= 0; i-- { // Lᵀx = y
		for k := i + 1; k < o.n; k++ {
			y[i] -= float64(o.chol[k*o.n+i] * y[k])
		}
		y[i] /= o.chol[i*o.n+i]
	}
}

func (o *orderedPrior) times(x []float64) []float64 {
	out := make([]float64, o.n)
	for i := range out {
		for j, v := range x {
			out[i] += float64(o.prior[i*o.n+j] * v)
		}
	}
	return out
}

func (o *orderedPrior) variances(slope []float64) []float64 {
	out, z := make([]float64, o.n), make([]float64, o.n)
	for i := range out {
		for j := range z {
			z[j] = slope[j] * o.prior[i*o.n+j]
		}
		forward(o.chol, z)
		out[i] = o.prior[i*o.n+i]
		for _, x := range z {
			out[i] -= float64(x * x)
		}
		out[i] = math.Max(0, out[i])
	}
	return out
}
