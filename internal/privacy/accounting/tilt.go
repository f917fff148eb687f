// SPDX-License-Identifier: Apache-2.0

package accounting

import (
	"math"
	"math/bits"

	"gonum.org/v1/gonum/dsp/fourier"
)

// tilted is a composed loss under exponential tilting: each loss l is weighted by e^(θl − Λ(θ)). The
// tail that determines δ(ε) becomes the bulk, in which the transform is accurate, so that float64
// errors are relative to δ and not to 1.
//
// The true measure is at most e^(Λ − θ·l)·(mass[j] ± err), l = centre + (j−mid)·h, where err bounds
// the Euclidean norm of all errors together.
type tilted struct {
	sum       *sum
	theta     float64
	value     float64 // Λ(θ), rounded up
	centre    float64 // a point of the grid near the tilted mean
	deviation float64
	mid       int
	mass      []float64
	err       float64
	over      float64 // bounds the tilted mass above the window
	below     float64 // bounds the tilted mass below it
}

// transformError bounds the relative error, in the Euclidean norm, of one
// transform of n numbers: at most log2 n stages, each accurate to a few units
// plus the error of its twiddle factors, 14 units (Higham 2002, Theorem 24.2).
func transformError(n int) float64 { return 64 * unit * float64(bits.Len(uint(n))) }

// negligible is the weight at which a sum of decreasing terms is truncated. A bound on the rest, at
// most this share of the mass, is added.
const negligible = 1e-24

// beyond bounds the tilted mass on one side of the window.
const beyond = 1e-13

func (s *sum) tiltBy(theta float64) *tilted {
	value, mean, variance := s.logMoments(theta)
	t := &tilted{sum: s, theta: theta, deviation: math.Sqrt(variance)}
	from, to := s.gridReach(t, value, mean)
	n := 16
	for int64(n) <= to-from {
		n *= 2
	}
	fft := fourier.NewFFT(n)
	product := make([]complex128, n/2+1)
	for i := range product {
		product[i] = 1
	}
	x, spectrum := make([]float64, n), make([]complex128, n/2+1)
	var inputs, uses, growth, values float64
	for _, p := range s.parts {
		v, _, _ := p.logMoments(theta, s.h)
		k := float64(p.times)
		t.value, values = t.value+k*v, values+k*math.Abs(v)
		clear(x)
		for i, m := range p.mass {
			l := p.lossAt(i, s.h)
			x[i&(n-1)] += m * math.Exp(theta*l-v) * (1 + 16*unit*(2+theta*math.Abs(l)+math.Abs(v))) // 4.2
		}
		norm, total := 0.0, 0.0
		for i := range x {
			x[i] *= 1 + float64(len(p.mass)/n+2)*unit
			norm += x[i] * x[i]
			total += x[i]
		}
		spectrum = fft.Coefficients(spectrum, x)
		e := transformError(n) * math.Sqrt(norm) * 1.01
		inputs += k * e
		growth += k * (math.Abs(total-1) + 1e-12 + e*math.Sqrt(float64(n)))
		uses += k
		multiplyPower(product, spectrum, p.times)
	}
	out := fft.Sequence(x, product)
	norm := 0.0
	for i := range out {
		out[i] /= float64(n)
		norm += out[i] * out[i]
	}
	// 4.3. |Πŷ − Πy| ≤ Σ times·|ŷ − y|·(the largest factor)^uses, a product or
	// power of complex numbers loses three units a factor, and the way back
	// loses as much as the way there.
	norm = math.Sqrt(norm)
	slope := 8*unit*(uses+float64(len(s.parts))) + transformError(n)
	t.err = (inputs*math.Exp(growth) + slope*norm + 1e-290) / (1 - slope) * 1.01
	if growth > 1 || slope > 0.5 { // nothing is known: say so
		t.err = math.Inf(1)
	}
	t.mass = make([]float64, n)
	for i := range t.mass { // window index i is grid index from+i, modulo n in out
		t.mass[i] = max(out[int((from+int64(i))&int64(n-1))], 0)
	}
	t.mid = int(min(max(int64(math.Round((mean-s.first)/s.h))-from, 0), int64(n-1)))
	t.centre = s.first + float64(from+int64(t.mid))*s.h
	t.value += 4 * unit * float64(len(s.parts)) * values
	return t
}

// gridReach returns grid indices outside of which little of the tilted mass lies, and stores a bound
// on that mass (Chernoff's bound, at tilts near θ).
func (s *sum) gridReach(t *tilted, value, mean float64) (from, to int64) {
	from, to = 0, s.last
	d := max(t.deviation, s.h)
	for _, step := range []float64{1, 2, 4, 8, 16} {
		for _, a := range []float64{step / d, -step / d} {
			v, _, _ := s.logMoments(t.theta + a)
			// P̃[a(L − x) ≥ 0] ≤ e^(Λ(θ+a) − Λ(θ) − a·x)
			x := (v - value - math.Log(beyond)) / a
			j := (x - s.first) / s.h
			switch {
			case a > 0 && j >= 0 && j+1 < float64(to):
				to, t.over = int64(j)+1, 2*beyond
			case a < 0 && j-1 > float64(from) && j <= float64(s.last):
				from, t.below = int64(j)-1, 2*beyond
			}
		}
	}
	return from, max(to, from)
}

// multiplyPower multiplies product by the k-th power of base, element by element.
func multiplyPower(product, base []complex128, k int) {
	for i, b := range base {
		p := product[i]
		for e := k; e > 0; e >>= 1 {
			if e&1 == 1 {
				p *= b
			}
			b *= b
		}
		product[i] = p
	}
}

// boundDelta bounds δ(ε) from above for the losses on the grid.
func (t *tilted) boundDelta(e float64) float64 {
	h := t.sum.h
	// The first point above ε; one too low costs nothing, its term is 0.
	j := t.mid + int(math.Floor(min(max((e-t.centre)/h, float64(-t.mid-1)), float64(len(t.mass)))))
	j = max(j, 0)
	scale := t.value - t.theta*t.centre
	scale += 8 * unit * (math.Abs(t.value) + math.Abs(t.theta*t.centre) + 1)
	// δ = e^scale · Σ (1 − e^(ε−l))·e^(−θ(l − centre))·mass, in a stable order
	// of factors: each term is at most its share of the mass times e^lift,
	// lift the exponent at the first point.
	lift := -t.theta * float64(j-t.mid) * h
	scale += 8 * unit * math.Abs(lift)
	decay := math.Exp(-t.theta * h)
	gain, squares, w := 0.0, 0.0, 1.0
	for i := j; i < len(t.mass) && w > negligible; i++ {
		l := t.centre + float64(i-t.mid)*h
		if f := -math.Expm1(e-l) + 8*unit*(1+math.Abs(l)); f > 0 {
			gain += f * w * t.mass[i]
			squares += f * w * f * w
		}
		w *= decay
	}
	n := float64(len(t.mass))
	gain = gain*(1+8*unit*(n+t.theta*h*n)) + 2*negligible
	gain += t.err * (math.Sqrt(squares)*(1+n*unit) + n*negligible)
	gain += t.over * math.Exp(-t.theta*float64(len(t.mass)-1-t.mid)*h-lift)
	if j == 0 { // part of what lies below the window counts too
		gain += t.below * math.Exp(max(t.theta*(t.centre-e), 0)-lift)
	}
	return math.Exp(scale+lift)*gain*(1+1e-12) + t.sum.infinite + underflow
}
