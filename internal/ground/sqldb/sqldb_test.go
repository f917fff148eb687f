// SPDX-License-Identifier: Apache-2.0

package sqldb_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/sqldbtest"
	"github.com/discreet-dp/discreet/internal/ground/anchor"
	"github.com/discreet-dp/discreet/internal/ground/diskroom"
	"github.com/discreet-dp/discreet/internal/ground/sqldb"
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

// TestFilesHaveOneName refuses a database with two hard links by either name, in both modes: SQLite
// puts its journal beside one of them, where the other would not find it after a kill. A symbolic link
// is no second name, because SQLite follows it.
func TestFilesHaveOneName(t *testing.T) {
	for _, wal := range []bool{false, true} {
		dir := t.TempDir()
		first, second, soft := filepath.Join(dir, "a.db"), filepath.Join(dir, "b.db"), filepath.Join(dir, "c.db")
		open := func(path string) error {
			db, err := sqldb.Open(t.Context(), path, sqldb.Options{Op: "test", Create: path == first, WAL: wal})
			if err == nil {
				err = errors.Join(db.Exec(t.Context(), `CREATE TABLE IF NOT EXISTS a (b BLOB) STRICT`), db.Close())
			}
			return err
		}
		must(t, open(first))
		must(t, os.Symlink(first, soft))
		must(t, open(soft))
		must(t, os.Link(first, second))
		for _, path := range []string{first, second, soft} {
			if err := open(path); err == nil || !strings.Contains(err.Error(), "2 hard links") {
				t.Errorf("%s of two names: %v", path, err)
			}
		}
		must(t, os.Remove(second))
		must(t, open(first))
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestRolledBackStatesAreRefused puts a database back to each of its earlier states: what it has
// acknowledged since is gone, and it is refused. Reading, and asking whether it is ready, are no
// states; one that is new to the machine is trusted.
func TestRolledBackStatesAreRefused(t *testing.T) {
	path, folder := filepath.Join(t.TempDir(), "a.db"), anchor.Folder(t.TempDir())
	open := func(folder anchor.Folder) (*sqldb.DB, error) {
		return sqldb.Open(t.Context(), path, sqldb.Options{Op: "test", Create: true, WAL: true, Anchors: folder})
	}
	use := func(f func(*sqldb.DB)) []byte {
		db, err := open(folder)
		must(t, err)
		f(db)
		must(t, db.Close()) // what is in its log is in the file
		text, err := os.ReadFile(path)
		must(t, err)
		return text
	}
	var states [][]byte
	states = append(states, use(func(db *sqldb.DB) {
		must(t, db.Make(t.Context(), `CREATE TABLE a (b INTEGER) STRICT`, sqldb.ProbeTable))
	}))
	put := func(db *sqldb.DB) {
		must(t, db.Update(t.Context(), func(tx *sqldb.Tx) error { return tx.One(`INSERT INTO a (b) VALUES (1)`) }))
	}
	for range 2 {
		states = append(states, use(put))
	}
	same := use(func(db *sqldb.DB) {
		must(t, db.Probe(t.Context(), 10))
		must(t, db.View(t.Context(), func(tx *sqldb.Tx) error {
			_, err := tx.Find([]any{new(int)}, `SELECT COUNT(*) FROM a`)
			return err
		}))
		must(t, db.Update(t.Context(), func(tx *sqldb.Tx) error {
			_, err := tx.Exec(`DELETE FROM a WHERE b = 2`)
			return err
		}))
	})
	states = append(states, same)
	for i, state := range states {
		for _, ending := range []string{"-wal", "-shm"} {
			_ = os.Remove(path + ending)
		}
		must(t, os.WriteFile(path, state, 0o600))
		db, err := open(folder)
		if behind := errors.As(err, new(*anchor.Behind)); behind != (i < 2) || !behind && err != nil {
			t.Errorf("state %d: err = %v", i, err)
		}
		if err == nil {
			must(t, db.Close())
		}
		if db, err = open(anchor.Folder(t.TempDir())); err != nil {
			t.Errorf("state %d, seen for the first time: %v", i, err)
		} else {
			must(t, db.Close())
		}
	}
	// It goes on from an earlier state, elsewhere, as far as it had come.
	must(t, os.WriteFile(path, states[1], 0o600))
	elsewhere := anchor.Folder(t.TempDir())
	for range 2 {
		db, err := open(elsewhere)
		must(t, err)
		put(db)
		must(t, db.Close())
	}
	if _, err := open(folder); !errors.As(err, new(*anchor.Behind)) {
		t.Errorf("another history: err = %v", err)
	}
}
