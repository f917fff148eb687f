// SPDX-License-Identifier: Apache-2.0

package main

import (
	"net"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// freePort is the script command "port": it sets PORT to one that nobody uses.
func freePort(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: port")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	_, port, err := net.SplitHostPort(l.Addr().String())
	ts.Check(err)
	ts.Check(l.Close())
	ts.Setenv("PORT", port)
}

// served is the script command "served ADDRESS": it waits until somebody listens
// there.
func served(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: served ADDRESS")
	}
	for range 200 {
		c, err := net.DialTimeout("tcp", args[0], time.Second)
		if err == nil {
			ts.Check(c.Close())
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	ts.Fatalf("nobody serves %s", args[0])
}

// readInto is the script command "read NAME FILE": it sets a variable to what the
// file holds.
func readInto(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: read NAME FILE")
	}
	ts.Setenv(args[0], strings.TrimSpace(ts.ReadFile(args[1])))
}
