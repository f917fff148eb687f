// SPDX-License-Identifier: Apache-2.0

package stattest

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/rng"
	"github.com/discreet-dp/discreet/rng/replay"
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

// exactTail sums P(X >= k) in rationals.
func exactTail(k, n int64, p *big.Rat) float64 {
	q := new(big.Rat).Sub(big.NewRat(1, 1), p)
	pow := func(x *big.Rat, e int64) *big.Rat {
		E := big.NewInt(e)
		return new(big.Rat).SetFrac(new(big.Int).Exp(x.Num(), E, nil), new(big.Int).Exp(x.Denom(), E, nil))
	}
	sum := new(big.Rat)
	for i := k; i <= n; i++ {
		term := new(big.Rat).SetInt(new(big.Int).Binomial(n, i))
		sum.Add(sum, term.Mul(term, new(big.Rat).Mul(pow(p, i), pow(q, n-i))))
	}
	f, _ := sum.Float64()
	return f
}

func TestTailsAgreeWithExactSums(t *testing.T) {
	for _, p := range []*big.Rat{big.NewRat(1, 1000), big.NewRat(3, 10), big.NewRat(1, 2), big.NewRat(99, 100)} {
		f, _ := p.Float64()
		for _, n := range []int64{1, 2, 7, 40, 300} {
			for k := int64(0); k <= n; k += 1 + n/13 {
				atMost, atLeast := tails(int(k), int(n), f)
				wantAtLeast := exactTail(k, n, p)
				wantAtMost := exactTail(n-k, n, new(big.Rat).Sub(big.NewRat(1, 1), p))
				// Below 1e-250 every claim rejects anyway.
				if !near(atLeast, wantAtLeast, 1e-9) || !near(atMost, wantAtMost, 1e-9) {
					t.Errorf("k=%d n=%d p=%v: tails %g %g, exactly %g %g", k, n, p, atMost, atLeast, wantAtMost, wantAtLeast)
				}
			}
		}
	}
}

// Large n: the sum of exp(log-probabilities), good to about 1e-7 relative.
func TestTailsAtAMillionTrials(t *testing.T) {
	const n = 1_000_000
	lg := func(x int) float64 { v, _ := math.Lgamma(float64(x)); return v }
	for _, p := range []float64{1e-4, 0.3, 0.5} {
		sd := math.Sqrt(n * p * (1 - p))
		for _, z := range []float64{1, 4, 7} {
			k := int(n*p + z*sd)
			want := 0.0
			for i := k; i < k+int(20*sd)+50; i++ {
				want += math.Exp(lg(n+1) - lg(i+1) - lg(n-i+1) + float64(i)*math.Log(p) + float64(n-i)*math.Log1p(-p))
			}
			if _, got := tails(k, n, p); !near(got, want, 1e-6) {
				t.Errorf("p=%g z=%g: tail %g, summed %g", p, z, got, want)
			}
		}
	}
}

func near(got, want, rel float64) bool {
	return got == want || math.Abs(got-want) <= rel*want || want < 1e-250 && got < 1e-200
}

func TestLimitsSolveTheTailEquation(t *testing.T) {
	for _, n := range []int{1, 10, 1000, 1_000_000} {
		for _, k := range []int{0, 1, n / 3, n / 2, n - 1, n} {
			for _, alpha := range []float64{1e-12, 1e-6, 0.05} {
				lo, hi := Lower(k, n, alpha), Upper(k, n, alpha)
				if k == 0 && lo != 0 || k == n && hi != 1 {
					t.Errorf("k=%d n=%d: limits %g %g at an end", k, n, lo, hi)
				}
				// Sound where they are, and no longer so a hair further in.
				const hair = 1e-9
				if k > 0 {
					_, here := tails(k, n, lo)
					_, inside := tails(k, n, lo*(1+hair))
					if lo*(1+hair) >= 1 {
						inside = 1
					}
					if !(here <= alpha && inside > alpha) {
						t.Errorf("k=%d n=%d alpha=%g: P(X >= k) is %g at Lower and %g inside", k, n, alpha, here, inside)
					}
				}
				if k < n {
					here, _ := tails(k, n, hi)
					inside, _ := tails(k, n, hi*(1-hair))
					if !(here <= alpha && inside > alpha) {
						t.Errorf("k=%d n=%d alpha=%g: P(X <= k) is %g at Upper and %g inside", k, n, alpha, here, inside)
					}
				}
			}
		}
	}
}

// "Rule of three": no success in n trials bounds p by 1-alpha^(1/n).
func TestUpperForNoSuccessIsClosedForm(t *testing.T) {
	if got, want := Upper(0, 100, 0.05), 1-math.Pow(0.05, 0.01); !near(got, want, 1e-12) {
		t.Errorf("Upper(0, 100, 0.05) = %g, want %g", got, want)
	}
}

func TestEpsilonLowerBound(t *testing.T) {
	if got := EpsilonLowerBound(0, 100, 0, 100, 1e-6); got != 0 {
		t.Errorf("no event shows nothing, got %g", got)
	}
	// What N runs can show at alpha = 1e-6: ln(N/14.5).
	if got := EpsilonLowerBound(100_000, 100_000, 0, 100_000, 1e-6); math.Abs(got-math.Log(100_000/14.5)) > 0.01 {
		t.Errorf("the ceiling of 1e5 runs is %g, want 8.84", got)
	}
	// Randomised response at ε = 1: sound for the right claim, and close.
	src := replay.Seeded(7, "audit")
	p := math.E / (1 + math.E)
	yes := func(p float64, n int) (k int) {
		for range n {
			if uniform(src) < p {
				k++
			}
		}
		return k
	}
	const n = 500_000
	got := EpsilonLowerBound(yes(p, n), n, yes(1-p, n), n, 1e-9)
	if !(got <= 1) {
		t.Errorf("a correct mechanism of ε = 1 was audited at %g", got)
	}
	if !(got > 0.95) {
		t.Errorf("the audit of ε = 1 has no teeth: %g", got)
	}
	// Sabotage: 5% too little noise is refuted.
	broken := math.Exp(1.05) / (1 + math.Exp(1.05))
	if got := EpsilonLowerBound(yes(broken, n), n, yes(1-broken, n), n, 1e-9); !(got > 1) {
		t.Errorf("a mechanism of ε = 1.05 passes for ε = 1: %g", got)
	}
}

// Coverage, by adding up the exact probabilities of all outcomes.
func TestLowerKeepsItsRateAtEveryN(t *testing.T) {
	const alpha = 0.05
	for _, n := range []int{1, 5, 30} {
		for p := 0.01; p < 1; p += 0.01 {
			miss := 0.0
			for k := 0; k <= n; k++ {
				if Lower(k, n, alpha) > p {
					_, atLeast := tails(k, n, p)
					miss = atLeast // outcomes k, k+1, ... all miss
					break
				}
			}
			if !(miss <= alpha*(1+1e-9)) {
				t.Errorf("n=%d p=%g: misses with probability %g", n, p, miss)
			}
		}
	}
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
	good := Claim{FalsePositive: 0.01, Detects: "anything"}
	for name, misuse := range map[string]func(T){
		"no rate":         func(t T) { Binomial(t, Claim{Detects: "x"}, 1, 2, 0.5) },
		"NaN rate":        func(t T) { Binomial(t, Claim{math.NaN(), "x"}, 1, 2, 0.5) },
		"large rate":      func(t T) { Binomial(t, Claim{0.6, "x"}, 1, 2, 0.5) },
		"no defect":       func(t T) { Binomial(t, Claim{FalsePositive: 0.01}, 1, 2, 0.5) },
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
