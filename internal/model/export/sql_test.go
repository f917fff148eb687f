// SPDX-License-Identifier: Apache-2.0

package export

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/discreet-dp/discreet/internal/check/testkit/ledgertest"
	"github.com/discreet-dp/discreet/internal/table/read/coding"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// PostgreSQL scores rows as the model does, whatever the kind of model and the cells.
// DuckDB is asked by make peers PEERS=export.
func TestSQLAgreesInPostgres(t *testing.T) {
	server, why, err := ledgertest.Postgres()
	if err != nil {
		t.Fatal(err)
	}
	if server == nil {
		t.Skip(why)
	}
	defer func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	}()
	db, err := pgx.Connect(t.Context(), server.Database(t))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close(context.WithoutCancel(t.Context()))
	for name, m := range cases(t) {
		query, err := SQL(m)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		coder, err := coding.NewRowCoder(m.Schema)
		if err != nil {
			t.Fatal(err)
		}
		columns := []string{"id integer"}
		for _, column := range coder.Names() {
			kind := "text"
			if m.Schema.Columns[indexOf(m.Schema, column)].Kind == schema.Number {
				kind = "float8"
			}
			columns = append(columns, sqlName(column)+" "+kind)
		}
		if _, err := db.Exec(t.Context(), "DROP TABLE IF EXISTS input; CREATE TABLE input ("+strings.Join(columns, ", ")+
			")"); err != nil {
			t.Fatal(err)
		}
		rows := sample(m, 300)
		var given [][]any
		for r, row := range rows {
			one := []any{r}
			for _, v := range row {
				if v == MissingText {
					v = nil
				}
				one = append(one, v)
			}
			given = append(given, one)
		}
		if _, err := db.CopyFrom(t.Context(), pgx.Identifier{"input"}, append([]string{"id"}, coder.Names()...),
			pgx.CopyFromRows(given)); err != nil {
			t.Fatal(err)
		}
		answer, err := db.Query(t.Context(), string(query))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		seen := 0
		for answer.Next() {
			values, err := answer.Values()
			if err != nil {
				t.Fatal(err)
			}
			seen++
			r := int(values[0].(int32))
			want, ok := scoreRow(t, m, rows[r])
			if !ok {
				if values[1] != nil || values[2] != nil {
					t.Errorf("%s: row %d, which cannot be read, is scored: %v", name, r, values)
				}
				continue
			}
			if label := m.Schema.Label.Levels[m.Label(want)].Value; values[1] != label {
				t.Errorf("%s: row %d has the label %v, want %q", name, r, values[1], label)
			}
			for k, x := range want {
				if got, ok := values[2+k].(float64); !ok || math.Abs(got-x) > 1e-12 {
					t.Errorf("%s: row %d has the score %v, want %v", name, r, values[2+k], x)
				}
			}
		}
		if answer.Err() != nil || seen != len(rows) {
			t.Errorf("%s: %d rows, want %d: %v", name, seen, len(rows), answer.Err())
		}
	}
}

func indexOf(s *schema.Schema, name string) int {
	for j := range s.Columns {
		if s.Columns[j].Name == name {
			return j
		}
	}
	panic(fmt.Sprintf("no column %s", name))
}
