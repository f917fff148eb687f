// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/discreet-dp/discreet/internal/commands"
	"github.com/discreet-dp/discreet/internal/commands/cli"
	"github.com/discreet-dp/discreet/internal/ground/build"
	"github.com/discreet-dp/discreet/internal/net/service/problem"
)

// Processes that tests start go by a clock that stands until the test sets it
// forward. So nothing that takes part in a task is late because a machine is slow,
// and no one waits for a slot's time or a deadline to pass.

// clockFile is the environment's variable that names the file with the time.
const clockFile = "DISCREET_TEST_CLOCK"

// state is the tests' run in a home of their own: what processes keep there, anchors, goes with it.
type state struct{ m *testing.M }

func (s state) Run() int {
	dir, err := os.MkdirTemp("", "discreet-state-")
	if err == nil {
		err = os.Setenv("XDG_STATE_HOME", dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	return s.m.Run()
}

func TestMain(m *testing.M) {
	build.Commit = strings.Repeat("0", 40) // Go tells a test's program no source
	if os.Getenv(canaryProcess) != "" {
		runAsCommand()
	}
	testscript.Main(state{m}, map[string]func(){
		"discreet":     func() { ready(); main() },
		"discreet-net": func() { ready(); os.Exit(cli.Main(newNetRoot)) },
	})
}

// runAsCommand is either program by the clock, and with the logs, that a test asks for.
func runAsCommand() { ready(); os.Exit(cli.Main(newBoth)) }

// ready makes this process go by the clock, and with the logs, that its environment names.
func ready() {
	if os.Getenv(canaryProcess) != "" {
		letLogsSpeak()
	}
	path := os.Getenv(clockFile)
	if path == "" {
		return
	}
	commands.Clock = func() time.Time {
		now, err := readClock(path)
		if err != nil {
			panic(err)
		}
		return now
	}
}

func readClock(path string) (time.Time, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return time.Time{}, err
	}
	return time.Parse(time.RFC3339Nano, string(text))
}

func writeClock(path string, now time.Time) error {
	next := path + ".new"
	if err := os.WriteFile(next, []byte(now.Format(time.RFC3339Nano)), 0o600); err != nil {
		return err
	}
	return os.Rename(next, path)
}

// advanceClock sets a clock forward.
func advanceClock(path string, by time.Duration) error {
	now, err := readClock(path)
	if err != nil {
		return err
	}
	return writeClock(path, now.Add(by))
}

// waitFor waits until something holds. What it waits for must come some time on the
// slowest machine: only a process that hangs meets its limit.
func waitFor(ctx context.Context, what string, holds func() bool) error {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Minute)
	defer cancel()
	for !holds() {
		if err := problem.Pause(ctx, 10*time.Millisecond); err != nil {
			return fmt.Errorf("waited %s in vain: %w", what, err)
		}
	}
	return nil
}
