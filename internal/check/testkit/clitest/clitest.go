// SPDX-License-Identifier: Apache-2.0

// Package clitest contains code shared by the script tests of the programs.
package clitest

import (
	"errors"
	"io"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/discreet-dp/discreet/internal/check/testkit/censustest"
	"github.com/discreet-dp/discreet/internal/commands/cli"
	"github.com/discreet-dp/discreet/internal/ground/atomicfile"
	"github.com/discreet-dp/discreet/internal/table/census"
)

// Exits is the script command "exits CODE COMMAND...". It checks that the command fails with that exit
// code and an error line, without a crash or a result.
func Exits(ts *testscript.TestScript, neg bool, args []string) {
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
	if ts.ReadFile("stdout") != "" && exit.ExitCode() != cli.ExitMisfit { // which is a result
		ts.Fatalf("a refused command printed a result")
	}
}

// Census is the script command "census ROWS"; see WriteCensus.
func Census(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: census ROWS")
	}
	rows, err := strconv.Atoi(args[0])
	ts.Check(err)
	ts.Check(WriteCensus(ts.MkAbs("."), rows))
}

// WriteCensus writes an invented census: census.yaml, census.csv and census.parquet.
func WriteCensus(dir string, rows int) error {
	var failed error
	for name, file := range map[string][]byte{"census.yaml": census.SchemaYAML(), "census.csv": censustest.CSV(1, rows),
		"census.parquet": censustest.Parquet(1, rows)} {
		failed = errors.Join(failed, WritePrivate(filepath.Join(dir, name),
			func(w io.Writer) error { _, err := w.Write(file); return err }))
	}
	return failed
}

// WritePrivate writes a file in the way that commands do.
func WritePrivate(path string, f func(io.Writer) error) error {
	return atomicfile.Write(path, atomicfile.Private, f)
}
