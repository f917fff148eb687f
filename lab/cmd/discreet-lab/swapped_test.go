// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/check/testkit/clitest"
	"github.com/discreet-dp/discreet/internal/commands"
	"github.com/discreet-dp/discreet/internal/commands/cli"
)

// What the tests in mistaken_test.go, a link, go by: the commands that discreet does not have. It tries
// all others itself.

func programOf(string) func(*cli.App) *cobra.Command { return newRoot }

const server = "https://127.0.0.1:1"

var reading = map[string]string{
	"audit --model":      "audit --model FILE --epsilon 1 --runs 64",
	"audit --schema":     "audit --learner brc --schema FILE --epsilon 1 --runs 64",
	"audit --neighbours": "audit --command cat_{data} --neighbours FILE,FILE --epsilon 1 --runs 64",
	"compare --data":     with(compareLine, "--data FILE"),
	"compare --schema":   with(compareLine, "--schema FILE"),
	"boost --data":       with(boostLine, "--data FILE"),
	"boost --schema":     with(boostLine, "--schema FILE"),
	"attack --data":      with(attackLine, "--data FILE"),
	"attack --schema":    with(attackLine, "--schema FILE"),
}

const (
	compareLine = "compare --data census.csv --schema census.yaml --learners brc --epsilons 1 --repeats 1 --not-private"
	boostLine   = "boost --data census.csv --schema census.yaml --epsilon 4 --owners 20 --rounds 2 --not-private --model b.json"
	attackLine  = "attack --data census.csv --schema census.yaml --learner erm --epsilon 1 --targets 2 --runs 40 --not-private"
)

func TestEveryFileFlagIsTried(t *testing.T) {
	for what := range namedFiles(newRoot(&cli.App{Stdout: io.Discard, Stderr: io.Discard})) {
		command, flag, _ := strings.Cut(what, " ")
		if (command == "boost" || slices.Contains(commands.Laboratory, command)) && reading[what] == "" && flag != "--out" && flag != "--model" {
			t.Errorf("%s names a file and is not tried", what)
		}
	}
}

func scene(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	t.Chdir(dir)
	if err := clitest.WriteCensus(dir, 60); err != nil {
		t.Fatal(err)
	}
	return dir
}

// No command shows a protected cell: not on its output or its errors, by any log, or in a file.
func TestNoStreamShowsAProtectedCell(t *testing.T) {
	dir := scene(t)
	plantCanaries(t, "census.csv")
	plantVisits(t, 400)
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	given := listFiles(t, dir)
	for _, line := range []string{
		compareLine + " --out compared", attackLine, boostLine,
		"compare --data visits.csv --schema visits.yaml --learners additive --epsilons 4 --repeats 1 --not-private",
		"attack --data visits.csv --schema visits.yaml --learner additive --epsilon 4 --targets 2 --runs 40 --not-private " +
			"--out roc.svg",
	} {
		run := runAlone(t, strings.Fields(line))
		if run.code != cli.ExitOK || showsCanary(run.said) {
			t.Errorf("%s exits with %d and says\n%s", line, run.code, run.said)
		}
		for name := range listFiles(t, temp) {
			t.Errorf("%s leaves %s", line, name)
		}
		for name, text := range listFiles(t, dir) {
			if text != given[name] && showsCanary(name+"\n"+text) {
				t.Errorf("%s writes a protected cell into %s", line, name)
			}
		}
	}
}

func TestMain(m *testing.M) {
	if os.Getenv(canaryProcess) != "" {
		letLogsSpeak()
		main()
	}
	runScripts(m)
}
