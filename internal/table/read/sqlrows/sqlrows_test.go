// SPDX-License-Identifier: Apache-2.0

package sqlrows_test

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/discreet-dp/discreet/internal/check/testkit/censustest"
	"github.com/discreet-dp/discreet/internal/check/testkit/ledgertest"
	"github.com/discreet-dp/discreet/internal/table/census"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/read/sqlrows"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// The server of all tests; nil if there is none, and why.
var (
	server *ledgertest.Server
	why    string
)

func TestMain(m *testing.M) {
	var err error
	if server, why, err = ledgertest.Postgres(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	if server != nil {
		server.Stop()
	}
	os.Exit(code)
}

// postgres is a connection to an empty database, and the database's address.
func postgres(t testing.TB) (*pgx.Conn, string) {
	t.Helper()
	if server == nil {
		t.Skip(why)
	}
	address := server.Database(t)
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) })
	return conn, address
}

func exec(t testing.TB, conn *pgx.Conn, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if _, err := conn.Exec(t.Context(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

// markedSchema is a census whose missing ages have a bin of their own, and capitals of 0, too.
func markedSchema() *schema.Schema {
	s := census.Schema()
	s.Columns[0].Missing = true
	s.Dialect.Missing = append(s.Dialect.Missing, "?")
	for j := range s.Columns {
		if s.Columns[j].Name == "capital_income" {
			s.Columns[j].Special = []float64{0}
		}
	}
	return s
}

// columnTypes are the types of the census's columns in PostgreSQL, one of every kind of numbers.
func columnTypes(s *schema.Schema) (list []string) {
	numbers := []string{"smallint", "integer", "bigint", "real", "double precision", "numeric"}
	n := 0
	for _, c := range s.FileColumns() {
		kind := "text"
		switch {
		case c.Kind == schema.Number:
			kind = numbers[n%len(numbers)]
			n++
		case c.Name == "region":
			kind = "char(12)"
		case c.Name == "sex":
			kind = "sexes"
		}
		list = append(list, fmt.Sprintf(`"%s" %s`, c.Name, kind))
	}
	return append(list, fmt.Sprintf(`"%s" varchar(20)`, s.Label.Name))
}

// censusText is CSV of so many rows, in which some ages are missing and some are none.
func censusText(t testing.TB, rows int) []byte {
	t.Helper()
	b := censustest.CSV(7, rows)
	lines := strings.Split(string(b), "\n")
	for i := 5; i < len(lines)-1; i += 50 {
		_, rest, _ := strings.Cut(lines[i], ",")
		lines[i] = "?," + rest
		if i%100 == 5 {
			lines[i] = "950," + rest
		}
	}
	return []byte(strings.Join(lines, "\n"))
}

// load makes a table people of CSV, in the order of its rows: a server puts rows if it has
// room.
func load(t testing.TB, conn *pgx.Conn, s *schema.Schema, text []byte) {
	t.Helper()
	exec(t, conn, "CREATE TYPE sexes AS ENUM ('female', 'male')",
		"CREATE TABLE loaded ("+strings.Join(columnTypes(s), ", ")+", place serial)")
	names, _, _ := strings.Cut(string(text), "\n")
	if _, err := conn.PgConn().CopyFrom(t.Context(), bytes.NewReader(text),
		"COPY loaded ("+names+") FROM STDIN (FORMAT csv, HEADER, NULL '?')"); err != nil {
		t.Fatal(err)
	}
	exec(t, conn, "CREATE VIEW people AS SELECT "+names+" FROM loaded ORDER BY place")
}

// loadSQLite is load into a file.
func loadSQLite(t testing.TB, s *schema.Schema, text []byte) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "people.db")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var columns, marks []string
	for _, name := range strings.Split(strings.SplitN(string(text), "\n", 2)[0], ",") {
		kind := "TEXT"
		for _, c := range s.Columns {
			if c.Name == name && c.Kind == schema.Number {
				kind = "REAL"
			}
		}
		columns, marks = append(columns, `"`+name+`" `+kind), append(marks, "nullif(?, '?')")
	}
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	if _, err := tx.Exec("CREATE TABLE people (" + strings.Join(columns, ", ") + ")"); err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n")[1:] {
		var cells []any
		for _, cell := range strings.Split(line, ",") {
			cells = append(cells, cell)
		}
		if _, err := tx.Exec("INSERT INTO people VALUES ("+strings.Join(marks, ", ")+")", cells...); err != nil {
			t.Fatal(err)
		}
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	return path
}

// Decimals of a server have a point, also where texts have a comma, and identify the persons of integers.
func TestDecimalsHaveAPoint(t *testing.T) {
	conn, address := postgres(t)
	exec(t, conn, "CREATE TABLE a (p numeric(9, 2), x numeric, y text)", "INSERT INTO a VALUES (123, 1.5, 'a'), (1234, 2.5, 'b')",
		"CREATE TABLE b (p bigint, x float8, y text)", "INSERT INTO b VALUES (123, 1.5, 'a'), (1234, 2.5, 'b')")
	s, err := schema.Parse([]byte(`{name: v, unit: one visit, relation: replace-one, person: {column: p, rows: 1, identifiers: whole},
		file: {delimiter: ";", quote: "", header: true, decimal: ",", thousands: "."}, columns: [{name: p, role: ignored},
		{name: x, role: private, number: {lower: 0, upper: 9, default: 5}},
		{name: y, role: private, label: {levels: [a, b], positive: a, default: b}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	tab, err := dataset.Read(t.Context(), s, dataset.Options{}, address+"&table=a", address+"&table=b")
	if err != nil || !reflect.DeepEqual(tab.Persons, []uint32{1, 2, 1, 2}) || !reflect.DeepEqual(tab.Cols[1].Values, []float64{1.5, 2.5}) {
		t.Errorf("%+v, %v", tab, err)
	}
}

// A table of a server is read once, under whatever names, and so are its partitions.
func TestATableOfAServerIsReadOnce(t *testing.T) {
	conn, address := postgres(t)
	exec(t, conn, "CREATE TABLE visits (age int, y text, year int) PARTITION BY LIST (year)",
		"CREATE TABLE last PARTITION OF visits FOR VALUES IN (2024)", "CREATE TABLE next PARTITION OF visits FOR VALUES IN (2025)",
		"INSERT INTO visits VALUES (1, 'a', 2024), (2, 'b', 2025)", "CREATE VIEW old AS SELECT * FROM last")
	var schemaName string
	if err := conn.QueryRow(t.Context(), "SELECT current_schema()").Scan(&schemaName); err != nil {
		t.Fatal(err)
	}
	s, err := schema.Parse([]byte(`{name: v, unit: one visit, relation: replace-one, file: {delimiter: ",", quote: "", header: true},
		columns: [{name: age, role: private, number: {lower: 0, upper: 9, default: 5}}, {name: year, role: ignored},
		{name: y, role: private, label: {levels: [a, b], positive: a, default: b}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		tables []string
		apart  bool
	}{{tables: []string{"visits", "visits"}}, {tables: []string{"visits", schemaName + ".visits"}}, {tables: []string{"visits", "next"}},
		{tables: []string{"last", "visits"}}, {[]string{"last", "next"}, true}, {[]string{"next", "old"}, true}} {
		_, err := dataset.Read(t.Context(), s, dataset.Options{}, address+"&table="+c.tables[0], address+"&application_name=other&table="+c.tables[1])
		if c.apart != (err == nil) || err != nil && !strings.Contains(err.Error(), "must name each table once") {
			t.Errorf("%v: %v", c.tables, err)
		}
	}
}

// A table in a database is what it is in a file, whole and in blocks.
func TestADatabaseHoldsTheTableOfAFile(t *testing.T) {
	s, text := markedSchema(), censusText(t, 2500)
	file := filepath.Join(t.TempDir(), "people.csv")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	opts := dataset.Options{Count: true}
	want, err := dataset.Read(t.Context(), s, opts, file)
	if err != nil {
		t.Fatal(err)
	}
	compare := func(t *testing.T, address string) {
		got, err := dataset.Read(t.Context(), s, opts, address)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("another table: counts %v, want %v", got.Counts, want.Counts)
		}
		var mu sync.Mutex
		blocks := map[int]int{}
		total, err := dataset.ReadBlocks(t.Context(), s, dataset.Options{}, 600, func(k int, b *dataset.Table) error {
			mu.Lock()
			defer mu.Unlock()
			blocks[k] = b.Rows
			return nil
		}, address, file)
		if err != nil || total != 5000 || len(blocks) != 9 || blocks[0] != 600 {
			t.Errorf("%d rows in blocks %v, %v", total, blocks, err)
		}
		names, err := dataset.ReadHeader(t.Context(), address, s.Dialect)
		if err != nil || len(names) != 15 || names[0] != "age" {
			t.Errorf("columns %v, %v", names, err)
		}
		// Rows that are read a second time may be others.
		if err := dataset.CopyRows(t.Context(), s, dataset.Options{}, io.Discard, dataset.CSV, nil,
			func(int) bool { return true }, address); err == nil {
			t.Error("a database's rows are passed on")
		}
	}
	t.Run("postgres", func(t *testing.T) {
		conn, address := postgres(t)
		load(t, conn, s, text)
		compare(t, address+"&table=people")
	})
	t.Run("sqlite", func(t *testing.T) { compare(t, "sqlite:"+loadSQLite(t, s, text)+"?table=people") })
}

const typedSchema = `name: typed
unit: one row
relation: replace-one
file: {delimiter: ",", quote: '"', header: true, missing: [""]}
columns:
  - {name: amount, role: private, number: {lower: 0, upper: 100, default: 50}}
  - {name: kind, role: private, category: {levels: [a, "true", "2020-01-02", "7"], missing: true}}
  - {name: label, role: public, label: {positive: [1], negative: [0]}}
`

func typed(t testing.TB) *schema.Schema {
	t.Helper()
	s, err := schema.Parse([]byte(typedSchema))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Cells mean what they mean in a file, whatever their type; what cannot be read is what the schema
// says, or refused by the type, before a row is read.
func TestTypesAreCheckedAgainstTheSchema(t *testing.T) {
	conn, address := postgres(t)
	exec(t, conn, "CREATE TYPE letters AS ENUM ('a', 'b')", "CREATE DOMAIN shares AS double precision",
		"CREATE EXTENSION IF NOT EXISTS citext SCHEMA public", "CREATE DOMAIN dressed AS public.citext")
	for _, c := range []struct {
		amount, kind string // expressions
		number       float64
		code         uint32
		column, want string // of the error
	}{
		{amount: "7::smallint", kind: "'7'::public.citext", number: 7, code: 3},
		{amount: "7.5::numeric", kind: "'a'::letters", number: 7.5},
		{amount: "1e400::numeric", kind: "'b'::letters", number: 50, code: 4},
		{amount: "'NaN'::float8", kind: "'true'::text", number: 50, code: 1},
		{amount: "'Infinity'::float4", kind: "'a'::char(9)", number: 50},
		{amount: "0.5::shares", kind: "'2020-01-02'::text", number: 0.5, code: 2},
		{amount: "true", kind: "NULL::text", number: 1, code: 5},
		{amount: "'12'::text", kind: "'a'::name", number: 12},
		{amount: "'12.25'::money", kind: "'a'::dressed", number: 12.25},
		{amount: "NULL::integer", kind: "' a '::text", number: 50, code: 0},
		{amount: "101::bigint", kind: "uuid '00000000-0000-0000-0000-000000000000'", number: 100, code: 4},
		{amount: "DATE '2020-01-02'", kind: "'a'::text", column: "amount", want: "date cannot"},
		{amount: "timestamptz '2020-01-02'", kind: "'a'::text", column: "amount", want: "timestamptz cannot"},
		{amount: "uuid '00000000-0000-0000-0000-000000000000'", kind: "'a'::text", column: "amount", want: "uuid cannot"},
		{amount: "1", kind: "7::bigint", column: "kind", want: "bigint cannot"},
		{amount: "1", kind: "7.5::numeric(9,2)", column: "kind", want: "numeric(9,2) cannot"},
		{amount: "1", kind: "true", column: "kind", want: "boolean cannot"},
		{amount: "1", kind: "ARRAY['a']", column: "kind", want: "_text cannot"},
		{amount: "1", kind: "'a'::bytea", column: "kind", want: "bytea cannot"},
		{amount: "'1'::json", kind: "'a'::text", column: "amount", want: "json cannot"},
	} {
		exec(t, conn, "DROP VIEW IF EXISTS typed",
			fmt.Sprintf("CREATE VIEW typed AS SELECT 1 AS label, %s AS amount, %s AS kind", c.amount, c.kind))
		s := typed(t)
		s.Dialect.Trim = true
		tab, err := dataset.Read(t.Context(), s, dataset.Options{}, address+"&table=typed")
		if c.want != "" {
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), `"`+c.column+`"`) {
				t.Errorf("%s, %s: error %v", c.amount, c.kind, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s, %s: %v", c.amount, c.kind, err)
			continue
		}
		if x := tab.Cols[0].Values[tab.Cols[0].Codes.At(0)]; x != c.number || tab.Cols[1].Codes.At(0) != c.code {
			t.Errorf("%s, %s: %g and code %d", c.amount, c.kind, x, tab.Cols[1].Codes.At(0))
		}
	}
}

// What goes wrong is said without a cell, and with no password.
func TestWhatCannotBeReadIsSaidWithoutACell(t *testing.T) {
	for _, address := range []string{"postgres://u:secret@h/d?table=x", "postgres://u@h/d?password=secret&table=x",
		"postgres://u@h/d", "postgres://u:secret@h/d", "postgres://u@h/d?table=", "postgres://u@h/d?table=a&table=b",
		"sqlite:f.db", "sqlite:?table=x", "sqlite:f.db?table=x&mode=secret", "sqlite:f.db?table=secret%zz"} {
		if err := sqlrows.Check(address); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: error %v", address, err)
		}
		if _, err := sqlrows.Open(t.Context(), address); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: error %v", address, err)
		}
	}
	if _, err := sqlrows.Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "none.db")+"?table=x"); err == nil {
		t.Error("a file that is not there is no error")
	}
	path := loadSQLite(t, census.Schema(), []byte("age\n1\n"))
	if _, err := sqlrows.Open(t.Context(), "sqlite:"+path+"?table=none"); err == nil {
		t.Error("a table that is not there is no error")
	}
	conn, address := postgres(t)
	exec(t, conn, "CREATE SEQUENCE counter", "CREATE TABLE cells (label int, amount text, kind text)",
		"INSERT INTO cells VALUES (1, 'secret', 'a')",
		"CREATE VIEW failing AS SELECT label, amount::int AS amount, kind FROM cells",
		"CREATE VIEW writing AS SELECT label, nextval('counter') AS amount, kind FROM cells",
		"CREATE VIEW unlabelled AS SELECT NULL::int AS label, 'secret' AS amount, 'secret' AS kind")
	for table, want := range map[string]string{"none": "none", "failing": "code 22P02", "writing": "code 25006",
		"unlabelled": `row 1: column "label"`} {
		_, err := dataset.Read(t.Context(), typed(t), dataset.Options{}, address+"&table="+table)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: error %v", table, err)
		}
	}
}

// Rows longer than what is handed on at once, and none at all; a reading may end anywhere.
func TestRowsOfAnyLength(t *testing.T) {
	conn, address := postgres(t)
	exec(t, conn, `CREATE TABLE "Odd"".names" (label int, "a ""b" text)`)
	const rows = 150
	for i := range rows {
		if _, err := conn.Exec(t.Context(), `INSERT INTO "Odd"".names" VALUES ($1, $2)`, i,
			strings.Repeat("x", i*i*40%700_000)); err != nil {
			t.Fatal(err)
		}
	}
	// A name that has a point is not to be had by an address, a view of it is.
	exec(t, conn, `CREATE VIEW "Odd" AS SELECT * FROM "Odd"".names"`, "CREATE TABLE empty (label int)")
	open := func(table string) *sqlrows.Table {
		tab, err := sqlrows.Open(t.Context(), address+"&table="+table)
		if err != nil {
			t.Fatal(err)
		}
		columns := []int{0}
		if len(tab.Columns) > 1 {
			columns = []int{1, 0}
		}
		if err := tab.Read(columns); err != nil {
			t.Fatal(err)
		}
		return tab
	}
	for _, stop := range []int{0, 7, rows} {
		tab, seen := open("Odd"), map[int]bool{}
		for i := range stop {
			cells, err := tab.Next()
			if err != nil {
				t.Fatalf("row %d: %v", i, err)
			}
			k := int(cells[1].Integer) // the server may put a row if there is room
			if seen[k] || len(cells[0].Text) != k*k*40%700_000 {
				t.Fatalf("row %d is %d, of %d bytes", i, k, len(cells[0].Text))
			}
			seen[k] = true
		}
		if stop == rows {
			if _, err := tab.Next(); err != io.EOF {
				t.Errorf("error %v after the last row", err)
			}
		}
		if err := tab.Close(); err != nil {
			t.Error(err)
		}
	}
	tab := open("empty")
	defer tab.Close()
	if _, err := tab.Next(); err != io.EOF {
		t.Errorf("error %v of no rows", err)
	}
}

// A server that goes away in the middle is an error, and no table that ends there.
func TestAServerThatGoesAwayIsAnError(t *testing.T) {
	conn, address := postgres(t)
	exec(t, conn, "CREATE TABLE long AS SELECT 1 AS label, repeat('x', 1000) AS amount FROM generate_series(1, 20000)")
	tab, err := sqlrows.Open(t.Context(), address+"&table=long")
	if err != nil {
		t.Fatal(err)
	}
	defer tab.Close()
	if err := tab.Read([]int{0, 1}); err != nil {
		t.Fatal(err)
	}
	if _, err := tab.Next(); err != nil {
		t.Fatal(err)
	}
	exec(t, conn, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'SELECT \"label\"%long%'")
	n := 1
	for err == nil {
		n++
		_, err = tab.Next()
	}
	if err == io.EOF || n > 20000 {
		t.Errorf("the table ended after %d rows with %v", n, err)
	}
}
