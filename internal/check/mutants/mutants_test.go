// SPDX-License-Identifier: Apache-2.0

package mutants

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A mutant is one bug: in the declaration Place, Old becomes New, and then Test must fail.
type mutant struct {
	Place    string // folder and name: "privacy/mech Laplace.draw"; of the folder, as much as tells it from others
	Bug      string // in words
	Old, New string // code; Old stands once in the declaration
	Test     string // folder and test: "privacy/mech TestLaplaceScale"
}

// named lists the mutants by name: the claim, or the words.
func named() map[string]mutant {
	out := maps.Clone(byClaim)
	for _, m := range survivors {
		out[m.Bug] = m
	}
	return out
}

// TestMutantsAreCaught needs minutes and the go command, so it runs on request:
// DISCREET_MUTANTS=1, set by `make mutants`.
func TestMutantsAreCaught(t *testing.T) {
	if os.Getenv("DISCREET_MUTANTS") == "" {
		t.Skip("set DISCREET_MUTANTS=1 to plant the bugs (make mutants)")
	}
	all := named()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		t.Run(name, func(t *testing.T) {
			m := all[name]
			out, err := m.run(t, "DISCREET_LONG=")
			if err == nil { // few hostile programs may not come upon it
				out, err = m.run(t, "DISCREET_LONG=1")
			}
			_, test, _ := strings.Cut(m.Test, " ")
			switch {
			case strings.Contains(out, "[build failed]"):
				t.Errorf("%s: the mutant does not build:\n%s", m.Bug, out)
			case err == nil:
				t.Errorf("%s: %s stays green", m.Bug, m.Test)
			case !strings.Contains(out, "--- FAIL: "+strings.Split(test, "/")[0]):
				t.Errorf("%s: something else than %s failed:\n%s", m.Bug, m.Test, out)
			default:
				t.Logf("caught: %s, by %s", m.Bug, m.Test)
			}
		})
	}
}

// TestMutantsStillApply keeps the table in step with code and tests without running it.
func TestMutantsStillApply(t *testing.T) {
	all := named()
	if len(all) != len(byClaim)+len(survivors) {
		t.Error("two mutants have one name")
	}
	for name, m := range all {
		at, err := m.find()
		if err == nil {
			err = parses(at.planted(m.New))
		}
		if err == nil {
			_, err = m.judge()
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestEachClaimHasAMutant compares the table with the headings of the pages.
func TestEachClaimHasAMutant(t *testing.T) {
	pages, err := filepath.Glob(filepath.Join(root, "evidence/guarantees/*.md"))
	if err != nil {
		t.Fatal(err)
	}
	claimed := map[string]bool{}
	heading := regexp.MustCompile(`(?m)^## (G-[A-Z]+-[0-9]+)\b`)
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range heading.FindAllSubmatch(text, -1) {
			claimed[string(h[1])] = true
			if byClaim[string(h[1])].Bug == "" {
				t.Errorf("%s: no mutant breaks %s: plant a bug that does in byClaim, with the test that sees it", page, h[1])
			}
		}
	}
	for claim := range byClaim {
		if !claimed[claim] {
			t.Errorf("%s has a mutant, and no page has a heading for it", claim)
		}
	}
}

// find finds what the mutant changes.
func (m mutant) find() (spot, error) {
	folder, name, _ := strings.Cut(m.Place, " ")
	folder, err := folderOf(folder)
	if err != nil {
		return spot{}, err
	}
	declared, err := scopeOf(folder)
	if err != nil {
		return spot{}, err
	}
	return declared.find(name, m.Old)
}

// judge lists the arguments by which go test runs the mutant's test. It fails if there is no such test: go test
// would stay green, whatever is planted.
func (m mutant) judge() ([]string, error) {
	folder, test, _ := strings.Cut(m.Test, " ")
	folder, err := folderOf(folder)
	if err != nil {
		return nil, err
	}
	parts := strings.Split(test, "/")
	if err := findTest(folder, parts[0]); err != nil {
		return nil, err
	}
	for i, p := range parts {
		parts[i] = "^" + p + "$"
	}
	return []string{"-run", strings.Join(parts, "/"), "./" + folder}, nil
}

func findTest(folder, name string) error {
	paths, err := filesOf(folder, true)
	for _, path := range paths {
		src, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if bytes.Contains(src, []byte("func "+name+"(")) {
			return nil
		}
	}
	return errors.Join(err, fmt.Errorf("there is no %s in %s", name, folder))
}

// run tests the mutant at a size through an overlay: the tree itself is not touched.
func (m mutant) run(t *testing.T, size string) (string, error) {
	at, err := m.find()
	if err != nil {
		t.Fatal(err)
	}
	judge, err := m.judge()
	if err != nil {
		t.Fatal(err)
	}
	overlay := writeOverlay(t, at.file, at.planted(m.New))
	cmd := exec.Command("go", append([]string{"test", "-vet=off", "-timeout", "30m", "-overlay", overlay}, judge...)...)
	cmd.Dir, cmd.Env = root, append(workspace(t), size)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// writeOverlay writes an overlay in which a file has another text, and returns its name.
func writeOverlay(t *testing.T, file string, src []byte) string {
	t.Helper()
	dir := t.TempDir()
	bad, overlay := filepath.Join(dir, "mutant.go"), filepath.Join(dir, "overlay.json")
	file, err := filepath.Abs(file)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(map[string]any{"Replace": map[string]string{file: bad}})
	if err := errors.Join(err, os.WriteFile(bad, src, 0o600), os.WriteFile(overlay, text, 0o600)); err != nil {
		t.Fatal(err)
	}
	return overlay
}

// workspace is an environment in which the go command of the root finds the laboratory, too.
func workspace(t *testing.T) []string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join(root, "go.work"))
	if err != nil {
		t.Fatal(err)
	}
	return append(os.Environ(), "GOWORK="+path)
}
