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
