// SPDX-License-Identifier: Apache-2.0

package accounting

import (
	"fmt"
	"math"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/size"
	"github.com/discreet-dp/discreet/internal/ground/dp"
)

// within wants got never below want and above it by at most the given part.
// truth says how exact want is.
func within(t *testing.T, what string, got, want, truth, excess float64) {
	t.Helper()
	if !(got >= want*(1-truth)) {
		t.Errorf("%s: %g is below the truth %g by %.3g", what, got, want, 1-got/want)
	}
	if !(got <= want*(1+excess)) {
		t.Errorf("%s: %g is above the truth %g by %.3g", what, got, want, got/want-1)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func compose(uses ...Use) *Composition { return must(Compose(uses...)) }

func rho(x float64) dp.Rho     { return dp.Rho(math.Round(x * dp.Pico)) }
func eps(x float64) dp.Epsilon { return dp.Epsilon(math.Round(x * dp.Nano)) }

// k Gaussian releases cost what one of k times their ρ costs.
func TestGaussianComposition(t *testing.T) {
	for _, k := range []int{1, 2, 10, 1000, 10_000} {
		for _, all := range []float64{0.01, 0.5, 8} {
			each := rho(all / float64(k))
			c := compose(Use{must(Gaussian(each)), k})
			r := (each * dp.Rho(k)).Float()
			for _, sigmas := range []float64{0, 1, 3, 6} {
				e := max(r+sigmas*math.Sqrt(2*r), 0)
				within(t, fmt.Sprintf("%d × ρ=%s at ε=%g", k, each, e), c.Delta(e), deltaOf(e, gaussianLaw(r)), 1e-7, 3e-3)
			}
			for _, d := range []float64{1e-2, 1e-6, 1e-12} {
				e := c.Epsilon(d)
				if got := GaussianDelta(each*dp.Rho(k), e); !(got <= d && got >= d*0.995) {
					t.Errorf("%d × ρ=%s: at ε(%g) = %g the truth is %g", k, each, d, e, got)
				}
			}
		}
	}
}

func TestLaplaceAgainstQuadrature(t *testing.T) {
	for _, e := range []float64{0.1, 1, 4} {
		for k := 1; k <= 2; k++ {
			c := compose(Use{must(Laplace(eps(e))), k})
			var laws []law
			for range k {
				laws = append(laws, laplaceLaw(e))
			}
			for _, part := range []float64{0, 0.1, 0.5, 0.77, 0.95} {
				at := part * e * float64(k)
				within(t, fmt.Sprintf("%d × laplace(%g) at %g", k, e, at), c.Delta(at), deltaOf(at, laws...), 1e-6, 2e-3)
			}
			// Nothing beyond the sum; ε(0) is the sum.
			if got := c.Delta(e * float64(k) * (1 + 1e-9)); got != 0 {
				t.Errorf("δ beyond the largest loss is %g", got)
			}
			within(t, "ε(0)", c.Epsilon(0), e*float64(k), 0, 1e-9)
		}
	}
	c := compose(Use{must(Laplace(eps(1))), 1})
	for e := 0.0; e < 1; e += 0.01 {
		within(t, fmt.Sprintf("closed form at %g", e), c.Delta(e), -math.Expm1((e-1)/2), 0, 1e-4)
	}
}

// Randomised response composes to a binomial law.
func TestPureAgainstBinomial(t *testing.T) {
	for _, e := range []float64{0.01, 0.3, 3} {
		for _, k := range []int{1, 2, 7, 100} {
			c := compose(Use{must(Pure(eps(e))), k})
			for _, part := range []float64{0, 0.05, 0.3, 0.999} {
				at := part * e * float64(k)
				truth := 0.0
				p := 1 / (1 + math.Exp(-e))
				for j := 0; j <= k; j++ { // j truthful answers of k
					a, _ := math.Lgamma(float64(k + 1))
					b, _ := math.Lgamma(float64(j + 1))
					d, _ := math.Lgamma(float64(k - j + 1))
					truth += math.Exp(a-b-d+float64(j)*math.Log(p)+float64(k-j)*math.Log(1-p)) *
						max(-math.Expm1(at-e*float64(2*j-k)), 0)
				}
				within(t, fmt.Sprintf("%d × pure(%g) at %g", k, e, at), c.Delta(at), truth, 1e-11, 1e-6)
			}
		}
	}
}

// A mix of mechanisms, in any order.
func TestMixAgainstQuadrature(t *testing.T) {
	l, g, p := Use{must(Laplace(eps(0.7))), 1}, Use{must(Gaussian(rho(0.1))), 1}, Use{must(Pure(eps(0.5))), 1}
	c, d := compose(l, g, p), compose(p, l, g)
	for _, at := range []float64{0, 0.3, 1, 2, 3} {
		within(t, fmt.Sprintf("mix at %g", at), c.Delta(at), deltaOf(at, coinLaw(0.5), laplaceLaw(0.7), gaussianLaw(0.1)),
			1e-6, 1e-3)
		within(t, "order", c.Delta(at), d.Delta(at), 1e-9, 1e-9)
	}
	many := must(RandomisedResponse(eps(2), 5))
	others := 4 * math.Exp(-2.0)
	truth := law{atoms: []atom{{2, 1 / (1 + others)}, {0, 3 * math.Exp(-2) / (1 + others)},
		{-2, math.Exp(-2) / (1 + others)}}}
	for _, at := range []float64{0, 1, 1.9, 2.5, 3.9} {
		within(t, fmt.Sprintf("two answers of five at %g", at), compose(Use{many, 2}).Delta(at), deltaOf(at, truth, truth),
			1e-12, 1e-3)
	}
	// A mass δ is lost each time, whatever ε.
	a := compose(Use{must(Approximate(eps(0.1), 1e-5)), 3})
	within(t, "lost mass", a.Delta(0.3), 1-math.Pow(1-1e-5, 3), 0, 1e-4)
	if got := a.Epsilon(1e-5); !math.IsInf(got, 1) {
		t.Errorf("ε below the lost mass is %g", got)
	}
}

// The bounded-range pair is above every t, and touches the worst.
func TestExponentialAgainstEveryRange(t *testing.T) {
	for _, e := range []float64{0.1, 1, 5} {
		one, two := compose(Use{must(Exponential(eps(e))), 1}), compose(Use{must(Exponential(eps(e))), 2})
		pure := compose(Use{must(Pure(eps(e))), 2})
		for _, part := range []float64{0, 0.2, 0.5, 0.8} {
			worst, worst2 := 0.0, 0.0
			for i := range 2001 {
				x := e * float64(i) / 2000
				worst = max(worst, deltaOf(part*e, exponentialLaw(e, x)))
				worst2 = max(worst2, deltaOf(2*part*e, exponentialLaw(e, x), exponentialLaw(e, x)))
			}
			within(t, fmt.Sprintf("exponential(%g) at %g", e, part*e), one.Delta(part*e), worst, 1e-11, 2e-3)
			if got := two.Delta(2 * part * e); got < worst2*(1-1e-11) || got > pure.Delta(2*part*e) {
				t.Errorf("twice exponential(%g) at %g: %g, between %g and %g", e, 2*part*e, got, worst2, pure.Delta(2*part*e))
			}
		}
	}
}

func TestDiscreteAgainstSums(t *testing.T) {
	for _, c := range []struct {
		moved int
		scale float64
	}{{1, 1}, {3, 2.5}, {1, 20}, {50, 17}} {
		e := float64(c.moved) / c.scale
		truth := discreteLaw(int(45*c.scale)+c.moved, c.moved,
			func(x int) float64 { return math.Exp(-math.Abs(float64(x)) / c.scale) })
		for k := 1; k <= 2; k++ {
			d := compose(Use{must(DiscreteLaplace(int64(c.moved), c.scale)), k})
			for _, part := range []float64{0, 0.3, 0.8} {
				at := part * e * float64(k)
				within(t, fmt.Sprintf("%d × discrete laplace %v at %g", k, c, at), d.Delta(at),
					deltaOf(at, []law{truth, truth}[:k]...), 1e-11, 3e-3)
			}
		}
	}
	// In fine steps bucket by bucket, against the sum over all steps.
	const moved, scale = 1 << 18, 1 << 17
	d := compose(Use{must(DiscreteLaplace(moved, scale)), 1})
	for _, at := range []float64{0, 0.5, 1.5} {
		truth := -math.Expm1(at-2) / (1 + math.Exp(-1.0/scale))
		for x := 1; x < moved; x++ {
			p := math.Exp(-float64(x)/scale) * -math.Expm1(-1.0/scale) / (1 + math.Exp(-1.0/scale))
			truth += p * max(-math.Expm1(at-(moved-2*float64(x))/scale), 0)
		}
		within(t, fmt.Sprintf("fine steps at %g", at), d.Delta(at), truth, 1e-10, 1e-5)
	}
	for _, c := range []struct {
		moved int
		sigma float64
	}{{1, 0.5}, {1, 3}, {5, 2}, {3, 40}} {
		mu := float64(c.moved) / c.sigma
		truth := discreteLaw(int(15*c.sigma)+1, c.moved, func(x int) float64 {
			return math.Exp(-float64(x*x) / (2 * c.sigma * c.sigma))
		})
		for k := 1; k <= 2; k++ {
			d := compose(Use{must(DiscreteGaussian(int64(c.moved), c.sigma)), k})
			for _, sigmas := range []float64{0, 2, 4} {
				at := mu*mu/2*float64(k) + sigmas*mu*math.Sqrt(float64(k))
				within(t, fmt.Sprintf("%d × discrete gaussian %v at %g", k, c, at), d.Delta(at),
					deltaOf(at, []law{truth, truth}[:k]...), 1e-10, 5e-3)
			}
		}
	}
}

func TestPoissonAgainstQuadrature(t *testing.T) {
	for _, c := range []struct {
		taken, of uint64
		rho       float64
	}{{1, 2, 0.5}, {1, 100, 0.5}, {1, 1000, 2}, {9, 10, 0.02}}[:size.Of(2, 4)] {
		p := must(PoissonOf(c.taken, c.of))
		one := compose(Use{must(p.Gaussian(rho(c.rho))), 1})
		rate := float64(c.taken) / float64(c.of)
		for _, at := range []float64{0, 0.01, 0.1, 0.5, 1} {
			truth := max(subsampledDelta(rate, c.rho, at, true), subsampledDelta(rate, c.rho, at, false))
			if truth > 1e-12 {
				within(t, fmt.Sprintf("%v at %g", c, at), one.Delta(at), truth, 1e-6, 5e-3)
			}
		}
		for _, at := range []float64{0, 0.003} { // the other order, which ends at -log(1-rate)
			if truth := subsampledDelta(rate, c.rho, at, false); truth > 1e-9 {
				within(t, fmt.Sprintf("%v at %g, other order", c, at), one.orders[1].deltaAt(at), truth, 1e-5, 5e-3)
			}
		}
		// Sampling pays.
		all := compose(Use{must(Gaussian(rho(c.rho))), 100})
		if a, b := compose(Use{must(p.Gaussian(rho(c.rho))), 100}).Epsilon(1e-6), all.Epsilon(1e-6); !(a < b) {
			t.Errorf("%v: sampling costs %g, everything %g", c, a, b)
		}
	}
	// The sampler that was priced is the sampler that draws.
	p := must(PoissonOf(3, 8))
	taken := uint64(0)
	for k := range uint64(8) {
		if p.Takes(func(n uint64) uint64 { return k * n / 8 }) {
			taken++
		}
	}
	if taken != 3 {
		t.Errorf("takes %d of 8", taken)
	}
}

func TestSmallAndLargePrices(t *testing.T) {
	for _, e := range []dp.Epsilon{1, 1000, 44 * dp.Nano, maxPairEpsilon} {
		for _, pair := range []func(dp.Epsilon) (Pair, error){Pure, Laplace, Exponential} {
			c := compose(Use{must(pair(e)), 3})
			within(t, fmt.Sprintf("ε(0) of 3 × %s", e), c.Epsilon(0), 3*e.Float(), 0, 1e-6)
			if d := c.Delta(e.Float()); !(d >= 0 && d <= 1) || !(c.Epsilon(1e-9) <= c.Epsilon(1e-10)) {
				t.Errorf("%s: δ = %g", e, d)
			}
		}
	}
	for _, r := range []dp.Rho{1, 1000, 40 * dp.Pico, dp.MaxRho} {
		c := compose(Use{must(Gaussian(r)), 1})
		e := c.Epsilon(1e-7)
		if got := GaussianDelta(r, e); !(got <= 1e-7 && got > 0.9e-7) {
			t.Errorf("ρ=%s: at ε = %g the truth is %g", r, e, got)
		}
	}
	// A large and many small, on one grid.
	c := compose(Use{must(Gaussian(rho(2))), 1}, Use{must(Gaussian(rho(1e-6))), 1000})
	within(t, "one large, many small", c.Delta(6), GaussianDelta(rho(2.001), 6), 0, 2e-3)
}

func TestRefusals(t *testing.T) {
	for name, err := range map[string]error{
		"no uses":        errOf(Compose()),
		"zero pair":      errOf(Compose(Use{Times: 1})),
		"no times":       errOf(Compose(Use{must(Pure(1)), 0})),
		"too many":       errOf(Compose(Use{must(Pure(1)), maxUses}, Use{must(Pure(1)), 1})),
		"ε = 0":          errOf(Pure(0)),
		"ε infinite":     errOf(Pure(dp.Infinite)),
		"ε < 0":          errOf(Laplace(-1)),
		"one answer":     errOf(RandomisedResponse(1, 1)),
		"δ NaN":          errOf(Approximate(1, math.NaN())),
		"δ = 1":          errOf(Approximate(1, 1)),
		"ρ = 0":          errOf(Gaussian(0)),
		"ρ too large":    errOf(Gaussian(dp.MaxRho + 1)),
		"σ NaN":          errOf(DiscreteGaussian(1, math.NaN())),
		"σ too fine":     errOf(DiscreteGaussian(1, 1<<14)),
		"scale infinite": errOf(DiscreteLaplace(1, math.Inf(1))),
		"rate one":       errOf(PoissonOf(1, 1)),
		"no sampler":     errOf(Poisson{}.Gaussian(1)),
		"target δ":       errOf(GaussianRho(1, 0)),
		"target NaN":     errOf(GaussianRho(math.NaN(), 1e-6)),
		"empty bill":     errOf(Bill(nil)),
	} {
		if err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
	c := compose(Use{must(Pure(eps(1))), 1})
	if c.Delta(math.NaN()) != 1 || c.Delta(-1) != 1 || c.Delta(math.Inf(1)) != 0 {
		t.Error("δ of an odd ε")
	}
	if !math.IsInf(c.Epsilon(math.NaN()), 1) || !math.IsInf(c.Epsilon(-1), 1) || c.Epsilon(1) != 0 {
		t.Error("ε of an odd δ")
	}
}

func errOf[T any](_ T, err error) error { return err }

func TestBill(t *testing.T) {
	bill := []dp.Event{
		{Mechanism: "laplace", Epsilon: eps(0.1)}, {Mechanism: "laplace", Epsilon: eps(0.1)},
		{Mechanism: "exponential", Epsilon: eps(0.2)},
		{Mechanism: "gaussian", Epsilon: dp.Infinite, Rho: rho(0.01)},
		{Mechanism: "none"},
	}
	want := compose(Use{must(Pure(eps(0.1))), 2}, Use{must(Exponential(eps(0.2))), 1}, Use{must(Gaussian(rho(0.01))), 1})
	if got := must(Bill(bill)); got.Delta(0.5) != want.Delta(0.5) {
		t.Errorf("the bill gives %g, its lines %g", got.Delta(0.5), want.Delta(0.5))
	}
	// A ρ beside a pure ε does not make the noise Gaussian.
	lines := []dp.Event{{Mechanism: "laplace", Epsilon: eps(1), Rho: rho(1e-6)}}
	if got, want := must(Bill(lines)).Delta(0.5), compose(Use{must(Pure(eps(1))), 1}).Delta(0.5); got != want {
		t.Errorf("a Laplace release with a ρ costs %g, want %g", got, want)
	}
	// An infinite ε without a ρ, or by a mechanism without a law, has no price.
	for _, e := range []dp.Event{{Mechanism: "gaussian", Epsilon: dp.Infinite},
		{Mechanism: "other", Epsilon: dp.Infinite, Rho: 1}, {Mechanism: "other", Rho: 1}} {
		if _, err := Bill([]dp.Event{e}); err == nil {
			t.Errorf("%+v was priced", e)
		}
	}
}

// Every transform stays within the bound that δ is charged for it.
func TestTransformError(t *testing.T) {
	for _, n := range []int{16, 1 << 10, 1 << 16, 1 << 20} {
		if e := transformOfPoint(n, n/3+1); !(e <= transformError(n)/4) {
			t.Errorf("%d numbers: error %g, bound %g", n, e, transformError(n))
		}
	}
}

func BenchmarkTenThousand(b *testing.B) {
	for name, pair := range map[string]Pair{
		"gaussian": must(Gaussian(rho(5e-5))), "laplace": must(Laplace(eps(0.02))),
		"poisson": must(must(PoissonOf(1, 100)).Gaussian(rho(0.5))),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				compose(Use{pair, 10_000}).Epsilon(1e-6)
			}
		})
	}
}
