// SPDX-License-Identifier: Apache-2.0

package main

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/size"
	"github.com/discreet-dp/discreet/internal/table/census"
)

// TestGuideTrials runs the commands of each trial of the operator's guide as they
// stand there, but for the ports, on the table that it names.
func TestGuideTrials(t *testing.T) {
	size.OnlyLong(t, "runs every trial of the page; TestKillNine is one training")
	guide, err := os.ReadFile("../../docs/operators-guide.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(guide), "```console\n")[1:]
	// A slot's owners are few enough for one request: however slow the machine, the
	// trial's short quiet time does not come between them.
	accepted := []string{"500 reports accepted, 0 came too late", "500 gave their shares, 0 came too late"}
	if len(blocks) != len(accepted) {
		t.Fatalf("the guide has %d trials, %d are known", len(blocks), len(accepted))
	}
	for i, block := range blocks {
		text, _, _ := strings.Cut(block, "```")
		runTrial(t, text, 5+i, accepted[i])
	}
}

func runTrial(t *testing.T, text string, most int, accepted string) {
	t.Helper()
	script := "set -eu\ntrap 'jobs -p > jobs; kill $(cat jobs) && wait' EXIT\ndiscreet demo --rows 4000 --save sample " +
		"> /dev/null\n"
	commands := 0
	for line := range strings.Lines(text) {
		command, ok := strings.CutPrefix(strings.TrimSpace(line), "$ ")
		if !ok {
			t.Fatalf("the guide's block has a line that is no command: %q", line)
		}
		commands++
		script += command + "\n"
		if strings.HasPrefix(command, "discreet-net aggregator ") {
			script += "until discreet-net task list --certs certs --as reader/me --server https://127.0.0.1:8443; do sleep 0.1; " +
				"done\n"
		}
	}
	if commands != most {
		t.Fatalf("the guide has %d commands, it says %d", commands, most)
	}
	dir := t.TempDir()
	var ports []string
	for _, port := range []string{"8443", "8080", "8451", "8452", "8453"} {
		_, free, err := net.SplitHostPort(freeAddress(t))
		if err != nil {
			t.Fatal(err)
		}
		ports = append(ports, ":"+port, ":"+free)
	}
	c := exec.CommandContext(t.Context(), "sh", "-c",
		strings.NewReplacer(ports...).Replace(script)+"discreet evaluate --model model.json --data sample/held-out.csv\n")
	c.Dir = dir
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{accepted, "accuracy"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("the trial does not say %q:\n%s", want, out)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "model.json")); err != nil {
		t.Error(err)
	}
}

// A page's trainings state as many rows as its demo left for them, or a third of them at one of three
// sites.
func TestPagesStateTheirRows(t *testing.T) {
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	stated := 0
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		demo := regexp.MustCompile("discreet demo[^`\n]*").FindString(string(text))
		if demo == "" || strings.HasSuffix(page, "commands.md") {
			continue
		}
		half, rows := census.People/2, regexp.MustCompile(`--(?:declared-)?rows (\d+)`)
		if m := rows.FindStringSubmatch(demo); m != nil {
			all, err := strconv.Atoi(m[1])
			if err != nil {
				t.Fatal(err)
			}
			half = all / 2
		}
		for _, m := range rows.FindAllStringSubmatch(strings.ReplaceAll(string(text), demo, ""), -1) {
			if stated++; m[1] != strconv.Itoa(half) && m[1] != strconv.Itoa(half/3) {
				t.Errorf("%s states %s rows after %q, which leaves %d", page, m[1], demo, half)
			}
		}
	}
	if stated < 4 {
		t.Errorf("only %d numbers of rows found", stated)
	}
}
