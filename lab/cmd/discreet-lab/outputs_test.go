// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/discreet-dp/discreet/internal/commands/cli"
	"github.com/discreet-dp/discreet/lab/internal/experiment/frame"
)

// TestFileFlagsAreMarked is discreet's own: the guard of outputs goes by these marks.
func TestFileFlagsAreMarked(t *testing.T) {
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			walk(sub)
		}
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			noun, _ := pflag.UnquoteUsage(f)
			use := cli.UseOf(f)
			if names, marked := regexp.MustCompile(`file|folder|directory`).MatchString(noun),
				use.Reads || use.Writes || use.Keeps; names != marked {
				t.Errorf("%s --%s names a %q; marked: %t", c.CommandPath(), f.Name, noun, marked)
			}
		})
		for _, word := range strings.Fields(c.Use)[1:] {
			if _, marked := c.Annotations["reads"]; word == "DIR..." && !marked {
				t.Errorf("%s %s is not marked", c.CommandPath(), word)
			}
		}
	}
	walk(newRoot(&cli.App{Stdout: io.Discard, Stderr: io.Discard}))
}

// TestReportsReplaceNoFigures tries the page against each file that it is made of, by every name.
func TestReportsReplaceNoFigures(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range frame.Files {
		in := filepath.Join("figures", "shen", "fig2a", name)
		if err := os.MkdirAll(filepath.Dir(in), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(in, []byte("measured"), 0o600); err != nil {
			t.Fatal(err)
		}
		os.Remove("way")
		if err := os.Symlink("figures", "way"); err != nil {
			t.Fatal(err)
		}
		os.Remove("soft")
		if err := os.Symlink(in, "soft"); err != nil {
			t.Fatal(err)
		}
		for _, out := range []string{in, "figures/../" + in, "soft", filepath.Join("way", "shen", "fig2a", name)} {
			var said bytes.Buffer
			cli.Run(t.Context(), newRoot, []string{"report", "figures", "--out", out, "--force"}, nil, strings.NewReader(""),
				&said, &said)
			if got, err := os.ReadFile(in); err != nil || string(got) != "measured" || !strings.Contains(said.String(),
				"must not lie in a folder that is read") {
				t.Errorf("report --out %s: %s", out, said.String())
			}
		}
	}
}
