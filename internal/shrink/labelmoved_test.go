// SPDX-License-Identifier: Apache-2.0

package shrink

import (
	"math"
	"math/rand/v2"
	"testing"
)

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

// What a fit follows of its sums is what it does where one of them is a little more, by itself and
// by way of the spreads that it finds, in two passes or five. Left out is that the curve itself
// follows the sums, which is little.
func TestLabelFitFollowsItsSums(t *testing.T) {
	src := rand.New(rand.NewPCG(5, 6))
	for _, passes := range []int{2, 5} {
		fit := func(s *LabelSums) *labelFit {
			f := newLabelFit(s)
			f.readSums()
			for range passes {
				f.improve()
			}
			return f
		}
		s := design(900, [2][]float64{{-0.3, 0.1, 0.2}, {-0.2, -0.1, 0, 0.3}}, -0.4)
		for k := range s.Sums {
			for b := range s.Sums[k] {
				s.Sums[k][b] += 30 * src.NormFloat64()
			}
		}
		f := fit(s)
		off, square := 0.0, 0.0
		for m := range f.width {
			k, b := 0, m
			if m >= 3 {
				k, b = 1, m-3
			}
			var ends [2][]float64
			for e, h := range []float64{-1, 1} {
				before := s.Sums[k][b]
				s.Sums[k][b] += h
				ends[e] = fit(s).coef
				s.Sums[k][b] = before
			}
			for i, x := range f.gainOf()[m] {
				want := (ends[1][i] - ends[0][i]) / 2
				off, square = off+(x-want)*(x-want), square+want*want
			}
		}
		t.Logf("%d passes: off by %.4f of what it follows", passes, math.Sqrt(off/square))
		if !(math.Sqrt(off/square) < 0.03) {
			t.Errorf("%d passes: off by %.4f of what it follows", passes, math.Sqrt(off/square))
		}
	}
}

// Variances that are sums over bins are stated as those, whatever is stated at first.
func TestSharesOfSumsAreFound(t *testing.T) {
	f := newLabelFit(design(1, [2][]float64{{0, 0, 0}, {0, 0, 0, 0}}, 0))
	want := []float64{0.1, 0.4, 0.2, 0.3, 0.05, 0.6, 0.1}
	var groups []int
	var scores []float64
	for g := range f.Rows {
		groups, scores = append(groups, g), append(scores, f.statedOf(want, g))
	}
	shares := []float64{1, 1, 1, 1, 1, 1, 1}
	for range 2000 {
		f.improveShares(shares, groups, scores)
	}
	for g, v := range scores {
		if got := f.statedOf(shares, g); math.Abs(got/v-1) > 1e-3 {
			t.Errorf("group %d: %g stated of %g", g, got, v)
		}
	}
}

// What is stated of groups is what noise does: 300 draws of it on the same rows, where two columns
// share what they say. The variance of 300 normals is off by more than .3 of itself about once in
// 10,000 times; .15 more is left for what the sum over bins cannot say, and for a fit that is not
// linear. Seeds are fixed, so it never fails by chance.
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
			for g := range first {
				v := second[g] - first[g]*first[g]
				t.Logf("vectors %v, noise %g, group %d: stated %.2f times what noise does", vectors, deviation, g, stated[g]/v)
				if ratio := stated[g] / v; !(ratio > 0.55 && ratio < 1.45) {
					t.Errorf("vectors %v, noise %g, group %d: stated %.2f times what noise does", vectors, deviation, g, ratio)
				}
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
