// SPDX-License-Identifier: Apache-2.0

package census

import (
	"strconv"
	"testing"
)

func BenchmarkGenerate(b *testing.B) {
	for _, rows := range []int{100_000, 1_000_000, 10_000_000} {
		b.Run(strconv.Itoa(rows), func(b *testing.B) {
			for b.Loop() {
				Generate(1, rows)
			}
			b.ReportMetric(float64(rows)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mrows/s")
			b.ReportAllocs()
		})
	}
}
