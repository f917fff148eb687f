// SPDX-License-Identifier: Apache-2.0

package accounting

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/check/testkit/size"
	"github.com/discreet-dp/discreet/internal/ground/dp"
)

// peerFile is what lab/peers/dpaccounting writes.
type peerFile struct {
	Version string `json:"dp_accounting"`
	Cases   []peerCase
}

type peerCase struct {
	Uses     []peerUse
	Interval float64
	Seconds  float64
	Epsilons []bracket
	Deltas   []bracket
}

type peerUse struct {
	Kind        string
	Times       int
	Epsilon     dp.Epsilon `json:"epsilon_nano"`
	Rho         dp.Rho     `json:"rho_pico"`
	Answers     int
	Sensitivity int64
	Scale       float64
	Taken, Of   uint64
}

// peerError is how far dp_accounting's optimistic δ may itself lie above the
// truth: it adds truncated tails (1e-15) and keeps the rounding errors of its
// transform. TestTruthWherePeerIsOff settles the largest difference.
const peerError = 1e-12

// bracket is dp_accounting's optimistic and pessimistic estimate.
type bracket struct{ At, Low, High float64 }

func (u peerUse) pair() (Pair, error) {
	switch u.Kind {
	case "gaussian":
		return Gaussian(u.Rho)
	case "poisson gaussian":
		p, err := PoissonOf(u.Taken, u.Of)
		if err != nil {
			return Pair{}, err
		}
		return p.Gaussian(u.Rho)
	case "laplace":
		return Laplace(u.Epsilon)
	case "discrete laplace":
		return DiscreteLaplace(u.Sensitivity, u.Scale)
	case "discrete gaussian":
		return DiscreteGaussian(u.Sensitivity, u.Scale)
	case "pure":
		return Pure(u.Epsilon)
	case "randomised response":
		return RandomisedResponse(u.Epsilon, u.Answers)
	}
	return Pair{}, fmt.Errorf("no pair named %q", u.Kind)
}

// TestPeer compares with Google's dp_accounting on the published grid: never
// below its optimistic estimate, at most 1 % above its pessimistic one. With
// DISCREET_ACCOUNTING_TABLE it writes the table of evidence/benchmarks.
func TestPeer(t *testing.T) {
	name := "testdata/dp_accounting.json"
	if fresh := os.Getenv("DISCREET_DPACCOUNTING"); fresh != "" {
		name = fresh
	}
	raw, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var file peerFile
	if err := json.Unmarshal(raw, &file); err != nil || len(file.Cases) < 50 {
		t.Fatalf("%s: %d cases, %v", name, len(file.Cases), err)
	}
	var lines []string
	var above []float64
	slowest := time.Duration(0)
	for i, c := range file.Cases {
		if i%size.Of(4, 1) != 0 {
			continue
		}
		var uses []Use
		var words []string
		start := time.Now()
		for _, u := range c.Uses {
			pair, err := u.pair()
			if err != nil {
				t.Fatal(err)
			}
			uses = append(uses, Use{pair, u.Times})
			words = append(words, u.words())
		}
		all := compose(uses...)
		var got []float64
		for _, b := range c.Epsilons {
			got = append(got, all.Epsilon(b.At))
		}
		took := time.Since(start) / time.Duration(len(c.Epsilons)) // of one question
		slowest = max(slowest, took)
		what := strings.Join(words, " + ")
		check := func(quantity string, b bracket, got float64) {
			low := got >= b.Low
			if quantity == "ε" {
				low = low || all.Delta(b.Low) >= b.At-peerError
			} else {
				low = low || got >= b.Low-peerError
			}
			if !low || !(got <= b.High*1.01) {
				t.Errorf("%s: %s(%g) = %.10g, not within %.10g and %.10g", what, quantity, b.At, got, b.Low, b.High*1.01)
			}
			if got > 0 { // beyond the largest loss δ is 0, which is infinitely tighter
				above = append(above, got/b.High-1)
			}
		}
		for i, b := range c.Epsilons {
			check("ε", b, got[i])
		}
		for _, b := range c.Deltas {
			check("δ", b, all.Delta(b.At))
		}
		if e := c.Epsilons[1]; len(c.Uses) > 1 || c.Uses[0].Times >= 10_000 {
			lines = append(lines, fmt.Sprintf("| %s | %.6g | **%.6g** | %.6g | %+.3f %% | %.3f | %.3f |", what, e.Low, got[1],
				e.High, 100*(got[1]/e.High-1), took.Seconds(), c.Seconds))
		}
	}
	slices.Sort(above)
	t.Logf("%d numbers, against the pessimistic ones from %+.3f %% to %+.3f %%, median %+.4f %%; slowest question %v",
		len(above), 100*above[0], 100*above[len(above)-1], 100*above[len(above)/2], slowest)
	if path := os.Getenv("DISCREET_ACCOUNTING_TABLE"); path != "" {
		page := fmt.Sprintf(tablePage, file.Version, len(file.Cases), len(above), 100*above[0], 100*above[len(above)-1],
			100*above[len(above)/2], strings.Join(lines, "\n"))
		if err := os.WriteFile(path, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// 10,000 discrete Laplace releases of sensitivity 3 and scale 1000, composed by
// direct convolution: sums of positive numbers, hence exact to a few units of
// the result. dp_accounting's optimistic δ is above this by 2.6e-13.
func TestTruthWherePeerIsOff(t *testing.T) {
	const k, moved, scale = 10_000, 3, 1000.0
	r := math.Exp(-1 / scale)
	// Losses (2j − 3)/scale, j = 0..3.
	one := []float64{r * r * r / (1 + r), (1 - r) / (1 + r) * r * r, (1 - r) / (1 + r) * r, 1 / (1 + r)}
	total, power := []float64{1}, one
	for e := k; e > 0; e >>= 1 {
		if e&1 == 1 {
			total = convolve(total, power)
		}
		if e > 1 {
			power = convolve(power, power)
		}
	}
	c := compose(Use{must(DiscreteLaplace(moved, scale)), k})
	for _, e := range []float64{1.2908871807212612, 1.6900115422677227} {
		truth := 0.0
		for j, p := range total {
			truth += p * max(-math.Expm1(e-float64(2*j-moved*k)/scale), 0)
		}
		within(t, fmt.Sprint("δ at ", e), c.Delta(e), truth, 0, 1e-4)
	}
}

func convolve(a, b []float64) []float64 {
	out := make([]float64, len(a)+len(b)-1)
	for i, x := range a {
		if x > 1e-40 {
			for j, y := range b {
				if y > 1e-40 {
					out[i+j] += x * y
				}
			}
		}
	}
	return out
}

func (u peerUse) words() string {
	price := "ε = " + fmt.Sprintf("%.4g", u.Epsilon.Float())
	switch u.Kind {
	case "gaussian":
		price = fmt.Sprintf("σ = %.4g", 1/math.Sqrt(2*u.Rho.Float()))
	case "poisson gaussian":
		price = fmt.Sprintf("σ = %.4g, rate %d/%d", 1/math.Sqrt(2*u.Rho.Float()), u.Taken, u.Of)
	case "discrete laplace", "discrete gaussian":
		price = fmt.Sprintf("sensitivity %d, scale %.4g", u.Sensitivity, u.Scale)
	case "randomised response":
		price += fmt.Sprintf(", %d answers", u.Answers)
	}
	return fmt.Sprintf("%d × %s, %s", u.Times, u.Kind, price)
}

const tablePage = `# Accounting against dp_accounting

Made by ` + "`make -C lab/peers/dpaccounting fixture`" +
	`; do not edit. Google's dp_accounting %s (privacy-loss distributions;
pessimistic estimates connect the dots, optimistic ones round down; interval 1e-4, or 1e-5 for long compositions).

%d compositions; ε at δ = 1e-4, 1e-6, 1e-9 and δ at those ε, %d numbers in all. None is below the optimistic estimate by
more than that estimate's own error in δ, 1e-12: where the two differ, direct convolution sides with ours
(` + "`TestTruthWherePeerIsOff`" +
	`). Against the pessimistic estimate they lie between %+.3f %% and %+.3f %%, median %+.4f %%; negative means that we
are tighter. The table shows those of 10,000 releases and of several kinds: ε at δ = 1e-6 and wall-clock seconds on a
shared machine: ours for one ε(δ), composition included (a third of what three of them took), theirs for composing the
pessimistic estimate.

The exponential mechanism's bounded range is not in dp_accounting's distributions; it is tested against its closed form
(evidence/guarantees/accounting.md). Times are measurements, not promises; ` + "`go test -bench TenThousand ./accounting`" +
	` repeats ours.

| composition | optimistic ε | ours | pessimistic ε | above pessimistic | s, ours | s, theirs |
|---|---|---|---|---|---|---|
%s
`
