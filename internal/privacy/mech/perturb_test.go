// SPDX-License-Identifier: Apache-2.0

package mech

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/stattest"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/privacy/response"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
)

// Truths of different kinds: ends, grid points, points between, points beyond.
var truths = []float64{-1, -0.5, 0, math.Copysign(0, -1), 0.3, 1, 7, math.Inf(-1)}

func TestRoundingToPoints(t *testing.T) {
	if got := toUnit(math.Nextafter(1, 0)); got != unit-1<<(61-53) {
		t.Errorf("the number below 1 is %d", got)
	}
	for _, bits := range []int{0, 3, 16} {
		for _, v := range truths {
			src := replay.Seeded(1, fmt.Sprint(bits, v))
			steps := float64(uint64(1) << bits)
			at := (clampWeight(v, -1) + 1) / 2 * steps
			below, f := math.Modf(at)
			const n = 20_000
			up := 0
			for range n {
				switch j := roundToPoint(src, v, bits); {
				case float64(j) == below+1:
					up++
				case float64(j) != below:
					t.Fatalf("%g of %d steps is rounded to %d", v, uint64(1)<<bits, j)
				}
			}
			if f == 0 && up != 0 {
				t.Errorf("%g lies on the grid of %g steps and was moved %d times", v, steps, up)
			} else if f > 0 {
				claim := stattest.Claim{FalsePositive: 1e-9 / 24, Detects: "rounding to the nearest point"}
				stattest.Binomial(t, claim, up, n, f)
				stattest.Rejects(t, func(t stattest.T) { stattest.Binomial(t, claim, up, n, math.Round(f)) })
			}
		}
	}
}

// The drawn cells against the law of the claim, on and between grid points.
func TestLineSampler(t *testing.T) {
	lines := []response.Line{{Steps: 1, Width: 1, Inner: 3, Outer: 1}, {Steps: 8, Width: 3, Inner: 100, Outer: 37}}
	for _, l := range lines {
		for _, v := range truths {
			const n = 50_000
			src := replay.Seeded(2, fmt.Sprint(l, v))
			counts := make([]int, l.Cells())
			for range n {
				counts[drawLine(src, l, v)]++
			}
			claim := stattest.Claim{FalsePositive: 1e-9 / 16, Detects: "the window one cell off (bug row 23)"}
			stattest.Cells(t, claim, counts, lineLaw(l, clampWeight(v, -1)))
			if l.Width > 1 {
				stattest.Rejects(t, func(t stattest.T) {
					stattest.Cells(t, claim, append(counts[1:], counts[0]), lineLaw(l, clampWeight(v, -1)))
				})
			}
		}
	}
}

// lineLaw is the law of G-LOCAL-1 for a number rounded at random.
func lineLaw(l response.Line, v float64) []float64 {
	probs := make([]float64, l.Cells())
	below, f := math.Modf((v + 1) / 2 * float64(l.Steps))
	for j, share := range map[uint64]float64{uint64(below): 1 - f, uint64(below) + 1: f} {
		for cell := range probs {
			w := l.Outer
			if uint64(cell) >= j && uint64(cell) < j+l.Width {
				w = l.Inner
			}
			if share > 0 {
				probs[cell] += share * float64(w) / float64(l.Total())
			}
		}
	}
	return probs
}

func TestSubsetsAreUniform(t *testing.T) {
	for _, c := range []struct{ n, k, sets int }{{5, 1, 5}, {5, 2, 10}, {6, 4, 15}, {4, 3, 4}} {
		src := replay.Seeded(3, fmt.Sprint(c))
		seen := map[string]int{}
		for range 30_000 {
			s := drawSubset(src, c.n, c.k)
			if len(s) != c.k || !slices.IsSorted(s) || len(slices.Compact(slices.Clone(s))) != c.k {
				t.Fatalf("%d of %d: %v", c.k, c.n, s)
			}
			seen[fmt.Sprint(s)]++
		}
		var counts []int
		for _, n := range seen {
			counts = append(counts, n)
		}
		if len(counts) != c.sets {
			t.Fatalf("%d of %d: %d sets, not %d", c.k, c.n, len(counts), c.sets)
		}
		claim, probs := stattest.Claim{FalsePositive: 1e-9 / 4, Detects: "a set drawn in place of another"},
			slices.Repeat([]float64{1 / float64(c.sets)}, c.sets)
		stattest.Cells(t, claim, counts, probs)
		stattest.Rejects(t, func(t stattest.T) {
			stattest.Cells(t, claim, append([]int{0, counts[0] + counts[1]}, counts[2:]...), probs)
		})
	}
	if s := drawSubset(nil, 3, 3); !slices.Equal(s, []int{0, 1, 2}) {
		t.Errorf("all of three: %v", s)
	}
}

// Every bounded law for vectors end to end: what is drawn is decoded without bias, with
// the stated variance, and never beyond the stated reach. Told = 2 is forced,
// because at ε = 1 one coordinate would be told (bug rows 25, 26).
func TestSampledMeansAndVariances(t *testing.T) {
	truth := []float64{-1, -0.3, 0, 0.25, 0.7, 1}
	dim := len(truth)
	laws := map[string]func() (response.VectorLaw, error){
		"piecewise of one": func() (response.VectorLaw, error) { return response.PiecewiseFor(dp.Nano, dim) },
		"piecewise of two": func() (response.VectorLaw, error) { return response.PiecewiseTelling(4*dp.Nano, dim, 2) },
		"hybrid of two":    func() (response.VectorLaw, error) { return response.HybridTelling(4*dp.Nano, dim, 2) },
		"duchi":            func() (response.VectorLaw, error) { return response.DuchiFor(2*dp.Nano, dim) },
	}
	for name, size := range laws {
		law, err := size()
		if err != nil {
			t.Fatal(err)
		}
		exit := NewExit(replay.Seeded(4, name))
		const n = 60_000
		samples := make([][]float64, dim)
		for range n {
			r, err := exit.Perturb("test", law, truth)
			if err == nil {
				err = law.Check(r)
			}
			if err != nil {
				t.Fatal(err)
			}
			for j, x := range response.Decode(law, r) {
				samples[j] = append(samples[j], x)
			}
		}
		for j, sample := range samples {
			reach := law.Reach() * (1 + 1e-12)
			mean := stattest.Claim{FalsePositive: 1e-9 / 24, Detects: "estimates without the factor Dim/Told"}
			stattest.Mean(t, mean, sample, -reach, reach, truth[j])
			if j == 0 {
				stattest.Rejects(t, func(t stattest.T) { stattest.Mean(t, mean, sample, -reach, reach, truth[j]/3) })
			}
			square := make([]float64, n)
			for i, x := range sample {
				square[i] = x * x
			}
			want := law.Variance(truth[j]) + truth[j]*truth[j]
			spread := stattest.Claim{FalsePositive: 1e-9 / 24, Detects: "half the variance"}
			stattest.Mean(t, spread, square, 0, reach*reach, want)
			stattest.Rejects(t, func(t stattest.T) { stattest.Mean(t, spread, square, 0, reach*reach, want/2) })
		}
	}
}

func TestHybridCoin(t *testing.T) {
	l, err := response.HybridFor(2*dp.Nano, 1)
	if err != nil {
		t.Fatal(err)
	}
	if p := float64(l.First) / unit; math.Abs(p-math.Exp(-1)) > 1e-15 {
		t.Errorf("duchi's line is used with probability %g", p)
	}
	exit, counts := NewExit(replay.Seeded(5, "coin")), []int{0, 0}
	for range 20_000 {
		r, err := exit.Perturb("test", l, []float64{0.2})
		if err != nil {
			t.Fatal(err)
		}
		if r[1] < 2 {
			counts[0]++
		} else {
			counts[1]++
		}
	}
	claim := stattest.Claim{FalsePositive: 1e-9, Detects: "e^{-ε} instead of e^{-ε/2}"}
	stattest.Cells(t, claim, counts, []float64{math.Exp(-1), 1 - math.Exp(-1)})
	stattest.Rejects(t, func(t stattest.T) { stattest.Cells(t, claim, counts, []float64{math.Exp(-2), 1 - math.Exp(-2)}) })
}

// All sign vectors of an odd and an even dimension, for signs that are certain.
func TestDuchiSampler(t *testing.T) {
	for _, truth := range [][]float64{{1}, {1, -1, 1}, {-1, 1, 1, -1}} {
		l, err := response.DuchiFor(dp.Nano, len(truth))
		if err != nil {
			t.Fatal(err)
		}
		const n = 60_000
		exit := NewExit(replay.Seeded(6, fmt.Sprint(truth)))
		counts, probs := make([]int, 1<<len(truth)), make([]float64, 1<<len(truth))
		for range n {
			r, err := exit.Perturb("test", l, truth)
			if err != nil {
				t.Fatal(err)
			}
			counts[r[0]]++
		}
		sum := 0.0
		for r := range probs {
			product := 0.0
			for j, x := range truth {
				product += x * float64(2*(r>>j&1)-1)
			}
			probs[r] = float64(l.Outer)
			if product > 0 {
				probs[r] = float64(l.Inner)
			}
			sum += probs[r]
		}
		for r := range probs {
			probs[r] /= sum
		}
		claim := stattest.Claim{FalsePositive: 1e-9 / 3, Detects: "ties drawn as often as the right side"}
		stattest.Cells(t, claim, counts, probs)
		if len(truth)%2 == 0 {
			tied := slices.Clone(counts)
			tied[0b0110] *= 2
			stattest.Rejects(t, func(t stattest.T) { stattest.Cells(t, claim, tied, probs) })
		}
	}
}

func TestNoisySampler(t *testing.T) {
	l, err := response.LaplaceFor(40*dp.Nano, 2)
	if err != nil {
		t.Fatal(err)
	}
	exit := NewExit(replay.Seeded(7, "noisy"))
	var sample []float64
	for range 50_000 {
		r, err := exit.Perturb("test", l, []float64{0.5, -9})
		if err != nil {
			t.Fatal(err)
		}
		sample = append(sample, response.Decode(l, r)[0])
	}
	b := 2 * 2 / 40.0
	claim := stattest.Claim{FalsePositive: 1e-9, Detects: "ε not shared by the two coordinates"}
	law := func(b float64) func(x float64) float64 {
		return func(x float64) float64 {
			if z := (x - 0.5) / b; z < 0 {
				return math.Exp(z) / 2
			} else {
				return 1 - math.Exp(-z)/2
			}
		}
	}
	stattest.KS(t, claim, sample, law(b))
	stattest.Rejects(t, func(t stattest.T) { stattest.KS(t, claim, sample, law(b/2)) })
}

// Coins flipped 64 at a time: each has its probability, and neighbours are
// independent.
func TestCoins(t *testing.T) {
	for _, p := range []uint64{1 << 60, unit / 3, unit/2 - 1} {
		src := replay.Seeded(8, fmt.Sprint(p))
		counts := make([]int, 4)
		for range 4000 {
			w := flipCoins(src, p)
			for i := 0; i < 64; i += 2 {
				counts[w>>i&3]++
			}
		}
		q := float64(p) / unit
		law := func(q float64) []float64 { return []float64{(1 - q) * (1 - q), q * (1 - q), q * (1 - q), q * q} }
		claim := stattest.Claim{FalsePositive: 1e-9 / 3, Detects: "a probability off by 0.02"}
		stattest.Cells(t, claim, counts, law(q))
		stattest.Rejects(t, func(t stattest.T) { stattest.Cells(t, claim, counts, law(q+0.02)) })
	}
	if flipCoins(replay.Seeded(8, ""), 0) != 0 {
		t.Error("a coin that never shows true did")
	}
}

// Both laws for cells: counts of each cell, for a cell, none, and a weight
// between, on reports of more than one word.
func TestCellSamplers(t *testing.T) {
	const cells, n = 70, 30_000
	for _, c := range []struct {
		cell   int
		weight float64
	}{{0, 1}, {69, 0.5}, {40, -2}, {None, 1}} {
		oue, err1 := response.OUEFor(dp.Nano, cells)
		grr, err2 := response.GRRFor(4*dp.Nano, cells)
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		for _, law := range []response.CellLaw{oue, grr} {
			exit := NewExit(replay.Seeded(9, fmt.Sprint(law.Name(), c)))
			tally := response.NewTally(law)
			for range n {
				r, err := exit.PerturbCell("test", law, c.cell, c.weight)
				if err == nil {
					err = law.Check(r)
				}
				if err != nil {
					t.Fatal(err)
				}
				law.Add(&tally, r)
			}
			var base, gain float64
			switch l := law.(type) {
			case response.OUE:
				base, gain = float64(l.Lie)/unit, 0.5-float64(l.Lie)/unit
			case response.GRR:
				base, gain = float64(l.Outer)/float64(l.Total()), float64(l.Inner-l.Outer)/float64(l.Total())
			}
			for cell, count := range tally.Sums {
				p := base
				if cell == c.cell {
					p += gain * clampWeight(c.weight, 0)
				}
				claim := stattest.Claim{FalsePositive: 1e-9 / (70 * 8), Detects: "the truth told like any other cell"}
				stattest.Binomial(t, claim, int(count), n, p)
				if p > base {
					stattest.Rejects(t, func(t stattest.T) { stattest.Binomial(t, claim, int(count), n, base) })
				}
			}
		}
	}
}

func TestPerturbRefuses(t *testing.T) {
	exit := NewExit(rng.System())
	pm, _ := response.PiecewiseFor(dp.Nano, 2)
	oue, _ := response.OUEFor(dp.Nano, 2)
	for _, values := range [][]float64{nil, {1}, {0, 1, 0}, {0, math.NaN()}} {
		if r, err := exit.Perturb("test", pm, values); err == nil || r != nil {
			t.Errorf("%v: reported %v", values, r)
		}
	}
	for _, c := range []struct {
		cell   int
		weight float64
	}{{2, 1}, {-2, 1}, {0, math.NaN()}} {
		if r, err := exit.PerturbCell("test", oue, c.cell, c.weight); err == nil || r != nil {
			t.Errorf("%v: reported %v", c, r)
		}
	}
}

// What an owner reports on passes the tape, and a scripted report replaces it.
func TestTapeSeesReports(t *testing.T) {
	exit := NewTapedExit(rng.System(), &fixedTape{})
	pm, _ := response.PiecewiseFor(dp.Nano, 1)
	grr, _ := response.GRRFor(dp.Nano, 20)
	r, err1 := exit.Perturb("x", pm, []float64{3})
	q, err2 := exit.PerturbCell("y", grr, 5, 0.5)
	if err1 != nil || err2 != nil || !slices.Equal(r, response.Report{7}) || !slices.Equal(q, response.Report{7}) {
		t.Error(r, q, err1, err2)
	}
}

// The continuous mechanism tells its input by the low bits of one draw: with
// u on a grid of 2^-53, most outputs of one input cannot be those of another
// (Mironov 2012).
func TestContinuousPiecewiseIsPorous(t *testing.T) {
	const eps, n = 1, 4000
	e := math.Exp(eps / 2.0)
	c := (e + 1) / (e - 1)
	left := func(x float64) float64 { return (c+1)/2*x - (c-1)/2 }
	made := func(y, x float64) bool { // does some u give y inside the window of x?
		u := math.Round((y-left(x))/(c-1)*0x1p53) * 0x1p-53
		for _, d := range []float64{-2, -1, 0, 1, 2} {
			if v := u + d*0x1p-53; v >= 0 && v < 1 && left(x)+v*(c-1) == y {
				return true
			}
		}
		return false
	}
	src := replay.Seeded(10, "porous")
	hits := [2]int{}
	for range n {
		y := left(0.30) + float64(src.Uint64()>>11)*0x1p-53*(c-1)
		for i, x := range []float64{0.30, 0.31} {
			if made(y, x) {
				hits[i]++
			}
		}
	}
	if !(hits[0] > 2*hits[1]) {
		t.Errorf("an output of 0.30 is made by 0.30 in %d draws of %d, by 0.31 in %d: the attack fails", hits[0], n, hits[1])
	}
}

// What is decoded from one report is an integer multiple of a public number,
// whatever the truth.
func TestReportsLieOnThePublicGrid(t *testing.T) {
	exit := NewExit(replay.Seeded(11, "grid"))
	for _, eps := range []dp.Epsilon{dp.Nano / 7, dp.Nano, 6 * dp.Nano} {
		pm, err1 := response.PiecewiseFor(eps, 3)
		duchi, err2 := response.DuchiFor(eps, 3)
		lap, err3 := response.LaplaceFor(eps, 3)
		if err1 != nil || err2 != nil || err3 != nil {
			t.Fatal(err1, err2, err3)
		}
		for _, c := range []struct {
			law  response.VectorLaw
			step float64
		}{{pm, pm.Lines[0].Half() * 3 / float64(pm.Told)}, {duchi, duchi.Reach()}, {lap, 1 / float64(lap.Steps)}} {
			for range 1000 {
				r, err := exit.Perturb("test", c.law, []float64{0.1, 1.0 / 3, -1e-9})
				if err != nil {
					t.Fatal(err)
				}
				for _, x := range response.Decode(c.law, r) {
					if k := math.Round(x / c.step); math.Abs(x-k*c.step) > 0x1p-50*math.Abs(x) {
						t.Fatalf("%s at ε = %s: %g is not a multiple of %g", c.law.Name(), eps, x, c.step)
					}
				}
			}
		}
	}
}

func BenchmarkPerturb(b *testing.B) {
	src := rng.System()
	exit := NewExit(src)
	truth := make([]float64, 20)
	for j := range truth {
		truth[j] = float64(j)/10 - 1
	}
	for _, name := range response.VectorLaws() {
		law, err := response.VectorLawFor(name, dp.Nano, len(truth))
		if err != nil {
			b.Fatal(err)
		}
		tally := response.NewTally(law)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r, err := exit.Perturb("bench", law, truth)
				if err != nil {
					b.Fatal(err)
				}
				law.Add(&tally, r)
			}
		})
	}
	for _, name := range response.CellLaws() {
		law, err := response.CellLawFor(name, dp.Nano, 32)
		if err != nil {
			b.Fatal(err)
		}
		tally := response.NewTally(law)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r, err := exit.PerturbCell("bench", law, 7, 0.5)
				if err != nil {
					b.Fatal(err)
				}
				law.Add(&tally, r)
			}
		})
	}
}
