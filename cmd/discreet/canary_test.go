// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"io/fs"
	"log"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/census"
	"github.com/discreet-dp/discreet/internal/cli"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// planted are what protected cells hold in the test of streams: texts that are no level, and
// numbers of eight digits within the bounds and beyond them.
var planted = regexp.MustCompile(`(?i)canary|Q0FOQVJZ|47\.1108|7700131`)

// plantCanaries makes every private cell of census.csv one that can be found again.
func plantCanaries(t *testing.T, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s := census.Schema()
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	for i, line := range lines[1:] {
		cells := strings.Split(line, ",")
		for j, c := range s.Columns {
			switch {
			case c.Role != schema.Private:
			case c.Kind == schema.Number:
				cells[j] = []string{"47.110815", "7700131", "CANARY-n", cells[j]}[(i+j)%4]
			case (i+j)%3 > 0:
				cells[j] = []string{"CANARY", "CANARY two words"}[(i+j)%2]
			}
		}
		lines[i+1] = strings.Join(cells, ",")
	}
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// rowsWritten are files that a command is asked to write rows into.
var rowsWritten = []string{"p.csv", "a.csv", "b.csv"}

// finishing are the commands that read a table and are given all they need by the lines below. A
// command with a flag for a table is in one of the two lists.
var (
	finishing = []string{"attack", "compare", "evaluate", "party train", "party vote", "predict", "schema check",
		"simulate", "split", "train", "tune"}
	// Services are asked over the network by their own tests.
	askedOver = []string{"combine", "owner", "party serve"}
)

// streamed is what one run leaves beside its exit code: all that it says by any way, and the files.
type streamed struct {
	code int
	said string
}

// runAlone runs the program in a process of its own, so that whatever is printed by whatever means
// is seen. It is the test's own program.
func runAlone(t *testing.T, line []string) streamed {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, line...)
	cmd.Env = append(os.Environ(), canaryProcess+"=1")
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	err = cmd.Run()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return streamed{cmd.ProcessState.ExitCode(), said.String()}
}

// canaryProcess marks a process that is a command, all of whose logs speak.
const canaryProcess = "DISCREET_TEST_CANARY"

// runAsCommand is the command with logs that speak.
func runAsCommand() {
	log.SetOutput(os.Stderr)
	slog.SetDefault(slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug - 100})))
	os.Exit(cli.Main(newBoth))
}

// No command shows a protected cell: not on its output or its errors, by any log, in a file that it
// writes, or in the name or contents of one that it leaves behind.
func TestNoStreamShowsAProtectedCell(t *testing.T) {
	dir := scene(t)
	plantCanaries(t, "census.csv")
	tell(t, strings.Fields("party train --data census.csv --schema census.yaml --learner logistic --model m.json"))
	tell(t, strings.Fields("budget init --ledger l.db --dataset d --epsilon 100"))
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	fill := strings.NewReplacer("FILE", "census.csv", "SERVER", server, "NOWHERE", "127.0.0.1:-1", "TASK",
		strings.Repeat("0", 64), "_", " ")
	lines := []string{
		trainLine + " --ledger l.db --dataset d", trainLine + " --engine disk", trainLine + " --learner brc",
		trainLine + " --learner erm",
		"predict --model m.json --data census.csv --out p.csv --explain", "evaluate --model m.json --data census.csv --json",
		"explain --model m.json --out e.html", "show m.json --json", "budget history --ledger l.db --json",
		"compare --data census.csv --schema census.yaml --learners brc --epsilons 1 --repeats 1 --not-private",
		"schema init census.csv", "schema check census.yaml --data census.csv",
	}
	for _, line := range reading {
		if line != "" {
			lines = append(lines, line)
		}
	}
	ended := map[string]bool{}
	before := listFiles(t, dir)
	for _, line := range lines {
		words := strings.Fields(line)
		for i := range words {
			words[i] = fill.Replace(words[i])
		}
		os.Remove("n.json") // a model that was paid for is not replaced
		run := runAlone(t, words)
		if planted.MatchString(run.said) {
			t.Errorf("%s says\n%s", line, run.said)
		}
		if run.code == cli.ExitOK {
			for _, c := range finishing {
				if strings.HasPrefix(line, c+" ") {
					ended[c] = true
				}
			}
		}
		for name := range listFiles(t, temp) {
			t.Errorf("%s leaves %s", line, name)
		}
		after := listFiles(t, dir)
		for name, text := range after {
			if text != before[name] && !slices.Contains(rowsWritten, name) && planted.MatchString(name+"\n"+text) {
				t.Errorf("%s writes a protected cell into %s", line, name)
			}
		}
		before = after
	}
	for _, c := range finishing {
		if !ended[c] {
			t.Errorf("no line of %s ends well", c)
		}
	}
	for _, c := range tableCommands(newBoth(&cli.App{Stdout: &bytes.Buffer{}, Stderr: &bytes.Buffer{}})) {
		if !slices.Contains(finishing, c) && !slices.Contains(askedOver, c) {
			t.Errorf("%s reads a table, and its streams are not looked at", c)
		}
	}
}

// tableCommands are the commands with a flag for a table.
func tableCommands(root *cobra.Command) (names []string) {
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			walk(sub)
		}
		for _, flag := range []string{"data", "aux", "csv"} {
			if c.Flags().Lookup(flag) != nil {
				names = append(names, strings.TrimPrefix(c.CommandPath(), "discreet "))
				return
			}
		}
	}
	walk(root)
	return names
}

// listFiles are the files below a folder, and what they hold.
func listFiles(t *testing.T, folder string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(folder, path)
		if err != nil {
			return err
		}
		b, err := os.ReadFile(path)
		files[name] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
