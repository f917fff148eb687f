// SPDX-License-Identifier: Apache-2.0

package atomicfile_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/discreet-dp/discreet/internal/ground/atomicfile"
)

func text(s string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, s)
		return err
	}
}

// TestFilesAreWholeOrAsBefore: also who may read one is that of the new file, and a
// failure leaves the old one and nothing else.
func TestFilesAreWholeOrAsBefore(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	if err := os.WriteFile(path, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path+".part0", []byte("left by a crash"), 0o644); err != nil {
		t.Fatal(err)
	}
	failed := errors.New("failed")
	err := atomicfile.Write(path, atomicfile.Private, func(w io.Writer) error {
		if err := text("half")(w); err != nil {
			return err
		}
		return failed
	})
	if got, _ := os.ReadFile(path); !errors.Is(err, failed) || string(got) != "old" {
		t.Errorf("a failure: %v, and the file holds %q", err, got)
	}
	for mode, want := range map[fs.FileMode]fs.FileMode{atomicfile.Private: 0o600, atomicfile.Public: 0o666} {
		if err := atomicfile.Check(path); err != nil {
			t.Fatal(err)
		}
		if err := atomicfile.Write(path, mode, text("new")); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); runtime.GOOS != "windows" && got != want&^umask() {
			t.Errorf("mode %04o, want %04o", got, want&^umask())
		}
		if got, _ := os.ReadFile(path); string(got) != "new" {
			t.Errorf("the file holds %q", got)
		}
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 2 {
		t.Errorf("%v, %v: want the file and what a crash had left", left, err)
	}
}

func TestRefuses(t *testing.T) {
	dir := t.TempDir()
	for _, path := range []string{dir, filepath.Join(dir, "no", "f"), "s3://bucket/f"} {
		if atomicfile.Check(path) == nil {
			t.Errorf("%s can be written", path)
		}
		if atomicfile.Write(path, atomicfile.Private, text("x")) == nil {
			t.Errorf("%s was written", path)
		}
	}
}

// TestFailedRenames: when the last step fails, here because a folder has taken the
// name, nothing is left beside it.
func TestFailedRenames(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	if err := atomicfile.Write(path, atomicfile.Private, func(io.Writer) error {
		return os.Mkdir(path, 0o700)
	}); err == nil {
		t.Fatal("a folder was replaced")
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("%d names left (%v), want the folder alone", len(left), err)
	}
}

// umask is what the process takes from a mode, as a new file shows it.
func umask() fs.FileMode {
	dir, err := os.MkdirTemp("", "umask")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	f, err := os.OpenFile(filepath.Join(dir, "f"), os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		panic(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		panic(err)
	}
	return 0o666 &^ info.Mode().Perm()
}
