// SPDX-License-Identifier: Apache-2.0

package dataset

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/discreet-dp/discreet/internal/ground/atomicfile"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ground/openfile"
	"github.com/discreet-dp/discreet/internal/ground/sqldb"
	"github.com/discreet-dp/discreet/internal/table/read/object"
	"github.com/discreet-dp/discreet/internal/table/read/sqlrows"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Record states that tables were checked against a schema. It holds nothing of what a check found and nothing
// of a table's content, so that what follows from it depends on nothing protected.
type Record struct {
	Version int            `json:"discreet_checks"`
	Tables  []CheckedTable `json:"tables"`
}

// CheckedTable names a table and the schema of its last check.
type CheckedTable struct {
	Table    string    `json:"table"`             // the file's full path, or the address
	Modified time.Time `json:"modified,omitzero"` // the time of the file's last change, before it was read; none on servers
	Schema   string    `json:"schema"`            // the schema's digest
	Checked  time.Time `json:"checked"`
	stream   bool      // nothing names what comes from it
}

// RecordBeside returns the usual place of the record: beside the schema.
func RecordBeside(schemaFile string) string { return schemaFile + ".checks" }

// NameTables names tables for a record, and the time of the last change of those that are in files. They are
// checked by s.
func NameTables(ctx context.Context, s *schema.Schema, paths ...string) (tables []CheckedTable, err error) {
	text, err := s.YAML()
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(text)
	digest := hex.EncodeToString(sum[:])
	for _, path := range paths {
		if isStdin(path) || sqldb.IsPostgres(path) || object.IsAddress(path) {
			tables = append(tables, CheckedTable{Table: path, Schema: digest, stream: isStdin(path)})
			continue
		}
		if IsAddress(path) {
			file, _, err := sqlrows.Locate(ctx, path)
			if err != nil {
				return nil, err
			}
			info, err := os.Stat(file)
			if err != nil {
				return nil, err
			}
			tables = append(tables, CheckedTable{Table: path, Schema: digest, Modified: info.ModTime().UTC()})
			if log, err := os.Stat(file + "-wal"); err == nil && log.Size() > 0 { // newer rows; readers make empty ones
				tables = append(tables, CheckedTable{Table: path + "-wal", Schema: digest, Modified: log.ModTime().UTC()})
			}
			continue
		}
		files, err := listFiles(ctx, []string{path})
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			info, err := os.Stat(file)
			if err != nil {
				return nil, err
			}
			table := CheckedTable{Schema: digest, Modified: info.ModTime().UTC(), stream: !info.Mode().IsRegular()}
			if table.Table, err = filepath.Abs(file); err != nil {
				return nil, err
			}
			tables = append(tables, table)
		}
	}
	return tables, nil
}

// readRecord reads the record at path. A record that does not exist is empty.
func readRecord(path string) (*Record, error) {
	text, err := openfile.Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return &Record{Version: 1}, nil
	}
	if err != nil {
		return nil, err
	}
	r := new(Record)
	if json.Unmarshal(text, r) != nil || r.Version != 1 {
		return nil, &dp.ParamError{Op: "schema", Param: "checks", Want: "must be a record of checks, as schema check writes it",
			Got: path}
	}
	return r, nil
}

// WriteRecord notes in the record at path that tables were checked. Streams are left out.
func WriteRecord(path string, now time.Time, tables []CheckedTable) error {
	tables = slices.DeleteFunc(slices.Clone(tables), func(t CheckedTable) bool { return t.stream })
	if len(tables) == 0 {
		return nil
	}
	r, err := readRecord(path)
	if err != nil {
		return err
	}
	for _, t := range tables {
		t.Checked = now.UTC().Truncate(time.Second)
		r.Tables = slices.DeleteFunc(r.Tables, func(old CheckedTable) bool { return old.Table == t.Table })
		r.Tables = append(r.Tables, t)
	}
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.Write(path, atomicfile.Public, func(w io.Writer) error {
		_, err := w.Write(append(text, '\n'))
		return err
	})
}

var (
	// ErrUnchecked says that a record does not have a table as it is now.
	ErrUnchecked = errors.New("nobody has checked that this schema fits this table")
	// ErrStream says that no record can have a table.
	ErrStream = errors.New("a check of standard input, of a pipe or of a frame tells nothing about the next one: " +
		"write the table to a file, and check and use that")
)

// FindCheck returns nil if the record at path has all tables in paths, unchanged, with the schema s, and otherwise
// ErrUnchecked, ErrStream or why it is not known.
func FindCheck(ctx context.Context, path string, s *schema.Schema, paths ...string) error {
	tables, err := NameTables(ctx, s, paths...)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(tables, func(t CheckedTable) bool { return t.stream }) {
		return ErrStream
	}
	r, err := readRecord(path)
	if err != nil {
		return err
	}
	for _, t := range tables {
		if !slices.ContainsFunc(r.Tables, func(c CheckedTable) bool {
			return c.Table == t.Table && c.Schema == t.Schema && c.Modified.Equal(t.Modified)
		}) {
			return ErrUnchecked
		}
	}
	return nil
}
