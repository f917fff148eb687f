// SPDX-License-Identifier: Apache-2.0

package stattest

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
)

// uniform is in (0, 1).
func uniform(src rng.Source) float64 { return (float64(src.Uint64()>>12) + 0.5) / (1 << 52) }

func laplace(src rng.Source, n int, scale float64) []float64 {
	out := make([]float64, n)
	for i := range out {
		u := uniform(src) - 0.5
		out[i] = -scale * math.Copysign(math.Log1p(-2*math.Abs(u)), u)
	}
	return out
}

func laplaceCDF(x float64) float64 {
	if x < 0 {
		return math.Exp(x) / 2
	}
	return 1 - math.Exp(-x)/2
}

func TestKSAcceptsTheLawAndRejectsASmallScale(t *testing.T) {
	c := Claim{FalsePositive: 1e-9, Detects: "scale off by 5% in 200,000 draws"}
	KS(t, c, laplace(replay.Seeded(1, "ks"), 200_000, 1), laplaceCDF)
	for seed := range uint64(5) {
		Rejects(t, func(t T) { KS(t, c, laplace(replay.Seeded(seed, "ks sabotaged"), 200_000, 0.95), laplaceCDF) })
	}
}

func TestKSKnowsJumps(t *testing.T) {
	// A fair coin on {0, 1}: comparing only at the draws' left or right side
	// would see a gap of 1/2.
	src := replay.Seeded(2, "jumps")
	coin := func(p float64) []float64 {
		x := make([]float64, 100_000)
		for i := range x {
			if uniform(src) < p {
				x[i] = 1
			}
		}
		return x
	}
	cdf := func(x float64) float64 {
		switch {
		case x < 0:
			return 0
		case x < 1:
			return 0.5
		}
		return 1
	}
	c := Claim{FalsePositive: 1e-9, Detects: "a coin of probability 0.52 in 100,000 throws"}
	KS(t, c, coin(0.5), cdf)
	Rejects(t, func(t T) { KS(t, c, coin(0.52), cdf) })
}

func TestKSRejectsNaNInfinityAndConstants(t *testing.T) {
	c := Claim{FalsePositive: 1e-9, Detects: "degenerate output"}
	good := laplace(replay.Seeded(3, "degenerate"), 1000, 1)
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0} {
		sample := slices.Clone(good)
		for i := range 300 {
			sample[i] = bad
		}
		Rejects(t, func(t T) { KS(t, c, sample, laplaceCDF) })
	}
	Rejects(t, func(t T) { KS(t, c, good, func(float64) float64 { return math.NaN() }) })
}

func TestKSLeavesTheSampleAlone(t *testing.T) {
	x := laplace(replay.Seeded(4, "order"), 100, 1)
	before := slices.Clone(x)
	KS(t, Claim{FalsePositive: 1e-9, Detects: "nothing finer than a scale off by half"}, x, laplaceCDF)
	if !slices.Equal(x, before) {
		t.Error("KS reordered the caller's slice")
	}
}

// geometric counts draws of a geometric law into cells 0..cells-2 and a tail.
func geometric(src rng.Source, n, cells int, ratio float64) []int {
	counts := make([]int, cells)
	for range n {
		i := 0
		for i < cells-1 && uniform(src) < ratio {
			i++
		}
		counts[i]++
	}
	return counts
}

func TestCellsAcceptsTheLawAndRejectsAWrongRatio(t *testing.T) {
	probs := make([]float64, 12)
	for i := range probs {
		probs[i] = math.Pow(0.6, float64(i)) * 0.4
	}
	probs[11] = math.Pow(0.6, 11)
	c := Claim{FalsePositive: 1e-9, Detects: "ratio 0.61 instead of 0.60 in 200,000 draws"}
	src := replay.Seeded(5, "cells")
	Cells(t, c, geometric(src, 200_000, 12, 0.6), probs)
	Rejects(t, func(t T) { Cells(t, c, geometric(src, 200_000, 12, 0.61), probs) })
	// A draw where the law has none is seen at once.
	Rejects(t, func(t T) { Cells(t, c, []int{999, 1}, []float64{1, 0}) })
}

func TestBinomialAcceptsTheLawAndRejectsAWrongProbability(t *testing.T) {
	c := Claim{FalsePositive: 1e-9, Detects: "probability 0.51 instead of 0.50 in 100,000 trials"}
	src := replay.Seeded(6, "binomial")
	throw := func(p float64) (k int) {
		for range 100_000 {
			if uniform(src) < p {
				k++
			}
		}
		return k
	}
	Binomial(t, c, throw(0.5), 100_000, 0.5)
	Rejects(t, func(t T) { Binomial(t, c, throw(0.515), 100_000, 0.5) })
	Rejects(t, func(t T) { Binomial(t, c, throw(0.485), 100_000, 0.5) })
}

func TestMeanAcceptsTheMeanAndRejectsAnother(t *testing.T) {
	c := Claim{FalsePositive: 1e-9, Detects: "a mean off by 0.02 of the range in 100,000 draws"}
	src := replay.Seeded(7, "mean")
	sample := make([]float64, 100_000)
	for i := range sample {
		sample[i] = 2*uniform(src) - 1
	}
	Mean(t, c, sample, -1, 1, 0)
	Rejects(t, func(t T) { Mean(t, c, sample, -1, 1, 0.04) })
	Rejects(t, func(t T) { Mean(t, c, sample, -1, 1, math.NaN()) })
	Rejects(t, func(t T) { Mean(t, c, append(sample, math.NaN()), -1, 1, 0) })
	Rejects(t, func(t T) { Mean(t, c, append(sample, 1.5), -1, 1, 0) })
}

// loud is a T that records errors and stops at Fatalf.
type loud struct {
	*testing.T
	errors []string
}

func (l *loud) Errorf(f string, a ...any) { l.errors = append(l.errors, fmt.Sprintf(f, a...)) }
func (l *loud) Fatalf(f string, a ...any) { panic(fmt.Sprintf(f, a...)) }

func TestRejectsIsRedWhenTheSabotageGoesUnseen(t *testing.T) {
	l := &loud{T: t}
	Rejects(l, func(T) {})
	if len(l.errors) != 1 || !strings.Contains(l.errors[0], "sabotaged") {
		t.Errorf("an accepted sabotage must be an error, got %q", l.errors)
	}
}

func TestAMisusedCheckIsNotARejection(t *testing.T) {
	good := Claim{FalsePositive: 1e-10, Detects: "anything"}
	for name, misuse := range map[string]func(T){
		"no rate":         func(t T) { Binomial(t, Claim{Detects: "x"}, 1, 2, 0.5) },
		"NaN rate":        func(t T) { Binomial(t, Claim{math.NaN(), "x"}, 1, 2, 0.5) },
		"large rate":      func(t T) { Binomial(t, Claim{0.6, "x"}, 1, 2, 0.5) },
		"too many":        func(t T) { Claim{mostOfRun, "x"}.begin(t.(*recorder).T) },
		"no defect":       func(t T) { Binomial(t, Claim{FalsePositive: 1e-10}, 1, 2, 0.5) },
		"k above n":       func(t T) { Binomial(t, good, 3, 2, 0.5) },
		"NaN probability": func(t T) { Binomial(t, good, 1, 2, math.NaN()) },
		"no sample":       func(t T) { KS(t, good, nil, laplaceCDF) },
		"lengths":         func(t T) { Cells(t, good, []int{1, 2}, []float64{1}) },
		"half a law":      func(t T) { Cells(t, good, []int{1, 2}, []float64{0.5, 0.4}) },
		"no draws":        func(t T) { Cells(t, good, []int{0, 0}, []float64{0.5, 0.5}) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("must stop the test")
				}
			}()
			Rejects(&loud{T: t}, misuse)
		})
	}
}

func TestDeclaredAddsUpTheRun(t *testing.T) {
	c := Claim{FalsePositive: 1e-9, Detects: "anything"}
	before := Declared()
	Binomial(t, c, 5, 10, 0.5)
	Binomial(t, c, 5, 10, 0.5)
	Rejects(t, func(t T) { Binomial(t, c, 0, 100, 0.5) })
	if got := Declared() - before; math.Abs(got-2e-9) > 1e-15 {
		t.Errorf("declared %g for two checks at 1e-9", got)
	}
}
