// SPDX-License-Identifier: Apache-2.0

// Package clitest holds what the script tests of both commands share.
package clitest

import (
	"errors"
	"os/exec"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// Exits is the script command "exits CODE COMMAND...": a failure with that exit
// code, an error line, and neither a crash nor a result.
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
	if ts.ReadFile("stdout") != "" {
		ts.Fatalf("a refused command printed a result")
	}
}
