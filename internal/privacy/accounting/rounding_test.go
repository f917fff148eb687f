// SPDX-License-Identifier: Apache-2.0

package accounting

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

func exactly(x float64) *big.Float { return new(big.Float).SetPrec(300).SetFloat64(x) }

// The slack of a grid covers what the rounding of its points comes to, against exact
// arithmetic, and there is some (tag 1.1).
func TestSlackCoversTheGrid(t *testing.T) {
	for _, row := range []struct {
		anchor, h float64
		low, high int
	}{{0.1, 1.0 / 3000, -5000, 5000}, {-7.3, 1e-5 / 7, 0, 1 << 16}, {1e-9, 0.07, -90, 300}} {
		s := newSpread(row.anchor, row.h, row.low, row.high)
		worst := 0.0
		for i := row.low; i <= row.high; i++ {
			point := exactly(row.h)
			point.Mul(point, exactly(float64(i))).Add(point, exactly(row.anchor))
			off, _ := point.Sub(point, exactly(s.gridPoint(i))).Float64()
			worst = math.Max(worst, math.Abs(off))
		}
		if !(worst > 0 && worst <= s.slack) {
			t.Errorf("%+v: points are off by up to %g, the slack is %g", row, worst, s.slack)
		}
	}
}

// The slack of fine grids covers what evidence/guarantees/accounting.md bounds: 2^20
// coordinates, each within 128 standard deviations of 2^39 steps (tag 3.1).
func TestSlackCoversFineGrids(t *testing.T) {
	variance := math.Ldexp(1, 78)
	one := 1/(8*variance) + 128*128/(8*variance) // R/D below and above, y = 128σ
	if all := math.Ldexp(one, 20); !(all <= gridSlack) {
		t.Errorf("2^20 coordinates differ by %g, the slack is %g", all, gridSlack)
	}
	n := normals{mu: 1e-9, rate: 1, inclusive: true} // so small that nothing else counts
	if s := n.discretise(1e-10); !(s.slack >= gridSlack) {
		t.Errorf("a loss has the slack %g, below %g", s.slack, gridSlack)
	}
}

// The slack of a sum covers the rounding of its first loss (tag 4.1).
func TestSlackCoversTheSum(t *testing.T) {
	for _, times := range []int{3, 1001, 99_991} {
		s := addUp([]Use{{must(Gaussian(rho(0.001))), times}}, []side{must(Gaussian(rho(0.001))).remove})
		p := s.parts[0]
		first := exactly(p.first)
		first.Mul(first, exactly(float64(times)))
		last := exactly(s.h)
		last.Mul(last, exactly(float64(s.last))).Add(last, first)
		off, _ := last.Sub(last, exactly(s.largestLoss())).Float64()
		if rest := s.slack - float64(times)*p.slack; !(math.Abs(off) <= rest && rest > 0) {
			t.Errorf("%d times: the largest loss is off by %g, the slack for it is %g", times, off, rest)
		}
	}
}

// The error that a composition states covers what its transforms lose, against sums of
// products in exact arithmetic (tag 4.3).
func TestErrorCoversTheTransforms(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 3))
	const points, times = 12, 5
	p := loss{first: -0.05, mass: make([]float64, points)}
	for i := range p.mass {
		p.mass[i] = r.Float64() / points
	}
	s := &sum{h: 0.01, parts: []part{{p, times}}, first: times * p.first, last: times * (points - 1)}
	got := s.tiltBy(0)
	if len(got.mass) <= times*(points-1) || got.mid >= len(got.mass) {
		t.Fatalf("the window has %d points: not all of the sum", len(got.mass))
	}
	v, _, _ := p.logMoments(0, s.h)
	want := []*big.Float{exactly(1)}
	for range times {
		next := make([]*big.Float, len(want)+points-1)
		for i := range next {
			next[i] = exactly(0)
		}
		for i, m := range p.mass { // as tiltBy rounds them up
			x := m * math.Exp(-v) * (1 + 16*unit*(2+math.Abs(v)))
			x *= 1 + float64(points/len(got.mass)+2)*unit
			for j, w := range want {
				next[i+j].Add(next[i+j], new(big.Float).Mul(w, exactly(x)))
			}
		}
		want = next
	}
	squares := 0.0
	for i, w := range want {
		off, _ := w.Sub(w, exactly(got.mass[i])).Float64()
		squares += off * off
	}
	if off := math.Sqrt(squares); !(off > 0 && off <= got.err) {
		t.Errorf("the transform is off by %g, its error is stated as %g", off, got.err)
	}
}
