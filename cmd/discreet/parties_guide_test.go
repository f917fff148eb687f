// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

var port = regexp.MustCompile(`:84\d\d\b`)

// TestPartiesTrials runs the commands of the page about parties as they stand
// there, but for the ports.
func TestPartiesTrials(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	page, err := os.ReadFile("../../docs/parties.md")
	if err != nil {
		t.Fatal(err)
	}
	script := "set -eu\ntrap 'jobs -p > jobs; kill $(cat jobs) && wait' EXIT\ndiscreet demo --rows 4000 --save sample " +
		"> /dev/null\n"
	commands := 0
	for _, block := range strings.Split(string(page), "```console\n")[1:] {
		text, _, _ := strings.Cut(block, "```")
		for line := range strings.Lines(text) {
			command, ok := strings.CutPrefix(strings.TrimSpace(line), "$ ")
			if !ok {
				t.Fatalf("the page's block has a line that is no command: %q", line)
			}
			script += command + "\n"
			commands++
		}
	}
	if commands != 11 {
		t.Errorf("the page has %d commands, 11 are known", commands)
	}
	free := map[string]string{}
	script = port.ReplaceAllStringFunc(script, func(p string) string {
		if free[p] == "" {
			a := freeAddress(t)
			free[p] = a[strings.LastIndexByte(a, ':'):]
		}
		return free[p]
	})
	c := exec.CommandContext(t.Context(), "sh", "-c", script+"discreet evaluate --model global.json --data "+
		"sample/held-out.csv\ndiscreet evaluate --model secret.json --data sample/held-out.csv\n")
	c.Dir = t.TempDir()
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{"3 of 3 parties voted", "3 of 3 parties are in the secret sum", "multiparty: G-MULTI-1",
		"multiparty: G-MULTI-5"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("the trials do not say %q:\n%s", want, out)
		}
	}
	if n := strings.Count(string(out), "\naccuracy "); n != 2 {
		t.Errorf("%d models are evaluated, want 2:\n%s", n, out)
	}
}
