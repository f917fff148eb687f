// SPDX-License-Identifier: Apache-2.0

// Package atomicfile writes files whole or not at all, and says who may read them and
// what is not to be replaced.
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
)

// Who may read a file that Write makes.
const (
	// Private files are for their user alone: whatever may derive from rows, be it a
	// model with noise.
	Private fs.FileMode = 0o600
	// Public files are for whom the umask lets in: what derives from no row.
	Public fs.FileMode = 0o666
)

// Write lets f write the file at path, replacing a plain file that is there and who
// could read that one. Whatever happens, path holds the old file or the whole new
// one: the bytes go to a file beside it first, reach the disk, and then take the
// name. Nothing is left behind when it fails. A database is never replaced; other kinds of
// files that would be missed are for the caller to ask about (KindOf).
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
	folder, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}

// Check tells whether Write can write path, and leaves nothing behind.
func Check(path string) error {
	part, err := createBeside(path, Private)
	if err != nil {
		return err
	}
	return errors.Join(part.Close(), os.Remove(part.Name()))
}

// createBeside creates a new file in the folder of path that can take its place. A part
// left by a crash does not stand in the way.
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

// databaseEnds are what SQLite adds to a database's name for the files that belong to it.
var databaseEnds = []string{"-wal", "-shm", "-journal"}

// BesideDatabase returns the names of the files that belong to a database.
func BesideDatabase(path string) (names []string) {
	for _, end := range databaseEnds {
		names = append(names, path+end)
	}
	return names
}

// checkReplaceable refuses what is no plain file, a database and what belongs to one.
func checkReplaceable(path string) error {
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s must be a plain file or not exist", path)
	}
	if IsOfDatabase(path) {
		return fmt.Errorf("%s must not be %s, nor a file that belongs to one", path, Database)
	}
	return nil
}

// IsOfDatabase holds for a database and for what belongs to one, there or not.
func IsOfDatabase(path string) bool {
	for _, end := range append([]string{""}, databaseEnds...) {
		if base, ok := cutEnd(path, end); ok && KindOf(base) == Database {
			return true
		}
	}
	return false
}

// cutEnd is strings.CutSuffix for names that a file system may hold to be the same.
func cutEnd(path, end string) (base string, ok bool) {
	if n := len(path) - len(end); n >= 0 && strings.EqualFold(path[n:], end) {
		return path[:n], true
	}
	return path, false
}
