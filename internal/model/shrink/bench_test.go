// SPDX-License-Identifier: Apache-2.0

package shrink

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

func BenchmarkLogOdds(b *testing.B) {
	for _, n := range []int{8, 32, 5000} {
		c := Cells{Positive: make([]float64, n), Negative: make([]float64, n), Noise: Noise{40, 40, false}}
		for i := range n {
			c.Positive[i], c.Negative[i] = float64(i%7*50), float64(i%5*60)
		}
		walk := make([]int, n)
		for i := range walk {
			walk[i] = i
		}
		for _, walks := range [][][]int{{walk}, nil} {
			b.Run(fmt.Sprintf("%d bins, ordered %t", n, walks != nil), func(b *testing.B) {
				for b.Loop() {
					c.averageWalks(walks)
				}
			})
		}
	}
}

// A private label with a δ beside public columns of 8 bins and 5,000 rows, no two of them alike.
func BenchmarkLabelFit(b *testing.B) {
	for _, columns := range []int{25, 100, 200} {
		src := rand.New(rand.NewPCG(11, 12))
		s := &LabelSums{Rows: make([]float64, 5000)}
		for range columns {
			codes := make([]uint32, len(s.Rows))
			for g := range codes {
				s.Rows[g], codes[g] = 1, uint32(src.IntN(8))
			}
			s.Bins, s.Sizes, s.Ordered = append(s.Bins, codes), append(s.Sizes, 8), append(s.Ordered, 8)
		}
		score := func(g int) float64 { return float64(s.Bins[0][g]+s.Bins[1][g])/4 - 2 }
		b.Run(fmt.Sprintf("%d columns", columns), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				expectVectors(s, 4, score)
				s.Fit().Moved()
			}
		})
	}
}
