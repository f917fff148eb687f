// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/cli"
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
		c, rest, err := newBoth(&cli.App{}).Find(words(line)[1:])
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
