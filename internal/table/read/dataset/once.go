// SPDX-License-Identifier: Apache-2.0

package dataset

import (
	"context"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ground/sqldb"
	"github.com/discreet-dp/discreet/internal/table/read/object"
	"github.com/discreet-dp/discreet/internal/table/read/sqlrows"
)

// origin is where the rows of a table are. What the rows are does not matter, because neighbouring
// tables must be refused alike. So a copy has another origin.
type origin struct {
	name  string      // the same for a file and a compressed one beside it
	file  fs.FileInfo // nil if it is not a file of the operating system
	parts []string    // of the file or, without one, of everything
}

// overlaps reports whether some rows have both origins.
func (o *origin) overlaps(p *origin) bool {
	if o.name == p.name {
		return true
	}
	if (o.file == nil) != (p.file == nil) || o.file != nil && !os.SameFile(o.file, p.file) {
		return false
	}
	return slices.ContainsFunc(o.parts, func(part string) bool { return slices.Contains(p.parts, part) })
}

// CheckOnce refuses a file or a table that is given twice, under whatever names. All that reads tables
// checks it for what one reading is given.
func CheckOnce(ctx context.Context, stdin io.Reader, paths ...string) error {
	paths, err := listFiles(ctx, paths)
	if err != nil {
		return err
	}
	return checkOnce(ctx, stdin, paths)
}

// checkOnce is CheckOnce for files.
func checkOnce(ctx context.Context, stdin io.Reader, paths []string) error {
	servers := 0
	for _, path := range paths {
		if sqldb.IsPostgres(path) {
			servers++
		}
	}
	var all []origin
	for _, path := range paths { // 1.7
		o := origin{name: path}
		if !sqldb.IsPostgres(path) || servers > 1 { // one table is not asked where it is
			var err error
			if o, err = originOf(ctx, path, stdin); err != nil {
				return err
			}
		}
		for i := range all {
			if all[i].overlaps(&o) {
				return &dp.ParamError{Op: "dataset", Param: "data", Want: "must name each table once: the promise does not hold " +
					"for rows that count twice", Got: paths[i] + " and " + path}
			}
		}
		all = append(all, o)
	}
	return nil
}

func originOf(ctx context.Context, path string, stdin io.Reader) (o origin, err error) {
	o.name = path
	switch {
	case isStdin(path):
		o.parts = []string{"-"}
		if f, ok := stdin.(interface{ Stat() (fs.FileInfo, error) }); ok {
			if o.file, _ = f.Stat(); o.file != nil {
				o.parts = []string{""}
			}
		}
	case IsAddress(path):
		var file string
		if file, o.parts, err = sqlrows.Locate(ctx, path); err == nil && file != "" {
			o.file, err = os.Stat(file)
		}
	case object.IsAddress(path), findHeld(ctx, path) != nil:
		o.name = unpackedName(path)
	default:
		o.name, o.parts = unpackedName(filepath.Clean(path)), []string{""}
		o.file, _ = os.Stat(path) // opening it says what is wrong
	}
	return o, err
}

// unpackedName returns a file's name without the suffix of a compressed file.
func unpackedName(name string) string {
	return strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), ".zst")
}
