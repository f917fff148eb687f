// SPDX-License-Identifier: Apache-2.0

package mech

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/stattest"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
)

var gaussians = []struct {
	rho    dp.Rho
	l2     float64
	length int
}{
	{dp.Pico, 1, 1}, {dp.Pico / 2, 1.0 / 3, 10}, {1, 1, 1}, {7, 1e-9, 3}, {dp.MaxRho, 1e9, maxGaussianLength},
	{dp.Pico / 1000, 2.0 / 21_037, 57}, {dp.Pico, 0x1p-400, 2}, {dp.Pico, 0x1p400, 1},
}

// The price of one release in exact arithmetic: values on the grid at most
// ⌈l2/g⌉ + √length steps apart, ρ = distance²/(2σ²). No sampling.
func TestGaussianNeverChargesTooLittle(t *testing.T) {
	for _, c := range gaussians {
		m, err := GaussianFor(c.rho, c.l2, c.length)
		if err != nil {
			t.Fatal(err)
		}
		steps := new(big.Rat).SetInt64(int64(math.Ceil(c.l2/m.Grid())) + int64(math.Ceil(math.Sqrt(float64(c.length)))))
		dev := new(big.Rat).SetInt(new(big.Int).SetUint64(m.dev))
		loss := steps.Quo(steps, dev)
		loss.Mul(loss, loss).Quo(loss, big.NewRat(2, 1))
		claim := big.NewRat(int64(c.rho), dp.Pico)
		if loss.Cmp(claim) > 0 {
			t.Errorf("%v: costs %s, more than %s", c, loss.FloatString(18), claim.FloatString(18))
		}
		if f, _ := loss.Float64(); f < c.rho.Float()*(1-0x1p-20) {
			t.Errorf("%v: costs %g only", c, f)
		}
		if m.dev < 1<<39 || m.dev > 1<<41 {
			t.Errorf("%v: %d steps to σ; the price needs 2^39 at least", c, m.dev)
		}
		if m.Loss() != dp.Infinite || m.Rho() != c.rho || m.Norm() != L2 {
			t.Errorf("%v: states ε = %s, ρ = %s, %s", c, m.Loss(), m.Rho(), m.Norm())
		}
	}
}

func TestDiscreteGaussianLaw(t *testing.T) {
	for _, dev := range []uint64{1, 2, 5} {
		sampler := func(s uint64) func() int64 {
			src := replay.Seeded(s, fmt.Sprint("gaussian", dev))
			return func() int64 { return discreteGaussian(src, dev).Int64() }
		}
		const n = 200_000
		span := int(4 * dev)
		probs, sum := make([]float64, 2*span+3), 0.0
		for x := -60 * int(dev); x <= 60*int(dev); x++ {
			p := math.Exp(-float64(x*x) / float64(2*dev*dev))
			probs[min(max(x, -span-1), span+1)+span+1] += p
			sum += p
		}
		for i := range probs {
			probs[i] /= sum
		}
		count := func(draw func() int64) []int {
			counts := make([]int, len(probs))
			for range n {
				counts[min(max(int(draw()), -span-1), span+1)+span+1]++
			}
			return counts
		}
		claim := stattest.Claim{FalsePositive: 1e-9 / 3, Detects: "the Laplace proposal accepted unseen"}
		stattest.Cells(t, claim, count(sampler(1)), probs)
		src := replay.Seeded(2, "proposal")
		stattest.Rejects(t, func(t stattest.T) {
			stattest.Cells(t, claim, count(func() int64 { return discreteLaplace(src, dev).Int64() }), probs)
		})
	}
}

// The coin against its probability, over the three parts of its exponent.
func TestHalfSquareCoin(t *testing.T) {
	cases := []struct{ m, r, s uint64 }{{0, 0, 1}, {0, 3, 4}, {1, 0, 7}, {1, 5, 8}, {2, 1, 3}}
	for _, c := range cases {
		src := replay.Seeded(9, fmt.Sprint(c))
		x := float64(c.m) + float64(c.r)/float64(c.s)
		p := math.Exp(-x * x / 2)
		const n = 200_000
		counts := []int{0, 0}
		for range n {
			if bernoulliHalfSquare(src, c.m, c.r, c.s) {
				counts[1]++
			} else {
				counts[0]++
			}
		}
		if p == 1 {
			if counts[0] != 0 {
				t.Errorf("a certain coin showed false")
			}
			continue
		}
		stattest.Cells(t, stattest.Claim{FalsePositive: 1e-9 / 5, Detects: "a part of the exponent lost"}, counts,
			[]float64{1 - p, p})
	}
}

// The released number at its real scale against the continuous law.
func TestGaussianScale(t *testing.T) {
	m, err := GaussianFor(dp.Pico/50, 0.25, 1) // σ = 0.25/√(2/50) = 1.25
	if err != nil {
		t.Fatal(err)
	}
	draw := func(m Gaussian) []float64 {
		src := replay.Seeded(3, "scale")
		out := make([]float64, 100_000)
		for i := range out {
			out[i] = m.draw(src, []Ratio{{3, 8}})[0]
			if x := out[i] / m.Grid(); x != math.Trunc(x) {
				t.Fatalf("%g is not a multiple of %g", out[i], m.Grid())
			}
		}
		return out
	}
	cdf := func(x float64) float64 { return math.Erfc(-(x-0.375)/1.25/math.Sqrt2) / 2 }
	claim := stattest.Claim{FalsePositive: 1e-9, Detects: "scale off by 10%"}
	stattest.KS(t, claim, draw(m), cdf)
	small := m
	small.dev = m.dev / 10 * 9
	stattest.Rejects(t, func(t stattest.T) { stattest.KS(t, claim, draw(small), cdf) })
}

func TestGaussianSizesAreRefused(t *testing.T) {
	for _, c := range []struct {
		rho    dp.Rho
		l2     float64
		length int
	}{
		{0, 1, 1}, {-1, 1, 1}, {dp.MaxRho + 1, 1, 1}, {dp.Pico, 0, 1}, {dp.Pico, -1, 1}, {dp.Pico, math.NaN(), 1},
		{dp.Pico, math.Inf(1), 1}, {dp.Pico, 5e-324, 1},
		{dp.Pico, 1, 0}, {dp.Pico, 1, maxGaussianLength + 1},
	} {
		if _, err := GaussianFor(c.rho, c.l2, c.length); err == nil {
			t.Errorf("GaussianFor(%d, %g, %d) was accepted", c.rho, c.l2, c.length)
		}
	}
}

func BenchmarkGaussian(b *testing.B) {
	m, _ := GaussianFor(dp.Pico, 1, 1)
	src := rng.System()
	v := []Ratio{{1, 3}}
	b.ReportAllocs()
	for b.Loop() {
		m.draw(src, v)
	}
}
