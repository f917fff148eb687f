// SPDX-License-Identifier: Apache-2.0

package brc

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/census"
	"github.com/discreet-dp/discreet/dataset"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/learn/learntest"
	"github.com/discreet-dp/discreet/mech"
	"github.com/discreet-dp/discreet/rng"
)

// sizes are the rows of the benchmarks: DISCREET_BENCH_ROWS, e.g.
// "100000,1000000,10000000", or one small size.
func sizes(b *testing.B) (rows []int) {
	text := os.Getenv("DISCREET_BENCH_ROWS")
	if text == "" {
		text = "100000"
	}
	for _, t := range strings.Split(text, ",") {
		n, err := strconv.Atoi(t)
		if err != nil {
			b.Fatal(err)
		}
		rows = append(rows, n)
	}
	return rows
}

// BenchmarkCensus times what a training does, from a Parquet file of 14 columns
// and a label: read alone, fit alone, and both.
func BenchmarkCensus(b *testing.B) {
	for _, n := range sizes(b) {
		path := filepath.Join(b.TempDir(), "census.parquet")
		f, err := os.Create(path)
		if err != nil {
			b.Fatal(err)
		}
		if err := census.StreamParquet(f, 1, n); err != nil {
			b.Fatal(err)
		}
		if err := f.Close(); err != nil {
			b.Fatal(err)
		}
		read := func() engine.Table {
			tab, err := dataset.Read(context.Background(), census.Schema(), dataset.Options{}, path)
			if err != nil {
				b.Fatal(err)
			}
			return learntest.Engine(b, tab)
		}
		p := Defaults()
		p.Epsilon = dp.Nano
		fit := func(tab engine.Table) {
			pl, err := p.Plan(tab.Schema(), tab.Rows())
			if err != nil {
				b.Fatal(err)
			}
			if _, err := pl.Fit(context.Background(), tab, learntest.Free{}, mech.NewExit(rng.System())); err != nil {
				b.Fatal(err)
			}
		}
		tab := read()
		for _, part := range []struct {
			name string
			do   func()
		}{{"read", func() { read() }}, {"fit", func() { fit(tab) }}, {"train", func() { fit(read()) }}} {
			b.Run(fmt.Sprintf("%s/rows=%d", part.name, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					part.do()
				}
				b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
			})
		}
	}
}
