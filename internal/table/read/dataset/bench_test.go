// SPDX-License-Identifier: Apache-2.0

package dataset_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/censustest"
	"github.com/discreet-dp/discreet/internal/table/census"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
)

// The tables are those of the demo: 14 columns and a label. Set
// DISCREET_BENCH_ROWS for another number of rows than 200,000.
func BenchmarkReadCSV(b *testing.B)     { benchmarkRead(b, "table.csv", censustest.CSV) }
func BenchmarkReadParquet(b *testing.B) { benchmarkRead(b, "table.parquet", censustest.Parquet) }

// BenchmarkDecodeParquet is the least that reading can take: pages are unpacked and decoded, and no
// cell is coded.
func BenchmarkDecodeParquet(b *testing.B) {
	benchmarkFile(b, "table.parquet", censustest.Parquet, func(path string) (int, error) {
		rows, err := dataset.DecodeParquet(path)
		return int(rows), err
	})
}

func benchmarkRead(b *testing.B, name string, write func(seed uint64, rows int) []byte) {
	benchmarkFile(b, name, write, func(path string) (int, error) {
		tab, err := dataset.Read(context.Background(), census.Schema(), dataset.Options{}, path)
		if err != nil {
			return 0, err
		}
		return tab.Rows, nil
	})
}

func benchmarkFile(
	b *testing.B, name string, write func(seed uint64, rows int) []byte, read func(path string) (int, error),
) {
	rows := 200_000
	if text := os.Getenv("DISCREET_BENCH_ROWS"); text != "" {
		if _, err := fmt.Sscan(text, &rows); err != nil {
			b.Fatal(err)
		}
	}
	path := filepath.Join(b.TempDir(), name)
	file := write(1, rows)
	if err := os.WriteFile(path, file, 0o600); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(file)))
	b.ReportAllocs()
	for b.Loop() {
		got, err := read(path)
		if err != nil {
			b.Fatal(err)
		}
		if got != rows {
			b.Fatalf("%d rows, want %d", got, rows)
		}
	}
	b.ReportMetric(float64(rows)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mrows/s")
}
