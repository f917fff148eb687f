// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/commands/cli"
)

// Every command line that the help shows is one that the program understands.
func TestExamplesAreUnderstood(t *testing.T) {
	var lines []string
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		if c.Name() != "help" && c.Name() != "completion" {
			if c.Example == "" || c.Long == "" {
				t.Errorf("%s: lacks an example or a description", c.CommandPath())
			}
			lines = append(lines, shown(c.Example)...)
			for _, sub := range c.Commands() {
				walk(sub)
			}
		}
	}
	walk(newBoth(&cli.App{}))
	if len(lines) < 20 {
		t.Errorf("only %d command lines found", len(lines))
	}
	for _, line := range lines {
		c, rest, err := newBoth(&cli.App{}).Find(afterProgram(line))
		if err == nil {
			err = c.ParseFlags(rest)
		}
		if err == nil {
			err = c.ValidateRequiredFlags()
		}
		if err == nil && c.Args != nil {
			err = c.Args(c, c.Flags().Args())
		}
		if err != nil {
			t.Errorf("%s: %v", line, err)
		}
	}
}

// Pages name commands and flags that exist, in blocks of commands and within sentences.
func TestPagesNameCommandsThatExist(t *testing.T) {
	pages, found := pagesOfCommands(t), 0
	for page, text := range pages {
		for _, line := range commandsIn(text) {
			found++
			tokens := afterProgram(line)
			c, _, err := newBoth(&cli.App{}).Find(tokens)
			if err != nil || !c.HasParent() {
				t.Errorf("%s: %s: no such command", page, line)
				continue
			}
			for _, token := range tokens {
				name, _, _ := strings.Cut(strings.TrimPrefix(token, "--"), "=")
				name = strings.Trim(name, ".,;:)")
				if name != "" && name != "help" && strings.HasPrefix(token, "--") && c.Flag(name) == nil {
					t.Errorf("%s: %s: %s has no flag --%s", page, line, c.CommandPath(), name)
				}
			}
		}
	}
	if len(pages) < 40 || found < 150 {
		t.Errorf("only %d commands found on %d pages", found, len(pages))
	}
}

var (
	codeOfPages  = regexp.MustCompile("(?s)```.*?```|`[^`\n]*`")
	commandStart = regexp.MustCompile(`^\$? ?(discreet(?:-net)? [a-z].*)`)
	commandEnd   = regexp.MustCompile(` (&&|&|;|>|\||#).*`)
)

// commandsIn are the command lines of both programs in the code of a page.
func commandsIn(text string) (lines []string) {
	for _, code := range codeOfPages.FindAllString(text, -1) {
		for line := range strings.Lines(strings.ReplaceAll(strings.Trim(code, "`"), "\\\n", " ")) {
			m := commandStart.FindStringSubmatch(strings.TrimSpace(line))
			if m == nil || strings.Contains(m[1], " help") || strings.Contains(m[1], " completion") {
				continue
			}
			lines = append(lines, commandEnd.ReplaceAllString(m[1], ""))
		}
	}
	return lines
}

// pagesOfCommands are the texts of the documentation and of the evidence, by file.
func pagesOfCommands(t *testing.T) map[string]string {
	t.Helper()
	pages := map[string]string{}
	for _, form := range []string{"../../*.md", "../../docs/*.md", "../../evidence/*.md", "../../evidence/*/*.md"} {
		files, err := filepath.Glob(form)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if filepath.Base(file) == "protocol.md" { // its names of messages look like commands
				continue
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			pages[file] = string(text)
		}
	}
	return pages
}

// The default learner is what examples of train and hints recommend: no more than one example names each other one.
func TestExamplesRecommendTheDefault(t *testing.T) {
	train, _, err := newTestRoot().Find([]string{"train"})
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]int{}
	for _, line := range shown(train.Example) {
		_, rest, ok := strings.Cut(line, "--learner ")
		if name, _, _ := strings.Cut(rest, " "); ok {
			named[name]++
		}
	}
	for name, n := range named {
		if n > 1 {
			t.Errorf("%d examples of train have --learner %s", n, name)
		}
	}
	if hint := regexp.MustCompile(`"[^"\n]*\b(such as|example|try|use) (brc|erm)\b`); len(named) > 0 {
		walkSources(t, "../..", func(path, text string) {
			if found := hint.FindString(text); found != "" {
				t.Errorf("%s: %s recommends another learner than the default", path, found)
			}
		})
	}
}

// walkSources gives visit each source of the product that is no test.
func walkSources(t *testing.T, root string, visit func(path, text string)) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "out" || d.Name() == "lab"):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(path)
		visit(path, string(text))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func newTestRoot() *cobra.Command {
	return newRoot(&cli.App{Stdin: &bytes.Buffer{}, Stdout: &bytes.Buffer{}, Stderr: &bytes.Buffer{}})
}

// words splits a command line as a shell does: white space separates, except
// inside quotes.
func words(line string) (words []string) {
	quote, open, word := rune(0), false, ""
	for _, r := range line + " " {
		switch {
		case quote == 0 && (r == '\'' || r == '"'):
			quote, open = r, true
		case r == quote:
			quote = 0
		case quote == 0 && r == ' ':
			if open {
				words = append(words, word)
			}
			open, word = false, ""
		default:
			open, word = true, word+string(r)
		}
	}
	return words
}

// shown are the command lines in a text, without what the shell keeps.
func shown(text string) (lines []string) {
	for line := range strings.Lines(strings.ReplaceAll(text, "\\\n", " ")) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "discreet ") || strings.HasPrefix(line, "discreet-net ") {
			for _, end := range []string{" >", " |", " #"} {
				line, _, _ = strings.Cut(line, end)
			}
			lines = append(lines, line)
		}
	}
	return lines
}
