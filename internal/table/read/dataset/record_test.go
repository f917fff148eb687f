// SPDX-License-Identifier: Apache-2.0

package dataset

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A record has the tables that were checked, by their names and as they were, with the schema of the check.
func TestRecordHasTablesAsTheyWere(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, name := range []string{"a.csv", "b.csv", "in/c.csv", "in/d.csv", "other.txt"} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(at(name)), 0o700), os.WriteFile(at(name), []byte("1,2\n"), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	s, other := tinySchema(), tinySchema()
	other.Columns[0].Upper++
	record := func(paths ...string) error {
		tables, err := NameTables(t.Context(), s, paths...)
		if err != nil {
			t.Fatal(err)
		}
		return WriteRecord(at("record"), time.Now(), tables)
	}
	want := func(checked bool, paths ...string) {
		t.Helper()
		err := FindCheck(t.Context(), at("record"), s, paths...)
		if checked && err != nil || !checked && !errors.Is(err, ErrUnchecked) {
			t.Errorf("%v must be checked: %v, and %v", paths, checked, err)
		}
	}
	want(false, at("a.csv"))
	if err := errors.Join(record(at("a.csv")), record(at("in"), "-", "cells:-", os.DevNull, "s3://bucket/t.parquet"), record(at("a.csv"))); err != nil {
		t.Fatal(err)
	}
	want(true, at("a.csv"))
	want(true, at("in/d.csv"), at("a.csv"))
	want(true, at("in"), "s3://bucket/t.parquet")
	for _, stream := range []string{"-", "cells:-", os.DevNull} {
		if err := FindCheck(t.Context(), at("record"), s, at("a.csv"), stream); !errors.Is(err, ErrStream) {
			t.Errorf("%s: %v", stream, err)
		}
	}
	if text, err := os.ReadFile(at("record")); err != nil || strings.Contains(string(text), `"-"`) || strings.Contains(string(text), "null") {
		t.Errorf("the record has a stream: %s, %v", text, err)
	}
	want(false, at("a.csv"), at("b.csv"))
	want(false, "s3://bucket/u.parquet")
	if err := FindCheck(t.Context(), at("record"), other, at("a.csv")); !errors.Is(err, ErrUnchecked) {
		t.Errorf("another schema: %v", err)
	}
	t.Chdir(dir)
	want(true, "a.csv")
	later := time.Now().Add(time.Second)
	if err := os.Chtimes("in/c.csv", later, later); err != nil {
		t.Fatal(err)
	}
	want(false, "in")
	want(true, "in/d.csv")
	// So is a database in a file, also if its newest rows are still beside it.
	for _, address := range []string{"sqlite:a.db?table=t", "sqlite://" + at("a.db") + "?table=t"} {
		write := func(name string) {
			t.Helper()
			if err := os.WriteFile(name, []byte(address), 0o600); err != nil {
				t.Fatal(err)
			}
			later = later.Add(time.Second)
			if err := os.Chtimes(name, later, later); err != nil {
				t.Fatal(err)
			}
		}
		for _, change := range []func(){func() { write("a.db") }, func() { write("a.db-wal") }, func() { write("a.db-wal") },
			func() { write("a.db") }, func() { os.Remove("a.db-wal"); write("a.db") }} {
			change()
			want(false, address)
			if err := record(address); err != nil {
				t.Fatal(err)
			}
			want(true, address)
			want(false, strings.Replace(address, "=t", "=u", 1))
		}
	}
	if err := FindCheck(t.Context(), at("record"), s, "none.csv"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	// A file that is no record stays as it is.
	tables, err := NameTables(t.Context(), s, "a.csv")
	if err == nil {
		err = WriteRecord("other.txt", time.Now(), tables)
	}
	if text, readErr := os.ReadFile("other.txt"); err == nil || readErr != nil || string(text) != "1,2\n" {
		t.Errorf("replaced by a record: %q, %v, %v", text, err, readErr)
	}
}
