// SPDX-License-Identifier: Apache-2.0

// Package datasets says where the tables of the figures come from and what their files must hold, and puts downloaded
// files into their places.
package datasets

import (
	"bufio"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/internal/ground/atomicfile"
)

// Set is one data set.
type Set struct {
	Name    string   `json:"name"`
	Source  string   `json:"source"`
	Licence string   `json:"licence"`
	Made    string   `json:"made,omitempty"` // what its file is made of; empty for a copy of the source's
	Data    []string `json:"data"`           // what records call it
	Files   []File   `json:"files"`
}

// File is one file of a set, below the folder of data sets. A name that ends in .gz is compressed by gzip.
type File struct {
	Name   string `json:"name"`
	Bytes  int64  `json:"bytes,omitempty"` // uncompressed
	SHA256 string `json:"sha256,omitempty"`
}

// invented are data that no file is read for.
var invented = []string{"toy", "census", "synthetic", "invented visits"}

// Needs returns the files that a figure on these data reads, by what records call them; ok is false for data that are not
// listed.
func Needs(data string) (files []File, ok bool) {
	for _, part := range strings.Split(data, "+") {
		if slices.Contains(invented, part) {
			continue
		}
		known := false
		for _, s := range All {
			if slices.Contains(s.Data, part) || part == "all tables" && slices.Contains(ofAllTables, s.Data[0]) {
				known, files = true, append(files, s.Files...)
			}
		}
		if !known {
			return nil, false
		}
	}
	return files, true
}

// ofAllTables are the real tables of frontier/calibration.
var ofAllTables = []string{"adult", "credit", "sepsis", "bank"}

// State is what a folder has of a file.
type State string

const (
	Right   State = "right"
	Missing State = "missing"
	Wrong   State = "wrong"   // other content
	Unknown State = "unknown" // there, and there is nothing to compare with
)

// Check compares a file of a folder.
func Check(folder string, f File) (State, error) {
	sum, err := hashContent(filepath.Join(folder, filepath.FromSlash(f.Name)))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Missing, nil
	case errors.Is(err, errContent):
		return Wrong, nil
	case err != nil:
		return "", err
	case f.SHA256 == "":
		return Unknown, nil
	case sum != f.SHA256:
		return Wrong, nil
	}
	return Right, nil
}

// errContent is a file that is not compressed as its name says.
var errContent = errors.New("datasets: must be compressed as its name says")

// hashContent is the SHA-256 of what a file holds uncompressed.
func hashContent(path string) (string, error) {
	h := sha256.New()
	err := readContent(path, func(r io.Reader) error {
		_, err := io.Copy(h, r)
		return err
	})
	return hex.EncodeToString(h.Sum(nil)), err
}

func readContent(path string, use func(io.Reader) error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close() // nothing was written
	if filepath.Ext(path) != ".gz" {
		return use(f)
	}
	z, err := gzip.NewReader(f)
	if err != nil {
		return errContent
	}
	if err := use(z); err != nil {
		return errContent
	}
	return nil
}

// Prepare puts what the folder from holds, under whatever names, into its places below to: copies, which it knows by
// their checksums, and files that are made of others. It returns what it wrote.
func Prepare(from, to string) (wrote []string, err error) {
	wanted := map[string]File{}
	for _, s := range All {
		for _, f := range s.Files {
			if f.SHA256 == "" {
				continue
			}
			switch state, err := Check(to, f); {
			case err != nil:
				return nil, err
			case state != Right:
				wanted[f.SHA256] = f
			}
		}
	}
	err = filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		sum, err := hashContent(path)
		if f, ok := wanted[sum]; ok && err == nil {
			if err := place(to, f, func(w io.Writer) error {
				return readContent(path, func(r io.Reader) error { _, err := io.Copy(w, r); return err })
			}); err != nil {
				return err
			}
			delete(wanted, sum)
			wrote = append(wrote, f.Name)
		}
		if errors.Is(err, errContent) {
			return nil
		}
		return err
	})
	if err != nil {
		return wrote, err
	}
	for _, m := range makers {
		for sum, f := range wanted {
			if f.Name != m.name {
				continue
			}
			h := sha256.New()
			switch err := m.write(from, h); {
			case errors.Is(err, fs.ErrNotExist):
				continue // what it is made of is not there
			case err != nil:
				return wrote, err
			case hex.EncodeToString(h.Sum(nil)) != sum:
				return wrote, fmt.Errorf("datasets: %s cannot be made of what %s holds: its content differs", f.Name, from)
			}
			if err := place(to, f, func(w io.Writer) error { return m.write(from, w) }); err != nil {
				return wrote, err
			}
			wrote = append(wrote, f.Name)
		}
	}
	slices.Sort(wrote)
	return wrote, nil
}

// place writes a file below a folder, compressed if its name says so.
func place(folder string, f File, write func(io.Writer) error) error {
	path := filepath.Join(folder, filepath.FromSlash(f.Name))
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	return atomicfile.Write(path, atomicfile.Public, func(w io.Writer) error {
		if filepath.Ext(path) != ".gz" {
			return write(w)
		}
		z := gzip.NewWriter(w)
		return errors.Join(write(z), z.Close())
	})
}

// makers write the content of files that are made of others in a folder. An fs.ErrNotExist says that those are not there.
var makers = []struct {
	name  string
	write func(folder string, w io.Writer) error
}{
	{"hapt/hapt_labelled_samples.csv.gz", writeHAPT},
	{"phishing/phishing_websites.csv.gz", writePhishing},
}

// find returns the file of that name anywhere below a folder.
func find(folder, name string) (found string, err error) {
	err = filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && d.Name() == name {
			found = path
			return fs.SkipAll
		}
		return err
	})
	if err == nil && found == "" {
		err = fmt.Errorf("datasets: %s: %w", name, fs.ErrNotExist)
	}
	return found, err
}

// lines calls use for each line of a file of a folder.
func lines(folder, name string, use func(line string) error) error {
	path, err := find(folder, name)
	if err != nil {
		return err
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close() // nothing was written
	s := bufio.NewScanner(f)
	for s.Scan() {
		if err := use(strings.TrimSpace(s.Text())); err != nil {
			return err
		}
	}
	return s.Err()
}
