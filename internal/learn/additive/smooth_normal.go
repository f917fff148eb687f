// SPDX-License-Identifier: Apache-2.0

package additive

import (
	"math"

	"github.com/discreet-dp/discreet/internal/table/feature"
)

// normal turns cells without noise, and noisy ones of a pair or of what is left
// over, into log-odds per bin with their variances.
//
// Let t = (positive − negative)/(positive + negative) in a bin: the log-odds
// beyond the score are log((1+t)/(1−t)) = 2·atanh t. The prior of t over bins is
// normal with mean zero and covariance
//
//	base² + spread²·(1 where the bins are one, decay where they are neighbours by |i−j|)
//
// and what was released is positive − negative = weight·t + noise, of a variance
// that is known but for sampling. The posterior mean shrinks each bin, and runs
// of bins, by exactly what their noise warrants. spread, and how fast neighbours
// decay, are averaged over a grid by how well they explain the cells.
//
// In a pair neighbours are such in both columns that are ordered; see pair.
func normal(c cells, bins *feature.Bins) (steps, variance []float64) {
	n := len(c.positive)
	w := &weighed{diff: make([]float64, n), weight: make([]float64, n), noise: make([]float64, n)}
	for b := range n {
		w.diff[b] = c.positive[b] - c.negative[b]
		w.weight[b] = math.Max(c.positive[b]+c.negative[b], 0)
		w.noise[b] = c.noise.variance() + w.weight[b] + 1e-3 // sampling: squares of weights, which are at most 1, add up to less than they do
	}
	var posts []posterior
	best := math.Inf(-1)
	for _, spread := range spreads {
		switch {
		case bins.Ordered():
			for _, reach := range reaches {
				posts = append(posts, w.ordered(spread, reach*float64(n)))
			}
		case bins.Second != nil:
			posts = append(posts, w.pair(spread, bins))
		default:
			posts = append(posts, w.exchangeable(spread))
		}
	}
	for _, p := range posts {
		best = math.Max(best, p.evidence)
	}
	mean, second, all := make([]float64, n), make([]float64, n), 0.0
	for _, p := range posts {
		weight := math.Exp(p.evidence - best)
		all += weight
		for b := range n {
			mean[b] += float64(weight * p.mean[b])
			second[b] += weight * (p.variance[b] + float64(p.mean[b]*p.mean[b]))
		}
	}
	steps, variance = make([]float64, n), make([]float64, n)
	for b := range n {
		t := mean[b] / all
		v := math.Max(0, second[b]/all-float64(t*t))
		t = math.Min(math.Max(t, -mostImbalance), mostImbalance)
		steps[b] = 2 * math.Atanh(t)
		slope := 2 / (1 - float64(t*t))
		variance[b] = v * slope * slope
	}
	return steps, variance
}

// The prior. Its grid is wide enough for a column that says nothing and for one
// that decides.
var (
	spreads = []float64{0.03, 0.06, 0.12, 0.25, 0.5, 1}
	reaches = []float64{0.1, 0.3, 1} // of the number of bins
)

const (
	base          = 0.1
	rough         = 0.1  // part of spread² that neighbours do not share
	mostImbalance = 0.97 // a step is at most 2·atanh(0.97) = 4.2 nats
)

// weighed are the observations of one column.
type weighed struct{ diff, weight, noise []float64 }

// posterior is the result under one prior.
type posterior struct {
	mean, variance []float64
	evidence       float64 // logarithm, up to a constant
}

// exchangeable bins share base only: the covariance of the observations is
// diagonal plus base²·weight·weightᵀ, inverted in O(n) (Sherman and Morrison).
func (w *weighed) exchangeable(spread float64) posterior {
	n := len(w.diff)
	p := posterior{mean: make([]float64, n), variance: make([]float64, n)}
	// d is the diagonal; a, b are weightᵀd⁻¹diff and weightᵀd⁻¹weight.
	d := make([]float64, n)
	var a, b, quad, logs float64
	for i := range n {
		d[i] = float64(spread*spread*w.weight[i]*w.weight[i]) + w.noise[i]
		a += w.weight[i] * w.diff[i] / d[i]
		b += w.weight[i] * w.weight[i] / d[i]
		quad += w.diff[i] * w.diff[i] / d[i]
		logs += math.Log(d[i])
	}
	shared := base * base / (1 + float64(base*base*b)) // posterior variance of the common part
	common := shared * a                               // and its mean
	for i := range n {
		pull := spread * spread * w.weight[i] / d[i]
		own := w.noise[i] / d[i] // 1 − pull·weight
		p.mean[i] = common + float64(pull*(w.diff[i]-float64(w.weight[i]*common)))
		p.variance[i] = float64(spread*spread*own) + float64(own*own*shared)
	}
	p.evidence = -0.5 * (quad - float64(shared*a*a) + logs + math.Log1p(base*base*b))
	return p
}

// ordered bins share what exp(−distance/reach) says. One Cholesky factor of an
// n×n matrix; numbers have at most 32 bins.
func (w *weighed) ordered(spread, reach float64) posterior {
	n := len(w.diff)
	prior, chol := make([]float64, n*n), make([]float64, n*n) // row-major
	for i := range n {
		for j := range n {
			k := 1.0
			if i != j {
				k = (1 - rough) * math.Exp(-math.Abs(float64(i-j))/reach)
			}
			prior[i*n+j] = base*base + float64(spread*spread*k)
			chol[i*n+j] = w.weight[i] * w.weight[j] * prior[i*n+j]
		}
		chol[i*n+i] += w.noise[i]
	}
	logs := factor(chol, n)
	y := append([]float64(nil), w.diff...)
	forward(chol, y)
	quad := 0.0
	for _, x := range y {
		quad += float64(x * x)
	}
	p := posterior{mean: make([]float64, n), variance: make([]float64, n), evidence: -0.5*quad - logs}
	z := make([]float64, n)
	for i := range n {
		// z = L⁻¹(weight ∘ prior row i): mean = z·y, variance = prior − z·z.
		for j := range n {
			z[j] = w.weight[j] * prior[i*n+j]
		}
		forward(chol, z)
		v := prior[i*n+i]
		for j := range n {
			p.mean[i] += float64(z[j] * y[j])
			v -= float64(z[j] * z[j])
		}
		p.variance[i] = math.Max(v, 0)
	}
	return p
}

// factor overwrites the lower triangle of a with its Cholesky factor and
// returns half the logarithm of the determinant.
func factor(a []float64, n int) (logs float64) {
	for i := range n {
		for j := range i + 1 {
			x := a[i*n+j]
			for k := range j {
				x -= float64(a[i*n+k] * a[j*n+k])
			}
			if i == j {
				a[i*n+i] = math.Sqrt(math.Max(x, 1e-9)) // noise keeps it above; rounding might not
				logs += math.Log(a[i*n+i])
			} else {
				a[i*n+j] = x / a[j*n+j]
			}
		}
	}
	return logs
}

// forward solves L x = y in place.
func forward(chol, y []float64) {
	n := len(y)
	for i := range n {
		for k := range i {
			y[i] -= float64(chol[i*n+k] * y[k])
		}
		y[i] /= chol[i*n+i]
	}
}
