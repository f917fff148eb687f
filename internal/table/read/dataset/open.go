// SPDX-License-Identifier: Apache-2.0

package dataset

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"

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

// listFiles replaces a folder by its Parquet files, in the order of their names. As in other readers
// of such folders, names that begin with _ or . are skipped. Any other file that is not Parquet is
// refused, so that no rows are skipped without notice.
func listFiles(ctx context.Context, paths []string) (files []string, err error) {
	for _, path := range paths {
		var inside []string
		if findHeld(ctx, path) != nil {
			files = append(files, path)
			continue
		}
		if object.IsFolder(path) {
			inside, err = object.List(ctx, path)
		} else if info, statErr := os.Stat(path); !isStdin(path) && statErr == nil && info.IsDir() {
			inside, err = listFolder(path)
		} else {
			files = append(files, path)
			continue
		}
		if err != nil {
			return nil, err
		}
		none := len(files)
		for _, file := range inside {
			name := strings.TrimSuffix(file, "/")
			name = name[strings.LastIndexAny(name, `/`+string(filepath.Separator))+1:]
			switch {
			case strings.HasPrefix(name, "_"), strings.HasPrefix(name, "."):
			case FormatOf(file) != Parquet:
				return nil, &FaultError{File: path, Fault: "must be a folder of .parquet files alone"}
			default:
				files = append(files, file)
			}
		}
		if len(files) == none {
			return nil, &FaultError{File: path, Fault: "must be a folder of at least one .parquet file"}
		}
	}
	return files, nil
}

// listFolder lists a local folder in the order of names; names of folders in it end in a slash.
func listFolder(path string) (files []string, err error) {
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		file := filepath.Join(path, e.Name())
		if e.IsDir() {
			file += "/"
		}
		files = append(files, file)
	}
	return files, nil
}

// firstFile returns the file at path, or the first file of a folder.
func firstFile(ctx context.Context, path string) (string, error) {
	files, err := listFiles(ctx, []string{path})
	if err != nil {
		return "", err
	}
	return files[0], nil
}
