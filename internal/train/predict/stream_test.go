// SPDX-License-Identifier: Apache-2.0

package predict

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/censustest"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
)

// streamFiles are files of the same rows, one of them without labels.
func streamFiles(t *testing.T, rows int) map[string]string {
	t.Helper()
	dir := t.TempDir()
	files := map[string]string{}
	for name, file := range map[string][]byte{"t.csv": censustest.CSV(5, rows), "t.parquet": censustest.Parquet(5, rows)} {
		files[name] = filepath.Join(dir, name)
		if err := os.WriteFile(files[name], file, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// writeBy writes what p says about files, so many rows at once.
func writeBy(p Params, rows int, format dataset.Format, files ...string) (out, summary string, err error) {
	m, _ := trained()
	var b strings.Builder
	src := &Source{Paths: files, Options: dataset.Options{Labels: dataset.LabelsIgnored, Extra: dataset.ExtraKept},
		BlockRows: rows}
	tally, err := p.Write(context.Background(), m, src, &b, format)
	if tally != nil {
		summary = strings.Join(tally.Lines(), "\n")
	}
	return b.String(), summary, err
}

// However many rows are scored at once, the output is the same bytes.
func TestWriteDoesNotDependOnBlocks(t *testing.T) {
	files, copies := streamFiles(t, 900), streamFiles(t, 900)
	for _, text := range []string{"", "0.3", "rate=0.1"} {
		threshold, err := ParseThreshold(text)
		if err != nil {
			t.Fatal(err)
		}
		p := Params{Explain: text == "", Interval: text == "", Threshold: threshold}
		for _, format := range []dataset.Format{dataset.CSV, dataset.Parquet} {
			for _, paths := range [][]string{{files["t.csv"]}, {files["t.parquet"]}, {files["t.parquet"], files["t.csv"],
				copies["t.csv"], copies["t.parquet"]}} {
				want, said, err := writeBy(p, 1<<20, format, paths...)
				if err != nil {
					t.Fatal(err)
				}
				for _, rows := range []int{1, 7, 899, 900, 901} {
					got, also, err := writeBy(p, rows, format, paths...)
					if err != nil || got != want || also != said {
						t.Errorf("threshold %q, %d files, %d rows at once: other output, %v, %q, want %q", text, len(paths), rows,
							err, also, said)
					}
				}
			}
		}
	}
}

// A fault in a late row is reported as reading reports it; no row is written that was not scored.
func TestWriteReportsFaults(t *testing.T) {
	m, _ := trained()
	path := streamFiles(t, 900)["t.csv"]
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(text), "\n")
	for name, bad := range map[string]string{"ragged": "1,2\n", "open quote": "\"\n"} {
		file := filepath.Join(t.TempDir(), "bad.csv")
		broken := strings.Join(lines[:700], "") + bad + strings.Join(lines[701:], "")
		if err := os.WriteFile(file, []byte(broken), 0o600); err != nil {
			t.Fatal(err)
		}
		_, want := dataset.Read(context.Background(), m.Schema, dataset.Options{Labels: dataset.LabelsIgnored,
			Extra: dataset.ExtraKept}, file)
		if !errors.As(want, new(*dataset.FaultError)) {
			t.Fatalf("%s: error %v", name, want)
		}
		for _, rows := range []int{1, 50, 1000} {
			out, _, err := writeBy(Params{}, rows, dataset.CSV, file)
			if err == nil || err.Error() != want.Error() {
				t.Errorf("%s, %d rows at once: error %v, want %v", name, rows, err, want)
			}
			if n := strings.Count(out, "\n"); n > 700 {
				t.Errorf("%s: %d lines of output", name, n)
			}
		}
	}
}

// What cannot be written ends the reading.
func TestWriteStopsWhereNobodyReads(t *testing.T) {
	m, _ := trained()
	src := &Source{Paths: []string{streamFiles(t, 20_000)["t.csv"]}, BlockRows: 10,
		Options: dataset.Options{Labels: dataset.LabelsIgnored, Extra: dataset.ExtraKept}}
	r, w := io.Pipe()
	r.Close()
	if _, err := (Params{}).Write(context.Background(), m, src, w, dataset.CSV); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("error %v", err)
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := (Params{}).Write(ended, m, src, io.Discard, dataset.CSV); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}
