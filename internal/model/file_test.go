// SPDX-License-Identifier: Apache-2.0

package model

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestFileRoundTrips(t *testing.T) {
	for _, m := range []*Model{voted(), fitted(), levelled(), elected(), layered(), gridded(), griddedThree()} {
		file := mustMarshal(t, m)
		if !bytes.Equal(file, mustMarshal(t, m)) {
			t.Fatal("the same model gave two files")
		}
		back, err := Unmarshal(file)
		if err != nil {
			t.Fatal(err)
		}
		if again := mustMarshal(t, back); !bytes.Equal(again, file) {
			t.Fatalf("the file changed on its way:\n%s\n%s", file, again)
		}
		cols := patients(rand.New(rand.NewPCG(15, 16)), m.Schema, 100)
		want, err := m.Scores(cols, 100)
		if err != nil {
			t.Fatal(err)
		}
		got, err := back.Scores(cols, 100)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, want) {
			t.Error("scores change on the way through a file")
		}
	}
}

func TestSaveReplacesWholeFilesOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.json")
	for _, m := range []*Model{voted(), fitted()} {
		if err := m.Save(path); err != nil {
			t.Fatal(err)
		}
		back, err := Load(path)
		if err != nil {
			t.Fatal(err)
		}
		if back.Learner != m.Learner {
			t.Fatalf("loaded a %s model, saved %s", back.Learner, m.Learner)
		}
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	broken := change(voted(), func(m *Model) { m.Classifier.(*Votes).Members[0].Bias = 2 })
	if err := broken.Save(path); err == nil {
		t.Error("saved a model that cannot be read")
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, before) {
		t.Errorf("a refused save changed the file (%v)", err)
	}
	left, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(left) != 1 {
		t.Errorf("saving left %d files (%v), want 1", len(left), err)
	}
}

func TestSaveRefusesWhatIsNoPlainFile(t *testing.T) {
	folder := t.TempDir()
	if err := voted().Save(folder); err == nil {
		t.Error("saved over a folder")
	}
	link := filepath.Join(folder, "link")
	if err := os.Symlink("elsewhere", link); err != nil {
		t.Fatal(err)
	}
	if err := voted().Save(link); err == nil {
		t.Error("saved over a link")
	}
	if err := voted().Save(filepath.Join(folder, "none", "m.json")); err == nil {
		t.Error("saved into a folder that does not exist")
	}
}

// A part left by a crash neither blocks the next save nor is read.
func TestSavePassesLeftoverPart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.json")
	if err := os.WriteFile(path+".part0", []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := voted().Save(path); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(path); err != nil {
		t.Fatal(err)
	}
}
