// SPDX-License-Identifier: Apache-2.0

// Package anchor detects that a ledger or a service's state was restored to an earlier state. It
// stores the newest known state outside of what it watches. An anchor is the name of a file: a number
// that only grows, and a hash of the state with that number.
package anchor

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/internal/ground/openfile"
)

// Head is a state: its number, and a hash of the state in hexadecimal digits.
type Head struct {
	Seq  int64
	Hash string
}

// Folder stores the anchors of many things, each in a folder named by its identity. Processes may
// share it.
type Folder string

// FolderNames matches the file names in a Folder: identities.
const FolderNames = "[0-9a-f]{32,}"

// Default is the default folder of anchors: in the user's state folder of the XDG Base Directory
// Specification, or in Windows' local application data.
func Default() (Folder, error) {
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return Folder(filepath.Join(dir, "discreet", "anchors")), nil
	}
	if runtime.GOOS == "windows" {
		if dir := os.Getenv("LocalAppData"); dir != "" {
			return Folder(filepath.Join(dir, "discreet", "anchors")), nil
		}
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("anchor: the folder anchors must be given, or the user have a home: %w", err)
	}
	return Folder(filepath.Join(home, ".local", "state", "discreet", "anchors")), nil
}

// Behind reports that something does not contain a state in which this machine has seen it.
type Behind struct {
	What string // a description of it
	File string // the anchor
	Head Head
}

func (e *Behind) Error() string {
	return fmt.Sprintf("%s must hold its state number %d, which was seen here before (anchor %s): it was put back to an "+
		"earlier state, or went on from a copy, and does not know what happened since. Put the latest copy back. If it is "+
		"lost, treat all that it guarded as spent and begin a new one; to go on with this one all the same, remove the "+
		"anchor",
		e.What, e.Head.Seq, e.File)
}

// Check reads the anchors of an identity and returns *Behind if holds is false for one of them.
// Without anchors the thing is seen for the first time, and trusted. holds is called after the anchors
// were read, so that it sees a state at least as new as they are.
func (f Folder) Check(what, identity string, holds func(Head) (bool, error)) error {
	heads, err := f.list(identity)
	if err != nil {
		return err
	}
	for _, h := range heads {
		ok, err := holds(h)
		if err != nil {
			return err
		}
		if !ok {
			return &Behind{what, filepath.Join(string(f), identity, h.name()), h}
		}
	}
	return nil
}

func (h Head) name() string { return fmt.Sprintf("%d-%s", h.Seq, h.Hash) }

// list returns the anchors of an identity, the newest first.
func (f Folder) list(identity string) (heads []Head, err error) {
	if b, err := hex.DecodeString(identity); err != nil || len(b) < 16 {
		return nil, fmt.Errorf("anchor: an identity must have at least 16 bytes in hexadecimal digits (got %.100q)", identity)
	}
	entries, err := os.ReadDir(filepath.Join(string(f), identity))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("anchor: %w", err)
	}
	for _, e := range entries {
		seq, hash, _ := strings.Cut(e.Name(), "-")
		n, err := strconv.ParseInt(seq, 10, 64)
		if h := (Head{n, hash}); err == nil && h.name() == e.Name() {
			heads = append(heads, h)
		}
	}
	slices.SortFunc(heads, func(a, b Head) int { return int(min(max(b.Seq-a.Seq, -1), 1)) })
	return heads, nil
}

// Note stores a head that is already on disk. Many processes may call it at once, in any order: the
// newest head stays. A process that dies may leave older anchors, which are harmless. Nothing is
// flushed: after a crash of the machine the anchor may be an earlier one.
func (f Folder) Note(identity string, h Head) error {
	heads, err := f.list(identity)
	if err != nil || len(heads) > 0 && heads[0].Seq >= h.Seq {
		return err
	}
	dir := filepath.Join(string(f), identity)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("anchor: %w", err)
	}
	file, err := openfile.Append(filepath.Join(dir, h.name()), 0o600)
	if err == nil {
		err = file.Close()
	}
	if err != nil {
		return fmt.Errorf("anchor: %w", err)
	}
	// The one before stays: who lists the folder meanwhile sees one of the two.
	for _, old := range heads[min(1, len(heads)):] {
		if err := os.Remove(filepath.Join(dir, old.name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("anchor: %w", err)
		}
	}
	return nil
}
