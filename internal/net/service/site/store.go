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

	"github.com/discreet-dp/discreet/internal/ground/atomicfile"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ground/openfile"
	"github.com/discreet-dp/discreet/internal/net/federated/sites"
)

// The files of a training, in a folder named by its digest. Each is written once and atomically, and
// is on disk before anything that depends on it is sent.
const (
	trainingFile = "training.json" // as sent by the coordinator
	keysFile     = "keys"          // fresh keys; deleted when the training ends
	setFile      = "set.json"
	begunFile    = "begun" // the digest of the rows: the ledger has been charged
	endedFile    = "ended" // what is left is to be erased
)

// beforeWrite is called before each change of the disk. Tests kill a process there.
var beforeWrite = func(path string) error { return nil }

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
const CoordinatorNames = `((training|set|result)\.json|total-\d{6})(\.part\d+)?`

// totalOf is the file, in Coordinator.State, of a measurement's total in a training that sites may leave.
func totalOf(number int) string { return fmt.Sprintf("total-%06d", number) }

// resultFile is in Coordinator.State.
const resultFile = "result.json"

// folder is the folder of one training.
type folder string

func (f folder) at(name string) string { return filepath.Join(string(f), name) }

func (f folder) answer(number int) string { return fmt.Sprintf("answer-%06d", number) }

func (f folder) has(name string) bool {
	_, err := os.Lstat(f.at(name))
	return err == nil
}

// read returns nil if the file does not exist.
func (f folder) read(name string) ([]byte, error) {
	b, err := openfile.Read(f.at(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return b, err
}

func (f folder) write(name string, b []byte) error {
	if err := beforeWrite(f.at(name)); err != nil {
		return err
	}
	return atomicfile.Write(f.at(name), atomicfile.Private, func(w io.Writer) error {
		_, err := w.Write(b)
		return err
	})
}

// create makes the folder.
func (f folder) create() error {
	if err := beforeWrite(string(f)); err != nil {
		return err
	}
	return os.MkdirAll(string(f), 0o700)
}

// remove deletes a file, which need not exist.
func (f folder) remove(name string) error {
	if err := beforeWrite(f.at(name)); err != nil {
		return err
	}
	if err := os.Remove(f.at(name)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// keep creates a file, and fails if it exists: of two processes with the same state, only one answers.
func (f folder) keep(name string, b []byte) (err error) {
	part := fmt.Sprintf("%s.%d", name, os.Getpid())
	if err := f.write(part, b); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.remove(part)) }()
	if err := beforeWrite(f.at(name)); err != nil {
		return err
	}
	if err := os.Link(f.at(part), f.at(name)); err != nil {
		return err
	}
	if runtime.GOOS == "windows" { // which has no folders to flush
		return nil
	}
	return openfile.SyncFolder(string(f))
}

func (f folder) readAnswer(number int) (*answerHead, error) {
	b, err := f.read(f.answer(number))
	if b == nil || err != nil {
		return nil, err
	}
	var h answerHead
	return &h, json.Unmarshal(b, &h)
}

// erase removes a training. A mark comes first, so that a process that was killed erases the rest when
// it starts again; then the keys.
func (f folder) erase() error {
	if err := f.write(endedFile, nil); err != nil {
		return err
	}
	if err := f.remove(keysFile); err != nil {
		return err
	}
	files, err := os.ReadDir(string(f))
	if err != nil {
		return err
	}
	for _, e := range files {
		if e.Name() != endedFile {
			err = errors.Join(err, f.remove(e.Name()))
		}
	}
	if err == nil {
		err = errors.Join(f.remove(endedFile), f.remove(""))
	}
	return err
}

// clear removes a coordinator's training, its result last.
func (f folder) clear() error {
	for _, name := range []string{"total-", setFile, trainingFile, resultFile} {
		names, err := filepath.Glob(f.at(name) + "*") // and what a killed process has left
		if err != nil {
			return err
		}
		for _, name := range names {
			if err := f.remove(filepath.Base(name)); err != nil {
				return err
			}
		}
	}
	return nil
}
