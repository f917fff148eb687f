// SPDX-License-Identifier: Apache-2.0

package shrink

import (
	"fmt"
	"testing"
)

func BenchmarkLogOdds(b *testing.B) {
	for _, n := range []int{8, 32, 5000} {
		c := Cells{Positive: make([]float64, n), Negative: make([]float64, n), Noise: Noise{40, 40, false}}
		for i := range n {
			c.Positive[i], c.Negative[i] = float64(i%7*50), float64(i%5*60)
		}
		for _, ordered := range []bool{true, false} {
			b.Run(fmt.Sprintf("%d bins, ordered %t", n, ordered), func(b *testing.B) {
				for b.Loop() {
					c.averageWalks(ordered)
				}
			})
		}
	}
}
