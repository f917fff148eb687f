// SPDX-License-Identifier: Apache-2.0

package mech

import (
	"fmt"
	"math"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/stattest"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/privacy/response"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
)

// negativeBinomial is the law of shape and ratio r, up to most.
func negativeBinomial(shape, r float64, most int) []float64 {
	p := make([]float64, most+1)
	for k := range p {
		a, _ := math.Lgamma(float64(k) + shape)
		b, _ := math.Lgamma(float64(k) + 1)
		c, _ := math.Lgamma(shape)
		p[k] = math.Exp(a - b - c + shape*math.Log1p(-r) + float64(k)*math.Log(r))
	}
	return p
}

// Pólya's urn over a geometric total, in closed form: the negative binomial law
// of shape 1/parts, parts of which make the geometric one.
func TestPolyaLaw(t *testing.T) {
	const most, parts, scale = 60, 3, 2
	r := math.Exp(-1.0 / scale)
	want := negativeBinomial(1.0/parts, r, most)
	law := make([]float64, most+1)
	urn := []float64{1} // P[x] after j draws
	for total := range 1000 {
		p := (1 - r) * math.Pow(r, float64(total))
		for x := range min(len(urn), len(law)) {
			law[x] += p * urn[x]
		}
		next := make([]float64, len(urn)+1)
		for x, q := range urn {
			hit := (1 + parts*float64(x)) / (parts * float64(total+1))
			next[x+1] += q * hit
			next[x] += q * (1 - hit)
		}
		urn = next
	}
	for k := range want {
		if math.Abs(law[k]-want[k]) > 1e-12 {
			t.Fatalf("the urn gives %d with probability %g, not %g", k, law[k], want[k])
		}
	}
	variance := 0.0
	for k, p := range want {
		for l, q := range want {
			variance += p * q * float64((k-l)*(k-l)) // of a difference of two: a share of noise
		}
	}
	if l := 2 * r / ((1 - r) * (1 - r)) / parts; math.Abs(variance-l) > 1e-9 {
		t.Errorf("a share of noise has variance %g, not %g", variance, l)
	}
	sum := []float64{1}
	for range parts {
		next := make([]float64, most+1)
		for i, p := range sum {
			for j := 0; i+j <= most; j++ {
				next[i+j] += p * want[j]
			}
		}
		sum = next
	}
	for k, p := range sum {
		if math.Abs(p-(1-r)*math.Pow(r, float64(k))) > 1e-12 {
			t.Fatalf("%d shares add up to %d with probability %g", parts, k, p)
		}
	}
	// And the sampler has that law.
	src := replay.Seeded(1, "polya")
	const n, cells = 100_000, 8
	counts, probs := make([]int, cells), make([]float64, cells)
	for range n {
		counts[min(drawPolya(src, drawGeometric(src, scale), 1, parts), cells-1)]++
	}
	for k, p := range want {
		probs[min(k, cells-1)] += p
	}
	claim := stattest.Claim{FalsePositive: 1e-9, Detects: "noise for one survivor more than there are"}
	stattest.Cells(t, claim, counts, probs)
	stattest.Rejects(t, func(t stattest.T) {
		small := make([]float64, cells)
		for k, p := range negativeBinomial(1.0/(parts+1), r, 200) {
			small[min(k, cells-1)] += p
		}
		stattest.Cells(t, claim, counts, small)
	})
}

// Coins of twelve places at a time, at certain, rare and round probabilities.
func TestPlaces(t *testing.T) {
	const n = 200_000
	for _, c := range []struct{ num, den uint64 }{{1, 1}, {1, 3}, {1, 4096}, {4095, 4096}, {1, 5000},
		{1<<50 - 1, 1 << 51}} {
		p := places{src: replay.Seeded(5, fmt.Sprint(c))}
		hits := 0
		for range n {
			if p.drawBelow(c.num, c.den) {
				hits++
			}
		}
		q := float64(c.num) / float64(c.den)
		claim := stattest.Claim{FalsePositive: 1e-9 / 6, Detects: "the last of six places lost"}
		stattest.Binomial(t, claim, hits, n, q)
		stattest.Rejects(t, func(t stattest.T) { stattest.Binomial(t, claim, hits, n, math.Abs(q-1.0/64)) })
	}
}

// The shares of so many owners are discrete Laplace noise together.
func TestSharesOfNoiseAddUp(t *testing.T) {
	const n, span, scale = 60_000, 6, 3
	for _, parts := range []uint64{1, 2, 7} {
		draw := func(shares uint64) []int {
			src := replay.Seeded(2, fmt.Sprint(parts))
			counts := make([]int, 2*span+3)
			for range n {
				sum := int64(0)
				for range shares {
					sum += noiseShare(src, parts, scale)
				}
				counts[min(max(sum, -span-1), span+1)+span+1]++
			}
			return counts
		}
		r := math.Exp(-1.0 / scale)
		probs := make([]float64, 2*span+3)
		for x := -span; x <= span; x++ {
			probs[x+span+1] = (1 - r) / (1 + r) * math.Pow(r, math.Abs(float64(x)))
		}
		probs[0] = math.Pow(r, span+1) / (1 + r)
		probs[2*span+2] = probs[0]
		claim := stattest.Claim{FalsePositive: 1e-9 / 3, Detects: "a survivor too few"}
		stattest.Cells(t, claim, draw(parts), probs)
		stattest.Rejects(t, func(t stattest.T) { stattest.Cells(t, claim, draw(parts-1), probs) })
	}
}

// What an owner adds is its truth on average, within the range of the sum.
func TestAddendMoments(t *testing.T) {
	vector, err1 := response.ShortAddendFor(8*dp.Nano, 3, 6, 10, 4)
	cells, err2 := response.CellAddendFor(8*dp.Nano, 3, 1, 10, 4)
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	const n = 3000
	exit := NewExit(replay.Seeded(3, "addends"))
	for _, c := range []struct {
		l     response.Addend
		draw  func() ([]uint64, error)
		truth []float64
	}{
		{vector, func() ([]uint64, error) { return exit.Addend("test", vector, []float64{0.3, -5, 1}) },
			[]float64{0.3, -1, 1}},
		{cells, func() ([]uint64, error) { return exit.CellAddend("test", cells, []int{1}, 0.4) }, []float64{0, 0.4, 0}},
		{cells, func() ([]uint64, error) { return exit.CellAddend("test", cells, nil, 1) }, []float64{0, 0, 0}},
	} {
		samples := make([][]float64, 3)
		for range n {
			out, err := c.draw()
			if err != nil {
				t.Fatal(err)
			}
			for j, x := range c.l.Sum(response.Total(out, 1)) {
				if out[j] > c.l.Top() {
					t.Fatalf("an addend of %d exceeds %d", out[j], c.l.Top())
				}
				samples[j] = append(samples[j], x)
			}
		}
		reach := 24 * math.Sqrt(c.l.Variance(0.1)) // one share in 10^9 strays this far
		for j, s := range samples {
			claim := stattest.Claim{FalsePositive: 1e-9 / 9, Detects: "a zero that is off by the range of the noise"}
			stattest.Mean(t, claim, s, c.truth[j]-reach, c.truth[j]+reach, c.truth[j])
			stattest.Rejects(t, func(t stattest.T) {
				stattest.Mean(t, claim, s, c.truth[j]-reach, c.truth[j]+reach, c.truth[j]+float64(c.l.Top())/float64(c.l.Steps))
			})
		}
	}
}

// An addend carries the share of noise that its law says: with one survivor, all
// of it.
func TestAddendsCarryTheirShareOfNoise(t *testing.T) {
	l, err := response.ShortAddendFor(dp.Nano, 1, 2, 2, 1)
	if err != nil {
		t.Fatal(err)
	}
	exit := NewExit(replay.Seeded(4, "share"))
	var sample []float64
	for range 8000 {
		out, err := exit.Addend("test", l, []float64{-1})
		if err != nil {
			t.Fatal(err)
		}
		sample = append(sample, l.Sum(response.Total(out, 1))...)
	}
	cdf := func(x float64) float64 {
		// The chance of a step of at most k, for discrete Laplace noise.
		k, r := math.Floor((x+1)/2*float64(l.Steps)+1e-9), math.Exp(-1/float64(l.Scale))
		if k < 0 {
			return math.Pow(r, -k) / (1 + r)
		}
		return 1 - math.Pow(r, k+1)/(1+r)
	}
	claim := stattest.Claim{FalsePositive: 1e-9, Detects: "half of the share"}
	stattest.KS(t, claim, sample, cdf)
	src := replay.Seeded(4, "half")
	for i := range sample {
		sample[i] = 2*float64(noiseShare(src, 2, l.Scale))/float64(l.Steps) - 1
	}
	stattest.Rejects(t, func(t stattest.T) { stattest.KS(t, claim, sample, cdf) })
}

func TestAddendsAreRefused(t *testing.T) {
	exit := NewExit(rng.System())
	vector, _ := response.ShortAddendFor(dp.Nano, 2, 4, 10, 4)
	cells, _ := response.CellAddendFor(dp.Nano, 4, 2, 10, 4)
	for _, values := range [][]float64{nil, {1}, {0, 0, 0}, {math.NaN(), 0}} {
		if out, err := exit.Addend("test", vector, values); err == nil || out != nil {
			t.Errorf("%v was added", values)
		}
	}
	for _, c := range []struct {
		cells  []int
		weight float64
	}{{[]int{4}, 1}, {[]int{-1}, 1}, {[]int{0}, math.NaN()}, {[]int{1, 1}, 1}, {[]int{2, 1}, 1}, {[]int{0, 1, 2}, 1}} {
		if out, err := exit.CellAddend("test", cells, c.cells, c.weight); err == nil || out != nil {
			t.Errorf("%v was added", c)
		}
	}
	if _, err := exit.Addend("test", cells, []float64{1, 1}); err == nil {
		t.Error("a vector was added with noise for one cell")
	}
	if _, err := exit.CellAddend("test", vector, []int{0}, 1); err == nil {
		t.Error("a cell was added as a vector")
	}
}

func BenchmarkAddend(b *testing.B) {
	for _, owners := range []int{1000, 1_000_000} {
		b.Run(fmt.Sprint(owners, " owners, 64 coordinates"), func(b *testing.B) {
			l, err := response.ShortAddendFor(dp.Nano, 64, 128, owners, owners/2)
			if err != nil {
				b.Fatal(err)
			}
			exit, values := NewExit(rng.System()), make([]float64, 64)
			for b.Loop() {
				if _, err := exit.Addend("bench", l, values); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
