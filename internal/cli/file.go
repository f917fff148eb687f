// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
)

// WriteFile lets f write the file at path, which holds what it held before, or
// nothing, until all of it has been written.
func WriteFile(path string, f func(io.Writer) error) error {
	part, err := NewFile(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(part)
	err = f(w)
	if err == nil {
		err = w.Flush()
	}
	if err = errors.Join(err, part.Close()); err == nil {
		err = os.Rename(part.Name(), path)
	}
	if err != nil {
		os.Remove(part.Name())
	}
	return err
}

// NewFile creates a file beside path that can take its place, and so tells
// whether path can be written.
func NewFile(path string) (*os.File, error) {
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s must be a plain file or not exist", path)
	}
	part, err := os.OpenFile(fmt.Sprintf("%s.part%d", path, os.Getpid()), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, fmt.Errorf("%s must lie in a folder that can be written to: %w", path, err)
	}
	return part, nil
}

// CheckWritable tells whether path can be written, and leaves nothing behind.
func CheckWritable(path string) error {
	part, err := NewFile(path)
	if err != nil {
		return err
	}
	return errors.Join(part.Close(), os.Remove(part.Name()))
}
