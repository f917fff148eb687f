// SPDX-License-Identifier: Apache-2.0

package dataset

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
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
		if got, err := WasChecked(t.Context(), at("record"), s, paths...); err != nil || got != checked {
			t.Errorf("%v were checked: %v, %v", paths, got, err)
		}
	}
	want(false, at("a.csv"))
	if err := errors.Join(record(at("a.csv")), record(at("in"), "-", "cells:-", "s3://bucket/t.parquet"), record(at("a.csv"))); err != nil {
		t.Fatal(err)
	}
	want(true, at("a.csv"))
	want(true, at("in/d.csv"), at("a.csv"))
	want(true, at("in"), "-", "cells:-", "s3://bucket/t.parquet")
	want(false, at("a.csv"), at("b.csv"))
	want(false, "s3://bucket/u.parquet")
	if got, err := WasChecked(t.Context(), at("record"), other, at("a.csv")); err != nil || got {
		t.Errorf("another schema: %v, %v", got, err)
	}
	t.Chdir(dir)
	want(true, "a.csv")
	later := time.Now().Add(time.Second)
	if err := os.Chtimes("in/c.csv", later, later); err != nil {
		t.Fatal(err)
	}
	want(false, "in")
	want(true, "in/d.csv")
	if _, err := WasChecked(t.Context(), at("record"), s, "none.csv"); !errors.Is(err, fs.ErrNotExist) {
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
