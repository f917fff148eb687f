// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/discreet-dp/discreet/internal/ground/openfile"
)

// files are the file system operations that publishing needs. A file that create returns is new.
type files interface {
	create(path string) (file, error)
	rename(from, to string) error
	remove(path string) error
	syncFolder(path string) error
	read(path string) ([]byte, error)
}

type file interface {
	Write(b []byte) (int, error)
	Sync() error
	Close() error
}

// replaceFile durably replaces the content of path by b. At any time path holds either its old content
// or all of b, and it holds b once replaceFile has returned nil.
func (l *Ledger) replaceFile(path string, b []byte) error {
	part, f, err := l.createBeside(path)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	err = errors.Join(err, l.pass("publish: written"))
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close(), l.pass("publish: synced"))
	if err == nil {
		err = l.files.rename(part, path)
	}
	if err != nil {
		return errors.Join(err, l.files.remove(part))
	}
	return errors.Join(l.pass("publish: renamed"), l.files.syncFolder(filepath.Dir(path)))
}

// maxLeftovers bounds the number of temporary files that crashes have left.
const maxLeftovers = 100

// createBeside creates a new temporary file in the folder of path, next to any that a crash has left.
func (l *Ledger) createBeside(path string) (part string, f file, err error) {
	for i := 0; ; i++ {
		part = fmt.Sprintf("%s.part%d", path, i)
		f, err = l.files.create(part)
		if !errors.Is(err, fs.ErrExist) || i == maxLeftovers {
			return part, f, err
		}
	}
}

// disk implements files on the real file system.
type disk struct{}

func (disk) create(path string) (file, error) {
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
}
func (disk) rename(from, to string) error     { return os.Rename(from, to) }
func (disk) remove(path string) error         { return os.Remove(path) }
func (disk) read(path string) ([]byte, error) { return openfile.Read(path) }

func (disk) syncFolder(path string) error { return openfile.SyncFolder(path) }
