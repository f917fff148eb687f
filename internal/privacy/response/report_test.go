// SPDX-License-Identifier: Apache-2.0

package response

import (
	"encoding/binary"
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/internal/ground/dp"
)

// Every report about three cells, for every truth, in exact arithmetic.
func TestOUELaw(t *testing.T) {
	const cells = 3
	for _, eps := range losses {
		l, err := OUEFor(eps, cells)
		if err != nil {
			t.Fatal(err)
		}
		lie, one, half := rat(l.Lie, whole), big.NewRat(1, 1), big.NewRat(1, 2)
		prob := func(r, truth int) *big.Rat { // truth -1: none
			p := big.NewRat(1, 1)
			for cell := range cells {
				set := lie
				if cell == truth {
					set = half
				}
				if r>>cell&1 == 0 {
					set = new(big.Rat).Sub(one, set)
				}
				p.Mul(p, set)
			}
			return p
		}
		most, _ := expBetween(eps)
		for truth := -1; truth < cells; truth++ {
			sum, mean := new(big.Rat), new(big.Rat)
			for r := range 1 << cells {
				p := prob(r, truth)
				sum.Add(sum, p)
				if r&1 == 1 {
					mean.Add(mean, p)
				}
				for other := -1; other < cells; other++ {
					if new(big.Rat).Quo(p, prob(r, other)).Cmp(most) > 0 {
						t.Fatalf("ε = %s: report %b is more than e^ε likelier for %d than for %d", eps, r, truth, other)
					}
				}
			}
			// (mean - lie)/(1/2 - lie) is 1 for cell 0, else 0.
			want := new(big.Rat)
			if truth == 0 {
				want.Sub(half, lie)
			}
			if sum.Cmp(one) != 0 || mean.Sub(mean, lie).Cmp(want) != 0 {
				t.Errorf("ε = %s, truth %d: probabilities add up to %s, surplus %s", eps, truth, sum, mean)
			}
		}
	}
}

// Dim·Steps steps at most between two vectors, over the scale of the noise.
func TestLaplaceReportsKeepEpsilon(t *testing.T) {
	for _, eps := range append(losses, 7, dp.MaxEpsilon) {
		for _, dim := range []int{1, 20, 1000} {
			l, err := LaplaceFor(eps, dim)
			if eps.Float()/float64(dim) < 6e-8 {
				if err == nil {
					t.Errorf("ε = %s for %d coordinates was accepted", eps, dim)
				}
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			if loss := rat(uint64(dim)*l.Steps, l.Scale); loss.Cmp(big.NewRat(int64(eps), dp.Nano)) > 0 {
				t.Errorf("ε = %s for %d coordinates: loses %s", eps, dim, loss.FloatString(12))
			}
			if l.Top() > math.MaxUint32 {
				t.Errorf("ε = %s for %d coordinates: %d does not fit a word", eps, dim, l.Top())
			}
			if d := Decode(l, slices.Repeat(Report{uint32(l.Top() / 2)}, dim)); math.Abs(d[0]) > l.inputStep() {
				t.Errorf("ε = %s for %d coordinates: the middle means %g", eps, dim, d[0])
			}
		}
	}
}

func someLaws(t testing.TB) []Law {
	var laws []Law
	add := func(l Law, err error) {
		if err != nil {
			t.Fatal(err)
		}
		laws = append(laws, l)
	}
	for _, dim := range []int{1, 5, 32, 40} {
		for _, name := range VectorLaws() {
			l, err := VectorLawFor(name, 6*dp.Nano, dim)
			add(l, err)
		}
		for _, name := range CellLaws() {
			l, err := CellLawFor(name, dp.Nano, dim)
			add(l, err)
		}
	}
	return laws
}

func TestReportsOfTheWrongShapeAreRefused(t *testing.T) {
	pm, _ := PiecewiseTelling(5*dp.Nano, 6, 2)
	hybrid, _ := HybridFor(dp.Nano, 6)
	duchi, _ := DuchiFor(dp.Nano, 40)
	lap, _ := LaplaceFor(dp.Nano, 1)
	oue, _ := OUEFor(dp.Nano, 40)
	grr, _ := GRRFor(dp.Nano, 5)
	n := uint32(pm.Lines[0].Cells())
	top := uint32(lap.Top())
	for _, c := range []struct {
		law       Law
		good, bad []Report
	}{
		{pm, []Report{{0, 0, 1, 0}, {4, n - 1, 5, 0}}, []Report{nil, {}, {0, 0}, {0, 0, 1}, {0, 0, 1, 0, 2, 0}, {1, 0, 0, 0},
			{1, 0, 1, 0}, {0, n, 1, 0}, {0, 0, 6, 0}, {0, math.MaxUint32, 1, 0}}},
		{hybrid, []Report{{5, 0}, {0, uint32(hybrid.countCells() - 1)}}, []Report{{6, 0}, {0, uint32(hybrid.countCells())}}},
		{duchi, []Report{{0, 0}, {math.MaxUint32, 255}}, []Report{{0}, {0, 0, 0}, {0, 256}}},
		{lap, []Report{{0}, {top}}, []Report{nil, {top + 1}, {0, 0}}},
		{oue, []Report{{0, 0}, {math.MaxUint32, 255}}, []Report{{0}, {0, 256}}},
		{grr, []Report{{0}, {5}}, []Report{nil, {6}, {0, 0}}},
	} {
		for _, r := range c.good {
			if err := c.law.Check(r); err != nil {
				t.Error(err)
			}
		}
		for _, r := range c.bad {
			if c.law.Check(r) == nil {
				t.Errorf("%s accepts %v", c.law.Name(), r)
			}
		}
	}
}

// Nobody's report, checked, moves a sum further than its law says, and no
// report makes the law panic.
func FuzzReport(f *testing.F) {
	laws := someLaws(f)
	f.Add(0, []byte{0, 0, 0, 0, 1, 0, 0, 0})
	f.Add(3, []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0})
	f.Fuzz(func(t *testing.T, which int, words []byte) {
		l := laws[uint(which)%uint(len(laws))]
		var r Report
		for ; len(words) >= 4; words = words[4:] {
			r = append(r, binary.LittleEndian.Uint32(words))
		}
		if l.Check(r) != nil {
			return
		}
		for j, x := range Decode(l, r) {
			if !(math.Abs(x) <= l.Reach()*(1+1e-12)) {
				t.Fatalf("%s: %v moves coordinate %d by %g, beyond %g", l.Name(), r, j, x, l.Reach())
			}
		}
	})
}

// Reach is reached: by the first or the last of what may be reported.
func TestReachIsReached(t *testing.T) {
	for _, l := range someLaws(t) {
		most := 0.0
		low, high := make(Report, l.Words()), make(Report, l.Words())
		switch l := l.(type) {
		case Sampled:
			for i := range l.Told {
				low[2*i], high[2*i] = uint32(i), uint32(i)
				high[2*i+1] = uint32(l.countCells() - 1)
				if len(l.Lines) > 1 {
					low[2*i+1] = uint32(l.Lines[0].Cells())
				}
			}
		case Duchi, OUE:
			for i := range high {
				high[i] = math.MaxUint32
			}
			if used := l.Dim() % 32; used != 0 {
				high[len(high)-1] = 1<<used - 1
			}
		case Laplace:
			for i := range high {
				high[i] = uint32(l.Top())
			}
		case GRR:
			low[0], high[0] = 0, uint32(l.Dim())
		}
		for _, r := range []Report{low, high} {
			if err := l.Check(r); err != nil {
				t.Fatal(err)
			}
			for _, x := range Decode(l, r) {
				most = max(most, math.Abs(x))
			}
		}
		if math.Abs(most-l.Reach()) > 1e-12*l.Reach() {
			t.Errorf("%s, %d: reaches %g, says %g", l.Name(), l.Dim(), most, l.Reach())
		}
	}
}

func TestTalliesMerge(t *testing.T) {
	for _, l := range someLaws(t) {
		grr, ok := l.(GRR)
		if !ok {
			continue
		}
		a, b, both := NewTally(l), NewTally(l), NewTally(l)
		for i := range 10 {
			r := Report{uint32(i % (grr.Dim() + 1))}
			l.Add(&both, r)
			if i < 4 {
				l.Add(&a, r)
			} else {
				l.Add(&b, r)
			}
		}
		a.Merge(b)
		if !slices.Equal(l.Sum(a), l.Sum(both)) || a.Reports != 10 {
			t.Errorf("%d cells: %v and %v", l.Dim(), a, both)
		}
	}
}

func TestBestCellLaw(t *testing.T) {
	for cells, want := range map[int]string{2: "grr", 6: "grr", 20: "oue"} {
		l, err := BestCellLaw(dp.Nano, cells)
		if err != nil || l.Name() != want {
			t.Errorf("%d cells at ε = 1: %v %v", cells, l, err)
		}
	}
}

func TestSizesAreRefused(t *testing.T) {
	for _, c := range []struct {
		eps dp.Epsilon
		dim int
	}{{0, 1}, {-1, 1}, {dp.MaxEpsilon + 1, 1}, {dp.Nano, 0}, {dp.Nano, -1}, {dp.Nano, maxDim + 1}, {maxPart + 1, 1}} {
		for _, name := range VectorLaws() {
			if _, err := VectorLawFor(name, c.eps, c.dim); err == nil && (name != "laplace" || c.eps != maxPart+1) {
				t.Errorf("%s: ε = %d, %d coordinates accepted", name, c.eps, c.dim)
			}
		}
		for _, name := range CellLaws() {
			if _, err := CellLawFor(name, c.eps, c.dim); err == nil {
				t.Errorf("%s: ε = %d, %d cells accepted", name, c.eps, c.dim)
			}
		}
	}
	for _, told := range []int{0, -1, 4} {
		if _, err := PiecewiseTelling(dp.Nano, 3, told); err == nil {
			t.Errorf("%d of 3 coordinates told", told)
		}
	}
	if _, err := PiecewiseTelling(1, 3, 2); err == nil {
		t.Error("a nano-unit shared by two coordinates")
	}
	if _, err := VectorLawFor("gauss", dp.Nano, 1); err == nil {
		t.Error("an unknown law was sized")
	}
	if _, err := CellLawFor("piecewise", dp.Nano, 1); err == nil {
		t.Error("a law for vectors was taken for one of cells")
	}
}

func TestEventIsTheClaim(t *testing.T) {
	for _, l := range someLaws(t) {
		if e := Event("round 1", l); e.Epsilon != l.Loss() || e.Mechanism != l.Name() || e.Release != "round 1" {
			t.Errorf("%+v", e)
		}
	}
}
