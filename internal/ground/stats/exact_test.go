// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"math"
	"math/big"
	"testing"

	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
)

// uniform is in (0, 1).
func uniform(src rng.Source) float64 { return (float64(src.Uint64()>>12) + 0.5) / (1 << 52) }

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
				atMost, atLeast := Tails(int(k), int(n), f)
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
			if _, got := Tails(k, n, p); !near(got, want, 1e-6) {
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
				// Sound if they are, and no longer so a hair further in.
				const hair = 1e-9
				if k > 0 {
					_, here := Tails(k, n, lo)
					_, inside := Tails(k, n, lo*(1+hair))
					if lo*(1+hair) >= 1 {
						inside = 1
					}
					if !(here <= alpha && inside > alpha) {
						t.Errorf("k=%d n=%d alpha=%g: P(X >= k) is %g at Lower and %g inside", k, n, alpha, here, inside)
					}
				}
				if k < n {
					here, _ := Tails(k, n, hi)
					inside, _ := Tails(k, n, hi*(1-hair))
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
	if got := EpsilonLowerBound(0, 100, 0, 100, 0, 1e-6); got != 0 {
		t.Errorf("no event shows nothing, got %g", got)
	}
	// What N runs can show at alpha = 1e-6: ln(N/14.5).
	if got := EpsilonLowerBound(100_000, 100_000, 0, 100_000, 0, 1e-6); math.Abs(got-math.Log(100_000/14.5)) > 0.01 {
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
	got := EpsilonLowerBound(yes(p, n), n, yes(1-p, n), n, 0, 1e-9)
	if !(got <= 1) {
		t.Errorf("a correct mechanism of ε = 1 was audited at %g", got)
	}
	if !(got > 0.95) {
		t.Errorf("the audit of ε = 1 has no teeth: %g", got)
	}
	// A δ takes its part of the event first, and all of a rare one.
	if a, b := EpsilonLowerBound(5000, n, 1000, n, 0, 1e-9),
		EpsilonLowerBound(5000, n, 1000, n, 0.001, 1e-9); !(b < a && b > 0) {
		t.Errorf("δ = 0.001 moves the bound from %g to %g", a, b)
	}
	if got := EpsilonLowerBound(5000, n, 0, n, 0.02, 1e-9); got != 0 {
		t.Errorf("an event rarer than δ shows %g", got)
	}
	// Sabotage: 5% too little noise is refuted.
	broken := math.Exp(1.05) / (1 + math.Exp(1.05))
	if got := EpsilonLowerBound(yes(broken, n), n, yes(1-broken, n), n, 0, 1e-9); !(got > 1) {
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
					_, atLeast := Tails(k, n, p)
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
