// SPDX-License-Identifier: Apache-2.0

package sqlrows_test

import (
	"database/sql"
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

// Dates and times of a database are days, whatever the format of the schema: dates are their own, and
// points in time have that of the schema's zone.
func TestDatesOfDatabases(t *testing.T) {
	for _, format := range []string{"YYYY-MM-DD", "DD.MM.YYYY", "YYYYMMDD"} {
		s, err := schema.Parse([]byte(`name: stays
unit: one stay
relation: replace-one
file: {delimiter: ",", quote: '"', header: true, missing: [""]}
columns:
  - name: seen
    role: private
    date: {format: ` + format + `, lower: 2015-01-01, upper: 2024-12-31, default: 2020-01-01, zone: Asia/Tokyo}
  - {name: again, role: private, label: {levels: ["no", "yes"], positive: "yes", default: "no"}}
`))
		if err != nil {
			t.Fatal(err)
		}
		check := func(address, what string, want ...string) {
			t.Helper()
			tab, err := dataset.Read(t.Context(), s, dataset.Options{}, address)
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			c, days := &s.Columns[0], []string(nil)
			for i := range tab.Rows {
				days = append(days, schema.FormatDate("YYYY-MM-DD", c.Since+int(tab.Cols[0].Values[tab.Cols[0].Codes.At(i)])))
			}
			if !slices.Equal(days, want) {
				t.Errorf("%s as %s: days %v, want %v", what, format, days, want)
			}
		}
		path := filepath.Join(t.TempDir(), "stays.db")
		db, err := sql.Open("sqlite", path)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		const rows = " VALUES ('2021-03-05', 'no'), ('2016-02-29 23:30:00', 'yes'), (NULL, 'no')"
		for _, kind := range []string{"DATE", "DATETIME", "TIMESTAMP"} {
			for _, statement := range []string{"CREATE TABLE " + kind + "s (seen " + kind + ", again TEXT)", "INSERT INTO " + kind + "s" + rows} {
				if _, err := db.Exec(statement); err != nil {
					t.Fatal(err)
				}
			}
			check("sqlite:"+path+"?table="+kind+"s", "SQLite's "+kind, "2021-03-05", "2016-02-29", "2020-01-01")
		}
		days := strings.NewReplacer("YYYY", "2021", "MM", "03", "DD", "05").Replace(format)
		if _, err := db.Exec("CREATE TABLE texts AS SELECT '" + days + "' AS seen, 'no' AS again UNION ALL SELECT 18000, 'no'"); err != nil {
			t.Fatal(err)
		}
		check("sqlite:"+path+"?table=texts", "SQLite's text", "2021-03-05", "2020-01-01")
		conn, address := postgres(t)
		for kind, want := range map[string][]string{"date": {"2021-03-05", "2016-02-29", "2020-01-01"},
			"timestamp": {"2021-03-05", "2016-02-29", "2020-01-01"}, "timestamptz": {"2021-03-05", "2016-03-01", "2020-01-01"}} {
			exec(t, conn, "SET TimeZone = 'UTC'", "CREATE TABLE "+kind+"s (seen "+kind+", again text)", "INSERT INTO "+kind+"s"+rows)
			check(address+"&table="+kind+"s", "PostgreSQL's "+kind, want...)
			exec(t, conn, "INSERT INTO "+kind+"s VALUES ('infinity', 'no'), ('-infinity', 'no'), ('0044-03-15 BC', 'no')")
			check(address+"&table="+kind+"s", "PostgreSQL's "+kind, append(want, "2020-01-01", "2020-01-01", "2015-01-01")...)
		}
	}
}
