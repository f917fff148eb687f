// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/discreet-dp/discreet/internal/check/testkit/clitest"
	"github.com/discreet-dp/discreet/internal/check/testkit/objecttest"
	"github.com/discreet-dp/discreet/internal/check/testkit/realdata"
	"github.com/discreet-dp/discreet/internal/check/testkit/size"
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
	ledgers, err := filepath.Abs("../../internal/ledger/testdata") // of earlier programs
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:           "testdata",
		UpdateScripts: *update,
		Setup: func(e *testscript.Env) error {
			e.Setenv("DISCREET_DATASETS", datasets)
			e.Setenv("EXAMPLES", examples)
			e.Setenv("LEDGERS", ledgers)
			e.Setenv("LANG", "C.UTF-8")
			e.Setenv("XDG_STATE_HOME", filepath.Join(e.WorkDir, ".state"))
			e.Setenv("GORACE", os.Getenv("GORACE"))
			e.Setenv("GOGC", os.Getenv("GOGC"))
			now := filepath.Join(e.WorkDir, ".now")
			e.Setenv(clockFile, now)
			return writeClock(now, time.Now())
		},
		Condition: func(cond string) (bool, error) {
			switch cond {
			case "datasets":
				_, err := os.Stat(datasets)
				return err == nil, nil
			case "long":
				return size.Long(), nil
			}
			return false, errors.New("unknown condition " + cond)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"census":  clitest.Census,
			"ask":     askService,
			"edit":    editLines,
			"exits":   clitest.Exits,
			"port":    setPort,
			"private": allPrivate,
			"store":   func(ts *testscript.TestScript, neg bool, args []string) { storeFiles(t, ts, neg, args) },
			"served":  served,
			"read":    readInto,
			"until":   waitForText,
			"later":   later,
		},
	})
}

// storeFiles is the script command "store FILE ...": a store of objects has these files, by their
// names, and the environment names it.
func storeFiles(t *testing.T, ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: store FILE ...")
	}
	s := objecttest.Start(t, ts.Setenv)
	for _, name := range args {
		data, err := os.ReadFile(ts.MkAbs(name))
		ts.Check(err)
		s.Put(name, data)
	}
}

// allPrivate is the script command "private FOLDER FILES": there are so many files in
// the folder and those below, and none that others may read.
func allPrivate(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: private FOLDER FILES")
	}
	want, err := strconv.Atoi(args[1])
	ts.Check(err)
	ts.Check(filepath.WalkDir(ts.MkAbs(args[0]), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if want--; runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
			return fmt.Errorf("%s has mode %04o, want 0600", path, info.Mode().Perm())
		}
		return nil
	}))
	if want != 0 {
		ts.Fatalf("there are %d files fewer", want)
	}
}
