// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/check/testkit/size"
	"github.com/discreet-dp/discreet/internal/commands/cli"
)

// visiting are lines about visits, each of which ends well.
var visiting = []string{
	"schema check visits.yaml --data visits.csv --mostly 100",
	"train --data visits.csv --schema visits.yaml --learner additive --epsilon 4 --model n.json",
	"train --data visits.csv --schema visits.yaml --learner additive --epsilon 4 --model n.json --engine disk",
	"train --data visits.csv --schema single.yaml --learner erm --epsilon 4 --model n.json",
	"train --data visits.csv --schema single.yaml --learner erm --epsilon 4 --model n.json --engine disk",
	"train --data visits.csv --schema single.yaml --learner brc --epsilon 4 --model n.json",
	"train --data visits.csv --schema single.yaml --learner auto --epsilon 4 --model n.json",
	"train --data visits.csv --schema single.yaml --learner logistic --not-private --model v.json",
	"predict --model v.json --data visits.csv --out p.csv",
	"evaluate --model v.json --data visits.csv --json",
	"explain --model v.json --out e.html",
	"card --model v.json --out c.html",
	"split --data visits.csv --schema visits.yaml --train a.csv --test b.csv --ledger l.db --sides here,there",
	"split --data visits.csv --schema visits.yaml --train a.parquet --test b.parquet --ledger l.db --sides here,there",
	"train --data a.parquet --schema visits.yaml --learner additive --epsilon 4 --model n.json",
}

// rowsWritten are files that a command is asked to write rows into.
var rowsWritten = []string{"p.csv", "a.csv", "b.csv", "a.parquet", "b.parquet"}

// holdsRows reports whether a command is asked to write rows into a file: so are the tables of a demo's folder.
func holdsRows(name string) bool {
	return slices.Contains(rowsWritten, name) || strings.HasPrefix(name, "trial/") && strings.HasSuffix(name, ".csv")
}

// finishing are the commands that read a table and are given all they need by the lines below. A
// command with a flag for a table is in one of the two lists.
var (
	finishing = []string{"evaluate", "site fit", "site cast", "predict", "schema check",
		"simulate", "split", "train"}
	// Services are asked over the network by TestNoServiceShowsAProtectedCell. Demos run these and the commands above in
	// processes of their own.
	askedOver = []string{"demo people", "demo sites", "demo votes", "owner", "site check", "site init", "site serve", "site vote"}
)

// No command shows a protected cell: not on its output or its errors, by any log, in a file that it
// writes, or in the name or contents of one that it leaves behind.
func TestNoStreamShowsAProtectedCell(t *testing.T) {
	dir := scene(t)
	plantCanaries(t, "census.csv")
	plantVisits(t, 400)
	tell(t, strings.Fields("site fit --data census.csv --schema census.yaml --learner logistic --model m.json"))
	for _, dataset := range []string{"d", "here", "there"} {
		tell(t, strings.Fields("budget init --ledger l.db --epsilon 100 --dataset "+dataset))
	}
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	fill := strings.NewReplacer("FILE", "census.csv", "SERVER", server, "NOWHERE", "127.0.0.1:-1", "TASK",
		strings.Repeat("0", 64), "_", " ")
	lines := []string{
		trainLine + " --ledger l.db --dataset d", trainLine + " --engine disk", trainLine + " --learner brc",
		trainLine + " --learner erm",
		"predict --model m.json --data census.csv --out p.csv --explain", "evaluate --model m.json --data census.csv --json",
		"explain --model m.json --out e.html", "show m.json --json", "budget history --ledger l.db --json",
		"schema init census.csv", "schema check census.yaml --data census.csv",
	}
	lines = append(lines, visiting...)
	mine := slices.Clone(lines)
	for i, what := range slices.Sorted(maps.Keys(reading)) {
		alone := slices.ContainsFunc(finishing, func(c string) bool { // no line above has this command
			of := func(line string) bool { return strings.HasPrefix(line, c+" ") }
			return of(reading[what]) && !slices.ContainsFunc(mine, of)
		})
		if reading[what] != "" && (alone || i%size.Of(4, 1) == 0) {
			lines = append(lines, reading[what])
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
		if showsCanary(run.said) {
			t.Errorf("%s says\n%s", line, run.said)
		}
		if run.code != cli.ExitOK && slices.Contains(visiting, line) {
			t.Errorf("%s exits with %d:\n%s", line, run.code, run.said)
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
			if text != before[name] && !holdsRows(name) && showsCanary(name+"\n"+text) {
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
