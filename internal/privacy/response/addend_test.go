// SPDX-License-Identifier: Apache-2.0

package response

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/internal/ground/dp"
)

// Two truths are at most ranges·Steps steps apart, over the scale of the noise.
func TestAddendsKeepEpsilon(t *testing.T) {
	for _, eps := range []dp.Epsilon{dp.Nano / 100, dp.Nano, 3*dp.Nano + 7, maxPart} {
		for _, dim := range []int{1, 2, 64} {
			for _, owners := range []int{2, 1000, 1 << 20} {
				vector, err1 := ShortAddendFor(eps, dim, 2*float64(dim), owners, max(1, owners/2))
				cells, err2 := CellAddendFor(eps, dim, max(1, dim/4), owners, max(1, owners/2))
				if err1 != nil || err2 != nil {
					t.Fatal(err1, err2)
				}
				for l, ranges := range map[Addend]int{vector: dim, cells: min(dim, max(2, dim/2))} {
					if loss := rat(uint64(ranges)*l.Steps, l.Scale); loss.Cmp(big.NewRat(int64(eps), dp.Nano)) > 0 {
						t.Errorf("%+v loses %s", l, loss.FloatString(12))
					}
					if float64(l.Scale) < 4*math.Sqrt(float64(owners)) && l.Steps < 1<<16 {
						t.Errorf("%+v: the grid is too coarse for %d owners", l, owners)
					}
					if !(l.Delta() > 0 && l.Delta() < 1e-12) {
						t.Errorf("%+v: delta %g", l, l.Delta())
					}
					// Each number of each owner may be clamped.
					clamped := 2 * math.Exp(-cutScales) * float64(owners) * float64(dim)
					if want := (1 + math.Exp(eps.Float())) * clamped; l.Delta() < want*(1-1e-12) {
						t.Errorf("%+v: delta %g, want %g", l, l.Delta(), want)
					}
					if l.Loss() != eps || l.Top() >= 1<<28 {
						t.Errorf("%+v: ε = %s, range %d", l, l.Loss(), l.Top())
					}
				}
			}
		}
	}
}

// Short vectors pay for what they lie apart and for rounding, which is little.
func TestShortAddendsKeepEpsilon(t *testing.T) {
	for _, dim := range []int{1, 30, 500} {
		for _, l1 := range []float64{0.5, math.Sqrt(float64(dim))} {
			l, err := ShortAddendFor(dp.Nano, dim, l1, 1000, 800)
			if err != nil {
				t.Fatal(err)
			}
			apart := l1/2*float64(l.Steps) + float64(dim) // each coordinate's rounding moves by less than a step more
			if loss := apart / float64(l.Scale); !(loss <= 1 && loss > 0.98) {
				t.Errorf("%d coordinates, %g apart: loses %.4f at ε = 1", dim, l1, loss)
			}
			if float64(dim) > 0.1*apart {
				t.Errorf("%d coordinates, %g apart: rounding is %d steps of %.0f", dim, l1, dim, apart)
			}
		}
	}
	for _, l1 := range []float64{0, -1, 7, math.NaN()} {
		if _, err := ShortAddendFor(dp.Nano, 3, l1, 10, 5); err == nil {
			t.Errorf("vectors %g apart are accepted", l1)
		}
	}
}

// The ends of the range, and its middle, decoded.
func TestAddendsAreDecoded(t *testing.T) {
	vector, _ := ShortAddendFor(dp.Nano, 3, 6, 10, 5)
	cells, _ := CellAddendFor(dp.Nano, 3, 1, 10, 5)
	for _, c := range []struct {
		l    Addend
		want []float64
	}{{vector, []float64{-7, 0, 7}}, {cells, []float64{0, 3.5, 7}}} {
		low := cutScales * c.l.Scale
		sum := []uint64{7 * low, 7*low + 7*c.l.Steps/2, 7 * (low + c.l.Steps)}
		if got := c.l.Sum(Total(sum, 7)); !slices.Equal(got, c.want) {
			t.Errorf("%+v: %v is decoded as %v, not %v", c.l, sum, got, c.want)
		}
		if honest := c.l.Sum(Total([]uint64{0, 0, c.l.Top()},
			1)); !(c.l.Reach() >= honest[2] && c.l.Reach() >= -honest[0] && c.l.Reach() <= 4*honest[2]) {
			t.Errorf("%+v: one owner reaches %g, an honest one %v", c.l, c.l.Reach(), honest)
		}
	}
}

// The variance is that of discrete Laplace noise, a survivor's share of it, and of rounding
// to one of two neighbouring points.
func TestAddendVariance(t *testing.T) {
	for _, l := range []Addend{{Scale: 3, Steps: 10, Survivors: 4}, {Scale: 3, Steps: 10, Survivors: 4, cells: 2}} {
		mass, square := 0.0, 0.0
		for k := -200.0; k <= 200; k++ {
			p := math.Exp(-math.Abs(k) / 3)
			mass, square = mass+p, square+k*k*p
		}
		for _, part := range []float64{0, 0.25} { // of a step beyond a point
			want := (square/mass/4 + part*(1-part)) * l.gridStep() * l.gridStep()
			if got := l.Variance(part*l.gridStep() - 1); !(math.Abs(got/want-1) < 1e-9) {
				t.Errorf("%+v: variance %g, want %g", l, got, want)
			}
		}
	}
}

func TestAddendSizesAreRefused(t *testing.T) {
	for _, c := range []struct {
		eps                    dp.Epsilon
		dim, owners, survivors int
	}{
		{0, 1, 9, 5}, {-1, 1, 9, 5}, {maxPart + 1, 1, 9, 5}, {1, 4, 9, 5},
		{dp.Nano, 0, 9, 5}, {dp.Nano, maxDim + 1, 9, 5}, {dp.Nano, 1, 1, 1}, {dp.Nano, 1, 1<<24 + 1, 5}, {dp.Nano, 1, 9, 0},
		{dp.Nano, 1, 9, 10},
	} {
		if _, err := ShortAddendFor(c.eps, c.dim, 2*float64(c.dim), c.owners, c.survivors); err == nil {
			t.Errorf("%+v was accepted", c)
		}
	}
	for _, most := range []int{0, -1, 4} {
		if _, err := CellAddendFor(dp.Nano, 3, most, 9, 5); err == nil {
			t.Errorf("owners in %d of 3 cells were accepted", most)
		}
	}
}
