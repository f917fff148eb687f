// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"github.com/discreet-dp/discreet/internal/check/testkit/size"
	"github.com/discreet-dp/discreet/internal/commands/cli"
	"github.com/discreet-dp/discreet/internal/table/census"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// What the commands print about a table that they protect, and how they end, is the same
// whatever its private cells hold: readable ones, or none that can be read.
func TestPrivateCellsDoNotShowInWords(t *testing.T) {
	dir := sampleFolder(t, 60)
	text, err := os.ReadFile(filepath.Join(dir, "census.csv"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	s := census.Schema()
	for i, line := range lines[1:] {
		cells := strings.Split(line, ",")
		for j, c := range s.Columns {
			if c.Role == schema.Private {
				cells[j] = []string{"", "?", "nowhere", "1e999"}[(i+j)%4]
			}
		}
		lines[i+1] = strings.Join(cells, ",")
	}
	other := t.TempDir()
	spoilt := []byte(strings.Join(lines, "\n") + "\n")
	for name, b := range map[string][]byte{"census.csv": spoilt, "census.yaml": census.SchemaYAML()} {
		if err := os.WriteFile(filepath.Join(other, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// A check has found other cells in one of them. Its record and what train says of it are the same.
	day := time.Now().Add(-time.Hour)
	var records [2]string
	for k, folder := range []string{dir, other} {
		table := filepath.Join(folder, "census.csv")
		if err := os.Chtimes(table, day, day); err != nil {
			t.Fatal(err)
		}
		code := cli.Run(t.Context(), newBoth, []string{"schema", "check", filepath.Join(folder, "census.yaml"), "--data", table}, nil,
			strings.NewReader(""), io.Discard, io.Discard)
		if code != []int{cli.ExitOK, cli.ExitMisfit}[k] {
			t.Fatalf("a check of table %d exits with %d", k, code)
		}
		text, err := os.ReadFile(filepath.Join(folder, "census.yaml.checks"))
		if err != nil {
			t.Fatal(err)
		}
		records[k] = regexp.MustCompile(`"checked": "[^"]*"`).ReplaceAllString(strings.ReplaceAll(string(text), folder, "FOLDER"), "")
	}
	if records[0] != records[1] {
		t.Errorf("the record is, by private cells, %s or %s", records[0], records[1])
	}
	for _, args := range []string{
		"train --data census.csv --schema census.yaml --epsilon 1 --model m.json --require-check",
		"train --data census.csv --schema census.yaml --epsilon 1 --model m.json",
		"train --data census.csv --schema census.yaml --epsilon 1 --learner brc --model m.json",
	} {
		var said [2]string
		for k, folder := range []string{dir, other} {
			words := strings.Fields(args)
			for i, w := range words {
				if strings.HasPrefix(w, "census.") || w == "m.json" {
					words[i] = filepath.Join(folder, w)
				}
			}
			var out, talk bytes.Buffer
			code := cli.Run(t.Context(), newBoth, words, nil, strings.NewReader(""), &out, &talk)
			if code == cli.ExitUsage {
				t.Fatalf("%s: %s", args, &talk)
			}
			said[k] = strings.ReplaceAll(out.String()+"\n"+talk.String(), folder, "FOLDER")
			said[k] = raised.ReplaceAllString(said[k], "")
			if code != cli.ExitOK {
				said[k] += "\nit fails"
			}
		}
		if said[0] != said[1] {
			t.Errorf("%s says, by private cells,\n%s\nor\n%s", args, said[0], said[1])
		}
	}
}

// No flag of train lets an analyst measure what is private: with every flag at values about the
// number of rows and of bytes, tables that differ in one row where their number is private, or in
// one long private cell if it is public, give the same words, exit code and files.
func TestNoFlagComparesSizes(t *testing.T) {
	const n = 40
	base := sampleFolder(t, n)
	text, err := os.ReadFile(filepath.Join(base, "census.csv"))
	if err != nil {
		t.Fatal(err)
	}
	s := census.Schema()
	private := slices.IndexFunc(s.Columns, func(c schema.Column) bool { return c.Role == schema.Private })
	lines := strings.SplitAfter(strings.TrimSpace(string(text)), "\n")
	cells := strings.Split(lines[1], ",")
	cells[private] = strings.Repeat("7", 5000)
	longer := strings.Join(append([]string{lines[0], strings.Join(cells, ",")}, lines[2:]...), "")
	yaml := string(census.SchemaYAML())
	for _, pair := range []struct{ schema, a, b string }{
		{yaml, string(text), longer},
		{strings.Replace(yaml, "relation: replace-one", "relation: add-remove", 1), string(text),
			strings.Join(lines[:len(lines)-1], "")},
	} {
		var values []string
		for _, about := range []int{n, len(pair.a), len(pair.b)}[:size.Of(1, 3)] {
			for d := size.Of(0, -1); d <= size.Of(0, 1); d++ {
				values = append(values, strconv.Itoa(about+d))
			}
		}
		train, _, err := newBoth(&cli.App{Stdout: io.Discard, Stderr: io.Discard}).Find([]string{"train"})
		if err != nil {
			t.Fatal(err)
		}
		var flags []string
		train.Flags().VisitAll(func(f *pflag.Flag) {
			if f.Value.Type() != "bool" && !slices.Contains([]string{"data", "schema", "model", "ledger", "dataset", "job",
				"part", "master", "spark-submit", "epsilon", "learner"}, f.Name) {
				flags = append(flags, f.Name)
			}
		})
		slices.Sort(flags)
		flags = slices.Compact(flags)
		trained := 0
		for _, flag := range flags {
			for _, value := range values {
				args := []string{"train", "--epsilon", "1", "--" + flag, value}
				for _, learner := range []string{"additive", "grids", "auto"} {
					a, b := sizesShown(t, pair.schema, pair.a, append(args, "--learner", learner)), ""
					if strings.Contains(a, "unknown flag") || strings.Contains(a, "is for learner") {
						continue
					}
					if b = sizesShown(t, pair.schema, pair.b, append(args, "--learner", learner)); a != b {
						t.Errorf("%v shows\n%s\nor\n%s", args, a, b)
					}
					trained++
					break
				}
			}
		}
		if trained < 3*len(values) {
			t.Errorf("%d runs of %d flags", trained, len(flags))
		}
	}
}

// raised are questions that follow from the model, and so from its noise.
var raised = regexp.MustCompile(`(?m)^question: .*\n`)

// sizesShown is all that a training shows but for its model: words, exit code and names of files.
func sizesShown(t *testing.T, schema, table string, args []string) string {
	t.Helper()
	folder := t.TempDir()
	for name, text := range map[string]string{"t.yaml": schema, "t.csv": table} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	args = append(slices.Clone(args), "--data", filepath.Join(folder, "t.csv"),
		"--schema", filepath.Join(folder, "t.yaml"), "--model", filepath.Join(folder, "m.json"))
	var out, talk bytes.Buffer
	code := cli.Run(t.Context(), newBoth, args, nil, strings.NewReader(""), &out, &talk)
	files, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil {
		t.Fatal(err)
	}
	return raised.ReplaceAllString(strings.ReplaceAll(fmt.Sprint(code, files, "\n", &out, &talk), folder, "FOLDER"), "")
}
