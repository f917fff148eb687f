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

func BenchmarkWriteCSV(b *testing.B) {
	const rows = 1 << 20
	table := Generate(1, rows)
	var size counter
	for b.Loop() {
		size = 0
		if err := WriteCSV(&size, table); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(rows)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mrows/s")
	b.ReportMetric(float64(size)/rows, "bytes/row")
	b.ReportAllocs()
}

type counter int

func (c *counter) Write(p []byte) (int, error) { *c += counter(len(p)); return len(p), nil }
