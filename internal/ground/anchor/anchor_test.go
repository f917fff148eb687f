// SPDX-License-Identifier: Apache-2.0

package anchor

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

const identity = "00112233445566778899aabbccddeeff"

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestAnchorsOnlyGrow notes heads in any order, by many at once: the newest stays, and at most one
// older one beside it.
func TestAnchorsOnlyGrow(t *testing.T) {
	f := Folder(filepath.Join(t.TempDir(), "a", "b"))
	var wg sync.WaitGroup
	for seq := range int64(100) {
		wg.Go(func() { must(t, f.Note(identity, Head{(seq * 37) % 100, "aa"})) })
	}
	wg.Wait()
	for range 2 { // no one is under way now
		must(t, f.Note(identity, Head{100, "bb"}))
		must(t, f.Note(identity, Head{50, "cc"}))
	}
	heads, err := f.list(identity)
	must(t, err)
	if len(heads) > 2 || heads[0] != (Head{100, "bb"}) || heads[1] != (Head{99, "aa"}) {
		t.Errorf("%v is kept, want the newest and the one before", heads)
	}
}

// TestCheck asks for each anchor, and names what is behind one.
func TestCheck(t *testing.T) {
	f := Folder(t.TempDir())
	never := func(Head) (bool, error) { return false, nil }
	must(t, f.Check("it", identity, never)) // seen for the first time
	must(t, f.Note(identity, Head{7, "aa"}))
	must(t, os.WriteFile(filepath.Join(string(f), identity, "notes.txt"), nil, 0o600))
	must(t, f.Check("it", identity, func(h Head) (bool, error) { return h == Head{7, "aa"}, nil }))
	var behind *Behind
	if err := f.Check("it", identity, never); !errors.As(err, &behind) || behind.Head != (Head{7, "aa"}) {
		t.Errorf("err = %v, want that it is behind", err)
	}
	if _, err := os.Stat(behind.File); err != nil || !strings.Contains(behind.Error(), behind.File) {
		t.Errorf("%q does not name the anchor: %v", behind, err)
	}
	must(t, f.Note(identity, Head{8, "bb"})) // which is of another history
	if err := f.Check("it", identity, func(h Head) (bool, error) { return h == Head{8, "bb"}, nil }); !errors.As(err, &behind) ||
		behind.Head != (Head{7, "aa"}) {
		t.Errorf("err = %v, want that it is behind the older anchor", err)
	}
	must(t, os.Remove(behind.File)) // as it says
	must(t, os.Remove(filepath.Join(string(f), identity, "8-bb")))
	must(t, f.Check("it", identity, never))
	fault := errors.New("no")
	must(t, f.Note(identity, Head{8, "aa"}))
	if err := f.Check("it", identity, func(Head) (bool, error) { return false, fault }); !errors.Is(err, fault) {
		t.Errorf("err = %v", err)
	}
	for _, bad := range []string{"", "../..", "00", strings.Repeat("x", 40)} {
		if f.Check("it", bad, never) == nil || f.Note(bad, Head{1, "aa"}) == nil {
			t.Errorf("%q is taken for an identity", bad)
		}
	}
}

// TestDefault is below the user's state.
func TestDefault(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_STATE_HOME", dir)
	if f, err := Default(); err != nil || string(f) != filepath.Join(dir, "discreet", "anchors") {
		t.Errorf("%s, %v", f, err)
	}
	t.Setenv("XDG_STATE_HOME", "relative") // which the specification has ignored
	t.Setenv("HOME", dir)
	t.Setenv("LocalAppData", dir)
	t.Setenv("USERPROFILE", dir)
	if f, err := Default(); err != nil || !strings.HasPrefix(string(f), dir) {
		t.Errorf("%s, %v", f, err)
	}
}
