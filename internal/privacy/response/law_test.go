// SPDX-License-Identifier: Apache-2.0

package response

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/discreet-dp/discreet/internal/ground/dp"
)

// losses are the ε the tests go through: from a nano-unit to the most a
// coordinate may be told at, with both sides of the hybrid mechanism's floor.
var losses = []dp.Epsilon{1, 1000, dp.Nano / 100, hybridFloor, hybridFloor + 1, dp.Nano, 2*dp.Nano + 345_678_901,
	5 * dp.Nano, 16 * dp.Nano, maxPart}

// expBetween brackets e^ε in exact rational arithmetic: the series up to a term
// and the same plus a geometric bound on its rest.
func expBetween(eps dp.Epsilon) (lower, upper *big.Rat) {
	x := big.NewRat(int64(eps), dp.Nano)
	term, sum := big.NewRat(1, 1), big.NewRat(1, 1)
	const terms = 200 // of x ≤ 32: each from the 64th on is at most half of the one before
	for k := int64(1); k <= terms; k++ {
		term = new(big.Rat).Mul(term, new(big.Rat).Quo(x, big.NewRat(k, 1)))
		sum = new(big.Rat).Add(sum, term)
	}
	return sum, new(big.Rat).Add(sum, new(big.Rat).Mul(term, big.NewRat(2, 1)))
}

func rat(a, b uint64) *big.Rat { return new(big.Rat).SetFrac(bigOf(a), bigOf(b)) }

// Each law's likelier outcome is at most e^ε times as likely, in exact
// arithmetic, and the promise is not wasted: one unit more would break it.
func TestOddsAreTheLargestThatKeepEpsilon(t *testing.T) {
	check := func(name string, eps dp.Epsilon, a, b uint64) {
		t.Helper()
		lower, upper := expBetween(eps)
		if rat(a, b).Cmp(lower) > 0 {
			t.Errorf("%s at ε = %s: %d/%d exceeds e^ε", name, eps, a, b)
		}
		if rat(a+1, b).Cmp(upper) <= 0 {
			t.Errorf("%s at ε = %s: %d/%d wastes more than a unit", name, eps, a, b)
		}
		if a <= b {
			t.Errorf("%s at ε = %s says nothing", name, eps)
		}
	}
	for _, eps := range losses {
		l := piecewiseLine(eps)
		check("piecewise", eps, l.Inner, l.Outer)
		l = duchiLine(eps)
		check("duchi's line", eps, l.Inner, l.Outer)
		d, err := DuchiFor(eps, 5)
		if err != nil {
			t.Fatal(err)
		}
		check("duchi", eps, d.Inner, d.Outer)
		for _, cells := range []int{1, 20, maxDim} {
			g, err := GRRFor(eps, cells)
			if err != nil {
				t.Fatal(err)
			}
			check("grr", eps, g.Inner, g.Outer)
			if g.Total() >= whole {
				t.Errorf("grr at ε = %s with %d cells: the weights add up to %d", eps, cells, g.Total())
			}
		}
		if l := piecewiseLine(eps); l.Total() >= whole || l.Total()/l.Width < l.Inner || l.Cells() > 1<<18 {
			t.Errorf("piecewise at ε = %s: the weights overflow: %+v", eps, l)
		}
		// OUE: (1-p)/p ≤ e^ε, and p-1 would exceed it.
		o, err := OUEFor(eps, 3)
		if err != nil {
			t.Fatal(err)
		}
		lower, upper := expBetween(eps)
		if rat(whole-o.Lie, o.Lie).Cmp(lower) > 0 || rat(whole-o.Lie+1, o.Lie-1).Cmp(upper) < 0 {
			t.Errorf("oue at ε = %s: a lie of %d/2^62", eps, o.Lie)
		}
		if p := rat(o.Lie, whole); p.Cmp(big.NewRat(1, 2)) >= 0 {
			t.Errorf("oue at ε = %s says nothing", eps)
		}
	}
}

// The coordinates that are told share ε: the product of their odds stays within
// e^ε (bug row 25). Two are forced, since one would be told at small ε.
func TestToldCoordinatesShareEpsilon(t *testing.T) {
	for _, eps := range []dp.Epsilon{dp.Nano, 5*dp.Nano + 1, 20 * dp.Nano} {
		for _, told := range []int{2, 3, 8} {
			for name, size := range map[string]func(dp.Epsilon, int, int) (Sampled, error){"piecewise": PiecewiseTelling,
				"hybrid": HybridTelling} {
				l, err := size(eps, 8, told)
				if err != nil {
					t.Fatal(err)
				}
				product, most := big.NewRat(1, 1), new(big.Rat)
				for _, line := range l.Lines {
					if odds := rat(line.Inner, line.Outer); odds.Cmp(most) > 0 {
						most = odds
					}
				}
				for range told {
					product.Mul(product, most)
				}
				if lower, _ := expBetween(eps); product.Cmp(lower) > 0 {
					t.Errorf("%s of %d at ε = %s: the odds multiply to %s", name, told, eps, product.FloatString(6))
				}
			}
		}
	}
}

// The law of a line, cell by cell: it is a law, it moves within e^ε between any
// two inputs, its mean is the input and its second moment the closed form.
func TestLineLaw(t *testing.T) {
	lines := []Line{{1, 1, 3, 1}, {4, 2, 5, 2}, {8, 3, 100, 7}, {2, 9, 4, 3}, {1, 5, 9, 2}}
	for _, l := range lines {
		for j := range l.Steps + 1 {
			x := new(big.Rat).Sub(rat(2*j, l.Steps), big.NewRat(1, 1))
			sum, mean, square := new(big.Rat), new(big.Rat), new(big.Rat)
			half := new(big.Rat).SetFrac(bigOf(l.Total()), l.meanGain())
			for cell := range l.Cells() {
				p := rat(lineWeight(l, j, cell), l.Total())
				v := new(big.Rat).Mul(half, new(big.Rat).SetInt64(l.cellOffset(cell)))
				sum.Add(sum, p)
				mean.Add(mean, new(big.Rat).Mul(p, v))
				square.Add(square, new(big.Rat).Mul(p, new(big.Rat).Mul(v, v)))
				for other := range l.Steps + 1 {
					if q := rat(lineWeight(l, other, cell), l.Total()); new(big.Rat).Quo(p, q).Cmp(rat(l.Inner, l.Outer)) > 0 {
						t.Fatalf("%+v: cell %d is more than Inner/Outer likelier for %d than for %d", l, cell, j, other)
					}
				}
			}
			if sum.Cmp(big.NewRat(1, 1)) != 0 || mean.Cmp(x) != 0 {
				t.Errorf("%+v at point %d: probabilities add up to %s, mean %s, not %s", l, j, sum, mean, x)
			}
			got, want := l.meanSquare(toFloat(x)), toFloat(square)
			if math.Abs(got-want) > 1e-12*want {
				t.Errorf("%+v at point %d: mean square %g, enumerated %g", l, j, got, want)
			}
		}
	}
}

// The same at the size in use. Cells of one weight are many: their offsets are
// summed by stretch, in integers.
func TestPiecewiseLineIsUnbiasedAtItsRealSize(t *testing.T) {
	for _, eps := range losses {
		l := piecewiseLine(eps)
		for _, j := range []uint64{0, 1, l.Steps / 3, l.Steps / 2, l.Steps} {
			weight, mean := new(big.Int), new(big.Int)
			for cell := range l.Cells() {
				w := bigOf(lineWeight(l, j, cell))
				weight.Add(weight, w)
				mean.Add(mean, w.Mul(w, big.NewInt(l.cellOffset(cell))))
			}
			// mean/total·(total/gain) = 2j/Steps - 1, multiplied out.
			want := new(big.Int).Mul(l.meanGain(), big.NewInt(2*int64(j)-int64(l.Steps)))
			if weight.Cmp(bigOf(l.Total())) != 0 || mean.Mul(mean, bigOf(l.Steps)).Cmp(want) != 0 {
				t.Errorf("ε = %s, point %d: total %s of %d, mean off", eps, j, weight, l.Total())
			}
		}
	}
}

// lineWeight is the weight that the claim gives a cell.
func lineWeight(l Line, j, cell uint64) uint64 {
	if cell >= j && cell < j+l.Width {
		return l.Inner
	}
	return l.Outer
}

// Duchi's law over all sign vectors, for odd and even dimensions.
func TestDuchiLaw(t *testing.T) {
	for dim := 1; dim <= 7; dim++ {
		l, err := DuchiFor(dp.Nano, dim)
		if err != nil {
			t.Fatal(err)
		}
		for v := range uint32(1) << dim {
			total, gain := new(big.Int), make([]*big.Int, dim)
			for j := range gain {
				gain[j] = new(big.Int)
			}
			for r := range uint32(1) << dim {
				agree := 0
				for j := range dim {
					if v>>j&1 == r>>j&1 {
						agree++
					}
				}
				w := bigOf(l.Outer)
				if 2*agree > dim {
					w = bigOf(l.Inner)
				}
				total.Add(total, w)
				for j := range gain {
					if v>>j&1 == r>>j&1 {
						gain[j].Add(gain[j], w)
					} else {
						gain[j].Sub(gain[j], w)
					}
				}
			}
			if total.Cmp(l.totalWeight()) != 0 {
				t.Fatalf("dimension %d: weights add up to %s, not %s", dim, total, l.totalWeight())
			}
			for j := range gain {
				if gain[j].Cmp(l.meanGain()) != 0 {
					t.Fatalf("dimension %d, coordinate %d: mean times total %s, not %s", dim, j, gain[j], l.meanGain())
				}
			}
		}
	}
}

// The variances of the papers (Wang et al. 2019 and 2017).
func TestVariancesAreThePapers(t *testing.T) {
	near := func(what string, got, want float64) {
		t.Helper()
		if !(math.Abs(got-want) <= 1e-4*want) {
			t.Errorf("%s: variance %g, the paper's %g", what, got, want)
		}
	}
	for _, eps := range []dp.Epsilon{dp.Nano / 2, dp.Nano, 5 * dp.Nano} {
		e := math.Exp(eps.Float())
		for _, x := range []float64{0, 0.25, -1} {
			what := fmt.Sprintf("ε = %s, x = %g", eps, x)
			duchi, err1 := DuchiFor(eps, 1)
			oue, err2 := OUEFor(eps, 20)
			grr, err3 := GRRFor(eps, 20)
			lap, err4 := LaplaceFor(eps, 20)
			if err1 != nil || err2 != nil || err3 != nil || err4 != nil {
				t.Fatal(err1, err2, err3, err4)
			}
			near("duchi, "+what, duchi.Variance(x), math.Pow((e+1)/(e-1), 2)-x*x)
			near("laplace, "+what, lap.Variance(x), 2*math.Pow(2*20/eps.Float(), 2))
			if x == 0 {
				near("oue, "+what, oue.Variance(0), 4*e/math.Pow(e-1, 2))
				near("grr, "+what, grr.Variance(0), (e+19)/math.Pow(e-1, 2)) // of 21 answers
			}
			for _, c := range []struct{ dim, told int }{{1, 1}, {6, 1}, {6, 2}, {20, 2}} {
				pm, err := PiecewiseTelling(eps, c.dim, c.told)
				if err != nil {
					t.Fatal(err)
				}
				d, k := float64(c.dim), float64(c.told)
				E := math.Exp(eps.Float() / (2 * k))
				near(fmt.Sprintf("piecewise %v, %s", c, what), pm.Variance(x), d*(E+3)/(3*k*(E-1)*(E-1))+(d*E/(k*(E-1))-1)*x*x)
			}
		}
	}
	// The hybrid mechanism is flat above its floor, and there both formulas meet.
	h, err := HybridFor(dp.Nano, 1)
	if err != nil {
		t.Fatal(err)
	}
	E := math.Exp(0.5)
	near("hybrid", h.Variance(0.5), (E+3)/(3*E*(E-1))+math.Pow(math.E+1, 2)/(E*math.Pow(math.E-1, 2)))
	near("hybrid", h.Variance(1), h.Variance(0))
	for _, eps := range []dp.Epsilon{hybridFloor, hybridFloor + 1} {
		h, err := HybridFor(eps, 1)
		if err != nil {
			t.Fatal(err)
		}
		d, _ := DuchiFor(eps, 1)
		near("hybrid at its floor", h.Variance(0), d.Variance(0))
		if n := len(h.Lines); (eps == hybridFloor) != (n == 1) {
			t.Errorf("hybrid at ε = %s mixes %d lines", eps, n)
		}
	}
}

func toFloat(r *big.Rat) float64 { f, _ := r.Float64(); return f }
