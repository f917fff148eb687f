// SPDX-License-Identifier: Apache-2.0

package dataset

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/discreet-dp/discreet/internal/check/testkit/objecttest"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// placeFiles puts files, or folders where names end in a slash, into a folder of this machine and
// into one of a store.
func placeFiles(t *testing.T, s *objecttest.Store, files map[string]string) (folders [2]string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		s.Put("f/"+name, []byte(text))
		path := filepath.Join(dir, name)
		err := os.MkdirAll(filepath.Dir(path), 0o700)
		if err == nil && !strings.HasSuffix(name, "/") {
			err = os.WriteFile(path, []byte(text), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return [2]string{dir, "s3://" + objecttest.Bucket + "/f/"}
}

// A folder of CSV, and a pattern, are their files in the order of names.
func TestFoldersOfText(t *testing.T) {
	rows, sch := randomRows(300), smallSchema()
	files, paths := map[string]string{".DS_Store": "x"}, []string{}
	for k, name := range []string{"a.csv", "b.csv.gz", "c.csv.zst"} {
		path := writeCSV(t, rows[100*k:100*k+100])
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		switch k {
		case 1:
			text = packed(t, string(text))
		case 2:
			text = compressed(t, text)
		}
		files[name], paths = string(text), append(paths, path)
	}
	want, err := Read(t.Context(), sch, Options{}, paths...)
	if err != nil {
		t.Fatal(err)
	}
	places := placeFiles(t, objecttest.Start(t, t.Setenv), files)
	for _, place := range append(places[:], filepath.Join(places[0], "*.csv*"), filepath.Join(places[0], "[a-c].*")) {
		got, err := Read(t.Context(), sch, Options{}, place)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: another table: %v", place, err)
		}
		if _, err := ReadHeader(t.Context(), place, sch.Dialect); err != nil {
			t.Errorf("%s: %v", place, err)
		}
	}
	literal := filepath.Join(places[0], "[a].csv") // a name, since there is such a file
	if err := os.Rename(paths[0], literal); err != nil {
		t.Fatal(err)
	}
	if got, err := Read(t.Context(), sch, Options{}, literal); err != nil || got.Rows != 100 {
		t.Error(err)
	}
}

// compressed is text as zstd.
func compressed(t *testing.T, text []byte) []byte {
	t.Helper()
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return z.EncodeAll(text, nil)
}

// Damage of a compressed file is a fault that tells of no cell.
func TestDamagedZstd(t *testing.T) {
	text := compressed(t, []byte("age,income,city,rank,note,sick\n"))
	for name, damaged := range map[string][]byte{"complete": text[:len(text)-3], "cut short": {}, "undamaged": []byte("age,income")} {
		path := writeFile(t, "t.csv.zst", string(damaged))
		_, err := Read(t.Context(), smallSchema(), Options{}, path)
		wantFault(t, err, path, 0, "", name)
	}
}

// A folder is its Parquet files in order, wherever it is, to all who read tables.
func TestFoldersAreTheirFiles(t *testing.T) {
	rows, sch := randomRows(300), smallSchema()
	var want *Table
	files, paths := map[string]string{"_SUCCESS": "", ".a.crc": "x"}, []string{}
	for k := range 3 {
		path := writeParquet(t, rows[100*k:100*k+100])
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		files[fmt.Sprintf("part %d.parquet", 2-k)] = string(text)
		paths = append([]string{path}, paths...)
	}
	want, err := Read(t.Context(), sch, Options{}, paths...)
	if err != nil {
		t.Fatal(err)
	}
	counts := tally(t, sch, paths...)
	names, err := ReadHeader(t.Context(), paths[0], schema.Dialect{})
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range placeFiles(t, objecttest.Start(t, t.Setenv), files) {
		got, err := Read(t.Context(), sch, Options{}, folder)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: another table: %v", folder, err)
		}
		if blocks, total, err := readInBlocks(sch, 120, folder); err != nil || total != 300 || len(blocks) != 3 {
			t.Errorf("%s: %d blocks of %d rows: %v", folder, len(blocks), total, err)
		}
		if got := tally(t, sch, folder); got.Rows != 300 || !slices.Equal(got.Columns, counts.Columns) {
			t.Errorf("%s: other counts of %d rows", folder, got.Rows)
		}
		if got, err := ReadHeader(t.Context(), folder, schema.Dialect{}); err != nil || !slices.Equal(got, names) {
			t.Errorf("%s: %v: %v", folder, got, err)
		}
		if book, err := AddTypes(t.Context(), nil, folder); err != nil || len(book) == 0 {
			t.Errorf("%s: no types: %v", folder, err)
		}
		var there, here strings.Builder
		if err := CopyRows(t.Context(), sch, Options{}, &there, CSV, nil, nil, folder); err != nil {
			t.Errorf("%s: %v", folder, err)
		}
		err = CopyRows(t.Context(), sch, Options{}, &here, CSV, nil, nil, paths...)
		if err != nil || there.String() != here.String() {
			t.Errorf("%s: other rows are passed on: %v", folder, err)
		}
	}
}

// Brackets that begin with an exclamation mark match all other characters, as in a shell.
func TestPatternsOfShells(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"p0.csv", "p1.csv", "p!.csv"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, pattern := range []string{"p[!0!].csv", "p[^0!].csv"} {
		files, err := matchPattern(filepath.Join(dir, pattern))
		if want := []string{filepath.Join(dir, "p1.csv")}; err != nil || !slices.Equal(files, want) {
			t.Errorf("%s: %v, %v; want %v", pattern, files, err, want)
		}
	}
}

// No rows are left out unseen.
func TestFoldersOfOtherThingsAreRefused(t *testing.T) {
	for want, files := range map[string]map[string]string{
		"must be a folder of .parquet files alone, or of .csv": {"a.parquet": "", "b.csv": ""},
		"must be a folder of .parquet files alone":             {"a.txt": "", "b.txt": ""},
		"must be a folder of at least one":                     {"_a.parquet": "", "_temporary/a.parquet": ""},
		"/**/*.parquet', hive_partitioning = true)":            {"year=2024/month=1/b.parquet": "", "year=2024/_SUCCESS": ""},
		"by a pattern":    {"a.parquet": "", "more/b.parquet": ""},
		"no longer count": {"a.parquet": "", "_delta_log/0.json": ""},
		"which some of its files no longer count": {"data/a.parquet": "", "metadata/v1.json": ""},
		"must name each table once":               {"a.csv": "", "a.csv.gz": ""},
	} {
		for _, folder := range placeFiles(t, objecttest.Start(t, t.Setenv), files) {
			if _, err := Read(t.Context(), smallSchema(), Options{}, folder); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %s", folder, err, want)
			}
		}
	}
}

func TestPatternsThatNameNoTableAreRefused(t *testing.T) {
	log := placeFiles(t, objecttest.Start(t, t.Setenv), map[string]string{"a.parquet": "", "_delta_log/0.json": ""})[0]
	_, err := Read(t.Context(), smallSchema(), Options{}, filepath.Join(log, "*.parquet"))
	wantFault(t, err, filepath.Join(log, "*.parquet"), 0, "", "no longer count")
	dir := placeFiles(t, objecttest.Start(t, t.Setenv), map[string]string{"a.parquet": "", "b.csv": "", "year=1/c.csv": "", ".d.txt": ""})[0]
	for pattern, want := range map[string]string{"*.tsv": "at least one file", "*.txt": "at least one file", "[a.csv": "must be a file", "**/a.csv": "must have a * for each folder",
		"?.*": "must match Parquet alone", "year*": "read_csv('"} {
		_, err := Read(t.Context(), smallSchema(), Options{}, filepath.Join(dir, pattern))
		wantFault(t, err, filepath.Join(dir, pattern), 0, "", want)
	}
}

// A store that fails in the middle is not called a damaged file, in whatever way rows are read.
func TestAFailingStoreIsNoFault(t *testing.T) {
	s := objecttest.Start(t, t.Setenv)
	rows := randomRows(80_000) // more than one request
	text, err := os.ReadFile(writeParquet(t, rows))
	if err != nil {
		t.Fatal(err)
	}
	csv, err := os.ReadFile(writeCSV(t, rows))
	if err != nil {
		t.Fatal(err)
	}
	packedText := packed(t, string(csv))
	if min(len(text), len(packedText)) < 300_000 {
		t.Fatalf("files of %d and %d bytes are too short", len(text), len(packedText))
	}
	for address, read := range map[string]func(address string) error{
		s.Put("a.parquet", text): func(address string) error {
			_, err := Read(t.Context(), smallSchema(), Options{}, address)
			return err
		},
		s.Put("b.parquet", text): func(address string) error {
			_, _, err := readInBlocks(smallSchema(), 100, address)
			return err
		},
		s.Put("c.parquet", text): func(address string) error {
			return CopyRows(t.Context(), smallSchema(), Options{}, &strings.Builder{}, CSV, nil, nil, address)
		},
		s.Put("d.csv.gz", packedText): func(address string) error {
			_, err := Read(t.Context(), smallSchema(), Options{}, address)
			return err
		},
		s.Put("e.parquet", text): func(address string) error {
			_, err := Check(t.Context(), smallSchema(), Options{}, address)
			return err
		},
	} {
		for from := 0; ; from++ { // the first request that fails: each may be
			s.Break(func(n int, r *http.Request) (a objecttest.Answer) {
				if n >= from {
					a.Status = http.StatusForbidden
				}
				return a
			})
			err := read(address)
			if len(s.Asked()) <= from {
				break // all were answered
			}
			if err == nil || err.Error() != "data: "+address+": must exist and be readable with these keys (HTTP 403)" {
				t.Errorf("%s, from request %d on: %v", address, from, err)
			}
		}
	}
}
