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
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/discreet-dp/discreet/internal/check/testkit/size"
	"github.com/discreet-dp/discreet/internal/commands/cli"
)

// visitCommands calls f for every command that runs something, with its name below discreet.
func visitCommands(f func(name string, c *cobra.Command)) {
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			walk(sub)
		}
		f(strings.TrimPrefix(c.CommandPath(), "discreet "), c)
	}
	walk(newBoth(&cli.App{Stdout: io.Discard, Stderr: io.Discard}))
}

// TestFileFlagsAreMarked: a flag that names a file or a folder is marked as read, written or kept,
// and no other is; so are arguments. The patience of every command goes by these marks.
func TestFileFlagsAreMarked(t *testing.T) {
	place := regexp.MustCompile(`^(file|files|folder|directory|files and addresses|FILE|NAME=FILE)$`)
	// These speak of files and name none.
	other := []string{"command", "delimiter", "no-header", "force", "extra", "engine", "train --spark-submit"}
	visitCommands(func(name string, c *cobra.Command) {
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			noun, usage := pflag.UnquoteUsage(f)
			speaks := regexp.MustCompile(`\b(files?|folder|directory)\b`).MatchString(usage)
			use := cli.UseOf(f)
			marked := use.Reads || use.Writes || use.Keeps
			switch {
			case place.MatchString(noun) != marked:
				t.Errorf("%s --%s names a %q; marked: %v", name, f.Name, noun, marked)
			case speaks && !marked && f.Value.Type() != "bool" && !slices.Contains(other, f.Name) && noun != "name":
				t.Errorf("%s --%s speaks of files and is not marked: %s", name, f.Name, usage)
			}
		})
		for _, word := range strings.Fields(c.Use)[1:] {
			if _, marked := c.Annotations["reads"]; (word == "FILE" || word == "DATA" || word == "DIR...") && !marked {
				t.Errorf("%s %s is not marked", name, word)
			}
		}
	})
}

// ways are other names of a file, made in the current folder.
var ways = map[string]func(t *testing.T, path string) string{
	"same":   func(_ *testing.T, path string) string { return path },
	"dotted": func(_ *testing.T, path string) string { return "there/../" + path },
	"hard link": func(t *testing.T, path string) string {
		if err := os.Link(path, "hard"); err != nil {
			t.Fatal(err)
		}
		return "hard"
	},
	"soft link": func(t *testing.T, path string) string {
		if err := os.Symlink(path, "soft"); err != nil {
			t.Fatal(err)
		}
		return "soft"
	},
	"linked folder": func(t *testing.T, path string) string {
		if err := os.Symlink(".", "way"); err != nil {
			t.Fatal(err)
		}
		return "way/" + path
	},
}

// TestOutputsReplaceNoInputs tries each flag that writes against each file that the command reads
// or keeps, by every name, and with --force: it is refused, and the file stays as it is.
func TestOutputsReplaceNoInputs(t *testing.T) {
	scene(t)
	if err := os.Mkdir("there", 0o700); err != nil {
		t.Fatal(err)
	}
	content := []byte("what is read")
	tried := 0
	try := func(line []string, out, in string) {
		t.Helper()
		said := tell(t, line)
		tried++
		if !strings.Contains(said, "error: ") || !strings.Contains(said, " must not ") &&
			!strings.Contains(said, "must be another file") {
			t.Errorf("%s: %q is not refused as an output:\n%s", out, line, said)
		}
		if got, err := os.ReadFile(in); err != nil || !bytes.Equal(got, content) {
			t.Errorf("%s: %q destroyed %s", out, line, in)
			if err := os.WriteFile(in, content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	visitCommands(func(name string, c *cobra.Command) {
		c.LocalFlags().VisitAll(func(to *pflag.Flag) {
			if !cli.UseOf(to).Writes {
				return
			}
			names := to.Annotations["writes"]
			arguments := []string{}
			if _, marked := c.Annotations["reads"]; marked {
				arguments = append(arguments, strings.Fields(c.Use)[1])
			}
			c.LocalFlags().VisitAll(func(from *pflag.Flag) {
				if use := cli.UseOf(from); (use.Reads || use.Keeps) && from != to {
					arguments = append(arguments, "--"+from.Name)
				}
			})
			for _, from := range arguments {
				what := name + " " + from
				line, ok := reading[what]
				if !ok {
					t.Errorf("%s is not tried", what)
					continue
				}
				if line == "" {
					line = with(ownerLine, from+" FILE")
				}
				for way, link := range ways {
					if way != "same" && !size.Long() {
						continue
					}
					in := "input"
					if len(names) > 0 {
						in = names[0]
					}
					if err := os.WriteFile(in, content, 0o600); err != nil {
						t.Fatal(err)
					}
					out := link(t, in)
					if len(names) > 0 { // the folder in which the file is
						if out = filepath.Dir(out); way == "hard link" || way == "soft link" {
							out = "."
						}
					}
					fill := strings.NewReplacer("FILE", in, "SERVER", server, "NOWHERE", "127.0.0.1:-1", "TASK",
						strings.Repeat("0", 64))
					if to.Name == "answers" { // in place of a model
						line = strings.Replace(line, " --model n.json", "", 1)
					}
					words := strings.Fields(with(fill.Replace(line), "--"+to.Name+" "+out))
					words = append(words, "--force")
					if to.Annotations["new"] != nil {
						words = words[:len(words)-1]
					}
					try(words, fmt.Sprintf("%s (%s)", what, way), in)
					for _, name := range []string{"hard", "soft", "way", in} {
						os.Remove(name)
					}
				}
			}
		})
	})
	if tried < size.Of(85, 100) {
		t.Errorf("only %d pairs", tried)
	}
}

// TestKeptFoldersHoldNothingElse tries each flag that keeps a folder on one that holds something
// else, beside what the command keeps there and alone: it is refused, and nothing is added or gone.
func TestKeptFoldersHoldNothingElse(t *testing.T) {
	scene(t)
	tried := 0
	visitCommands(func(name string, c *cobra.Command) {
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			names := f.Annotations["holds"]
			if names == nil {
				return
			}
			what := name + " --" + f.Name
			line, ok := reading[what]
			if !ok {
				t.Errorf("%s is not tried", what)
				return
			}
			if line == "" {
				line = with(ownerLine, "--"+f.Name+" FILE")
			}
			own := regexp.MustCompile("^(" + names[0] + ")$")
			for _, files := range [][]string{{"rows.csv"}, {"ledger.db", "ledger.db-wal"}, {"m.json", "votes"}, {"schema.yaml/x"},
				{"authority.crt", "authority.key", "photo.jpg"}, {"party.db", "rows.csv"},
				{strings.Repeat("0a", 16) + "/1-00", "notes"}} {
				folder := t.TempDir()
				before := map[string]bool{}
				for _, file := range files {
					path := filepath.Join(folder, file)
					if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
						t.Fatal(err)
					}
					if err := os.WriteFile(path, []byte("here"), 0o600); err != nil {
						t.Fatal(err)
					}
					before[strings.Split(file, "/")[0]] = true
				}
				fill := strings.NewReplacer("FILE", folder, "SERVER", server, "NOWHERE", "127.0.0.1:-1", "TASK",
					strings.Repeat("0", 64))
				said := tell(t, strings.Fields(fill.Replace(line)))
				tried++
				if !strings.Contains(said, f.Name+" must be a folder that holds nothing but what this command keeps there") {
					t.Fatalf("%s keeps something beside %v:\n%s", what, files, said)
				}
				after, err := os.ReadDir(folder)
				if err != nil || len(after) != len(before) {
					t.Errorf("%s: beside %v there is now %v", what, files, after)
				}
				for name := range before {
					if own.MatchString(name) && len(before) == 1 {
						t.Errorf("%s: %s is its own", what, name)
					}
				}
			}
		})
	})
	if tried < 50 {
		t.Errorf("only %d folders", tried)
	}
}
