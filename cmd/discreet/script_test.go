// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/discreet-dp/discreet/internal/cli/clitest"
	"github.com/discreet-dp/discreet/internal/realdata"
)

var update = flag.Bool("update", false, "rewrite the expected outputs in testdata")

// TestScripts runs the manual of the command. Scripts about the real data sets
// are skipped where those are not at hand.
func TestScripts(t *testing.T) {
	datasets := realdata.Folder()
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
			now := filepath.Join(e.WorkDir, ".now")
			e.Setenv(clockFile, now)
			return writeClock(now, time.Now())
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
			"exits":  clitest.Exits,
			"port":   freePort,
			"served": served,
			"read":   readInto,
			"until":  waitForText,
			"later":  later,
		},
	})
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
