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

	"github.com/discreet-dp/discreet/internal/ground/diskroom"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ground/openfile"
	"github.com/discreet-dp/discreet/internal/net/federated/multiparty"
	"github.com/discreet-dp/discreet/internal/net/service/problem"
)

// shelf holds the auxiliary files that the operator has allowed: by digest and size, by name, or by
// folder. Files allowed by digest may be sent, and are stored in dir.
type shelf struct {
	dir   string
	sizes map[multiparty.Digest]int64 // in bytes, for files that may be sent
	paths []string

	mu    sync.Mutex
	known map[string]seen
}

// seen is the state of a file when its digest was computed.
type seen struct {
	size   int64
	at     time.Time
	digest multiparty.Digest
}

// newShelf parses the permissions: digests with sizes, as SHA256:BYTES, files and folders.
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
			return nil, dp.Refuse("party", "allow",
				"must be a file, a folder, or a SHA-256 in 64 lower-case hexadecimal digits with a size, as SHA256:BYTES", a)
		}
		s.paths = append(s.paths, a)
	}
	if len(allow) == 0 {
		return nil, dp.Refuse("party", "allow", "must name at least one auxiliary file: a party votes on nothing else", nil)
	}
	return s, nil
}

// findFile returns the path of an allowed file. It returns a problem if the file is not allowed, or
// does not exist.
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

// maySend reports whether combiners may send a file. The operator, not the combiner, has set its size.
func (s *shelf) maySend(t Table) bool {
	size, allowed := s.sizes[t.Digest]
	return allowed && size == t.Bytes
}

// sentPath returns the path of a sent file.
func (s *shelf) sentPath(t Table) string {
	return filepath.Join(s.dir, fmt.Sprintf("%x.%s", t.Digest[:], t.Format))
}

// lookIn searches for a file in a folder, or at a path.
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

// FormatOf determines a file's format by its suffix, as readers of rows do.
func FormatOf(path string) Format {
	if strings.HasSuffix(path, ".parquet") {
		return Parquet
	}
	return CSV
}

// digestFile hashes a file, once for each version of it.
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
	f, err := openfile.Regular(path)
	if err != nil {
		return d, err
	}
	h := sha256.New()
	_, err = io.Copy(h, f)
	h.Sum(d[:0])
	return d, errors.Join(err, f.Close())
}

// receiveFile stores a file that is sent, if it matches its announced digest. next returns its parts,
// and io.EOF after the last.
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

// keepFile writes a file atomically, readable by its owner alone. It fails if too little disk space
// would be left.
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
	return openfile.SyncFolder(filepath.Dir(path))
}
