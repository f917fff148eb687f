// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io/fs"
	"log"
	"log/slog"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/census"
	"github.com/discreet-dp/discreet/internal/cli"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// planted are what protected cells hold in the test of streams: texts that are no level, and
// numbers of eight digits within the bounds and beyond them.
var planted = regexp.MustCompile(`(?i)canary|Q0FOQVJZ|47\.1108|7700131|2047.11.17|17.11.2047`)

// showsCanary finds what protected cells hold, the number as a floating-point number of a file, too.
func showsCanary(text string) bool {
	for _, x := range []uint64{math.Float64bits(47.110815), math.Float64bits(7700131)} {
		if strings.Contains(text, string(binary.LittleEndian.AppendUint64(nil, x))) ||
			strings.Contains(text, string(binary.BigEndian.AppendUint64(nil, x))) {
			return true
		}
	}
	return planted.MatchString(text)
}

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

// visits is a schema of every kind of column that census has none of: persons, dates, buckets, levels
// beside them, columns that are derived, and a private label.
const visits = `name: visits
unit: one visit
relation: replace-one
person: {column: who, rows: 2}
file: {delimiter: ",", quote: '"', header: true}
pairs: [[usual, city]]
columns:
  - {name: who, role: ignored}
  - {name: day, role: private, date: {format: DD.MM.YYYY, lower: 2015-01-01, upper: 2049-12-31, default: 2020-01-01}}
  - {name: street, role: private, category: {buckets: 7}}
  - {name: city, role: private, category: {levels: [Rome, Paris], buckets: 3, missing: true}}
  - {name: may, role: private, number: {lower: 0, upper: 50, default: 5}}
  - {name: june, role: private, number: {lower: 0, upper: 50, default: 5}}
  - {name: ward, role: public, category: {levels: [a, b]}}
  - {name: again, role: private, label: {levels: ["no", "yes"], positive: "yes", default: "no"}}
derived:
  - {name: month, month: [day]}
  - {name: weekday, weekday: [day]}
  - {name: usual, mean: [may, june], bins: quantiles}
`

// visiting are lines about visits, each of which ends well.
var visiting = []string{
	"schema check visits.yaml --data visits.csv",
	"train --data visits.csv --schema visits.yaml --learner additive --epsilon 4 --model n.json",
	"train --data visits.csv --schema auto.yaml --learner additive --epsilon 40 --model n.json",
	"train --data visits.csv --schema visits.yaml --learner additive --epsilon 4 --model n.json --engine disk",
	"train --data visits.csv --schema single.yaml --learner erm --epsilon 4 --model n.json",
	"train --data visits.csv --schema single.yaml --learner erm --epsilon 4 --model n.json --engine disk",
	"train --data visits.csv --schema single.yaml --learner brc --epsilon 4 --model n.json",
	"train --data visits.csv --schema single.yaml --learner auto --epsilon 4 --model n.json",
	"train --data visits.csv --schema single.yaml --learner logistic --not-private --model v.json",
	"tune --data visits.csv --schema single.yaml --learners additive,erm --epsilon 4 --model n.json",
	"predict --model v.json --data visits.csv --out p.csv",
	"evaluate --model v.json --data visits.csv --json",
	"explain --model v.json --out e.html",
	"card --model v.json --out c.html",
	"split --data visits.csv --schema visits.yaml --train a.csv --test b.csv",
	"split --data visits.csv --schema visits.yaml --train a.parquet --test b.parquet",
	"train --data a.parquet --schema visits.yaml --learner additive --epsilon 4 --model n.json",
	"compare --data visits.csv --schema visits.yaml --learners additive --epsilons 4 --repeats 1 --not-private",
	"attack --data visits.csv --schema visits.yaml --learner additive --epsilon 4 --targets 2 --runs 40 --not-private",
}

// plantVisits writes visits.csv, and its schemas for learners of persons and of rows.
func plantVisits(t *testing.T, rows int) {
	t.Helper()
	var b strings.Builder
	b.WriteString("who,day,street,city,may,june,ward,again\n")
	pick := func(i int, from ...string) string { return from[i%len(from)] }
	for i := range rows {
		fmt.Fprintf(&b, "%s,%s,%s,%s,%s,%s,%s,%s\n", pick(i/3, "CANARY-one", "7700131", "CANARY "+strconv.Itoa(i/3)),
			pick(i, "17.11.2047", "CANARY", "05.03.2021", "17.11.2047 CANARY"), pick(i/2, "CANARY Road", "7700131", "canary"),
			pick(i, "Rome", "", "CANARY", "Paris", "CANARY-b"), pick(i, "47.110815", "CANARY", "7", "7700131"),
			pick(i/5, "3", "47.110815", "7700131"), pick(i/2, "a", "b"), pick(i/3, "no", "yes", "CANARY", "yes"))
	}
	for name, text := range map[string]string{"visits.csv": b.String(), "visits.yaml": visits,
		"auto.yaml":   strings.Replace(visits, "rows: 2", "rows: auto", 1),
		"single.yaml": strings.Replace(visits, "person: {column: who, rows: 2}\n", "", 1)} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// rowsWritten are files that a command is asked to write rows into.
var rowsWritten = []string{"p.csv", "a.csv", "b.csv", "a.parquet", "b.parquet"}

// finishing are the commands that read a table and are given all they need by the lines below. A
// command with a flag for a table is in one of the two lists.
var (
	finishing = []string{"attack", "compare", "evaluate", "party train", "party vote", "predict", "schema check",
		"simulate", "split", "train", "tune"}
	// Services are asked over the network by TestNoServiceShowsAProtectedCell.
	askedOver = []string{"combine", "owner", "party serve", "site serve"}
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

func letLogsSpeak() {
	log.SetOutput(os.Stderr)
	slog.SetDefault(slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug - 100})))
}

// No command shows a protected cell: not on its output or its errors, by any log, in a file that it
// writes, or in the name or contents of one that it leaves behind.
func TestNoStreamShowsAProtectedCell(t *testing.T) {
	dir := scene(t)
	plantCanaries(t, "census.csv")
	plantVisits(t, 400)
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
	lines = append(lines, visiting...)
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
			if text != before[name] && !slices.Contains(rowsWritten, name) && showsCanary(name+"\n"+text) {
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
