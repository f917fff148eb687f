// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/discreet-dp/discreet/internal/commands/cli"
)

const referencePage = "../../docs/commands.md"

// The page about the commands is generated from the commands' help texts.
func TestCommandReference(t *testing.T) {
	want := commandReference(newTestRoot(), newNetRoot(&cli.App{}))
	if *update {
		if err := os.WriteFile(referencePage, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(referencePage)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s is out of date: run go test ./cmd/discreet -run %s -update", referencePage, t.Name())
	}
}

// commandReference is a page in Markdown about programs and all their commands.
func commandReference(programs ...*cobra.Command) string {
	var b strings.Builder
	b.WriteString("# Commands\n\n<!-- Written by go test ./cmd/discreet -run TestCommandReference -update -->\n")
	for _, root := range programs {
		fmt.Fprintf(&b, "\n%s\n", paragraphs(root.Long))
		for _, g := range root.Groups() {
			fmt.Fprintf(&b, "\n| %s | |\n|---|---|\n", strings.TrimSuffix(g.Title, ":"))
			for _, c := range root.Commands() {
				if c.GroupID == g.ID {
					listCommand(&b, c)
				}
			}
		}
		b.WriteString("\n| Other commands | |\n|---|---|\n")
		for _, c := range root.Commands() {
			if c.GroupID == "" && !unlisted(c) {
				listCommand(&b, c)
			}
		}
		fmt.Fprintf(&b, "\n`%s completion SHELL` writes completions for bash, zsh, fish and PowerShell.\n", root.Name())
	}
	shared := map[string]int{}
	for _, root := range programs {
		countFlags(shared, root)
	}
	for _, root := range programs {
		describeCommands(&b, root, shared)
	}
	describeShared(&b, shared)
	describeLearners(&b, programs[0])
	return b.String()
}

// unlisted reports whether a command has no place on the page.
func unlisted(c *cobra.Command) bool {
	return c.Name() == "help" || c.Name() == "completion" || c.Hidden
}

func listCommand(b *strings.Builder, c *cobra.Command) {
	path := c.CommandPath()
	fmt.Fprintf(b, "| [%s](#%s) | %s |\n", path, strings.ReplaceAll(path, " ", "-"), c.Short)
	for _, sub := range c.Commands() {
		listCommand(b, sub)
	}
}

func describeCommands(b *strings.Builder, parent *cobra.Command, shared map[string]int) {
	for _, c := range parent.Commands() {
		if unlisted(c) {
			continue
		}
		fmt.Fprintf(b, "\n## %s\n\n%s\n\n```console\n%s\n```\n", c.CommandPath(), paragraphs(c.Long), c.Example)
		if !c.HasAvailableSubCommands() || c.HasAvailableLocalFlags() {
			learners := false
			for _, s := range cli.FlagSections(c) {
				if strings.HasPrefix(s.Title, learnerTitle) {
					learners = true
					continue
				}
				describeFlags(b, s, shared)
			}
			if learners {
				b.WriteString("\nFurther flags are the [options of the learners](#options-of-the-learners).\n")
			}
		}
		describeCommands(b, c, shared)
	}
}

// learnerTitle begins the title of a section with one learner's options, which are
// the same for every command that trains.
const learnerTitle = "Learner "

// describeLearners writes the options of all learners once, from discreet train.
func describeLearners(b *strings.Builder, root *cobra.Command) {
	b.WriteString("\n## Options of the learners\n\nThe commands site fit, plan and train accept these flags.\n")
	for _, c := range root.Commands() {
		if c.Name() != "train" {
			continue
		}
		for _, s := range cli.FlagSections(c) {
			if strings.HasPrefix(s.Title, learnerTitle) {
				describeFlags(b, s, nil)
			}
		}
	}
}

// sharedBy is the number of commands from which on a flag is described only once.
const sharedBy = 3

// countFlags counts in how many sections below parent each line about a flag stands.
func countFlags(shared map[string]int, parent *cobra.Command) {
	for _, c := range parent.Commands() {
		for _, s := range cli.FlagSections(c) {
			for _, line := range flagLines(s) {
				if !strings.HasPrefix(s.Title, learnerTitle) {
					shared[line]++
				}
			}
		}
		countFlags(shared, c)
	}
}

// flagLines are the rows of a table of flags, but for --help, which every command has.
func flagLines(s cli.Section) (lines []string) {
	s.Flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		kind, usage := pflag.UnquoteUsage(f)
		if f.DefValue != "" && f.DefValue != "0" && f.DefValue != "0s" && f.DefValue != "false" && f.DefValue != "[]" &&
			!strings.Contains(usage, "(default ") {
			usage += fmt.Sprintf(" (default %s)", f.DefValue)
		}
		lines = append(lines, fmt.Sprintf("| `%s` | %s |\n", strings.TrimSpace("--"+f.Name+" "+kind),
			strings.NewReplacer("|", `\|`, "\n", " ").Replace(usage)))
	})
	return lines
}

// describeFlags writes a table of flags. It names the shared ones without repeating
// their descriptions.
func describeFlags(b *strings.Builder, s cli.Section, shared map[string]int) {
	var table string
	var names []string
	for _, line := range flagLines(s) {
		if shared[line] < sharedBy {
			table += line
			continue
		}
		name, _, _ := strings.Cut(strings.TrimPrefix(line, "| "), " |")
		names = append(names, name)
	}
	if table != "" {
		fmt.Fprintf(b, "\n| %s | |\n|---|---|\n%s", s.Title, table)
	}
	if len(names) > 0 {
		fmt.Fprintf(b, "\n[Shared](#shared-flags): %s.\n", strings.Join(names, ", "))
	}
}

// describeShared writes the flags that several commands have.
func describeShared(b *strings.Builder, shared map[string]int) {
	b.WriteString("\n## Shared flags\n\n| Flags of several commands | |\n|---|---|\n")
	for _, line := range slices.Sorted(maps.Keys(shared)) {
		if shared[line] >= sharedBy {
			b.WriteString(line)
		}
	}
}

// paragraphs is a help text in Markdown: indented lines are shown as they are.
func paragraphs(text string) string {
	var b strings.Builder
	inside, blank := false, true
	for line := range strings.Lines(text + "\n") {
		// An indented line behind text continues the item of a list.
		if indented := strings.HasPrefix(line, "  ") && (inside || blank); indented != inside {
			b.WriteString("```\n")
			inside = indented
		}
		blank = line == "\n"
		b.WriteString(line)
	}
	if inside {
		b.WriteString("```\n")
	}
	return strings.TrimRight(b.String(), "\n")
}
