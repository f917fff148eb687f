// SPDX-License-Identifier: Apache-2.0

package accounting

import (
	"math"

	"github.com/discreet-dp/discreet/internal/ground/dp"
)

// Use is a mechanism used a number of times.
type Use struct {
	Pair  Pair
	Times int
}

// maxUses keeps error bounds small, because each grows with the number of uses.
const maxUses = 1 << 30

// Composition is the joint cost of a list of uses, in any order, each chosen
// after seeing what came before. It is read-only and safe for concurrent use.
//
// Claim G-ACC-2. Delta and Epsilon are never below those of the product of the
// uses' pairs.
type Composition struct {
	orders []*sum // one, or one for each order of the two neighbours
}

// Compose prices uses together. It needs memory for a few million numbers at most, regardless of
// Times.
func Compose(uses ...Use) (*Composition, error) {
	total := 0
	for i, u := range uses {
		if u.Pair.remove == nil {
			return nil, dp.Refuse("compose", "pair", "must come from a constructor", i)
		}
		if u.Times < 1 || u.Times > maxUses || total > maxUses-u.Times {
			return nil, dp.Refuse("compose", "times", "must be at least 1, and at most 2^30 in all", u.Times)
		}
		total += u.Times
	}
	if total == 0 {
		return nil, dp.Refuse("compose", "uses", "must not be empty", nil)
	}
	remove, add, same := make([]side, len(uses)), make([]side, len(uses)), true
	for i, u := range uses {
		remove[i], add[i] = u.Pair.remove, u.Pair.add
		if add[i] == nil {
			add[i] = remove[i]
		} else {
			same = false
		}
	}
	c := &Composition{orders: []*sum{addUp(uses, remove)}}
	if !same {
		c.orders = append(c.orders, addUp(uses, add))
	}
	return c, nil
}

// Delta is δ(ε): the composition is (ε, Delta(ε))-DP for every ε ≥ 0. It is at
// most 1, and 1 for an ε that is negative or not a number.
func (c *Composition) Delta(epsilon float64) float64 {
	if !(epsilon >= 0) {
		return 1
	}
	worst := 0.0
	for _, s := range c.orders {
		worst = max(worst, s.deltaAt(epsilon))
	}
	return worst
}

// sum is the loss of a composition, with its parts.
type sum struct {
	h     float64
	parts []part
	// A finite loss is first + j·h for a whole j from 0 to last, up to an error of slack. infinite is
	// the mass without a finite loss.
	first, slack, infinite float64
	last                   int64
}

type part struct {
	loss
	times int
}

// The grid has pointsPerDeviation steps per root mean square deviation of one use, and at least
// leastPoints over the relevant range of the sum. Rounding to it adds about h²/6 to the variance of a
// use: one part in 25,000.
const (
	pointsPerDeviation = 64
	leastPoints        = 1 << 13
	mostPoints         = 1 << 20
	mostPointsOfOne    = 1 << 17
	window             = 16 // standard deviations of the sum that are relevant
)

func addUp(uses []Use, sides []side) *sum {
	var variance, uncut, longest, gap, most float64
	times := 0
	for i, s := range sides {
		d, l, g := s.lossShape()
		v := d * d * float64(uses[i].Times)
		variance += v
		times += uses[i].Times
		uncut += l * float64(uses[i].Times)
		longest = max(longest, l)
		if v >= most {
			most, gap = v, g
		}
	}
	extent := min(window*math.Sqrt(variance), uncut)
	h := min(math.Sqrt(variance/float64(times))/pointsPerDeviation, extent/leastPoints)
	h = max(h, extent/mostPoints, longest/mostPointsOfOne)
	if gap > 0 { // a grid that holds both extreme atoms
		h = gap / math.Max(math.Round(gap/h), 1)
	}
	out := &sum{h: h}
	rounding := 0.0
	for i, s := range sides {
		p := part{s.discretise(h), uses[i].Times}
		k := float64(p.times)
		out.parts = append(out.parts, p)
		out.first += k * p.first
		out.last += int64(p.times) * int64(len(p.mass)-1)
		out.slack += k * p.slack
		out.infinite += k * p.infinite * (1 + 8*unit)
		rounding += k * math.Abs(p.first)
	}
	out.slack += 8 * unit * float64(len(sides)) * (rounding + float64(out.last)*h) // 4.1
	return out
}

// largestLoss is the largest finite loss.
func (s *sum) largestLoss() float64 { return s.first + float64(s.last)*s.h }

// logMoments returns Λ(θ) = Σ times·log Σ mass·e^(θ·loss) and its two derivatives.
func (s *sum) logMoments(theta float64) (value, mean, variance float64) {
	for _, p := range s.parts {
		m, d1, d2 := p.logMoments(theta, s.h)
		k := float64(p.times)
		value, mean, variance = value+k*m, mean+k*d1, variance+k*d2
	}
	return value, mean, variance
}

func (l loss) logMoments(theta, h float64) (value, mean, variance float64) {
	ref := l.first
	if theta > 0 {
		ref = l.lossAt(len(l.mass)-1, h)
	}
	var m0, m1, m2 float64
	for i, p := range l.mass {
		if p == 0 {
			continue
		}
		x := l.lossAt(i, h) - ref
		w := p * math.Exp(theta*x)
		m0, m1, m2 = m0+w, m1+w*x, m2+w*x*x
	}
	return math.Log(m0) + theta*ref, m1/m0 + ref, max(m2/m0-m1/m0*(m1/m0), 0)
}

func (s *sum) deltaAt(epsilon float64) float64 {
	e := epsilon*(1-4*unit) - s.slack*(1+4*unit)
	if e >= s.largestLoss() {
		return min(s.infinite, 1)
	}
	theta := s.solveTheta(func(theta, _, mean float64) bool { return mean-math.Log1p(1/theta) < e })
	return min(s.tiltBy(theta).boundDelta(e), 1)
}

// solveTheta returns approximately the largest θ ≥ 0 for which more is true. more must be true below
// some point and false above it.
//
// It is used to find the θ at which the bound
//
//	δ(ε) ≤ max over l of (1 − e^(ε−l))·e^(−θl) · e^Λ = θ^θ/(1+θ)^(1+θ) · e^(Λ − θε)
//
// is smallest. At that θ, ε = Λ' − log(1 + 1/θ) and log δ = Λ − θΛ' − log(1+θ).
func (s *sum) solveTheta(more func(theta, value, mean float64) bool) float64 {
	holds := func(theta float64) bool {
		v, m, _ := s.logMoments(theta)
		return more(theta, v, m)
	}
	if !holds(0) {
		return 0
	}
	_, _, v := s.logMoments(0)
	lo, hi := 0.0, 1/math.Sqrt(v+s.h*s.h)
	for ; hi < 2/s.h && holds(hi); hi *= 2 { // steeper than the grid resolves is no use
		lo = hi
	}
	for range 20 { // any θ gives a true bound; a rough one is tight enough
		if mid := (lo + hi) / 2; holds(mid) {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}
