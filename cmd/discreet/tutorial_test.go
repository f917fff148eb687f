// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/size"
)

// TestTutorials follows pages: it writes the schema, or the table, that a page shows, runs every
// command in order, and wants the lines that the page shows below a command to be among those that the
// command prints. Where a line begins with "error:" the command must fail.
func TestTutorials(t *testing.T) {
	for name, page := range map[string]struct {
		files map[string]string // what blocks of a kind are saved as
		least int               // commands
	}{
		"../README.md": {nil, 5},
		"tutorial.md":  {map[string]string{"yaml": "people.yaml"}, 14},
		"verifying.md": {map[string]string{"yaml": "project.yaml"}, 14},
		"cohorts.md":   {map[string]string{"yaml": "members.yaml", "csv": "members.csv", "yml": "project.yaml"}, 18},
	} {
		t.Run(name, func(t *testing.T) {
			if name != "../README.md" {
				size.OnlyLong(t, "trains as often as the README and the scripts do together")
			}
			followPage(t, name, page.files, page.least)
		})
	}
}

// followPage follows a page of at least so many commands.
func followPage(t *testing.T, name string, files map[string]string, least int) {
	t.Helper()
	page, err := os.ReadFile("../../docs/" + name)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	commands := 0
	for _, block := range strings.Split("\n"+string(page), "\n```")[1:] {
		kind, text, _ := strings.Cut(block, "\n")
		switch kind {
		case "yaml", "yml", "csv":
			if err := os.WriteFile(filepath.Join(dir, files[kind]), []byte(text+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		case "console":
			steps := strings.Split("\n"+text, "\n$ ")
			if steps[0] != "" {
				t.Fatalf("a block begins with a line that is no command: %q", steps[0])
			}
			for _, step := range steps[1:] {
				command, shown, _ := strings.Cut(step, "\n")
				followStep(t, dir, command, shown)
				commands++
			}
		}
	}
	if commands < least {
		t.Errorf("the page has %d commands, at least %d were there", commands, least)
	}
}

// followStep runs a command in dir and looks for the lines that are shown.
func followStep(t *testing.T, dir, command, shown string) {
	t.Helper()
	c := exec.CommandContext(t.Context(), "sh", "-c", command)
	c.Dir = dir
	out, err := c.CombinedOutput()
	if refused := strings.HasPrefix(shown, "error:"); refused != (err != nil) {
		t.Fatalf("$ %s: %v\n%s", command, err, out)
	}
	for line := range strings.Lines(shown) {
		if line = strings.TrimSpace(line); line != "..." && !strings.Contains(string(out), line) {
			t.Errorf("$ %s does not print %q:\n%s", command, line, out)
		}
	}
}
