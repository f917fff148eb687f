// SPDX-License-Identifier: Apache-2.0

package mutants

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestMutantsAreCaught needs minutes and the go command, so it runs on request:
// DISCREET_MUTANTS=1, set by `make mutants`.
func TestMutantsAreCaught(t *testing.T) {
	if os.Getenv("DISCREET_MUTANTS") == "" {
		t.Skip("set DISCREET_MUTANTS=1 to plant the bugs (make mutants)")
	}
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range slices.Concat(table, unlisted, leaned, guarded, sited) {
		t.Run("row "+m.Row, func(t *testing.T) {
			out, err := run(t, root, m, "DISCREET_LONG=")
			if err == nil { // few hostile programs may not come upon it
				out, err = run(t, root, m, "DISCREET_LONG=1")
			}
			switch {
			case strings.Contains(out, "[build failed]"):
				t.Errorf("%s: the mutant does not build:\n%s", m.Bug, out)
			case err == nil:
				t.Errorf("%s: %s stays green", m.Bug, m.Test)
			case !strings.Contains(out, "--- FAIL: "+strings.Split(m.Test, "/")[0]):
				t.Errorf("%s: something else than %s failed:\n%s", m.Bug, m.Test, out)
			default:
				t.Logf("caught: %s, by %s", m.Bug, m.Test)
			}
		})
	}
}

// TestMutantsStillApply keeps the table in step with code and tests without running it.
func TestMutantsStillApply(t *testing.T) {
	rows := map[string]bool{}
	for _, m := range slices.Concat(table, unlisted, leaned, guarded, sited) {
		if rows[m.Row] {
			t.Errorf("row %s stands twice", m.Row)
		}
		rows[m.Row] = true
		src, err := os.ReadFile(filepath.Join("../../..", m.File))
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(src), m.Old); n != 1 {
			t.Errorf("row %s (%s): its text stands %d times in %s", m.Row, m.Bug, n, m.File)
		}
		if name, _, _ := strings.Cut(m.Test, "/"); !hasTest(t, m.Package, name) {
			t.Errorf("row %s (%s): there is no %s in %s", m.Row, m.Bug, name, m.Package)
		}
	}
}

// hasTest says whether a package has the test: without it go test stays green, whatever is planted.
func hasTest(t *testing.T, folder, name string) bool {
	t.Helper()
	tests, err := filepath.Glob(filepath.Join("../../..", folder, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range tests {
		src, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(src), "func "+name+"(") {
			return true
		}
	}
	return false
}

// run tests the mutant at a size through an overlay: the tree itself is not touched.
func run(t *testing.T, root string, m mutant, size string) (string, error) {
	path := filepath.Join(root, m.File)
	src, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	bad := filepath.Join(dir, "mutant.go")
	if err := os.WriteFile(bad, []byte(strings.Replace(string(src), m.Old, m.New, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{path: bad}})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(file, overlay, 0o600); err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(m.Test, "/")
	for i, p := range parts {
		parts[i] = "^" + p + "$"
	}
	cmd := exec.Command("go", "test", "-vet=off", "-timeout", "30m", "-overlay", file, "-run", strings.Join(parts, "/"), m.Package)
	cmd.Dir, cmd.Env = root, append(workspace(root), size)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// workspace is an environment in which the go command of the root finds the laboratory, too.
func workspace(root string) []string {
	return append(os.Environ(), "GOWORK="+filepath.Join(root, "go.work"))
}
