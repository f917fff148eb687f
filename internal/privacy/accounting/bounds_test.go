// SPDX-License-Identifier: Apache-2.0

package accounting

import (
	"fmt"
	"math"
	"testing"

	"github.com/discreet-dp/discreet/internal/ground/dp"
)

// manyLines are numbers of lines of a bill about every size that a sum could stop at.
var manyLines = []int{1, 2, 3, 63, 64, 65, 255, 256, 257, 999, 1000, 1001, 4999, 5000, 5001, 65_535, 65_536, 65_537,
	1<<20 + 1}

// Every line of a bill is paid for, however many there are: pure lines to the last unit, Gaussian
// ones as one of their ρ together, and others as so many uses.
func TestEveryLineOfABillCounts(t *testing.T) {
	for _, n := range manyLines {
		pure, gauss, mixed := make([]dp.Event, n), make([]dp.Event, n), make([]dp.Event, n)
		for i := range pure {
			pure[i], gauss[i], mixed[i] = pureEvent(3), gaussianEvent(7), pureEvent(1000)
			if i%2 == 1 {
				mixed[i] = gaussianEvent(7)
			}
		}
		pure[n-1] = pureEvent(2)
		sum := dp.Epsilon(3*n - 1)
		for price, want := range map[dp.Epsilon]bool{sum: true, sum - 1: false, sum + 1: true} {
			if got, err := Within(pure, dp.Price{Epsilon: price}); got != want || err != nil {
				t.Errorf("%d lines for %s: %v, want %v (error %v)", n, price, got, want, err)
			}
		}
		if rho, releases, pure := sumGaussians(gauss); rho != dp.Rho(7*n) || releases != n || pure {
			t.Errorf("%d Gaussian lines are %d of ρ %s", n, releases, rho)
		}
		gauss[n-1] = pureEvent(1)
		if rho, releases, pure := sumGaussians(gauss); rho != dp.Rho(7*(n-1)+1) || releases != n-1 || !pure {
			t.Errorf("%d lines, the last pure: %d Gaussian ones of ρ %s", n, releases, rho)
		}
		uses := []Use{{must(Pure(1000)), (n + 1) / 2}}
		if n > 1 {
			uses = append(uses, Use{must(Gaussian(7)), n / 2})
		}
		c := must(Bill(mixed))
		if e := 0.0001; c.Delta(e) != compose(uses...).Delta(e) {
			t.Errorf("%d mixed lines have δ = %g, so many uses %g", n, c.Delta(e), compose(uses...).Delta(e))
		}
		bad := append(pure[:n-1:n-1], pureEvent(-1))
		if _, err := Within(bad, dp.Price{Epsilon: dp.Nano}); err == nil {
			t.Errorf("%d lines, the last of a negative price, are taken", n)
		}
	}
}

// A composition of up to as many uses as there may be costs what their ρ together do, never less.
func TestEveryUseCounts(t *testing.T) {
	for _, n := range []int{4, 5, 63, 64, 65, 256, 257, 4999, 5000, 5001, 65_535, 65_536, 65_537, 1<<20 - 1, 1 << 20, 1<<20 + 1,
		maxUses - 1, maxUses, maxUses + 1} {
		each := max(1, dp.Rho(1e9/n))
		c, err := Compose(Use{must(Gaussian(each)), n})
		if (err != nil) != (n > maxUses) {
			t.Fatalf("%d uses: %v", n, err)
		}
		if err != nil {
			continue
		}
		truth, excess := GaussianDelta(each*dp.Rho(n), 0.1), 1e-3
		if n > 1<<29 {
			excess = 0.25 // what rounding allows for grows with the number of uses
		}
		within(t, fmt.Sprintf("δ of %d uses", n), c.Delta(0.1), truth, 1e-12, excess)
		split := compose(Use{must(Gaussian(each)), n - n/2}, Use{must(Gaussian(each)), n / 2})
		within(t, fmt.Sprintf("δ of %d uses in two", n), split.Delta(0.1), truth, 1e-12, excess)
	}
	for first, want := range map[int]bool{maxUses - 2: true, maxUses - 1: true, maxUses: false} {
		if _, err := Compose(Use{must(Gaussian(1)), first}, Use{must(Gaussian(1)), 1}); (err == nil) != want {
			t.Errorf("%d uses and one: %v", first, err)
		}
	}
}

// On either side of where a tail, a square and an exponential leave what a number can hold, what is
// returned is a bound still: no smaller than the truth, and a number.
func TestNumbersFarOut(t *testing.T) {
	// a = (ε/μ − μ/2)/√2 is about farOut: the truth is below e^(−a²).
	for _, r := range []float64{1e-6, 0.02, 0.5} {
		mu := math.Sqrt(2 * r)
		for _, a := range []float64{farOut - 1, farOut - 1e-3, farOut + 1e-3, farOut + 1, 2 * farOut} {
			got := GaussianDelta(rho(r), mu*(a*math.Sqrt2+mu/2))
			// Mills' ratio: the tail beyond a·√2, less what e^ε takes of it, is at least so much.
			least := math.Exp(-a*a) / (8 * a * a * (a + mu) * (1 + 1/mu))
			if !(got >= least && got <= math.Max(1e-170, math.Exp(-a*a)*1.01)) {
				t.Errorf("ρ=%g, %g deviations out: δ is %g, at least %g", r, a, got, least)
			}
		}
	}
	last := 0.0
	for _, square := range []float64{1, mostSquare - 1, mostSquare, mostSquare + 1, 10 * mostSquare, 1e4, 1e6} {
		for _, rate := range []float64{1e-30, 1e-9, 0.5, 1} {
			n := normals{mu: math.Sqrt(square), rate: rate}
			deviation, length, _ := n.lossShape()
			want := n.mu
			if x := rate * math.Sqrt(math.Expm1(square)); square <= mostSquare && x < want {
				want = x
			}
			if !(deviation > 0 && deviation <= n.mu) || square <= mostSquare && math.Abs(deviation-want) > 1e-9*want ||
				!(length > 0 && length < math.Inf(1)) {
				t.Errorf("a shift of √%g at rate %g: deviation %g, length %g", square, rate, deviation, length)
			}
			if rate == 1 && deviation < last {
				t.Errorf("a shift of √%g has less of a deviation than a smaller one", square)
			} else if rate == 1 {
				last = deviation
			}
		}
	}
	for _, at := range []float64{0, mostPoint - 1, mostPoint, mostPoint + 1, 800, 1e5} {
		s := newSpread(at, 0.5, 0, 3)
		q := 0.25 * math.Exp(-at-0.2) // what Q has of it, about
		s.addBucket(1, 0.25, q)
		sum := 0.0
		for i, m := range s.mass {
			sum += m
			if !(m >= 0) || m > 0 && i != 1 && i != 2 {
				t.Errorf("about a loss of %g mass %g lies at point %d", at, m, i)
			}
		}
		if !(sum >= 0.25 && sum < 0.2501) || at >= mostPoint && s.mass[2] < 0.25 {
			t.Errorf("about a loss of %g %g is counted, %g of it above", at, sum, s.mass[2])
		}
	}
}
