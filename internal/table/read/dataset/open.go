// SPDX-License-Identifier: Apache-2.0

package dataset

import (
	"context"
	"io"

	"github.com/discreet-dp/discreet/internal/ground/openfile"
	"github.com/discreet-dp/discreet/internal/table/read/object"
)

// Hold returns a context under which all reads of one store object must return the same version: an
// object that has changed when it is read again is refused. Local files are not watched.
func Hold(ctx context.Context) context.Context { return object.Hold(ctx) }

// heldFile is a file that is not opened through the operating system.
type heldFile struct {
	name string
	file io.ReaderAt
	size int64
}

type heldKey struct{}

// WithFile returns a context in which name denotes a file of size bytes that is read through file. The
// file belongs to the program and need not exist in the operating system.
func WithFile(ctx context.Context, name string, file io.ReaderAt, size int64) context.Context {
	return context.WithValue(ctx, heldKey{}, &heldFile{name, file, size})
}

// findHeld returns the file of WithFile with this name; nil if there is none.
func findHeld(ctx context.Context, name string) *heldFile {
	if held, ok := ctx.Value(heldKey{}).(*heldFile); ok && held.name == name {
		return held
	}
	return nil
}

// openFile opens the file or the object at path for reading from its beginning. The caller must close
// it.
func openFile(ctx context.Context, path string) (io.Reader, io.Closer, error) {
	if err := checkFormat(path); err != nil {
		return nil, nil, err
	}
	if held := findHeld(ctx, path); held != nil {
		return io.NewSectionReader(held.file, 0, held.size), io.NopCloser(nil), nil
	}
	if object.IsAddress(path) {
		o, err := object.Open(ctx, path)
		if err != nil {
			return nil, nil, err
		}
		return o.Reader(), o, nil
	}
	f, rows, err := openfile.Table(ctx, path)
	return rows, f, err
}

// openParquet opens the file or the object at path. The caller must close f.
func openParquet(ctx context.Context, path string) (pf *parquetFile, f io.Closer, err error) {
	if held := findHeld(ctx, path); held != nil {
		pf, err = newParquetFile(path, held.file, held.size)
		return pf, io.NopCloser(nil), err
	}
	if object.IsAddress(path) {
		o, err := object.Open(ctx, path)
		if err != nil {
			return nil, nil, err
		}
		pf, err := newParquetFile(path, o, o.Size())
		o.Forget()
		if err != nil {
			o.Close()
			return nil, nil, err
		}
		return pf, o, nil
	}
	file, err := openfile.Regular(path)
	if err != nil {
		return nil, nil, err
	}
	info, err := file.Stat()
	if err == nil {
		pf, err = newParquetFile(path, file, info.Size())
	}
	if err != nil {
		file.Close()
		return nil, nil, err
	}
	return pf, file, nil
}

// section returns n bytes of the file from an offset, for sequential reading.
func (pf *parquetFile) section(from, n int64) io.Reader {
	if o, ok := pf.file.(*object.Object); ok {
		return o.Section(from, n)
	}
	return io.NewSectionReader(pf.file, from, n)
}

// waits returns the number of columns to read at once per processor: more than one if reads wait for a
// store.
func (pf *parquetFile) waits() int {
	if _, ok := pf.file.(*object.Object); ok {
		return 4
	}
	return 1
}
