// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/check/testkit/censustest"
	"github.com/discreet-dp/discreet/internal/check/testkit/clitest"
	"github.com/discreet-dp/discreet/internal/table/census"
)

// BenchmarkRows times whole processes on generated tables of 14 columns and a
// label, from Parquet and from CSV: one that only reads (schema check --data)
// beside those that also train. DISCREET_BENCH_ROWS lists the sizes, e.g.
// "100000,1000000,10000000".
func BenchmarkRows(b *testing.B) {
	sizes := os.Getenv("DISCREET_BENCH_ROWS")
	if sizes == "" {
		sizes = "100000"
	}
	for _, size := range strings.Split(sizes, ",") {
		dir, rows := b.TempDir(), 0
		if _, err := fmt.Sscan(size, &rows); err != nil {
			b.Fatal(err)
		}
		for name, write := range map[string]func(io.Writer) error{
			"census.yaml": func(w io.Writer) error { _, err := w.Write(census.SchemaYAML()); return err },
			"t.parquet":   func(w io.Writer) error { _, err := w.Write(censustest.Parquet(1, rows)); return err },
			"t.csv":       func(w io.Writer) error { _, err := w.Write(censustest.CSV(1, rows)); return err },
		} {
			if err := clitest.WritePrivate(filepath.Join(dir, name), write); err != nil {
				b.Fatal(err)
			}
		}
		for _, form := range []string{"parquet", "csv"} {
			train := func(learner string) []string {
				return []string{"train", "--data", "t." + form, "--schema", "census.yaml", "--learner", learner, "--epsilon", "1",
					"--model", "model.json"}
			}
			for _, what := range []struct {
				name string
				args []string
			}{
				{"read", []string{"schema", "check", "census.yaml", "--data", "t." + form}},
				{"brc", train("brc")},
				{"additive", train("additive")},
			} {
				b.Run(fmt.Sprintf("%s/%s/rows=%d", form, what.name, rows),
					func(b *testing.B) { benchmarkProcess(b, dir, what.args) })
			}
		}
	}
}

// benchmarkProcess reports the processor time of a run, beside its time, and the
// most memory that one took, at least what the benchmark itself had.
func benchmarkProcess(b *testing.B, dir string, args []string) {
	var busy time.Duration
	var peak int64
	for b.Loop() {
		c := exec.Command("discreet", args...)
		c.Dir = dir
		if out, err := c.CombinedOutput(); err != nil {
			b.Fatalf("%v: %s", err, out)
		}
		busy += c.ProcessState.UserTime() + c.ProcessState.SystemTime()
		peak = max(peak, c.ProcessState.SysUsage().(*syscall.Rusage).Maxrss)
	}
	b.ReportMetric(busy.Seconds()/float64(b.N), "cpu-s/op")
	b.ReportMetric(float64(peak)/1e3, "peak-MB")
}
