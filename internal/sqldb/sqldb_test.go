// SPDX-License-Identifier: Apache-2.0

package sqldb_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/discreet-dp/discreet/internal/diskroom"
	"github.com/discreet-dp/discreet/internal/sqldb"
	"github.com/discreet-dp/discreet/internal/sqldb/sqldbtest"
)

// TestTakingKeepsRoom lets a database take what others send while there is room for it: below, it
// refuses and says that it failed, is not ready, and goes on deleting and updating.
func TestTakingKeepsRoom(t *testing.T) {
	var disk sqldbtest.Disk
	asked := ""
	path := filepath.Join(t.TempDir(), "a.db")
	db, err := sqldb.Open(t.Context(), path, sqldb.Options{Op: "test", Create: true, WAL: true,
		Room: func(path string, more int64) error { asked = path; return disk.Room(path, more) }})
	must(t, err)
	defer db.Close()
	must(t, db.Make(t.Context(), `CREATE TABLE a (b BLOB) STRICT`, sqldb.ProbeTable))
	put := func(tx *sqldb.Tx) error { return tx.One(`INSERT INTO a (b) VALUES (?)`, make([]byte, 10)) }
	disk.Left.Store(9)
	if err := db.Take(t.Context(), 10, put); !errors.Is(err, diskroom.ErrFull) || !errors.Is(err, sqldb.ErrFailed) {
		t.Errorf("10 bytes where there is room for 9: %v", err)
	}
	if err := db.Probe(t.Context(), 10); !errors.Is(err, diskroom.ErrFull) {
		t.Errorf("it is ready: %v", err)
	}
	if a, err := os.Stat(path); err != nil {
		t.Error(err)
	} else if b, err := os.Stat(asked); err != nil || !os.SameFile(a, b) {
		t.Errorf("the disk of %s was asked for, %v; the file is %s", asked, err, path)
	}
	must(t, db.Update(t.Context(), put))
	disk.Left.Store(10)
	must(t, db.Take(t.Context(), 10, put))
	must(t, db.Probe(t.Context(), 10))
	n := 0
	must(t, db.View(t.Context(), func(tx *sqldb.Tx) error {
		_, err := tx.Find([]any{&n}, `SELECT COUNT(*) FROM a`)
		return err
	}))
	if n != 2 {
		t.Errorf("%d rows, want 2", n)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
