// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/realdata"
	"github.com/discreet-dp/discreet/internal/check/testkit/size"
	"github.com/discreet-dp/discreet/internal/commands/cli"
)

// TestExampleCommands runs the commands at the head of each example's schema as they stand there,
// on the table that they name, if it is on this machine.
func TestExampleCommands(t *testing.T) {
	size.OnlyLong(t, "trains on real tables")
	root, datasets := realdata.Root(), realdata.Folder() // before the working folder changes
	files, err := filepath.Glob(filepath.Join(root, "examples", "*.yaml"))
	if err != nil || len(files) < 10 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		commands := headCommands(string(text))
		if len(commands) == 0 {
			t.Errorf("%s: no command", file)
		}
		t.Run(filepath.Base(file), func(t *testing.T) {
			dir := t.TempDir()
			if err := os.Symlink(filepath.Join(root, "examples"), filepath.Join(dir, "examples")); err != nil {
				t.Fatal(err)
			}
			t.Chdir(dir)
			for _, args := range commands {
				for i, arg := range args {
					if args[max(i-1, 0)] == "--data" {
						linkData(t, datasets, arg)
					}
				}
				var out, errs bytes.Buffer
				if code := cli.Run(t.Context(), newRoot, args, nil, strings.NewReader(""), &out, &errs); code != cli.ExitOK {
					t.Fatalf("discreet %s: exit code %d: %s", strings.Join(args, " "), code, &errs)
				}
			}
		})
	}
}

// headCommands are the arguments of each command in the comments before the first key.
func headCommands(text string) (commands [][]string) {
	head, _, _ := strings.Cut(text, "\nname:")
	head = strings.ReplaceAll(head, "\\\n#", " ")
	for line := range strings.Lines(head) {
		if command, ok := strings.CutPrefix(line, "#   discreet "); ok {
			commands = append(commands, strings.Fields(command))
		}
	}
	return commands
}

// linkData puts a file of the folder of data sets into the working folder, or skips the test.
func linkData(t *testing.T, datasets, name string) {
	t.Helper()
	if _, err := os.Lstat(name); err == nil {
		return
	}
	found, err := filepath.Glob(filepath.Join(datasets, "*", name))
	if err != nil || len(found) == 0 {
		t.Skipf("needs the data set %s: set DISCREET_DATASETS", name)
	}
	if err := os.Symlink(found[0], name); err != nil {
		t.Fatal(err)
	}
}
