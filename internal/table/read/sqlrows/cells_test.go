// SPDX-License-Identifier: Apache-2.0

package sqlrows_test

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

const placedSchema = `name: placed
unit: one row
relation: replace-one
file: {delimiter: ",", quote: '"', header: true, missing: [""]}
columns:
  - {name: amount, role: private, number: {lower: 0, upper: 100, default: 50}}
  - {name: kind, role: private, category: {levels: [a, b], missing: true}}
  - {name: place, role: public, number: {lower: 0, upper: 100000, default: 0}}
  - {name: label, role: private, label: {positive: [1], negative: [0], default: 0}}
`

// heldCell is what a row's protected cells hold: a text of so many letters, or nothing if it is
// below 0, and whether the amount and the label are missing, too.
type heldCell struct {
	letters int
	empty   bool
}

// everyCell are rows of a table, one for each thing that a reader may do something else upon:
// cells as long as a chunk, a buffer or a bound, and rows that hold nothing, also at either end
// and many on end.
func everyCell() (rows []heldCell) {
	nothing := heldCell{-1, true}
	rows = append(rows, nothing)
	for _, n := range []int{0, 1, 255, 256, 65_535, 65_536, 65_537, 256<<10 - 1, 256 << 10, 256<<10 + 1, 1<<20 - 1,
		1 << 20, 1<<20 + 1, 4 << 20, 12 << 20} {
		rows = append(rows, heldCell{n, false}, heldCell{n, true}, nothing, heldCell{-1, false})
	}
	rows = append(rows, heldCell{96 << 20, true}) // by hand, 999,999,000: both databases hold that much
	for range 700 {
		rows = append(rows, nothing)
	}
	return append(rows, heldCell{1, false}, nothing)
}

// Every row of a database is one record, whatever its protected cells hold: none is dropped, and
// none ends the reading.
func TestOneRowOneRecord(t *testing.T) {
	s, err := schema.Parse([]byte(placedSchema))
	if err != nil {
		t.Fatal(err)
	}
	rows := everyCell()
	for i := range 2 { // neighbours: rows of cells, and rows of no cells
		check := func(t *testing.T, address string) {
			t.Helper()
			places := func(tab *dataset.Table) (out []float64) {
				for k := range tab.Rows {
					out = append(out, tab.Cols[2].MarkedValue(tab.Cols[2].Codes.At(k)))
				}
				return out
			}
			tab, err := dataset.Read(t.Context(), s, dataset.Options{}, address)
			if err != nil {
				t.Fatal(err)
			}
			got := places(tab)
			if len(got) != len(rows) {
				t.Fatalf("%d rows are read of %d", len(got), len(rows))
			}
			for k, x := range got {
				if x != float64(k) {
					t.Fatalf("row %d is read as row %g", k, x)
				}
			}
			var mu sync.Mutex
			seen := map[float64]bool{}
			total, err := dataset.ReadBlocks(t.Context(), s, dataset.Options{}, 50, func(_ int, b *dataset.Table) error {
				mu.Lock()
				defer mu.Unlock()
				for _, x := range places(b) {
					seen[x] = true
				}
				return nil
			}, address)
			if err != nil || total != len(rows) || len(seen) != len(rows) {
				t.Errorf("%d rows are read in blocks, %d of them once, of %d: %v", total, len(seen), len(rows), err)
			}
		}
		shape := func(k int) heldCell {
			if i == 1 {
				return heldCell{-1, true}
			}
			return rows[k]
		}
		t.Run(fmt.Sprint("sqlite ", i), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "rows.db")
			db, err := sql.Open("sqlite", path)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			if _, err := db.Exec("CREATE TABLE rows (amount REAL, kind TEXT, place INTEGER, label INTEGER)"); err != nil {
				t.Fatal(err)
			}
			tx, err := db.Begin()
			if err != nil {
				t.Fatal(err)
			}
			defer tx.Rollback()
			for k := range rows {
				// Text in a column of numbers is a cell like another.
				if _, err := tx.Exec(`INSERT INTO rows VALUES (CASE WHEN ?2 THEN NULL WHEN ?1 > 99 THEN
					replace(hex(zeroblob(?1 / 2)), '0', 'x') ELSE ?1 END, CASE WHEN ?1 < 0 THEN NULL ELSE
					replace(hex(zeroblob(?1 / 2)), '0', 'x') END, ?3, CASE WHEN ?2 THEN NULL ELSE 1 END)`,
					shape(k).letters, shape(k).empty, k); err != nil {
					t.Fatal(err)
				}
			}
			if err := tx.Commit(); err != nil {
				t.Fatal(err)
			}
			check(t, "sqlite:"+path+"?table=rows")
		})
		t.Run(fmt.Sprint("postgres ", i), func(t *testing.T) {
			conn, address := postgres(t)
			exec(t, conn, "CREATE TABLE kept (amount float8, kind text, place int, label int)")
			for k := range rows {
				if _, err := conn.Exec(t.Context(), `INSERT INTO kept VALUES (CASE WHEN $2 THEN NULL ELSE $1::int END,
					CASE WHEN $1::int < 0 THEN NULL ELSE repeat('x', $1::int) END, $3, CASE WHEN $2 THEN NULL ELSE 1 END)`,
					shape(k).letters, shape(k).empty, k); err != nil {
					t.Fatal(err)
				}
			}
			exec(t, conn, "CREATE VIEW rows AS SELECT amount, kind, place, label FROM kept ORDER BY place")
			check(t, address+"&table=rows")
		})
	}
}
