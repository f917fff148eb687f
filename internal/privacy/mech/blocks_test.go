// SPDX-License-Identifier: Apache-2.0

package mech

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"testing"

	"gonum.org/v1/gonum/mathext"

	"github.com/discreet-dp/discreet/internal/check/testkit/stattest"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
)

// largest is the norm of Blocks, from its definition.
func largest(x []float64, sizes []int) (most float64) {
	for _, m := range sizes {
		l1 := 0.0
		for _, v := range x[:m] {
			l1 += math.Abs(v)
		}
		x, most = x[m:], max(most, l1)
	}
	return most
}

// The noise has the density it should: in the norm of the blocks its length has
// the gamma law of shape d and the declared scale.
func TestBlocksLength(t *testing.T) {
	const draws = 20_000
	shapes := [][]int{{1}, {1, 1}, {3, 1, 5}}
	for _, sizes := range shapes {
		m, err := BlocksFor(2*dp.Nano, 3, sizes)
		if err != nil {
			t.Fatal(err)
		}
		d := sumSizes(sizes)
		lengths := func(seed uint64, factor float64) []float64 {
			src, out := replay.Seeded(seed, fmt.Sprint("blocks", sizes)), make([]float64, draws)
			for i := range out {
				out[i] = factor * largest(m.draw(src, zeros(d)), sizes)
			}
			return out
		}
		law := func(x float64) float64 {
			if x <= 0 {
				return 0
			}
			return mathext.GammaIncReg(float64(d), x/m.Scale())
		}
		claim := stattest.Claim{FalsePositive: 1e-9 / 3, Detects: "a scale off by 10 %, and half of it"}
		stattest.KS(t, claim, lengths(1, 1), law)
		for _, factor := range []float64{0.9, 0.5} {
			stattest.Rejects(t, func(t stattest.T) { stattest.KS(t, claim, lengths(2, factor), law) })
		}
	}
}

// In a block of m numbers, each is as far from 0 as a coordinate of a uniform
// point of the L1 ball: P[|x| > r] = (1-r)^m, on both sides alike, whatever
// happens in the other blocks.
func TestBlocksDirection(t *testing.T) {
	const draws = 40_000
	sizes := []int{1, 4, 2}
	sample := func(seed uint64, coordinate int, given func(x []float64) bool) (out []float64) {
		src := replay.Seeded(seed, "ball")
		for len(out) < draws {
			if x := drawBall(src, sizes); given(x) {
				out = append(out, x[coordinate])
			}
		}
		return out
	}
	law := func(m int) func(x float64) float64 {
		return func(x float64) float64 {
			x = min(1, max(-1, x))
			tail := math.Pow(1-math.Abs(x), float64(m)) / 2
			if x < 0 {
				return tail
			}
			return 1 - tail
		}
	}
	claim := stattest.Claim{FalsePositive: 1e-9 / 6, Detects: "one dimension more or less"}
	all := func([]float64) bool { return true }
	far := func(x []float64) bool { return math.Abs(x[0]) > 0.7 }
	for coordinate, m := range map[int]int{0: 1, 1: 4, 4: 4, 6: 2} {
		stattest.KS(t, claim, sample(uint64(coordinate), coordinate, all), law(m))
	}
	stattest.KS(t, claim, sample(11, 3, far), law(4))
	stattest.KS(t, claim, sample(12, 5, far), law(2))
	for _, wrong := range []int{3, 5} {
		stattest.Rejects(t, func(t stattest.T) { stattest.KS(t, claim, sample(13, 1, all), law(wrong)) })
	}
}

func TestBlocksScaleAndWidth(t *testing.T) {
	sizes := []int{1, 6, 1, 2}
	m, err := BlocksFor(dp.Nano/4, 0.3, sizes)
	if err != nil {
		t.Fatal(err)
	}
	if paid := m.Sensitivity() / m.Scale(); !(paid <= 0.25 && paid >= 0.25*(1-1e-9)) || m.Loss() != dp.Nano/4 ||
		m.Norm() != BlockL1 {
		t.Errorf("scale %g loses %g", m.Scale(), paid)
	}
	src, square := replay.Seeded(4, "width"), 0.0
	const draws = 20_000
	for range draws {
		for _, x := range m.draw(src, zeros(10)) {
			if x/m.Grid() != math.Trunc(x/m.Grid()) {
				t.Fatalf("%g is not a multiple of %g", x, m.Grid())
			}
			square += x * x / draws
		}
	}
	if r := math.Sqrt(square) / m.Width(); !(math.Abs(r-1) < 0.02) { // six standard deviations are .017
		t.Errorf("the noise is %.3f times as long as it says", r)
	}
	if one, err := BlocksFor(dp.Nano, 1, []int{1}); err != nil || math.Abs(one.Width()/one.Scale()-math.Sqrt2) > 1e-12 {
		t.Errorf("one number: width %g at scale %g, %v; that of a Laplace law is √2 times", one.Width(), one.Scale(), err)
	}
}

func TestObjectiveBlocksLeaveTheJacobianItsShare(t *testing.T) {
	sizes := []int{2, 3}
	plain, err := BlocksFor(dp.Nano, 2, sizes)
	if err != nil {
		t.Fatal(err)
	}
	m, err := ObjectiveBlocksFor(dp.Nano, 2, 0.75, sizes)
	if err != nil {
		t.Fatal(err)
	}
	if r := m.Scale() / plain.Scale(); !(math.Abs(r-4) < 1e-4) || m.Loss() != dp.Nano {
		t.Errorf("with 3/4 of ε for the jacobian the scale grows %g-fold at a price of %s, want 4 and 1", r, m.Loss())
	}
	for _, jacobian := range []float64{1, 2, -0.1, math.NaN(), math.Inf(1)} {
		var p *dp.ParamError
		if _, err := ObjectiveBlocksFor(dp.Nano, 2, jacobian, sizes); !errors.As(err, &p) || p.Param != "jacobian" {
			t.Errorf("jacobian %g: %v", jacobian, err)
		}
	}
}

// The sum of a value and its noise is snapped as rationals would snap it.
func TestStepsAreExactAndNearest(t *testing.T) {
	for _, x := range []Ratio{{0, 1}, {1, 3}, {-1, 3}, {1 << 61, 1 << 62}, {-7, 2}, {math.MaxInt64, 1},
		{math.MinInt64 + 1, math.MaxInt64}} {
		for _, noise := range []float64{0, 0.5, -0.5, 1e300, -math.Pi, 0x1p-1074, 1e-9, -1 / 3.0, 2.5} {
			for _, exp := range []int{-60, -20, -1, 0, 1, 30} {
				sum := new(big.Rat).SetFloat64(noise)
				sum.Add(sum, big.NewRat(x.Num, x.Den))
				sum.Quo(sum, new(big.Rat).SetFloat64(math.Ldexp(1, exp))).Add(sum, big.NewRat(1, 2))
				want := new(big.Int).Div(sum.Num(), sum.Denom()) // rounds down
				if got := nearestStep(x, noise, exp); got.Cmp(want) != 0 {
					t.Errorf("(%d/%d + %g)/2^%d is nearest to %s, not %s", x.Num, x.Den, noise, exp, want, got)
				}
			}
		}
	}
}
