// SPDX-License-Identifier: Apache-2.0

package shrink

import (
	"math"
	"slices"
	"testing"
)

// expectVectors puts the vectors of a population that is a sum of steps in the place of its sums.
func expectVectors(s *LabelSums, deviation float64, score func(g int) float64) {
	s.Vectors, s.Variance, s.Sums, s.Noise = s.NewVectors(deviation), deviation*deviation, nil, nil
	s.Released = make([]float64, s.Vectors.Len())
	s.Vectors.Each(func(g int, vector []float64) {
		for i, x := range vector {
			s.Released[i] += s.Rows[g] * sigmoid(score(g)) * x
		}
	})
}

// Whatever a row holds, its vector is 1 long, and never longer.
func TestLabelVectorsAreOfOneLength(t *testing.T) {
	for _, deviation := range []float64{1e-3, 1, 1e3, 1e6} {
		s := design(0, [2][]float64{{0, 0, 0}, {0, 0, 0, 0}}, 0)
		s.Rows[0], s.Rows[5] = 1e-9, 1e7
		s.NewVectors(deviation).Each(func(g int, vector []float64) {
			square := 0.0
			for _, x := range vector {
				square += x * x
			}
			if square > 1 || square < 1-1e-8 {
				t.Errorf("deviation %g, group %d: a vector %.12f long", deviation, g, math.Sqrt(square))
			}
		})
	}
}

// Vectors nearly without noise of a population that is a sum of steps give its probabilities back.
func TestLabelVectorsFindTheSteps(t *testing.T) {
	steps := [2][]float64{{-1, 0.2, 0.5}, {-0.6, -0.2, 0.1, 0.8}}
	s := design(0, steps, -0.7)
	score := func(g int) float64 { return -0.7 + steps[0][s.Bins[0][g]] + steps[1][s.Bins[1][g]] }
	expectVectors(s, 1e-3, score)
	for g, z := range s.Fit().Scores {
		if want := score(g); math.Abs(z-want) > 0.02 { // the prior, over thousands of rows in a cell
			t.Errorf("group %d: %g, want %g", g, z, want)
		}
	}
}

// Drowned in noise, vectors say nothing.
func TestLabelVectorsDrownedInNoiseSayNothing(t *testing.T) {
	s := design(0, [2][]float64{{0, 0, 0}, {0, 0, 0, 0}}, -1)
	expectVectors(s, 1e5, func(int) float64 { return -1 })
	for i := range s.Released {
		s.Released[i] += 100 * float64(i-3)
	}
	for k, steps := range s.Fit().Steps {
		for b, x := range steps {
			if math.Abs(x) > 0.05 {
				t.Errorf("column %d, bin %d: a step of %g", k, b, x)
			}
		}
	}
}

// No rows, one row and answers beyond what there can be give finite steps.
func TestLabelVectorsOfOddTables(t *testing.T) {
	for _, s := range []*LabelSums{
		{Sizes: []int{2}, Ordered: []int{2}, Bins: [][]uint32{{}}},
		{Rows: []float64{0}, Sizes: []int{2}, Ordered: []int{2}, Bins: [][]uint32{{1}}},
		{Rows: []float64{1}, Sizes: []int{2}, Ordered: []int{0}, Bins: [][]uint32{{0}}},
		{Rows: []float64{1e9, 1}, Sizes: []int{3}, Ordered: []int{3}, Bins: [][]uint32{{0, 2}}},
	} {
		for _, answer := range []float64{0, 1e6, -1e12} {
			expectVectors(s, 1, func(int) float64 { return 0 })
			for i := range s.Released {
				s.Released[i] = answer
			}
			fit := s.Fit()
			for _, x := range slices.Concat([]float64{fit.Intercept}, fit.Steps[0],
				fit.Variance[0], fit.Moved()[0]) {
				if math.IsNaN(x) || math.IsInf(x, 0) {
					t.Fatalf("%+v: not finite", fit)
				}
			}
		}
	}
}
