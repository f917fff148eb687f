// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/commands"
	"github.com/discreet-dp/discreet/internal/commands/cli"
	"github.com/discreet-dp/discreet/internal/net/commands"
	"github.com/discreet-dp/discreet/internal/spark/cluster"
)

// The tests here are those of both programs: what one writes the other reads, and what must hold of
// every command is asked of all.

// shared are commands that both programs have, under one name.
var shared = []string{"demo", "doctor", "keygen", "version"}

// newNetRoot is the tree of discreet-net.
func newNetRoot(c *cli.App) *cobra.Command {
	return network.NewRoot(&commands.App{App: c, Cluster: cluster.New})
}

// newBoth is one tree with the commands of discreet and of discreet-net.
func newBoth(c *cli.App) *cobra.Command {
	root, net := newRoot(c), newNetRoot(c)
	if demo, _, err := net.Find([]string{"demo"}); err == nil {
		own, _, _ := root.Find([]string{"demo"})
		for _, kind := range demo.Commands() {
			demo.RemoveCommand(kind)
			own.AddCommand(kind)
		}
	}
	if doctor, _, err := net.Find([]string{"doctor"}); err == nil { // each program has its own
		net.RemoveCommand(doctor)
		doctor.Use, doctor.GroupID = "net-doctor", ""
		root.AddCommand(doctor)
	}
	for _, c := range net.Commands() {
		if c.Hidden || slices.Contains(shared, c.Name()) {
			continue
		}
		if stub, _, err := root.Find([]string{c.Name()}); err == nil {
			root.RemoveCommand(stub)
		}
		net.RemoveCommand(c)
		c.GroupID = ""
		root.AddCommand(c)
	}
	for _, name := range commands.Laboratory {
		if stub, _, err := root.Find([]string{name}); err == nil {
			root.RemoveCommand(stub)
		}
	}
	return root
}

// afterProgram is a command line without its program, as newBoth has it.
func afterProgram(line string) []string {
	tokens := words(line)
	if len(tokens) > 1 && tokens[0] == "discreet-net" && tokens[1] == "doctor" {
		tokens[1] = "net-doctor"
	}
	return tokens[1:]
}

// Each program names the other for every command that the other has, and has no command of the
// other's.
func TestProgramsNameEachOther(t *testing.T) {
	names := func(root *cobra.Command, hidden bool) (names []string) {
		for _, c := range root.Commands() {
			if c.Hidden == hidden && !slices.Contains(shared, c.Name()) {
				names = append(names, c.Name())
			}
		}
		return names
	}
	table, net := newTestRoot(), newNetRoot(&cli.App{})
	for _, c := range []struct {
		root, other *cobra.Command
		program     string
	}{{table, net, "discreet-net"}, {net, table, "discreet"}} {
		for _, name := range names(c.other, false) {
			found, _, err := c.root.Find([]string{name})
			if err != nil || !found.Hidden || found.Short != "a command of "+c.program {
				t.Errorf("%s %s: %v; want it to name %s", c.root.Name(), name, err, c.program)
			}
		}
		for _, name := range commands.Laboratory {
			if found, _, err := c.root.Find([]string{name}); err != nil || found.Short != "a command of discreet-lab" {
				t.Errorf("%s %s: %v; want it to name discreet-lab", c.root.Name(), name, err)
			}
		}
	}
}

// The first help that a newcomer sees fits a screen.
func TestHelpFitsAScreen(t *testing.T) {
	for name, newRoot := range map[string]func(*cli.App) *cobra.Command{"discreet": newRoot, "discreet-net": newNetRoot} {
		var out, talk bytes.Buffer
		if code := cli.Run(t.Context(), newRoot, []string{"--help"}, nil, nil, &out, &talk); code != cli.ExitOK {
			t.Fatalf("%s --help exits with %d: %s", name, code, &talk)
		}
		if lines := strings.Count(out.String(), "\n"); lines > 50 {
			t.Errorf("%s --help prints %d lines, want 50 at most", name, lines)
		}
		for line := range strings.Lines(out.String()) {
			if len([]rune(line)) > 81 {
				t.Errorf("%s --help prints more than 80 columns: %s", name, line)
			}
		}
	}
}
