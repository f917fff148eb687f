// SPDX-License-Identifier: Apache-2.0

// Package atomicfile writes files atomically, with the right permissions, and identifies files that
// must not be replaced.
package atomicfile

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/discreet-dp/discreet/internal/ground/openfile"
)

// The permissions of a file that Write makes.
const (
	// Private files are readable by their user alone. They are for everything that may depend on rows,
	// including models with noise.
	Private fs.FileMode = 0o600
	// Public files have the permissions that the umask allows. They are for data that depend on no
	// row.
	Public fs.FileMode = 0o666
)

// Write lets f write the file at path atomically. It replaces a plain file and keeps that file's
// permissions. After a failure path still holds the old file, and no temporary file is left. The bytes
// are written to a new file in the same folder and flushed to disk before the file gets its name. A
// database is never replaced. Callers must check for other valuable files (KindOf).
func Write(path string, mode fs.FileMode, f func(io.Writer) error) error {
	part, err := createBeside(path, mode)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(part)
	if err = f(w); err == nil {
		err = w.Flush()
	}
	if err == nil {
		err = part.Sync()
	}
	if err = errors.Join(err, part.Close()); err == nil {
		if err = checkReplaceable(path); err == nil { // it may have come meanwhile
			err = os.Rename(part.Name(), path)
		}
	}
	if err != nil {
		return errors.Join(err, os.Remove(part.Name()))
	}
	return openfile.SyncFolder(filepath.Dir(path))
}

// Check returns an error if Write cannot write path. It leaves nothing behind.
func Check(path string) error {
	part, err := createBeside(path, Private)
	if err != nil {
		return err
	}
	return errors.Join(part.Close(), os.Remove(part.Name()))
}

// createBeside creates a new temporary file in the folder of path, next to any that a crash has left.
func createBeside(path string, mode fs.FileMode) (*os.File, error) {
	if strings.Contains(path, "://") {
		return nil, fmt.Errorf("%s must be a path: what is written goes to files of this machine", path)
	}
	if err := checkReplaceable(path); err != nil {
		return nil, err
	}
	for i := 0; ; i++ {
		part, err := os.OpenFile(fmt.Sprintf("%s.part%d", path, i), os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		switch {
		case err == nil:
			return part, nil
		case !errors.Is(err, fs.ErrExist) || i == 100:
			return nil, fmt.Errorf("%s must lie in a folder that can be written to: %w", path, err)
		}
	}
}

// databaseEnds are the suffixes of the additional files of an SQLite database.
var databaseEnds = []string{"-wal", "-shm", "-journal"}

// BesideDatabase returns the names of a database's additional files.
func BesideDatabase(path string) (names []string) {
	for _, end := range databaseEnds {
		names = append(names, path+end)
	}
	return names
}

// checkReplaceable refuses anything that is not a plain file, a database, and a database's additional
// files.
func checkReplaceable(path string) error {
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s must be a plain file or not exist", path)
	}
	if IsOfDatabase(path) {
		return fmt.Errorf("%s must not be %s, nor a file that belongs to one", path, Database)
	}
	return nil
}

// IsOfDatabase reports whether a path is a database or one of its additional files, which need not
// exist.
func IsOfDatabase(path string) bool {
	for _, end := range append([]string{""}, databaseEnds...) {
		if base, ok := cutEnd(path, end); ok && KindOf(base) == Database {
			return true
		}
	}
	return false
}

// cutEnd is strings.CutSuffix for names, including case differences that a file system may ignore.
func cutEnd(path, end string) (base string, ok bool) {
	if n := len(path) - len(end); n >= 0 && strings.EqualFold(path[n:], end) {
		return path[:n], true
	}
	return path, false
}
