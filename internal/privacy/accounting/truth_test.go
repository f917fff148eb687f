// SPDX-License-Identifier: Apache-2.0

package accounting

import "math"

// A law is a privacy loss told a second time, without grids: atoms and a
// density on an interval. expect integrates a function of the loss.
type law struct {
	atoms    []atom
	from, to float64
	density  func(l float64) float64
}

// expect is E[f(L)] over losses above a point, by Simpson's rule.
func (w law) expect(above float64, f func(float64) float64) (sum float64) {
	for _, a := range w.atoms {
		if a.l > above {
			sum += a.p * f(a.l)
		}
	}
	from := max(w.from, above)
	if w.density == nil || from >= w.to {
		return sum
	}
	const n = 1000
	h := (w.to - from) / n
	for i := range n + 1 {
		weight := float64(2 + 2*(i%2))
		if i == 0 || i == n {
			weight = 1
		}
		l := from + float64(i)*h
		sum += weight * h / 3 * w.density(l) * f(l)
	}
	return sum
}

// deltaOf is δ(ε) of independent losses, by nested integration.
func deltaOf(eps float64, laws ...law) float64 {
	if len(laws) == 1 { // the kink is the end of the integral
		return laws[0].expect(eps, func(l float64) float64 { return -math.Expm1(eps - l) })
	}
	return laws[0].expect(math.Inf(-1), func(l float64) float64 { return deltaOf(eps-l, laws[1:]...) })
}

func coinLaw(e float64) law {
	return law{atoms: []atom{{e, 1 / (1 + math.Exp(-e))}, {-e, 1 / (1 + math.Exp(e))}}}
}

func laplaceLaw(e float64) law {
	return law{
		atoms: []atom{{e, 0.5}, {-e, math.Exp(-e) / 2}},
		from:  -e, to: e, density: func(l float64) float64 { return math.Exp((l-e)/2) / 4 },
	}
}

func gaussianLaw(rho float64) law {
	mu := math.Sqrt(2 * rho)
	return law{from: mu * (mu/2 - 12), to: mu * (mu/2 + 12), density: func(l float64) float64 {
		z := l/mu - mu/2
		return math.Exp(-z*z/2) / math.Sqrt(2*math.Pi) / mu
	}}
}

// exponentialLaw has one of the bounded-range losses t−ε, t; the true worst
// case takes the worst t.
func exponentialLaw(e, t float64) law {
	p := (math.Exp(e) - math.Exp(t)) / math.Expm1(e)
	return law{atoms: []atom{{t, p}, {t - e, 1 - p}}}
}

// discreteLaw lists the losses of integer noise of the given weights, moved.
func discreteLaw(reach, moved int, weight func(x int) float64) law {
	sum := 0.0
	for x := -reach; x <= reach; x++ {
		sum += weight(x)
	}
	var w law
	for x := -reach; x <= reach; x++ {
		if a, b := weight(x), weight(x-moved); a > 0 && b > 0 {
			w.atoms = append(w.atoms, atom{math.Log(a / b), a / sum})
		}
	}
	return w
}

// subsampledDelta integrates over the noise, not the loss.
func subsampledDelta(rate, rho, eps float64, inclusive bool) (sum float64) {
	mu := math.Sqrt(2 * rho)
	const n = 50_000
	h := (24 + mu) / n
	for i := range n {
		z := -12 + (float64(i)+0.5)*h
		q := math.Exp(-z*z/2) / math.Sqrt(2*math.Pi)
		p := (1-rate)*q + rate*q*math.Exp(mu*z-mu*mu/2)
		if !inclusive {
			p, q = q, p
		}
		sum += h * max(p-math.Exp(eps)*q, 0)
	}
	return sum
}
