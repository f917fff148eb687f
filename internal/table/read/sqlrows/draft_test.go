// SPDX-License-Identifier: Apache-2.0

package sqlrows_test

import (
	"database/sql"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// draft is the draft of a schema from an address alone.
func draft(t *testing.T, address string) string {
	t.Helper()
	d := schema.Dialect{Delimiter: ',', Quote: '"', Header: true}
	names, err := dataset.ReadHeader(t.Context(), address, d)
	if err != nil {
		t.Fatal(err)
	}
	book, err := dataset.AddTypes(t.Context(), nil, address)
	if err != nil {
		t.Fatal(err)
	}
	text, err := schema.Draft(names, d, book, schema.DraftOptions{Role: "private"})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// drafted are what a draft says of columns that the catalogue knows the types of.
var drafted = []string{
	"- name: sick_days\n    role: private\n" +
		"    number: {lower: ___, upper: ___, integer: true, default: ___, missing: true}",
	"- name: pay\n    role: private\n    number: {lower: ___, upper: ___, default: ___, missing: true}",
	"- name: died\n    role: private\n    category: {levels: yes_no, missing: true}",
	"- name: town\n    role: private\n    category: {levels: [___",
	"date: {format: YYYY-MM-DD, lower: ___, upper: ___, default: ___, missing: true}",
}

// A draft has the types that SQLite's catalogue declares, and no cell.
func TestDraftOfSQLite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "people.db")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{
		"CREATE TABLE people (sick_days INTEGER, pay REAL, died BOOLEAN, town VARCHAR(20), seen DATE, face BLOB)",
		"INSERT INTO people VALUES (41, 2.5, 1, 'canary', '2021-03-05', x'00')",
	} {
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	text := draft(t, "sqlite:"+path+"?table=people")
	checkDraft(t, text)
	if strings.Contains(text, "canary") {
		t.Error("a cell is in the draft")
	}
}

// A draft has the types of PostgreSQL's catalogue, of a view, too, whose rows no one can read.
func TestDraftOfPostgres(t *testing.T) {
	conn, address := postgres(t)
	exec(t, conn, "CREATE TYPE towns AS ENUM ('Rome', 'Oslo')",
		"CREATE TABLE t (n integer, pay numeric, died boolean, town towns, seen timestamptz, face bytea)",
		"INSERT INTO t VALUES (0, 1.5, true, 'Rome', now(), '')",
		"CREATE VIEW people AS SELECT 1 / n AS sick_days, pay, died, town, seen, face FROM t")
	checkDraft(t, draft(t, address+"&table=people"))
}

func checkDraft(t *testing.T, text string) {
	t.Helper()
	for _, want := range drafted {
		if !strings.Contains(text, want) {
			t.Errorf("%s\nis not in\n%s", want, text)
		}
	}
}

// Dates of a database are those of a file.
func TestDatesOfDatabases(t *testing.T) {
	s, err := schema.Parse([]byte(`name: stays
unit: one stay
relation: replace-one
file: {delimiter: ",", quote: '"', header: true, missing: [""]}
columns:
  - name: seen
    role: private
    date: {format: YYYY-MM-DD, lower: 2015-01-01, upper: 2024-12-31, default: 2020-01-01}
  - {name: again, role: private, label: {levels: ["no", "yes"], positive: "yes", default: "no"}}
`))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "stays.csv")
	if err := os.WriteFile(file, []byte("seen,again\n2021-03-05,no\n2016-02-29,yes\n,no\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	days := func(address string) (days []float64) {
		tab, err := dataset.Read(t.Context(), s, dataset.Options{}, address)
		if err != nil {
			t.Fatal(err)
		}
		for i := range tab.Rows {
			days = append(days, tab.Cols[0].Values[tab.Cols[0].Codes.At(i)])
		}
		return days
	}
	want := days(file)
	path := filepath.Join(t.TempDir(), "stays.db")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	const rows = "INSERT INTO stays VALUES ('2021-03-05', 'no'), ('2016-02-29', 'yes'), (NULL, 'no')"
	for _, statement := range []string{"CREATE TABLE stays (seen DATE, again TEXT)", rows} {
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	if got := days("sqlite:" + path + "?table=stays"); !slices.Equal(got, want) {
		t.Errorf("SQLite: days %v, want %v", got, want)
	}
	conn, address := postgres(t)
	exec(t, conn, "CREATE TABLE stays (seen date, again text)", rows)
	if got := days(address + "&table=stays"); !slices.Equal(got, want) {
		t.Errorf("PostgreSQL: days %v, want %v", got, want)
	}
}
