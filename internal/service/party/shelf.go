// SPDX-License-Identifier: Apache-2.0

package party

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/discreet-dp/discreet/internal/diskroom"
	"github.com/discreet-dp/discreet/internal/federated/multiparty"
	"github.com/discreet-dp/discreet/internal/privacy/dp"
	"github.com/discreet-dp/discreet/internal/service/problem"
)

// shelf is the auxiliary files that the operator has allowed: by digest and size, by
// name, or all of a folder. Those allowed by digest may be sent, and are kept in dir.
type shelf struct {
	dir   string
	sizes map[multiparty.Digest]int64 // in bytes, of files that may be sent
	paths []string

	mu    sync.Mutex
	known map[string]seen
}

// seen is a file as it was when its digest was computed.
type seen struct {
	size   int64
	at     time.Time
	digest multiparty.Digest
}

// newShelf reads what is allowed: digests with sizes, as SHA256:BYTES, files and folders.
func newShelf(dir string, allow []string) (*shelf, error) {
	s := &shelf{dir: dir, sizes: map[multiparty.Digest]int64{}, known: map[string]seen{}}
	for _, a := range allow {
		var d multiparty.Digest
		digits, size, _ := strings.Cut(a, ":")
		if d.UnmarshalText([]byte(digits)) == nil {
			n, err := strconv.ParseInt(size, 10, 64)
			if before := s.sizes[d]; err != nil || n < 1 || n > maxBytes || before != 0 && before != n {
				return nil, &dp.ParamError{Op: "party", Param: "allow", Want: fmt.Sprintf("must be a SHA-256, a colon and "+
					"the file's size, 1 to %d bytes, one size for each file", int64(maxBytes)), Got: a,
					Hint: "what is sent is written to this machine's disk: wc -c counts a file's bytes"}
			}
			s.sizes[d] = n
			continue
		}
		if _, err := os.Stat(a); err != nil {
			return nil, &dp.ParamError{Op: "party", Param: "allow",
				Want: "must be a file, a folder, or a SHA-256 in 64 lower-case hexadecimal digits with a size, as SHA256:BYTES",
				Got:  a}
		}
		s.paths = append(s.paths, a)
	}
	if len(allow) == 0 {
		return nil, &dp.ParamError{Op: "party", Param: "allow",
			Want: "must name at least one auxiliary file: a party votes on nothing else"}
	}
	return s, nil
}

// findFile is the path of an allowed file. What is not allowed, or not here, is a
// problem.
func (s *shelf) findFile(t Table) (string, error) {
	if s.maySend(t) {
		path := s.sentPath(t)
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
	}
	for _, p := range s.paths {
		path, err := s.lookIn(p, t)
		if path != "" || err != nil {
			return path, err
		}
	}
	if s.maySend(t) {
		return "", problem.New(problem.UnknownTable, "%x", t.Digest[:])
	}
	return "", problem.New(problem.NotAllowed, "the auxiliary file %x", t.Digest[:])
}

// maySend reports whether a file is one that the operator lets combiners send: its size
// is the operator's word, not theirs.
func (s *shelf) maySend(t Table) bool {
	size, allowed := s.sizes[t.Digest]
	return allowed && size == t.Bytes
}

// sentPath is the path of a file that was sent.
func (s *shelf) sentPath(t Table) string {
	return filepath.Join(s.dir, fmt.Sprintf("%x.%s", t.Digest[:], t.Format))
}

// lookIn looks for a file in a folder, or at a name.
func (s *shelf) lookIn(root string, t Table) (string, error) {
	info, err := os.Stat(root)
	if err != nil {
		return "", err
	}
	names := []string{root}
	if info.IsDir() {
		entries, err := os.ReadDir(root)
		if err != nil {
			return "", err
		}
		names = names[:0]
		for _, e := range entries {
			names = append(names, filepath.Join(root, e.Name()))
		}
	}
	for _, name := range names {
		info, err := os.Stat(name)
		if errors.Is(err, fs.ErrNotExist) || err == nil && (!info.Mode().IsRegular() || info.Size() != t.Bytes ||
			FormatOf(name) != t.Format) {
			continue
		}
		if err != nil {
			return "", err
		}
		d, err := s.digestFile(name, info)
		if err != nil {
			return "", err
		}
		if d == t.Digest {
			return name, nil
		}
	}
	return "", nil
}

// FormatOf tells a file's format by its suffix, as readers of rows do.
func FormatOf(path string) Format {
	if strings.HasSuffix(path, ".parquet") {
		return Parquet
	}
	return CSV
}

// digestFile hashes a file, once for each time that it was written.
func (s *shelf) digestFile(path string, info fs.FileInfo) (multiparty.Digest, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if k := s.known[path]; k.size == info.Size() && k.at.Equal(info.ModTime()) {
		return k.digest, nil
	}
	d, err := DigestOf(path)
	if err == nil {
		s.known[path] = seen{info.Size(), info.ModTime(), d}
	}
	return d, err
}

// DigestOf is the SHA-256 of a file.
func DigestOf(path string) (d multiparty.Digest, err error) {
	f, err := os.Open(path)
	if err != nil {
		return d, err
	}
	h := sha256.New()
	_, err = io.Copy(h, f)
	h.Sum(d[:0])
	return d, errors.Join(err, f.Close())
}

// receiveFile keeps a file that is sent, if it is the one that was announced. next
// returns its parts, and io.EOF after the last.
func (s *shelf) receiveFile(ctx context.Context, t Table, next func() ([]byte, error)) (err error) {
	if !s.maySend(t) {
		return problem.New(problem.NotAllowed, "the auxiliary file %x", t.Digest[:])
	}
	if err := checkRoom(s.dir, t.Bytes); err != nil {
		return err
	}
	return keepFile(s.sentPath(t), func(w io.Writer) error {
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

// partial is in the names of files that are being written.
const partial = ".part"

// checkRoom refuses to write so many bytes to the disk of a folder. Tests replace it.
var checkRoom = diskroom.Check

// roomy writes to a file while what must stay free of its disk is.
type roomy struct {
	*os.File
	err error // why it does not
}

func (r *roomy) Write(b []byte) (n int, err error) {
	if r.err = checkRoom(filepath.Dir(r.Name()), int64(len(b))); r.err != nil {
		return 0, r.err
	}
	n, r.err = r.File.Write(b)
	return n, r.err
}

// keepFile writes a file that is there whole, on disk and for its owner alone, or
// not at all; not at all where too little of the disk would stay free.
func keepFile(path string, write func(io.Writer) error) (err error) {
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
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
		return err
	}
	return syncDir(filepath.Dir(path))
}

// syncDir puts names on disk.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
