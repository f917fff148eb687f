// SPDX-License-Identifier: Apache-2.0

package spark

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/censustest"
	"github.com/discreet-dp/discreet/internal/check/testkit/size"
	"github.com/discreet-dp/discreet/internal/table/engine/memory"
	"github.com/discreet-dp/discreet/internal/table/engine/question"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
)

// writeFolder writes files of so many rows each, named as here.
func writeFolder(t *testing.T, rows int, names ...string) (folder string) {
	t.Helper()
	folder = t.TempDir()
	for k, name := range names {
		b := censustest.Parquet(uint64(k+1), rows)
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// Only names that mean to Spark what they mean here are opened without asking it.
func TestListFiles(t *testing.T) {
	plain := writeFolder(t, 1, "b.parquet", "a.parquet", "_SUCCESS", ".a.parquet.crc")
	a, b := filepath.Join(plain, "a.parquet"), filepath.Join(plain, "b.parquet")
	columns := writeFolder(t, 1, "year=1/a.parquet")
	deep := writeFolder(t, 1, "a.parquet", "more/b.parquet")
	for _, c := range []struct{ data, want []string }{
		{[]string{plain}, []string{a, b}},
		{[]string{b, b, "file://" + a, "file:" + a}, []string{b, b, a, a}},
		{[]string{columns}, nil},
		{[]string{filepath.Join(columns, "year=1", "a.parquet")}, nil},
		{[]string{deep}, nil},
		{[]string{filepath.Join(plain, "*.parquet")}, nil},
		{[]string{a, filepath.Join(plain, "none")}, nil},
		{[]string{"s3a://bucket/a.parquet"}, nil},
		{[]string{"hdfs:/a.parquet"}, nil},
		{[]string{"table:a"}, nil},
		{[]string{"query:SELECT 1"}, nil},
		{[]string{t.TempDir()}, nil},
		{nil, nil},
	} {
		got, ok := listFiles(c.data)
		if ok != (c.want != nil) || ok && !reflect.DeepEqual(got, c.want) {
			t.Errorf("%q: %q, %v, want %q", c.data, got, ok, c.want)
		}
	}
}

// Pieces of several row groups and files, asked by a worker that made them and by one that did not,
// answer together as memory does.
func TestPiecesAnswerAsMemory(t *testing.T) {
	const rows = 1<<20 + 2000 // two row groups
	folder := writeFolder(t, rows, "a.parquet", "b.parquet")
	text, err := question.Encode(aQuestion)
	if err != nil {
		t.Fatal(err)
	}
	var want question.Adder
	for k := range 2 {
		m, err := memory.New(censustest.Table(uint64(k+1), rows))
		if err != nil {
			t.Fatal(err)
		}
		sums, err := question.AnswerFrom(context.Background(), m, aQuestion)
		if err == nil {
			err = want.Add(sums)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	whole, err := want.Sum()
	if err != nil {
		t.Fatal(err)
	}
	cuts := map[int]int{1: 1, 2: 2, 3: 3, 100: 4}
	if !size.Long() {
		cuts = map[int]int{3: 3}
	}
	for parallel, pieces := range cuts {
		made, err := cutFiles([]string{folder}, parallel, 1<<18)
		if err != nil || len(made) != pieces {
			t.Fatalf("%d pieces for %d tasks at once, want %d, %v", len(made), parallel, pieces, err)
		}
		first, second := playWorker(t), playWorker(t)
		first.begin(nil)
		second.begin(nil)
		var sum question.Adder
		total := 0
		for k := range made {
			coded, _ := first.call(header{Op: "piece", Piece: &made[k]})
			total += coded.Rows
			for _, w := range []*played{first, second} {
				answer, data := w.call(header{Op: "ask piece", Piece: &made[k]}, text)
				if answer.Error != "" || answer.ID != coded.ID || coded.ID == "" {
					t.Fatalf("%+v, want the rows %q", answer, coded.ID)
				}
				sums, err := question.DecodeSums(data[0])
				if err == nil && w == first {
					err = sum.Add(sums)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
		}
		got, err := sum.Sum()
		if err != nil || total != 2*rows || !reflect.DeepEqual(got.Plain, whole.Plain) {
			t.Errorf("%d pieces answer otherwise than memory, %d rows, %v", pieces, total, err)
		}
	}
}

// A file that is another than the one that was cut is refused, and so are pieces that cannot be.
func TestAChangedFileIsRefused(t *testing.T) {
	folder := writeFolder(t, 500, "a.parquet", "other/b.parquet")
	path := filepath.Join(folder, "a.parquet")
	pieces, err := cutFiles([]string{path}, 1, 1)
	if err != nil || len(pieces) != 1 {
		t.Fatalf("%d pieces, %v", len(pieces), err)
	}
	part := pieces[0].Parts[0]
	part.To = 2
	beyond := piece{"1", append(pieces[0].Parts[:1:1], part)}
	part.Path = filepath.Join(folder, "none")
	absent := piece{"2", []dataset.ParquetPart{part}}
	w := playWorker(t)
	w.begin(nil)
	for want, p := range map[string]*piece{"row groups that it has": &beyond, "no such file": &absent, "": nil} {
		answer, _ := w.call(header{Op: "piece", Piece: p})
		if !strings.Contains(answer.Error, want) || answer.Error == "" {
			t.Errorf("error %q, want %q", answer.Error, want)
		}
	}
	if err := os.Rename(filepath.Join(folder, "other", "b.parquet"), path); err != nil {
		t.Fatal(err)
	}
	if answer, _ := w.call(header{Op: "piece", Piece: &pieces[0]}); !strings.Contains(answer.Error, "must not change") {
		t.Errorf("error %q", answer.Error)
	}
}
