// SPDX-License-Identifier: Apache-2.0

package clothes

import (
	"database/sql"
	"path/filepath"
	"strings"

	_ "modernc.org/sqlite"

	"github.com/discreet-dp/discreet/internal/table/read/coding"
)

func databaseForms() []form {
	sqlite := func(k *kit, t *Table) []string {
		path := filepath.Join(k.folder, "t.db")
		db, err := sql.Open("sqlite", path)
		k.must(err)
		defer db.Close()
		var columns []string
		for _, c := range t.Columns {
			declared := pick(k, "", "", "TEXT", "VARCHAR(9)")
			switch c.Kind {
			case Number:
				declared = pick(k, "", "INTEGER", "REAL", "NUMERIC", "DECIMAL(9,2)")
			case Date:
				declared = pick(k, "", "TEXT", "DATE", "TIMESTAMP")
			case Person: // which a declared type spells in its own way
				declared = ""
			}
			columns = append(columns, `"`+c.Name+`" `+declared)
		}
		_, err = db.Exec("CREATE TABLE t (" + strings.Join(columns, ", ") + ")")
		k.must(err)
		for _, row := range t.Values {
			cells := make([]any, len(row))
			for j, v := range row {
				if text, ok := v.(string); ok && k.src.IntN(5) == 0 && t.Columns[j].Kind != Number {
					v = []byte(text)
				}
				cells[j] = v
			}
			_, err = db.Exec("INSERT INTO t VALUES (?"+strings.Repeat(", ?", len(row)-1)+")", cells...)
			k.must(err)
		}
		return []string{"sqlite:" + path + "?table=t"}
	}
	return []form{
		{name: "SQLite", own: true, offered: []Type{{Form: coding.Float}, {Form: coding.Integer, Bits: 64}, {Form: coding.Truth}}, paths: sqlite},
		postgresForm(),
	}
}

func pick[T any](k *kit, of ...T) T { return of[k.src.IntN(len(of))] }
