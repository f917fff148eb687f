// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "rewrite the expected outputs in testdata")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"discreet": main})
}

// TestScripts runs the manual of the command. Scripts about the real data sets
// are skipped where those are not at hand.
func TestScripts(t *testing.T) {
	datasets := datasetsFolder(t)
	examples, err := filepath.Abs("../../examples")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:           "testdata",
		UpdateScripts: *update,
		Setup: func(e *testscript.Env) error {
			e.Setenv("DISCREET_DATASETS", datasets)
			e.Setenv("EXAMPLES", examples)
			e.Setenv("LANG", "C.UTF-8")
			e.Setenv("GORACE", os.Getenv("GORACE"))
			return nil
		},
		Condition: func(cond string) (bool, error) {
			if cond != "datasets" {
				return false, errors.New("unknown condition " + cond)
			}
			_, err := os.Stat(datasets)
			return err == nil, nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"census": inventCensus,
			"exits":  exits,
			"port":   freePort,
			"served": served,
			"read":   readInto,
		},
	})
}

// datasetsFolder is where the real data sets are, if anywhere.
func datasetsFolder(t *testing.T) string {
	t.Helper()
	folder := os.Getenv("DISCREET_DATASETS")
	if folder == "" {
		folder = "../../../shared/datasets"
	}
	folder, err := filepath.Abs(folder)
	if err != nil {
		t.Fatal(err)
	}
	return folder
}

// inventCensus is the script command "census ROWS"; see writeCensus.
func inventCensus(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: census ROWS")
	}
	rows, err := strconv.Atoi(args[0])
	ts.Check(err)
	ts.Check(writeCensus(ts.MkAbs("."), rows))
}

// exits is the script command "exits CODE COMMAND...": a failure with that exit
// code, an error line, and neither a crash nor a result.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND...")
	}
	err := ts.Exec(args[1], args[2:]...)
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		ts.Fatalf("want exit code %s, got: %v", args[0], err)
	}
	if got := strconv.Itoa(exit.ExitCode()); got != args[0] {
		ts.Fatalf("want exit code %s, got %s", args[0], got)
	}
	said := ts.ReadFile("stderr")
	if !strings.HasPrefix(said, "error: ") && !strings.Contains(said, "\nerror: ") {
		ts.Fatalf("no line begins with error")
	}
	if strings.Contains(said, "panic") || strings.Contains(said, "goroutine ") {
		ts.Fatalf("crashed")
	}
	if ts.ReadFile("stdout") != "" {
		ts.Fatalf("a refused command printed a result")
	}
}
