// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestGuideTrial runs the five commands of the operator's guide as they stand
// there, but for the ports, on the table that it names.
func TestGuideTrial(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	guide, err := os.ReadFile("../../docs/operators-guide.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(guide), "```console\n")
	text, _, _ = strings.Cut(text, "```")
	var commands []string
	for line := range strings.Lines(text) {
		command, ok := strings.CutPrefix(strings.TrimSpace(line), "$ ")
		if !ok {
			t.Fatalf("the guide's block has a line that is no command: %q", line)
		}
		commands = append(commands, command)
	}
	if len(commands) != 5 {
		t.Fatalf("the guide has %d commands, it says five", len(commands))
	}
	dir := t.TempDir()
	address, page := freeAddress(t), freeAddress(t)
	script := "set -eu\ndiscreet demo --rows 4000 --save sample > /dev/null\n" + strings.Join(commands[:2], "\n") +
		"\ntrap 'kill $! && wait' EXIT\nuntil discreet task list --certs certs --as reader/me --server https://127.0.0.1:8443; do sleep 0.1; done\n" +
		strings.Join(commands[2:], "\n") + "\ndiscreet evaluate --model model.json --data sample/held-out.csv\n"
	script = strings.NewReplacer("127.0.0.1:8443", address, "127.0.0.1:8080", page).Replace(script)
	c := exec.Command("sh", "-c", script)
	c.Dir = dir
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{"2000 reports accepted, 0 came too late", "done", "accuracy"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("the trial does not say %q:\n%s", want, out)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "model.json")); err != nil {
		t.Error(err)
	}
}
