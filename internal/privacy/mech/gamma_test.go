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

// The length of the noise has the gamma law of shape d and the declared scale.
func TestGammaLength(t *testing.T) {
	const draws = 20_000
	dims := []int{1, 2, 7}
	for _, d := range dims {
		m, err := GammaFor(2*dp.Nano, 3, d)
		if err != nil {
			t.Fatal(err)
		}
		lengths := func(seed uint64, factor float64) []float64 {
			src, out := replay.Seeded(seed, fmt.Sprint("gamma", d)), make([]float64, draws)
			for i := range out {
				square := 0.0
				for _, x := range m.draw(src, zeros(d)) {
					square += x * x
				}
				out[i] = factor * math.Sqrt(square)
			}
			return out
		}
		law := func(x float64) float64 {
			if x <= 0 {
				return 0
			}
			return mathext.GammaIncReg(float64(d), x/m.Scale())
		}
		claim := stattest.Claim{FalsePositive: 1e-9 / 3, Detects: "a scale off by 10 %, and Gamma(d, 1/ε) for Gamma(d, 2/ε)"}
		stattest.KS(t, claim, lengths(1, 1), law)
		for _, factor := range []float64{0.9, 0.5} {
			stattest.Rejects(t, func(t stattest.T) { stattest.KS(t, claim, lengths(2, factor), law) })
		}
	}
}

// In three dimensions each coordinate of a uniform direction is uniform.
func TestGammaDirection(t *testing.T) {
	const draws = 40_000
	sample := func(seed uint64, coordinate int, stretch float64) []float64 {
		src, out := replay.Seeded(seed, "direction"), make([]float64, draws)
		for i := range out {
			x := drawSpherical(src, 3)
			x[0] *= stretch
			out[i] = x[coordinate] / math.Sqrt(x[0]*x[0]+x[1]*x[1]+x[2]*x[2])
		}
		return out
	}
	uniform := func(x float64) float64 { return min(1, max(0, (x+1)/2)) }
	claim := stattest.Claim{FalsePositive: 1e-9 / 3, Detects: "one coordinate 15 % too long"}
	for k := range 3 {
		stattest.KS(t, claim, sample(1, k, 1), uniform)
	}
	stattest.Rejects(t, func(t stattest.T) { stattest.KS(t, claim, sample(2, 0, 1.15), uniform) })
}

// The scale pays for the declared sensitivity, and the outputs are multiples of
// the public grid whatever the values.
func TestGammaScaleAndGrid(t *testing.T) {
	src := replay.Seeded(3, "gamma grid")
	for _, c := range []struct {
		eps  dp.Epsilon
		sens float64
		d    int
	}{{dp.Nano, 1, 1}, {dp.Nano, 1.0 / 3, 100}, {1, 1e-9, 3}, {dp.MaxEpsilon, 1e6, 20},
		{dp.Nano / 100, 2.0 / 21_037, 110}} {
		m, err := GammaFor(c.eps, c.sens, c.d)
		if err != nil {
			t.Fatal(err)
		}
		if eps, paid := c.eps.Float(), c.sens/m.Scale(); !(paid <= eps && paid >= eps*(1-1e-9)) {
			t.Errorf("%+v: scale %g loses %g", c, m.Scale(), paid)
		}
		if steps := m.Scale() / m.Grid(); !(steps >= 1<<19 && steps <= 1<<20) {
			t.Errorf("%+v: %g steps to one scale", c, steps)
		}
		for i := range 50 {
			for k, x := range m.draw(src, values(c.d, int64(i))) {
				if x/m.Grid() != math.Trunc(x/m.Grid()) {
					t.Fatalf("%+v: coordinate %d = %g is not a multiple of %g", c, k, x, m.Grid())
				}
			}
		}
	}
}

func TestObjectiveLeavesTheJacobianItsShare(t *testing.T) {
	plain, err := GammaFor(dp.Nano, 2, 5)
	if err != nil {
		t.Fatal(err)
	}
	m, err := ObjectiveFor(dp.Nano, 2, 0.75, 5)
	if err != nil {
		t.Fatal(err)
	}
	if r := m.Scale() / plain.Scale(); !(math.Abs(r-4) < 1e-4) || m.Loss() != dp.Nano {
		t.Errorf("with 3/4 of ε for the jacobian the scale grows %g-fold at a price of %s, want 4 and 1", r, m.Loss())
	}
	for _, jacobian := range []float64{1, 2, -0.1, math.NaN(), math.Inf(1)} {
		var p *dp.ParamError
		if _, err := ObjectiveFor(dp.Nano, 2, jacobian, 5); !errors.As(err, &p) || p.Param != "jacobian" {
			t.Errorf("jacobian %g: %v", jacobian, err)
		}
	}
}

func TestRemainderCoversTwiceTheRadius(t *testing.T) {
	m, err := RemainderFor(dp.Nano, 3, 2)
	if err != nil || m.Sensitivity() != 6 || m.Norm() != Certified {
		t.Errorf("sensitivity %g in %s, %v; want 6, certified", m.Sensitivity(), m.Norm(), err)
	}
}

func TestRatioOfIsExactOrNearest(t *testing.T) {
	for _, x := range []float64{0, 1, -1, 0.1, -1e9 / 3, 0x1.fffffffffffffp61, 0x1p-62, 1e-5, -math.Pi, 1e-30,
		math.SmallestNonzeroFloat64} {
		r := RatioOf(x)
		diff := new(big.Rat).Sub(big.NewRat(r.Num, r.Den), new(big.Rat).SetFloat64(x))
		exact := math.Abs(x) >= 0x1p-9 || x == 0
		if exact && diff.Sign() != 0 || diff.Abs(diff).Cmp(big.NewRat(1, 1<<62)) > 0 {
			t.Errorf("RatioOf(%g) = %d/%d", x, r.Num, r.Den)
		}
	}
	for _, x := range []float64{0x1p62, math.Inf(-1), math.NaN()} {
		func() {
			defer func() { _ = recover() }()
			RatioOf(x)
			t.Errorf("RatioOf(%g) was accepted", x)
		}()
	}
}

func zeros(d int) []Ratio { return values(d, 0) }

func values(d int, i int64) []Ratio {
	out := make([]Ratio, d)
	for k := range out {
		out[k] = Ratio{i*7919 + int64(k)*i, 1_000_003}
	}
	return out
}
