// SPDX-License-Identifier: Apache-2.0

// Package openfile opens the files that programs read. No other package opens a file for reading, so
// that none waits for ever for a writer to a pipe.
package openfile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// maxRead is the size of the largest file that Read reads.
const maxRead = 256 << 20

// Regular opens a regular file for reading. It refuses anything else without waiting for it.
func Regular(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, refuse(path, "must be a regular file", info.Mode())
	}
	f, err := os.OpenFile(path, os.O_RDONLY|noWait, 0)
	if err != nil {
		return nil, err
	}
	if info, err = f.Stat(); err == nil && !info.Mode().IsRegular() { // it has been replaced
		err = refuse(path, "must be a regular file", info.Mode())
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Read reads a regular file of at most 256 MiB.
func Read(path string) ([]byte, error) {
	f, err := Regular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Size() > maxRead {
		return nil, &fs.PathError{Op: "read", Path: path, Err: fmt.Errorf("must have at most %d bytes", maxRead)}
	}
	return io.ReadAll(io.LimitReader(f, maxRead)) // it may grow
}

// Append opens a file of a program's own for writing at its end, and creates it if it does not exist.
func Append(path string, mode fs.FileMode) (*os.File, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, refuse(path, "must be a regular file", info.Mode())
	}
	return os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND|noWait, mode)
}

// SyncFolder flushes a folder's names to disk.
func SyncFolder(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// Folder is the files of a folder, of which regular ones can be read.
func Folder(path string) fs.FS { return folder{os.DirFS(path), path} }

type folder struct {
	all  fs.FS
	path string
}

func (f folder) Open(name string) (fs.File, error) {
	info, err := fs.Stat(f.all, name)
	if missing, ok := errors.AsType[*fs.PathError](err); ok {
		missing.Path = filepath.Join(f.path, name)
	}
	if err != nil {
		return nil, err
	}
	if !info.IsDir() && !info.Mode().IsRegular() {
		return nil, refuse(filepath.Join(f.path, name), "must be a regular file", info.Mode())
	}
	return f.all.Open(name)
}

// Table opens a regular file, or a pipe or a device from which rows are read once. It waits until a
// pipe has a writer, and says so after a second (TellWaits). When ctx ends, it and reading end with
// the error of ctx.
func Table(ctx context.Context, path string) (*os.File, io.Reader, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, nil, err
	}
	switch info.Mode().Type() {
	case 0:
		f, err := Regular(path)
		return f, f, err
	case fs.ModeNamedPipe, fs.ModeDevice | fs.ModeCharDevice:
	default:
		return nil, nil, refuse(path, "must be a file or a pipe", info.Mode())
	}
	f, err := openPipe(ctx, path)
	if err != nil {
		return nil, nil, err
	}
	return f, Interruptible(ctx, f), nil
}

// openPipe opens a file whose opening may wait.
func openPipe(ctx context.Context, path string) (*os.File, error) {
	type opened struct {
		f   *os.File
		err error
	}
	done := make(chan opened, 1)
	go func() {
		f, err := os.Open(path)
		done <- opened{f, err}
	}()
	late := time.NewTimer(patience)
	defer late.Stop()
	for {
		select {
		case o := <-done:
			return o.f, o.err
		case <-late.C:
			if say, ok := ctx.Value(waitsKey{}).(func(string)); ok {
				say(fmt.Sprintf("waiting for a writer to the pipe %s", path))
			}
		case <-ctx.Done():
			release(path)
			go func() {
				if o := <-done; o.err == nil {
					o.f.Close()
				}
			}()
			return nil, ctx.Err()
		}
	}
}

// patience is how long opening a pipe waits before the user is informed.
const patience = time.Second

type waitsKey struct{}

// TellWaits makes Table, called with the context, say when it has waited for a writer to a pipe for a
// second.
func TellWaits(ctx context.Context, say func(line string)) context.Context {
	return context.WithValue(ctx, waitsKey{}, say)
}

// Interruptible returns a reader of r whose calls end when ctx does, even if r waits.
func Interruptible(ctx context.Context, r io.Reader) io.Reader { return &interruptible{ctx, r} }

type interruptible struct {
	ctx context.Context
	r   io.Reader
}

// Stat describes the file that is read, if it is one.
func (i *interruptible) Stat() (fs.FileInfo, error) {
	if f, ok := i.r.(*os.File); ok {
		return f.Stat()
	}
	return nil, fs.ErrInvalid
}

// chunk is the most that one call reads.
const chunk = 1 << 18

// Read implements io.Reader. The bytes of a call that ended early are lost, and no later call reads.
func (i *interruptible) Read(p []byte) (int, error) {
	if err := i.ctx.Err(); err != nil {
		return 0, err
	}
	type read struct {
		n   int
		err error
	}
	own := make([]byte, min(len(p), chunk))
	done := make(chan read, 1)
	go func() {
		n, err := i.r.Read(own)
		done <- read{n, err}
	}()
	select {
	case got := <-done:
		return copy(p, own[:got.n]), got.err
	case <-i.ctx.Done():
		if f, ok := i.r.(*os.File); ok {
			_ = f.SetReadDeadline(time.Unix(1, 0)) // ends the call below, where the system can
		}
		return 0, i.ctx.Err()
	}
}

func refuse(path, want string, got fs.FileMode) error {
	return &fs.PathError{Op: "open", Path: path, Err: fmt.Errorf("%s (got %s)", want, kindOf(got))}
}

func kindOf(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "a folder"
	case mode&fs.ModeNamedPipe != 0:
		return "a pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode&fs.ModeDevice != 0:
		return "a device"
	}
	return "another kind of file"
}
