// SPDX-License-Identifier: Apache-2.0

package sqlrows_test

import (
	"database/sql"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/discreet-dp/discreet/internal/table/read/dataset"
)

// Columns of a view that have no type, and computed columns, are read like those of a table.
func TestViewsAndComputedColumnsOfSQLite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "people.db")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{
		"CREATE TABLE plain (amount, kind, label)",
		"INSERT INTO plain VALUES (12, 'a', 1), (7.5, 7, 0)",
		"CREATE VIEW seen AS SELECT * FROM plain",
		"CREATE VIEW joined AS SELECT amount + 0 AS amount, kind || '' AS kind, label FROM plain",
		"CREATE TABLE computed (a, amount AS (a), k, kind AS (k) STORED, label)",
		"INSERT INTO computed (a, k, label) SELECT * FROM plain",
	} {
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	s := typed(t)
	s.Ignored = []string{"a", "k"}
	want, err := dataset.Read(t.Context(), s, dataset.Options{}, "sqlite:"+path+"?table=plain")
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range []string{"seen", "joined", "SEEN", "computed"} {
		got, err := dataset.Read(t.Context(), s, dataset.Options{}, "sqlite:"+path+"?table="+table)
		if err != nil {
			t.Errorf("%s: %v", table, err)
		} else if !reflect.DeepEqual(got.Cols, want.Cols) {
			t.Errorf("%s: columns %v, want %v", table, got.Cols, want.Cols)
		}
	}
}
