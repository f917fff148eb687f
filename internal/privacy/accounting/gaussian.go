// SPDX-License-Identifier: Apache-2.0

package accounting

import (
	"math"

	"github.com/discreet-dp/discreet/internal/ground/dp"
)

// Gaussian is the pair of Gaussian noise of price ρ = sensitivity²/(2σ²), L2,
// on a vector of any length; it covers mech.Gaussian, whose discrete noise on a
// fine grid differs from the continuous law by less than gridSlack.
func Gaussian(rho dp.Rho) (Pair, error) {
	if err := checkRho("gaussian", rho); err != nil {
		return Pair{}, err
	}
	return Pair{remove: normals{mu: meanShift(rho), rate: 1, inclusive: true}}, nil
}

// gridSlack bounds the difference between the discrete and the continuous distribution, for at most
// 2^20 numbers on a grid of at least 2^39 steps per σ: the change of a loss, and the relative change
// of a probability.
const gridSlack = 0x1p-46 // 3.1

// meanShift returns μ = √(2ρ), the distance of the means in standard deviations, rounded up.
func meanShift(rho dp.Rho) float64 {
	return math.Sqrt(2*rho.Float()) * (1 + 4*unit)
}

// normals is the loss between N(0, 1) and the mixture (1−rate)·N(0, 1) + rate·N(mu, 1): of the mixture
// against the normal if inclusive is set, otherwise of the normal against the mixture.
type normals struct {
	mu, rate  float64
	inclusive bool
}

// tailReach is the point at which tails are cut, in standard deviations: a mass of 1e-44 lies beyond
// it.
const tailReach = 14

// logRatio returns log(mixture/normal) at z; point is its inverse.
func (n normals) logRatio(z float64) float64 {
	if n.rate == 1 {
		return n.mu * (z - n.mu/2)
	}
	x := n.mu*(z-n.mu/2) + math.Log(n.rate)
	return max(x, math.Log1p(-n.rate)) + math.Log1p(math.Exp(-math.Abs(x-math.Log1p(-n.rate))))
}

func (n normals) inverseRatio(l float64) float64 {
	if n.rate == 1 {
		return l/n.mu + n.mu/2
	}
	// e^l = (1−rate) + rate·e^(μ(z−μ/2)); −Inf at or below log(1−rate).
	x := math.Expm1(l) + n.rate
	if !(x > 0) {
		return math.Inf(-1)
	}
	return (math.Log(x)-math.Log(n.rate))/n.mu + n.mu/2
}

// mostSquare limits a square so that its exponential is finite. For a mean shift beyond it, the shift
// itself is the smaller bound.
const mostSquare = 100

func (n normals) lossShape() (deviation, length, gap float64) {
	length = n.logRatio(tailReach+n.mu) - n.logRatio(-tailReach)
	return min(n.mu, n.rate*math.Sqrt(math.Expm1(min(n.mu*n.mu, mostSquare)))), length, 0
}

func (n normals) discretise(h float64) loss {
	sign := 1.0
	if !n.inclusive {
		sign = -1
	}
	a, b := sign*n.logRatio(-tailReach), sign*n.logRatio(tailReach+n.mu)
	low, high := int(math.Floor(min(a, b)/h)), int(math.Ceil(max(a, b)/h))
	s := newSpread(0, h, low, high)
	// A computed point differs from the true one by rounding: the losses of a
	// bucket reach a little beyond its ends. The slack pays for that.
	s.slack += 64*unit*(1+n.mu)*(n.mu*(tailReach+n.mu)+math.Abs(s.gridPoint(low))+math.Abs(s.gridPoint(high))) +
		64*unit*n.curveBound() + gridSlack*n.rate
	cut := make([]float64, high-low+1)
	for i := range cut {
		cut[i] = n.inverseRatio(sign * s.gridPoint(low+i))
	}
	p, q := n.mixtureBounds, normalBounds
	if !n.inclusive {
		p, q = normalBounds, n.mixtureBounds
	}
	for i := low; i < high; i++ {
		from, to := cut[i-low], cut[i+1-low]
		if !n.inclusive {
			from, to = to, from
		}
		_, up := p(from, to)
		down, _ := q(from, to)
		s.addBucket(i, up, down*(1-2*s.slack))
	}
	// Below the grid: to its lowest point. Above: lost.
	below, over := tail{math.Inf(-1), cut[0]}, tail{cut[len(cut)-1], math.Inf(1)}
	if !n.inclusive {
		below, over = tail{cut[0], math.Inf(1)}, tail{math.Inf(-1), cut[len(cut)-1]}
	}
	_, rest := p(below.from, below.to)
	_, lost := p(over.from, over.to)
	s.addAt(low, rest)
	for i := range s.mass {
		s.mass[i] *= 1 + 2*gridSlack
	}
	return s.lossOf(lost * (1 + 2*gridSlack))
}

// curveBound bounds the effect on l of a rounding error of e^l near log(1−rate).
func (n normals) curveBound() float64 {
	if n.rate == 1 {
		return 0
	}
	return 4 / (1 - n.rate)
}

type tail struct{ from, to float64 }

// normalBounds bounds the mass of N(0, 1) between two points, from below and above.
func normalBounds(from, to float64) (low, high float64) { return normalMass(from, to, 0) }

// mixtureBounds bounds the mass of the mixture between two points.
func (n normals) mixtureBounds(from, to float64) (low, high float64) {
	l1, h1 := normalMass(from, to, n.mu)
	if n.rate == 1 {
		return l1, h1
	}
	l0, h0 := normalMass(from, to, 0)
	return ((1-n.rate)*l0 + n.rate*l1) * (1 - 8*unit), ((1-n.rate)*h0 + n.rate*h1) * (1 + 8*unit)
}

// normalMass bounds the mass of N(mean, 1) between two points. It subtracts tails on the side on which
// they are small. The relative error of a tail is a few units times 1 + x².
func normalMass(from, to, mean float64) (low, high float64) {
	a, b := (from-mean)/math.Sqrt2, (to-mean)/math.Sqrt2
	if b <= 0 {
		a, b = -b, -a
	}
	if !(a < b) {
		return 0, 0
	}
	var v, e float64
	if a >= 0 {
		ta, tb := math.Erfc(a), math.Erfc(b)
		v, e = ta-tb, ta*(1+a*a)
		if tb > 0 {
			e += tb * (1 + b*b)
		}
	} else {
		v = math.Erf(b) - math.Erf(a)
		e = 2
	}
	e *= 16 * unit
	return max(v-e, 0) / 2, (v+e)/2 + underflow
}

func checkRho(op string, rho dp.Rho) error {
	if rho < 1 || rho > dp.MaxRho {
		return dp.Refuse(op, "rho", "must be at least 1e-12 and at most "+dp.MaxRho.String(), rho)
	}
	return nil
}
