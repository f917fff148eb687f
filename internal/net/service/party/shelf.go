// SPDX-License-Identifier: Apache-2.0

package party

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/internal/ground/diskroom"
	"github.com/discreet-dp/discreet/internal/ground/openfile"
	"github.com/discreet-dp/discreet/internal/net/federated/multiparty"
	"github.com/discreet-dp/discreet/internal/net/service/problem"
)

// shelf is the folder of the auxiliary files that combiners have sent.
type shelf struct{ dir string }

// findFile returns the path of an allowed file. It returns a problem if the file is not allowed, or
// was not sent.
func (s *shelf) findFile(t Table, terms *Terms) (string, error) {
	if terms.Tables[t.Digest] != t.Bytes { // its size is the institution's word
		return "", terms.Refuse("votes.tables", "none is %x of %d bytes", t.Digest[:], t.Bytes)
	}
	path := s.sentPath(t)
	if _, err := os.Stat(path); err != nil {
		return "", problem.New(problem.UnknownTable, "%x", t.Digest[:])
	}
	return path, nil
}

// sentPath returns the path of a sent file.
func (s *shelf) sentPath(t Table) string {
	return filepath.Join(s.dir, fmt.Sprintf("%x.%s", t.Digest[:], t.Format))
}

// FormatOf determines a file's format by its suffix, as readers of rows do.
func FormatOf(path string) Format {
	if strings.HasSuffix(path, ".parquet") {
		return Parquet
	}
	return CSV
}

// receiveFile stores an allowed file that is sent, if it matches its announced digest. next returns its parts,
// and io.EOF after the last.
func (s *shelf) receiveFile(ctx context.Context, t Table, next func() ([]byte, error)) (err error) {
	if err := checkRoom(s.dir, t.Bytes); err != nil {
		return err
	}
	return keepFile(s.sentPath(t), time.Time{}, func(w io.Writer) error {
		h, left := sha256.New(), t.Bytes
		for {
			part, err := next()
			if err == io.EOF {
				break
			}
			if err != nil {
				return err
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			if left -= int64(len(part)); left < 0 {
				return problem.New(problem.TooLarge, "the file was announced with %d bytes", t.Bytes)
			}
			h.Write(part)
			if _, err := w.Write(part); err != nil {
				return err
			}
		}
		if left > 0 || multiparty.Digest(h.Sum(nil)) != t.Digest {
			return problem.New(problem.Malformed, "the file is not the one that was announced")
		}
		return nil
	})
}

// partial is part of the names of unfinished files.
const partial = ".part"

// checkRoom refuses to write the given number of bytes to a folder's disk if too little space would be
// left. Tests replace it.
var checkRoom = diskroom.Check

// roomy writes to a file as long as enough space is left on its disk.
type roomy struct {
	*os.File
	err error // why it stopped
}

func (r *roomy) Write(b []byte) (n int, err error) {
	if r.err = checkRoom(filepath.Dir(r.Name()), int64(len(b))); r.err != nil {
		return 0, r.err
	}
	n, r.err = r.File.Write(b)
	return n, r.err
}

// keepFile writes a file atomically, readable by its owner alone, with a time unless it is zero. It fails if too
// little disk space would be left.
func keepFile(path string, at time.Time, write func(io.Writer) error) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+partial+"*")
	if err != nil {
		return err
	}
	to := &roomy{File: f}
	if err = write(to); to.err != nil {
		err = to.err // whatever else was made of it
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil && !at.IsZero() {
		err = os.Chtimes(f.Name(), at, at)
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
		return err
	}
	return openfile.SyncFolder(filepath.Dir(path))
}
