// SPDX-License-Identifier: Apache-2.0

package mech

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/stattest"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
)

// tailCells folds a law into so many cells, the last of which is the tail.
func tailCells(law []float64, cells int) []float64 {
	out := make([]float64, cells)
	sum := 0.0
	for k, p := range law[:cells-1] {
		out[k], sum = p, sum+p
	}
	out[cells-1] = 1 - sum
	return out
}

func TestPolyaShareLaw(t *testing.T) {
	const n, cells = 100_000, 10
	claim := stattest.Claim{FalsePositive: 1e-9 / 4, Detects: "noise for one site more than there are"}
	for _, c := range []struct{ parts, scale uint64 }{{1, 3}, {2, 3}, {3, 1}, {5, 7}} {
		src := replay.Seeded(1, fmt.Sprint("share", c))
		counts := make([]int, cells)
		for range n {
			counts[min(polyaShare(src, c.parts, c.scale).Uint64(), cells-1)]++
		}
		alpha := math.Exp(-1 / float64(c.scale))
		stattest.Cells(t, claim, counts, tailCells(negativeBinomial(1/float64(c.parts), alpha, cells), cells))
		stattest.Rejects(t, func(t stattest.T) {
			stattest.Cells(t, claim, counts, tailCells(negativeBinomial(1/float64(c.parts+1), alpha, cells), cells))
		})
	}
	counts, law, p := make([]int, 6), make([]float64, 6), math.Exp(-1)
	src := replay.Seeded(1, "poisson")
	for range n {
		counts[min(poissonOne(src), 5)]++
	}
	for k := range law {
		law[k], p = p, p/float64(k+1)
	}
	claim = stattest.Claim{FalsePositive: 1e-9, Detects: "another mean"}
	stattest.Cells(t, claim, counts, tailCells(law, 6))
}

// The shares of the honest holders add up to the noise of one release.
func TestSharesOfNoiseAreEnough(t *testing.T) {
	const n = 20_000
	for _, honest := range []int{1, 2, 3} {
		laplace, err := SharedLaplace(dp.Nano, 2, 3, honest)
		if err != nil {
			t.Fatal(err)
		}
		gaussian, err := SharedGaussian(dp.Pico/8, 2, 3, honest)
		if err != nil {
			t.Fatal(err)
		}
		draw := func(m Shared, holders int, src string) []float64 {
			exit := NewExit(replay.Seeded(2, src))
			out := make([]float64, n)
			for i := range out {
				var sum [1]Whole
				for range holders {
					sum[0] = sum[0].Plus(exit.Share("", m, Ratio{Den: 1})[0])
				}
				out[i] = m.Floats(sum[:])[0]
			}
			return out
		}
		claim := stattest.Claim{FalsePositive: 1e-9 / 6, Detects: "the noise of one holder less, or of one more"}
		for _, c := range []struct {
			m   Shared
			cdf func(x float64) float64
		}{
			{laplace, func(x float64) float64 { return 0.5 + math.Copysign(0.5-0.5*math.Exp(-math.Abs(x)/2), x) }},
			{gaussian, func(x float64) float64 { return 0.5 * math.Erfc(-x/4/math.Sqrt2) }}, // σ = 2/√(2/8)
		} {
			stattest.KS(t, claim, draw(c.m, honest, c.m.Name()), c.cdf)
			for _, wrong := range []int{honest - 1, honest + 1} {
				stattest.Rejects(t, func(t stattest.T) { stattest.KS(t, claim, draw(c.m, wrong, c.m.Name()), c.cdf) })
			}
		}
	}
}

func TestWholeIsAnIntegerModulo(t *testing.T) {
	for _, text := range []string{"0", "1", "-1", "18446744073709551616", "-18446744073709551617", "-36893488147419103232"} {
		k, _ := new(big.Int).SetString(text, 10)
		w := wholeOf(k)
		if w.big().Cmp(k) != 0 {
			t.Errorf("%s comes back as %s", text, w.big())
		}
		one := wholeOf(big.NewInt(1))
		if got := w.Plus(one).Minus(one); got != w {
			t.Errorf("%s + 1 - 1 is %s", text, got.big())
		}
	}
}

func TestSharedRefuses(t *testing.T) {
	for _, honest := range []int{0, -1, MaxHonest + 1} {
		if _, err := SharedLaplace(dp.Nano, 1, 1, honest); err == nil {
			t.Errorf("%d honest holders are taken", honest)
		}
		if _, err := SharedGaussian(dp.Pico, 1, 1, honest); err == nil {
			t.Errorf("%d honest holders are taken", honest)
		}
	}
	if _, err := SharedLaplace(dp.Nano, 1, 1, MaxHonest); err != nil {
		t.Error(err)
	}
	if _, err := SharedLaplace(1, 1, 1<<24, 1); err == nil {
		t.Error("a scale beyond what shares can be drawn for is taken")
	}
}

// A tape receives a holder's values with the mechanism whose noise is shared, and what it says is
// shared instead.
func TestTapeReceivesShares(t *testing.T) {
	for _, m := range []Shared{Sized(SharedLaplace(dp.Nano, 2, 2, 3)), Sized(SharedGaussian(1e12, 2, 2, 3))} {
		tape := &replaced{}
		out := m.Floats(NewTapedExit(rng.System(), tape).Share("x", m, Ratio{5, 2}, Ratio{-1, 4}))
		if tape.m.Name() != m.Name() || tape.m.Sensitivity() != 2 || !slices.Equal(tape.values, []Ratio{{5, 2}, {-1, 4}}) ||
			!slices.Equal(out, []float64{1.5, -8}) {
			t.Errorf("%s: the tape received %v, and %v is shared", m.Name(), tape.values, out)
		}
	}
}

// replaced is a tape that says two numbers.
type replaced struct {
	Tape
	m      Mechanism
	values []Ratio
}

func (r *replaced) Numbers(_ string, m Mechanism, values []Ratio) []float64 {
	r.m, r.values = m, values
	return []float64{1.5, -8}
}
