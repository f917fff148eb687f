// SPDX-License-Identifier: Apache-2.0

package mech

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/stattest"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/privacy/response"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
)

var sizes = []struct {
	eps  dp.Epsilon
	sens float64
}{
	{dp.Nano, 1}, {dp.Nano, 1.0 / 3}, {1, 1}, {7, 1e-9}, {dp.MaxEpsilon, 1e9}, {160_000_000 / 25, 2.0 / 21_037},
	{dp.Nano / 100, 0x1p-400}, {dp.Nano, 0x1p400},
}

// The loss of one release in exact arithmetic: outputs k, probabilities
// proportional to exp(-|k - value|/scale), values at most ⌈sens/g⌉ + slack
// steps apart. No sampling.
func TestGridNeverChargesTooLittle(t *testing.T) {
	for _, c := range sizes {
		for _, slack := range []uint64{1, 2, 100} {
			g := gridFor(c.eps, c.sens, slack)
			steps := math.Ceil(math.Ldexp(c.sens, -g.exp)) + float64(slack)
			loss := new(big.Rat).SetFrac64(int64(steps), int64(g.scale))
			if claim := big.NewRat(int64(c.eps), dp.Nano); loss.Cmp(claim) > 0 {
				t.Errorf("ε=%s sens=%g slack=%d: loses %s, more than %s", c.eps, c.sens, slack, loss.FloatString(15),
					claim.FloatString(15))
			}
			// And wastes little where ε is not tiny: below 2^-20 for one number.
			if slack == 1 && c.eps >= dp.Nano/1000 {
				if f, _ := loss.Float64(); f < c.eps.Float()*(1-0x1p-20) {
					t.Errorf("ε=%s sens=%g: loses %g only", c.eps, c.sens, f)
				}
			}
		}
	}
}

func TestRoundIsExactAndNearest(t *testing.T) {
	for _, e := range []int{-60, -3, 0, 5} {
		g := grid{exp: e}
		for _, v := range []Ratio{{0, 1}, {1, 3}, {-1, 3}, {7, 2}, {-7, 2}, {math.MaxInt64, 1}, {math.MinInt64 + 1, 7},
			{12345, math.MaxInt64}} {
			k := g.roundToGrid(v)
			// |k·g − v| ≤ g/2, in rationals.
			step := new(big.Rat).SetFloat64(g.stepSize())
			diff := new(big.Rat).Sub(new(big.Rat).Mul(new(big.Rat).SetInt(k), step), big.NewRat(v.Num, v.Den))
			if diff.Abs(diff).Cmp(new(big.Rat).Quo(step, big.NewRat(2, 1))) > 0 {
				t.Errorf("round(%v) on grid 2^%d = %s", v, e, k)
			}
		}
	}
}

// Every output is an integer multiple of the public grid, whatever the value:
// the low-order bits of a float Laplace sample would not be (bug row 12).
func TestOutputsLieOnTheGrid(t *testing.T) {
	src := replay.Seeded(1, "grid")
	onGrid := func(x, g float64) bool { return x/g == math.Trunc(x/g) }
	for _, c := range sizes {
		m, err := LaplaceFor(c.eps, c.sens, 1)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 2000 {
			v := Ratio{int64(i)*7919 + 1, 1_000_003}
			if x := m.draw(src, []Ratio{v})[0]; !onGrid(x, m.Grid()) {
				t.Fatalf("ε=%s sens=%g: %g is not a multiple of %g", c.eps, c.sens, x, m.Grid())
			}
			// Sabotage: the textbook sampler is caught at once.
			u := float64(src.Uint64()>>11) * 0x1p-53
			if x := v.Float() - m.Scale()*math.Log1p(-u); i == 0 && c.sens == 1.0/3 && onGrid(x, m.Grid()) {
				t.Fatal("a float sampler passed the grid test")
			}
		}
	}
}

func TestDiscreteLaplaceLaw(t *testing.T) {
	for _, scale := range []uint64{1, 2, 5} {
		sampler := func(s uint64) func() int64 {
			src := replay.Seeded(s, fmt.Sprint("law", scale))
			return func() int64 { return discreteLaplace(src, scale).Int64() }
		}
		// P(x) = (1-r)/(1+r)·r^|x|, r = e^{-1/scale}; cells -8..8 and the tails.
		const span, n = 8, 200_000
		r := math.Exp(-1 / float64(scale))
		probs := make([]float64, 2*span+3)
		for x := -span; x <= span; x++ {
			probs[x+span+1] = (1 - r) / (1 + r) * math.Pow(r, math.Abs(float64(x)))
		}
		probs[0] = math.Pow(r, span+1) / (1 + r)
		probs[2*span+2] = probs[0]
		count := func(draw func() int64) []int {
			counts := make([]int, len(probs))
			for range n {
				counts[min(max(draw(), -span-1), span+1)+span+1]++
			}
			return counts
		}
		claim := stattest.Claim{FalsePositive: 1e-9 / 3, Detects: "a sampler that counts zero under both signs"}
		stattest.Cells(t, claim, count(sampler(1)), probs)
		twice := sampler(2)
		stattest.Rejects(t, func(t stattest.T) {
			stattest.Cells(t, claim, count(func() int64 { // sabotage: an extra chance for zero
				if x := twice(); x != 1 {
					return x
				}
				return min(twice(), 1)
			}), probs)
		})
	}
}

// The released number at its real scale against the continuous law; with
// 200,000 draws the band sees noise 5 % too small (bug row 11).
func TestLaplaceScale(t *testing.T) {
	m, err := LaplaceFor(dp.Nano/10, 0.25, 1)
	if err != nil {
		t.Fatal(err)
	}
	draw := func(m Laplace) []float64 {
		src := replay.Seeded(3, "scale")
		out := make([]float64, 200_000)
		for i := range out {
			out[i] = m.draw(src, []Ratio{{3, 8}})[0]
		}
		return out
	}
	cdf := func(x float64) float64 {
		if z := (x - 0.375) / 2.5; z < 0 {
			return math.Exp(z) / 2
		} else {
			return 1 - math.Exp(-z)/2
		}
	}
	claim := stattest.Claim{FalsePositive: 1e-9, Detects: "scale off by 5%"}
	stattest.KS(t, claim, draw(m), cdf)
	small := m
	small.grid.scale = m.grid.scale / 100 * 95
	stattest.Rejects(t, func(t stattest.T) { stattest.KS(t, claim, draw(small), cdf) })
}

// TestSelectionLaw computes both laws exactly for small candidate sets from the
// scale in use, checks the sampler against them, and the laws against ε.
func TestSelectionLaw(t *testing.T) {
	const n = 200_000
	scores := []Ratio{{0, 1}, {1, 2}, {1, 1}, {3, 4}}
	moved := []Ratio{{1, 1}, {-1, 2}, {0, 1}, {7, 4}} // each within ±1: spread 2
	ex, err1 := ExponentialFor(dp.Nano, 2)
	pf, err2 := PermuteAndFlipFor(dp.Nano, 2)
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	for _, m := range []struct {
		Selector
		law func(c choice, s []Ratio) []float64
		c   choice
	}{{ex, exponentialLaw, ex.choice}, {pf, permuteAndFlipLaw, pf.choice}} {
		p, q := m.law(m.c, scores), m.law(m.c, moved)
		for i := range p {
			if loss := math.Abs(math.Log(p[i] / q[i])); loss > 1+1e-9 {
				t.Errorf("%s: candidate %d loses %g at ε = 1", m.Name(), i, loss)
			}
		}
		src := replay.Seeded(4, m.Name())
		counts := make([]int, len(scores))
		for range n {
			counts[m.pick(src, scores)]++
		}
		claim := stattest.Claim{FalsePositive: 1e-9 / 2,
			Detects: "the spread halved, as when the 2 of 2Δ is lost (bug row 10)"}
		stattest.Cells(t, claim, counts, p)
		half := m.c
		half.grid.scale /= 2
		stattest.Rejects(t, func(t stattest.T) { stattest.Cells(t, claim, counts, m.law(half, scores)) })
	}
}

func exponentialLaw(c choice, scores []Ratio) []float64 {
	p, sum := make([]float64, len(scores)), 0.0
	for i, g := range c.gapsBelowBest(scores) {
		p[i] = math.Exp(-float64(g) / float64(c.grid.scale))
		sum += p[i]
	}
	for i := range p {
		p[i] /= sum
	}
	return p
}

// permuteAndFlipLaw averages over all orders.
func permuteAndFlipLaw(c choice, scores []Ratio) []float64 {
	gaps := c.gapsBelowBest(scores)
	law := make([]float64, len(gaps))
	var visit func(left []int, reach float64)
	visit = func(left []int, reach float64) {
		for k, i := range left {
			p := math.Exp(-float64(gaps[i]) / float64(c.grid.scale))
			each := reach / float64(len(left))
			law[i] += each * p
			rest := append(append([]int(nil), left[:k]...), left[k+1:]...)
			visit(rest, each*(1-p))
		}
	}
	all := make([]int, len(gaps))
	for i := range all {
		all[i] = i
	}
	visit(all, 1)
	return law
}

func TestSizesAreRefused(t *testing.T) {
	for _, c := range []struct {
		eps    dp.Epsilon
		sens   float64
		length int
	}{
		{0, 1, 1}, {-1, 1, 1}, {dp.MaxEpsilon + 1, 1, 1},
		{dp.Nano, 0, 1}, {dp.Nano, math.Copysign(0, -1), 1}, {dp.Nano, -1, 1}, {dp.Nano, math.NaN(), 1},
		{dp.Nano, math.Inf(1), 1}, {dp.Nano, 5e-324, 1},
		{dp.Nano, 1, 0},
	} {
		if _, err := LaplaceFor(c.eps, c.sens, c.length); err == nil {
			t.Errorf("LaplaceFor(%d, %g, %d) was accepted", c.eps, c.sens, c.length)
		}
		if c.length > 0 {
			if _, err := PermuteAndFlipFor(c.eps, c.sens); err == nil {
				t.Errorf("PermuteAndFlipFor(%d, %g) was accepted", c.eps, c.sens)
			}
		}
	}
}

func TestNoNoiseIsExact(t *testing.T) {
	if out := (NoNoise{}).draw(nil, []Ratio{{1, 3}, {-5, 2}}); out[0] != 1.0/3 || out[1] != -2.5 {
		t.Error(out)
	}
	if i := (NoNoise{}).pick(nil, []Ratio{{-2, 1}, {-1, 3}, {-1, 3}}); i != 1 {
		t.Error(i)
	}
}

func TestTapeSeesAndReplaces(t *testing.T) {
	m, _ := LaplaceFor(dp.Nano, 1, 1)
	tape := &fixedTape{}
	e := NewTapedExit(rng.System(), tape)
	if got := e.Release("x", m, Ratio{1, 2}); got[0] != 42 || tape.seen != "x" {
		t.Error(got, tape.seen)
	}
	if got := e.Select("y", Exponential{}, nil); got != 3 {
		t.Error(got)
	}
	if !e.Seeded() || NewExit(rng.System()).Seeded() || !NewExit(replay.Seeded(0, "")).Seeded() {
		t.Error("a taped or seeded exit must say so, a production one must not")
	}
}

type fixedTape struct{ seen string }

func (f *fixedTape) Numbers(label string, _ Mechanism, _ []Ratio) []float64 {
	f.seen = label
	return []float64{42}
}
func (f *fixedTape) Choice(string, Selector, []Ratio) int { return 3 }
func (f *fixedTape) Report(string, response.Priced, []Ratio) response.Report {
	return response.Report{7}
}

func BenchmarkLaplace(b *testing.B) {
	m, _ := LaplaceFor(dp.Nano, 1, 1)
	src := rng.System()
	v := []Ratio{{1, 3}}
	b.ReportAllocs()
	for b.Loop() {
		m.draw(src, v)
	}
}

// secretWords counts what is drawn of a source that is not seeded.
type secretWords struct{ drawn int }

func (s *secretWords) Uint64() uint64 { s.drawn++; return 0 }
func (s *secretWords) Seeded() bool   { return false }

// Public coins come from a source of their own, unless all are replayed.
func TestCoinsAreNoNoise(t *testing.T) {
	src := &secretWords{}
	e := NewExit(src)
	coins := e.Public()
	first, second := coins.Uint64(), coins.Uint64()
	if first|second == 0 || src.drawn > 0 || e.Public() != coins {
		t.Error("a learner draws coins from the source of noise, or of a source that begins again")
	}
	if seeded := replay.Seeded(1, "coins"); NewExit(seeded).Public() != seeded {
		t.Error("a replay has other coins than were recorded")
	}
}
