// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// setPort is the script command "port": it sets PORT to one that no one uses.
func setPort(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: port")
	}
	port, err := freePort()
	ts.Check(err)
	ts.Setenv("PORT", port)
}

// served is the script command "served ADDRESS": it waits until someone listens
// there.
func served(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: served ADDRESS")
	}
	ts.Check(waitFor(context.Background(), "for somebody at "+args[0], func() bool {
		c, err := net.Dial("tcp", args[0])
		if err == nil {
			ts.Check(c.Close())
		}
		return err == nil
	}))
}

// waitForText is the script command "until FILE [TIMES TEXT]": it waits until the
// file is there, and holds the text so many times.
func waitForText(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 && len(args) != 3 {
		ts.Fatalf("usage: until FILE [TIMES TEXT]")
	}
	times, text := 0, ""
	if len(args) == 3 {
		var err error
		times, err = strconv.Atoi(args[1])
		ts.Check(err)
		text = args[2]
	}
	ts.Check(waitFor(context.Background(), "until "+strings.Join(args, " "), func() bool {
		content, err := os.ReadFile(ts.MkAbs(args[0]))
		return err == nil && strings.Count(string(content), text) >= times
	}))
}

// later is the script command "later TIME": it sets the clock of all processes
// forward.
func later(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: later TIME")
	}
	more, err := time.ParseDuration(args[0])
	ts.Check(err)
	ts.Check(advanceClock(ts.Getenv(clockFile), more))
}

// readInto is the script command "read NAME FILE": it sets a variable to what the
// file holds.
func readInto(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: read NAME FILE")
	}
	ts.Setenv(args[0], strings.TrimSpace(ts.ReadFile(args[1])))
}
