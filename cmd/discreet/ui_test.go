// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/commands/cli"
	"github.com/discreet-dp/discreet/internal/explorer/engine"
	"github.com/discreet-dp/discreet/internal/explorer/planning"
)

// The explorer plans in the words of the command that it names.
func TestExplorerPlansAsTheCommand(t *testing.T) {
	const file = "../../examples/adult.yaml"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []planning.Choice{{Epsilon: "0.5"}, {Epsilon: "1", Delta: "1e-7", Learner: "additive", Rows: 30162},
		{Epsilon: "2", Learner: "brc", Options: map[string]string{"rounds": "7"}}} {
		c.YAML = string(text)
		args, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		planned, err := new(engine.Engine).Call(t.Context(), "plan", args, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		p := planned.(*planning.Plan)
		var out bytes.Buffer
		root := newRoot(&cli.App{Stdin: &bytes.Buffer{}, Stdout: &out, Stderr: &bytes.Buffer{}})
		root.SetArgs(words(strings.Replace(strings.TrimPrefix(p.Command, "discreet "), "table.yaml", file, 1)))
		if err := root.ExecuteContext(t.Context()); err != nil {
			t.Fatalf("%s: %v", p.Command, err)
		}
		want := strings.ReplaceAll(out.String(), "give --", "give ") // a page has no flags
		if got := strings.Join(p.Lines, "\n") + "\n"; got != want {
			t.Errorf("%s prints\n%s\nthe explorer\n%s", p.Command, out.String(), got)
		}
	}
}

// What cannot be served is refused before anything is opened.
func TestExplorerRefusesFlags(t *testing.T) {
	for args, want := range map[string]string{
		"--ledger l.db":                          "ledger",
		"--dataset a":                            "ledger",
		"--held-out a":                           "held-out",
		"--ledger l.db --dataset a --held-out a": "held-out",
		"--listen 0.0.0.0:0":                     "listen",
		"--listen example.com:80":                "listen",
		"--ledger absent.db --dataset a":         "",
		"--files absent":                         "",
	} {
		t.Chdir(t.TempDir())
		var said bytes.Buffer
		root := newRoot(&cli.App{Stdin: &bytes.Buffer{}, Stdout: &said, Stderr: &said})
		root.SetArgs(append([]string{"ui"}, words(args)...))
		if err := root.ExecuteContext(t.Context()); err == nil || !strings.Contains(err.Error(), want) || said.Len() > 0 {
			t.Errorf("ui %s: %v, and said %q", args, err, said.String())
		}
	}
}
