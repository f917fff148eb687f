// SPDX-License-Identifier: Apache-2.0

package clothes

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/discreet-dp/discreet/internal/check/testkit/ledgertest"
	"github.com/discreet-dp/discreet/internal/table/read/coding"
)

var (
	server *ledgertest.Server
	why    string // there is none
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

func postgresForm() form {
	f := form{name: "PostgreSQL", refuses: true, paths: func(k *kit, t *Table) []string {
		if server == nil {
			k.Skip(why)
		}
		address := server.Database(k.T)
		conn, err := pgx.Connect(k.Context(), address)
		k.must(err)
		defer conn.Close(k.Context())
		var names, columns, rows []string
		for j, c := range t.Columns {
			names = append(names, `"`+c.Name+`"`)
			columns = append(columns, names[j]+" "+postgresType(k, t.Types[j]))
		}
		for r, row := range t.Values {
			cells := []string{strconv.Itoa(r)}
			for _, v := range row {
				cells = append(cells, literal(v))
			}
			rows = append(rows, "("+strings.Join(cells, ", ")+")")
		}
		for _, statement := range []string{"SET TIME ZONE 'UTC'", "CREATE TABLE kept (place int, " + strings.Join(columns, ", ") + ")",
			"INSERT INTO kept VALUES " + strings.Join(rows, ", "),
			"CREATE VIEW t AS SELECT " + strings.Join(names, ", ") + " FROM kept ORDER BY place"} { // a table has no order
			_, err = conn.Exec(k.Context(), statement)
			k.must(err)
		}
		return []string{address + "&table=t"}
	}}
	for _, t := range Types()[1:] {
		if !t.Unsigned && !(t.Form == coding.Integer && t.Bits == 8) {
			f.offered = append(f.offered, t)
		}
	}
	return f
}

func postgresType(k *kit, t Type) string {
	switch t.Form {
	case coding.Integer:
		return map[int]string{16: "smallint", 32: "integer", 64: "bigint"}[t.Bits]
	case coding.Decimal:
		return fmt.Sprintf("numeric(%d,%d)", t.Precision, t.Scale)
	case coding.Text:
		return pick(k, "text", "varchar(500)")
	case coding.Instant:
		return pick(k, "timestamp", "timestamptz")
	}
	return map[coding.Form]string{coding.Float: "double precision", coding.Single: "real", coding.Truth: "boolean", coding.Day: "date"}[t.Form]
}

// literal is a value in PostgreSQL, which has no texts with zeros or of other encodings, and a last day.
func literal(v any) string {
	text := fmt.Sprint(v)
	switch v := v.(type) {
	case nil:
		return "NULL"
	case string:
		text = strings.ToValidUTF8(strings.ReplaceAll(v, "\x00", ""), "?")
	case float32:
		text = strconv.FormatFloat(float64(v), 'g', -1, 32)
	case float64:
		text = strconv.FormatFloat(v, 'g', -1, 64)
	case Day:
		if text = "infinity"; v > -700_000 && v < 9_000_000 {
			text = time.Unix(int64(v)*86400, 0).UTC().Format(time.DateOnly)
		}
	case time.Time:
		if text = "-infinity"; v.Year() > 0 && v.Year() < 20_000 {
			text = v.Format("2006-01-02 15:04:05+00")
		}
	}
	if text = strings.ReplaceAll(text, "'", "''"); strings.HasSuffix(text, "Inf") {
		text = strings.TrimPrefix(text, "+") + "inity"
	}
	return "'" + text + "'"
}
