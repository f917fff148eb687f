// SPDX-License-Identifier: Apache-2.0

package continuous

import (
	"fmt"
	"math"
	"math/bits"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
)

// same is n times one row.
type same struct {
	n   int
	row []float64
}

func (s same) Len() int                 { return s.n }
func (s same) Dim() int                 { return len(s.row) }
func (s same) Row(_ int, out []float64) { copy(out, s.row) }

var makers = map[string]func(d int, eps float64) Mechanism{"laplace": Laplace, "duchi": Duchi, "piecewise": Piecewise}

// TestMoments compares mean and variance over coordinates and reports with the
// closed forms. Each of some 180 means is six standard errors wide (false
// positives: 4e-7); the variances are fourth moments apart, and their bands
// were chosen at three times the spread of seeds, with the seed fixed.
func TestMoments(t *testing.T) {
	for name, make := range makers {
		for _, c := range []struct {
			d   int
			eps float64
		}{{1, 1}, {2, 1}, {3, 5}, {6, 5}, {6, 8}, {65, 3}} {
			t.Run(fmt.Sprint(name, c.d, "at", c.eps), func(t *testing.T) {
				row := []float64{1, -1, 0.3, 0, -0.6, 0.9}
				for len(row) < c.d {
					row = append(row, row[len(row)%6])
				}
				row = row[:c.d]
				m := make(c.d, c.eps)
				src := replay.Seeded(1, name)
				// Reports of 100 rows are summed, so that a variance of sums is seen.
				const batches, batch = 2000, 100
				sum, squares := vec(c.d), vec(c.d)
				for range batches {
					for j, s := range m.Sum(same{batch, row}, 0, batch, src) {
						sum[j] += s
						squares[j] += (s - batch*row[j]) * (s - batch*row[j])
					}
				}
				for j, x := range row {
					n := float64(batches * batch)
					v := m.Variance(x)
					if got := sum[j] / n; !(math.Abs(got-x) <= 6*math.Sqrt(v/n)) {
						t.Errorf("coordinate %d: mean %g, want %g", j, got, x)
					}
					// A sum of 100 is close to normal: its variance has standard error v·√(2/batches).
					if got := squares[j] / n; !(math.Abs(got/v-1) <= 6*math.Sqrt(2.0/batches)) {
						t.Errorf("coordinate %d: variance %g, want %g", j, got, v)
					}
				}
			})
		}
	}
}

func vec(d int) []float64 { return make([]float64, d) }

// TestCorner finds C_d by listing all corners.
func TestCorner(t *testing.T) {
	for d := 1; d <= 12; d++ {
		agree, count := 0, 0
		for c := range 1 << d {
			s := 0
			for j := range d {
				s += 2*(c>>j&1) - 1
			}
			if s >= 0 {
				agree += 2*(c&1) - 1
				count++
			}
		}
		if got, want := cornerSize(d), float64(count)/float64(agree); math.Abs(got/want-1) > 1e-12 {
			t.Errorf("d = %d: %g, want %g", d, got, want)
		}
	}
}

// lossOfDuchi is the largest log ratio of an answer's chances under two corners, from the law of answer: half the
// cube, with the corners at a right angle in both halves.
func lossOfDuchi(d int, eps float64) float64 {
	keep := math.Exp(eps) / (math.Exp(eps) + 1)
	half := 0
	for c := range 1 << d {
		if 2*bits.OnesCount(uint(c)) >= d {
			half++
		}
	}
	chance := func(truth, answer int) (p float64) {
		same := d - bits.OnesCount(uint(truth^answer))
		if 2*same >= d {
			p += keep / float64(half)
		}
		if 2*same <= d {
			p += (1 - keep) / float64(half)
		}
		return p
	}
	most := 0.0
	for truth := range 1 << d {
		for answer := range 1 << d {
			most = max(most, math.Log(chance(0, answer)/chance(truth, answer)))
		}
	}
	return most
}

// TestDuchiKeepsItsPromise compares all pairs of truths. For odd d no answer is more than e^ε times as likely under
// one. For even d a tie is 1 + e^ε times as likely as an answer on the wrong side: the printed mechanism is not
// ε-private. The sampler follows the law that is compared: bands are six standard errors (false positives below 1e-7).
func TestDuchiKeepsItsPromise(t *testing.T) {
	for _, eps := range []float64{0.5, 1, 3, 5} {
		for d := 1; d <= 6; d++ {
			want := eps
			if d%2 == 0 {
				want = math.Log1p(math.Exp(eps))
			}
			if got := lossOfDuchi(d, eps); math.Abs(got-want) > 1e-12 {
				t.Errorf("d = %d, ε = %g: the exact loss is %g, want %g", d, eps, got, want)
			}
		}
	}
	const eps, n, d = 1.0, 400_000, 4
	m := Duchi(d, eps).(duchi)
	src := replay.Seeded(3, "law")
	count, a := vec(d+1), make([]uint64, 1)
	for range n {
		m.answer([]uint64{0}, a, src)
		count[d-bits.OnesCount64(a[0]&(1<<d-1))]++
	}
	for same, ways := range []float64{1, 4, 6, 4, 1} {
		want := ways / 11 // 11 corners in a half, six of them in both
		if 2*same < d {
			want /= math.E + 1
		} else if 2*same > d {
			want *= math.E / (math.E + 1)
		}
		if got := count[same] / n; !(math.Abs(got-want) < 6*math.Sqrt(want/n)) {
			t.Errorf("%d of %d coordinates agree in a share of %g, want %g", same, d, got, want)
		}
	}
}

// TestPiecewiseStaysInside: Algorithm 4's output lies in [-dΔ/k, dΔ/k], k
// coordinates are reported, and each is equally often.
func TestPiecewiseStaysInside(t *testing.T) {
	p := Piecewise(7, 8).(piecewise)
	if p.k != 3 {
		t.Fatalf("k = %d, want 3", p.k)
	}
	src := replay.Seeded(4, "piecewise")
	var often [7]int
	for range 70_000 {
		picked := p.pickCoordinates(nil, src)
		for a, j := range picked {
			often[j]++
			for _, other := range picked[:a] {
				if other == j {
					t.Fatalf("picked %v", picked)
				}
			}
		}
		for _, x := range []float64{-1, 0.2, 1} {
			if y := p.perturbOne(x, src); !(math.Abs(y) <= p.bound) {
				t.Fatalf("%g became %g, beyond %g", x, y, p.bound)
			}
		}
	}
	for j, n := range often { // 30,000 expected, standard deviation 131
		if n < 29_200 || n > 30_800 {
			t.Errorf("coordinate %d was picked %d times", j, n)
		}
	}
}

// Inputs outside the range count as its end.
func TestClamps(t *testing.T) {
	for x, want := range map[float64]float64{3: 1, -3: -1, math.Inf(1): 1, 0.5: 0.5} {
		if got := clamp(x); got != want {
			t.Errorf("clamp(%g) = %g", x, got)
		}
	}
	if got := clamp(math.NaN()); got != -1 {
		t.Errorf("clamp(NaN) = %g", got)
	}
}

// TestVariances holds the closed forms to numbers worked out elsewhere: 8d²/ε²;
// B² - t² with C_3 = 2; Wang et al.'s for one dimension and for k of d.
func TestVariances(t *testing.T) {
	e := math.E
	for _, c := range []struct {
		name string
		m    Mechanism
		t    float64
		want float64
	}{
		{"laplace", Laplace(50, 2), 0.3, 8 * 2500 / 4.0},
		{"duchi", Duchi(1, 1), 0.5, math.Pow((e+1)/(e-1), 2) - 0.25},
		{"duchi", Duchi(3, 1), 0.5, 4*math.Pow((e+1)/(e-1), 2) - 0.25},
		{"piecewise", Piecewise(1, 1), 1, 5.2240},
		{"piecewise", Piecewise(6, 5), 1, 4.2513}, // k = 2
	} {
		if got := c.m.Variance(c.t); math.Abs(got/c.want-1) > 1e-4 {
			t.Errorf("%s: variance %g, want %g", c.name, got, c.want)
		}
	}
}

// Section 3.4's bounds on the error of the mean, the largest over coordinates: PM's is of
// order √(d·log d)/(ε√n) and the Laplace mechanism's, at ε/d a coordinate, of order
// d·√(log d)/(ε√n). Over a sixteen-fold range of each of d, ε and n the constants stay
// within a factor of two, so that d's powers, a half and one, are told apart: the wrong
// one would move by a factor of four, which is seen if each is held to the other's order.
func TestErrorBoundsOfTheMean(t *testing.T) {
	bounds := map[string]func(d float64) float64{
		"piecewise": func(d float64) float64 { return math.Sqrt(d * math.Log(d)) },
		"laplace":   func(d float64) float64 { return d * math.Sqrt(math.Log(d)) },
	}
	orders := map[string]float64{} // the largest constant over the smallest
	of := func(name string, bound func(d float64) float64) float64 {
		least, most := math.Inf(1), 0.0
		for _, c := range []struct {
			d, n int
			eps  float64
		}{{4, 4000, 1}, {16, 4000, 1}, {64, 4000, 1}, {64, 1000, 1}, {64, 16000, 1}, {16, 4000, 0.125}, {16, 4000, 2}} {
			m := makers[name](c.d, c.eps)
			src := replay.Seeded(1, fmt.Sprint(name, c))
			const repeats = 20
			mean := 0.0
			for range repeats {
				largest := 0.0
				for _, s := range m.Sum(same{c.n, vec(c.d)}, 0, c.n, src) {
					largest = math.Max(largest, math.Abs(s)/float64(c.n))
				}
				mean += largest / repeats
			}
			constant := mean / (bound(float64(c.d)) / (c.eps * math.Sqrt(float64(c.n))))
			least, most = math.Min(least, constant), math.Max(most, constant)
		}
		t.Logf("%s: the constant is from %.2f to %.2f", name, least, most)
		return most / least
	}
	for name, bound := range bounds {
		orders[name] = of(name, bound)
	}
	orders["laplace, by the order of piecewise"] = of("laplace", bounds["piecewise"])
	orders["piecewise, by the order of laplace"] = of("piecewise", bounds["laplace"])
	for name, spread := range orders {
		if other := strings.Contains(name, "by"); (spread > 2) != other {
			t.Errorf("%s: the constant varies by a factor of %g", name, spread)
		}
	}
}

// Section 3.4 has owners of [-t, t] perturb x/t and send t times what comes of it: the error of
// the mean grows with a range declared too wide, and one declared too narrow bends it. Root mean
// squared errors of 400 means of 1,000 owners are within six of their deviations of the closed
// form, t²·Variance(x/t)/n and the square of what clamping takes away; a mechanism that forgot to
// multiply by t would be 4 to 16 times off. evidence/benchmarks/wangchang.md has the table.
func TestErrorOfTheMeanByTheDeclaredRange(t *testing.T) {
	const x, n, repeats = 0.5, 1000, 400
	for name, make := range makers {
		m := make(1, 1)
		for _, wide := range []float64{0.25, 0.5, 1, 2, 4, 16} {
			sent := clamp(x / wide)
			bias := wide*sent - x
			want := math.Sqrt(wide*wide*m.Variance(sent)/n + bias*bias)
			src := replay.Seeded(1, fmt.Sprint(name, wide))
			squares := 0.0
			for range repeats {
				e := wide*m.Sum(same{n, []float64{x / wide}}, 0, n, src)[0]/n - x
				squares += e * e / repeats
			}
			got := math.Sqrt(squares)
			t.Logf("%s: range %g: error %.3f, closed form %.3f", name, wide, got, want)
			if math.Abs(got/want-1) > 6/math.Sqrt(2*repeats) {
				t.Errorf("%s: range %g: error %g, want %g", name, wide, got, want)
			}
		}
	}
}
