// SPDX-License-Identifier: Apache-2.0

// Package atomicfile writes files whole or not at all, and says who may read them.
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
// name. Nothing is left behind when it fails.
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
		err = os.Rename(part.Name(), path)
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
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s must be a plain file or not exist", path)
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
