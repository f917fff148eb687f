// SPDX-License-Identifier: Apache-2.0

//go:build unix

package openfile

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// kinds makes a file of each kind in a folder.
func kinds(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	t.Chdir(dir)
	if err := os.WriteFile("file", []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Symlink("file", "link"), syscall.Mkfifo("pipe", 0o600), os.Symlink("pipe", "pipelink"),
		os.Mkdir("folder", 0o700), os.Symlink("/dev/zero", "device")); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", filepath.Join(dir, "socket"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return dir
}

// No way of opening waits for a pipe, and refusals name what was found.
func TestOnlyRegularFilesAreOpened(t *testing.T) {
	dir := kinds(t)
	found := map[string]string{"file": "", "link": "", "pipe": "a pipe", "pipelink": "a pipe", "folder": "a folder",
		"device": "a device", "socket": "a socket"}
	for name, kind := range found {
		for way, open := range map[string]func() error{
			"Regular": func() error {
				f, err := Regular(name)
				return errors.Join(err, f.Close())
			},
			"Read": func() error { _, err := Read(name); return err },
			"Append": func() error {
				f, err := Append(name, 0o600)
				return errors.Join(err, f.Close())
			},
			"Folder": func() error {
				if name == "folder" {
					return errors.New("a folder: names are read from it")
				}
				_, err := fs.ReadFile(Folder(dir), name)
				return err
			},
		} {
			err := open()
			if kind == "" && err != nil || kind != "" && (err == nil || !strings.Contains(err.Error(), kind)) {
				t.Errorf("%s of %s: got %v, want %q in it", way, name, err, kind)
			}
		}
		f, _, err := Table(t.Context(), "socket")
		if err == nil {
			f.Close()
			t.Error("a socket is a table")
		}
	}
	if _, err := Regular("none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	if _, err := fs.ReadDir(Folder("none"), "."); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "none") {
		t.Errorf("no folder: got %v", err)
	}
	if names, err := fs.ReadDir(Folder(dir), "."); err != nil || len(names) != len(found) {
		t.Errorf("got %d names, %v", len(names), err)
	}
}

// Reading a pipe ends when the context does, whether its writer is awaited or silent.
func TestPipesEndWithTheContext(t *testing.T) {
	kinds(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := Table(ctx, "pipe"); !errors.Is(err, context.Canceled) {
		t.Errorf("without a writer: got %v", err)
	}
	ctx, cancel = context.WithCancel(t.Context())
	defer cancel()
	opened := make(chan *os.File, 1)
	go func() {
		w, err := os.OpenFile("pipe", os.O_WRONLY, 0)
		if err != nil {
			t.Error(err)
		}
		opened <- w
	}()
	f, r, err := Table(ctx, "pipe")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := <-opened
	defer w.Close()
	if _, err := w.WriteString("rows"); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 4)
	if _, err := io.ReadFull(r, got); err != nil || string(got) != "rows" {
		t.Fatalf("got %q, %v", got, err)
	}
	ended := make(chan error, 1)
	go func() {
		_, err := r.Read(got)
		ended <- err
	}()
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("with a silent writer: got %v", err)
	}
}

func TestReadIsBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "large")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, maxRead+1); err != nil {
		t.Skip("the file system has no such files")
	}
	if _, err := Read(path); err == nil || !strings.Contains(err.Error(), "must have at most") {
		t.Errorf("got %v", err)
	}
}
