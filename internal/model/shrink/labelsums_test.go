// SPDX-License-Identifier: Apache-2.0

package shrink

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// design is a table of two columns of 3 and 4 bins, rows by their combination, and the sums that
// steps would have.
func design(noise float64, steps [2][]float64, intercept float64) *LabelSums {
	s := &LabelSums{Sizes: []int{3, 4}, Ordered: []int{0, 3}, Bins: make([][]uint32, 2),
		Sums: [][]float64{make([]float64, 3), make([]float64, 4)}, Noise: []float64{noise, noise}}
	for i := range uint32(3) {
		for j := range uint32(4) {
			rows := float64(2000 + 700*i*j)
			s.Rows = append(s.Rows, rows)
			s.Bins[0], s.Bins[1] = append(s.Bins[0], i), append(s.Bins[1], j)
			p := sigmoid(intercept + steps[0][i] + steps[1][j])
			s.Sums[0][i] += rows * p
			s.Sums[1][j] += rows * p
		}
	}
	return s
}

// Sums without noise of a population that is a sum of steps give its probabilities back.
func TestLabelSumsFindTheStepsOfExactSums(t *testing.T) {
	steps := [2][]float64{{-1, 0.2, 0.5}, {-0.6, -0.2, 0.1, 0.8}}
	s := design(0, steps, -0.7)
	fit := s.Fit()
	for g, z := range fit.Scores {
		want := -0.7 + steps[0][s.Bins[0][g]] + steps[1][s.Bins[1][g]]
		if math.Abs(z-want) > 0.02 { // the prior, over thousands of rows in a cell
			t.Errorf("group %d: %g, want %g", g, z, want)
		}
	}
}

// A public label gives the same probabilities from the rows by group.
func TestLabelSumsOfAPublicLabel(t *testing.T) {
	steps := [2][]float64{{-1, 0.2, 0.5}, {-0.6, -0.2, 0.1, 0.8}}
	s := design(0, steps, -0.7)
	want := s.Fit()
	for g, rows := range s.Rows {
		p := sigmoid(-0.7 + steps[0][s.Bins[0][g]] + steps[1][s.Bins[1][g]])
		s.Positive = append(s.Positive, rows*p)
	}
	for g, z := range s.Fit().Scores {
		if math.Abs(z-want.Scores[g]) > 0.002 {
			t.Errorf("group %d: %g, from sums %g", g, z, want.Scores[g])
		}
	}
	s.Rows, s.Positive = []float64{3, 2}, []float64{3, 0} // two rows of three combinations, which hold one class each
	s.Bins = [][]uint32{{0, 1}, {2, 3}}
	for _, z := range s.Fit().Scores {
		if !(math.Abs(z) < 3) {
			t.Errorf("five rows give log-odds of %g", z)
		}
	}
}

// Drowned in noise, all that is left is about the share of positive rows.
func TestLabelSumsDrownedInNoiseSayNothing(t *testing.T) {
	s := design(1e10, [2][]float64{{0, 0, 0}, {0, 0, 0, 0}}, -1)
	for k := range s.Sums {
		for b := range s.Sums[k] {
			s.Sums[k][b] += 100 * float64(b-1)
		}
	}
	for k, steps := range s.Fit().Steps {
		for b, x := range steps {
			if math.Abs(x) > 0.05 {
				t.Errorf("column %d, bin %d: a step of %g", k, b, x)
			}
		}
	}
}

// At the fit the slope of the posterior is nothing: solved by elimination, without a factor.
func TestLabelSumsAreAtTheMode(t *testing.T) {
	src := rand.New(rand.NewPCG(3, 4))
	for range 20 {
		s := design(400, [2][]float64{{-1, 0.2, 0.5}, {-0.6, -0.2, 0.1, 0.8}}, -0.7)
		for k := range s.Sums {
			for b := range s.Sums[k] {
				s.Sums[k][b] += 20 * src.NormFloat64()
			}
		}
		f := newLabelFit(s)
		f.readSums()
		for range 60 {
			f.findCurve()
			f.improve()
		}
		spread := append([]float64(nil), f.spread...)
		for range 60 { // with the spreads held
			f.findCurve()
			f.improve()
			copy(f.spread, spread)
		}
		curve, about := f.linearize()
		rest := f.leftOver()
		d := f.width
		a := make([][]float64, d)
		for i := range a {
			a[i] = append(append([]float64(nil), about.row(i)...), rest[i])
		}
		pull := eliminate(a) // (curve + noise)⁻¹·rest
		for i := range d + 1 {
			slope := 0.0
			for j := range d {
				slope += curve.row(j)[i] * pull[j]
			}
			if i == d {
				slope -= (f.coef[d] - f.start) / 1e4
			}
			for k, first := range f.first {
				if i < d && i >= first && i < first+f.Sizes[k] {
					for j := range f.Sizes[k] {
						slope -= f.inverse[k].row(i - first)[j] * f.coef[first+j] / f.spread[k]
					}
				}
			}
			if math.Abs(slope) > 1e-4 {
				t.Fatalf("coefficient %d: a slope of %g", i, slope)
			}
		}
	}
}

// eliminate solves a system whose last column is the right side.
func eliminate(a [][]float64) []float64 {
	n := len(a)
	for i := range n {
		for k := range n {
			if k == i {
				continue
			}
			f := a[k][i] / a[i][i]
			for j := i; j <= n; j++ {
				a[k][j] -= f * a[i][j]
			}
		}
	}
	x := make([]float64, n)
	for i := range n {
		x[i] = a[i][n] / a[i][i]
	}
	return x
}

// Fewer rows, no rows of a class, empty bins and sums beyond what there can be give finite steps.
func TestLabelSumsOfOddTables(t *testing.T) {
	for _, s := range []*LabelSums{
		{Sizes: []int{2}, Ordered: []int{2}, Bins: [][]uint32{{}}, Sums: [][]float64{{50, -50}}, Noise: []float64{10}},
		{Rows: []float64{1}, Sizes: []int{2}, Ordered: []int{2}, Bins: [][]uint32{{0}}, Sums: [][]float64{{1e6, -1e6}},
			Noise: []float64{1}},
		{Rows: []float64{1e6, 1e6}, Sizes: []int{3}, Ordered: []int{0}, Bins: [][]uint32{{0, 2}},
			Sums: [][]float64{{1e6, 1e5, 0}}, Noise: []float64{0}},
	} {
		fit := s.Fit()
		for _, x := range slices.Concat([]float64{fit.Intercept}, fit.Steps[0], fit.Variance[0], fit.Moved()[0]) {
			if math.IsNaN(x) || math.IsInf(x, 0) {
				t.Fatalf("%+v: not finite", fit)
			}
		}
	}
}

// Steps so long that the curve at one place says little of the next one are found all the same: the
// fit never moves to where it fits worse.
func TestLabelSumsFindLongSteps(t *testing.T) {
	for _, noise := range []float64{1, 100} {
		s := &LabelSums{Sizes: []int{40, 40}, Ordered: []int{40, 40}, Bins: make([][]uint32, 2),
			Noise: []float64{noise, noise}, Sums: [][]float64{make([]float64, 40), make([]float64, 40)}}
		var want []float64
		for b := range uint32(40) {
			for _, c := range []uint32{b, min(b+1, 39)} { // two columns that say nearly the same
				p := 0.001
				if b > 36 {
					p = 0.98
				}
				s.Rows, want = append(s.Rows, 3000), append(want, p)
				s.Bins[0], s.Bins[1] = append(s.Bins[0], b), append(s.Bins[1], c)
				s.Sums[0][b] += 3000 * p
				s.Sums[1][c] += 3000 * p
			}
		}
		for g, z := range s.Fit().Scores {
			if p := sigmoid(z); math.Abs(p-want[g]) > 0.05 {
				t.Errorf("noise %g, group %d: %.3f, want %.3f", noise, g, p, want[g])
			}
		}
	}
}

// Of one bin that has all rows the score is the logit of the positive ones, S of n, so noise on S
// has its variance over (n·p·q)² in it: on a sum, or on the one direction that all vectors have.
func TestLabelNoiseOfOneBin(t *testing.T) {
	for _, vectors := range []bool{false, true} {
		for _, c := range []struct{ rows, p, deviation float64 }{{4000, 0.3, 20}, {900, 0.5, 3}, {1e5, 0.02, 30}} {
			s := &LabelSums{Rows: []float64{c.rows}, Bins: [][]uint32{{0}}, Sizes: []int{1}, Ordered: []int{0},
				Sums: [][]float64{{c.rows * c.p}}, Noise: []float64{c.deviation * c.deviation}}
			if vectors {
				expectVectors(s, c.deviation, func(int) float64 { return math.Log(c.p / (1 - c.p)) })
			}
			curve := c.rows * c.p * (1 - c.p)
			want := c.deviation * c.deviation / (curve * curve)
			if got := s.Fit().Moved()[0][0]; math.Abs(got/want-1) > 0.001 { // priors
				t.Errorf("vectors %v, %+v: noise has %g of the score, not %g", vectors, c, got, want)
			}
		}
	}
}

// What is stated of groups is what noise does, in the mean over rows: 300 draws of it on the same rows,
// if two columns share what they say. The variance of 300 normals is off by more than .3 of itself
// about once in 10,000 times; .15 more is left for a fit that is not linear. Of one group it may be
// twice as much, or half. Seeds are fixed, so it never fails by chance.
func TestLabelFitStatesWhatNoiseDoes(t *testing.T) {
	const draws = 300
	for _, vectors := range []bool{false, true} {
		for _, deviation := range []float64{10, 60} {
			src := rand.New(rand.NewPCG(7, 8))
			s := design(deviation*deviation, [2][]float64{{-1, 0.2, 0.5}, {-0.6, -0.2, 0.1, 0.8}}, -0.7)
			if vectors {
				expectVectors(s, deviation, func(g int) float64 {
					return -0.7 + []float64{-1, 0.2, 0.5}[s.Bins[0][g]] + []float64{-0.6, -0.2, 0.1, 0.8}[s.Bins[1][g]]
				})
			}
			n := len(s.Rows)
			first, second, stated := make([]float64, n), make([]float64, n), make([]float64, n)
			for range draws {
				d := *s
				d.Released = addNoise(s.Released, deviation, src)
				d.Sums = nil
				for _, sums := range s.Sums {
					d.Sums = append(d.Sums, addNoise(sums, deviation, src))
				}
				fit := d.Fit()
				moved := fit.Moved()
				for g, z := range fit.Scores {
					first[g], second[g] = first[g]+z/draws, second[g]+z*z/draws
					stated[g] += (moved[0][s.Bins[0][g]] + moved[1][s.Bins[1][g]]) / draws
				}
			}
			all, told := 0.0, 0.0
			for g := range first {
				v := second[g] - first[g]*first[g]
				t.Logf("vectors %v, noise %g, group %d: stated %.2f times what noise does", vectors, deviation, g, stated[g]/v)
				if ratio := stated[g] / v; !(ratio > 0.45 && ratio < 2.2) {
					t.Errorf("vectors %v, noise %g, group %d: stated %.2f times what noise does", vectors, deviation, g, ratio)
				}
				all, told = all+s.Rows[g]*v, told+s.Rows[g]*stated[g]
			}
			if ratio := told / all; !(ratio > 0.55 && ratio < 1.45) {
				t.Errorf("vectors %v, noise %g: stated %.2f times what noise does", vectors, deviation, ratio)
			}
		}
	}
}

// addNoise is the numbers with normal noise on each.
func addNoise(to []float64, deviation float64, src *rand.Rand) (out []float64) {
	for _, x := range to {
		out = append(out, x+deviation*src.NormFloat64())
	}
	return out
}

// Effects of many columns are expected to be smaller than those of few.
func TestFirstSpreadFallsWithColumns(t *testing.T) {
	spread := func(columns int) float64 {
		s := &LabelSums{Rows: []float64{1}}
		for range columns {
			s.Sizes, s.Ordered = append(s.Sizes, 2), append(s.Ordered, 0)
		}
		return newLabelFit(s).spread[0]
	}
	if few, many := spread(3), spread(48); math.Abs(few/many-4) > 1e-9 {
		t.Errorf("variance %g of 3 columns and %g of 48, wanted 4 times as much", few, many)
	}
}
