// SPDX-License-Identifier: Apache-2.0

package site

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/discreet-dp/discreet/internal/atomicfile"
	"github.com/discreet-dp/discreet/internal/federated/sites"
	"github.com/discreet-dp/discreet/internal/privacy/dp"
)

// The files of a training, in a folder named by its digest. Each is written once and atomically, and
// is on disk before anything that depends on it is sent.
const (
	trainingFile = "training.json" // as sent by the coordinator
	keysFile     = "keys"          // fresh keys; deleted when the training ends
	setFile      = "set.json"
	begunFile    = "begun" // the digest of the rows: the ledger has been charged
	endedFile    = "ended"
)

// answerHead holds what the purse needs from an answer, and the answered measurement.
type answerHead struct {
	Ask     sites.Digest `json:"ask"`
	Label   string       `json:"label"`
	Epsilon dp.Epsilon   `json:"epsilon_nano"`
	Rho     dp.Rho       `json:"rho_pico"`
	Sums    []byte       `json:"sums"` // masked
}

// CoordinatorNames matches the file names in Coordinator.State. A killed process may leave a partial
// file.
const CoordinatorNames = `(training|set)\.json(\.part\d+)?`

// folder is the folder of one training.
type folder string

func (f folder) answer(number int) string { return fmt.Sprintf("answer-%06d", number) }

func (f folder) has(name string) bool {
	_, err := os.Lstat(filepath.Join(string(f), name))
	return err == nil
}

// read returns nil if the file does not exist.
func (f folder) read(name string) ([]byte, error) {
	b, err := os.ReadFile(filepath.Join(string(f), name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return b, err
}

func (f folder) write(name string, b []byte) error {
	return atomicfile.Write(filepath.Join(string(f), name), atomicfile.Private, func(w io.Writer) error {
		_, err := w.Write(b)
		return err
	})
}

// keep creates a file, and fails if it exists: of two processes with the same state, only one answers.
func (f folder) keep(name string, b []byte) (err error) {
	part := fmt.Sprintf("%s.%d", name, os.Getpid())
	if err := f.write(part, b); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.Remove(filepath.Join(string(f), part))) }()
	if err := os.Link(filepath.Join(string(f), part), filepath.Join(string(f), name)); err != nil {
		return err
	}
	if runtime.GOOS == "windows" { // which has no folders to flush
		return nil
	}
	dir, err := os.Open(string(f))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

func (f folder) readAnswer(number int) (*answerHead, error) {
	b, err := f.read(f.answer(number))
	if b == nil || err != nil {
		return nil, err
	}
	var h answerHead
	return &h, json.Unmarshal(b, &h)
}

// erase leaves only the mark that the training has ended.
func (f folder) erase() error {
	if err := f.write(endedFile, nil); err != nil {
		return err
	}
	if err := os.Remove(filepath.Join(string(f), keysFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	files, err := os.ReadDir(string(f))
	if err != nil {
		return err
	}
	for _, e := range files {
		if e.Name() != endedFile {
			err = errors.Join(err, os.Remove(filepath.Join(string(f), e.Name())))
		}
	}
	return err
}

// sweep erases the remains of ended trainings after a process was killed.
func sweep(dir string) error {
	all, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range all {
		if f := folder(filepath.Join(dir, e.Name())); f.has(endedFile) {
			err = errors.Join(err, f.erase())
		}
	}
	return err
}

// clear removes a coordinator's training.
func (f folder) clear() (err error) {
	for _, pattern := range []string{setFile + "*", trainingFile + "*"} { // the training last: it is gone on with
		names, e := filepath.Glob(filepath.Join(string(f), pattern))
		err = errors.Join(err, e)
		for _, name := range names {
			err = errors.Join(err, os.Remove(name))
		}
	}
	return err
}
