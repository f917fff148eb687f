// SPDX-License-Identifier: Apache-2.0

//go:build unix

package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/check/testkit/size"
	"github.com/discreet-dp/discreet/internal/commands/cli"
)

// tables are the flags of reading that name tables, which may be pipes.
var tables = []string{"--data", "--aux", "--held-out", "DATA", "--csv"}

// said collects what a command says, and tells when it waits for a writer.
type said struct {
	mutex sync.Mutex
	text  bytes.Buffer
	waits func()
}

func (s *said) Write(b []byte) (int, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if strings.Contains(string(b), "waiting for a writer") {
		s.waits()
	}
	return s.text.Write(b)
}

// TestPipesDoNotHang: a pipe without a writer is refused in place of a model, a key, a ledger, a schema
// or a policy. In place of a table it is waited for, which is said, until a signal.
func TestPipesDoNotHang(t *testing.T) {
	scene(t)
	for _, name := range []string{"pipe", "pipe.csv", "pipe.parquet", "x.key"} {
		if err := syscall.Mkfifo(name, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	some := []string{"verify FILE", "verify --keys", "train --data", "train --schema", "predict --model", "show FILE",
		"evaluate --data", "site check --policy", "site sign --key", "budget show --ledger", "serve --config", "site vote --roster",
		"doctor --tls-cert", "card --audit"}
	if size.Long() {
		some = some[:0]
		for what, line := range reading {
			if line != "" {
				some = append(some, what)
			}
		}
	}
	for _, what := range some {
		flag := what[strings.LastIndexByte(what, ' ')+1:]
		ctx, interrupt := context.WithTimeoutCause(t.Context(), time.Minute, errors.New("it hangs"))
		out := &said{waits: interrupt}
		line := strings.Fields(strings.NewReplacer("FILE", "pipe", "SERVER", server, "NOWHERE", "127.0.0.1:-1", "TASK",
			strings.Repeat("0", 64), "_", " ").Replace(reading[what]))
		ended := make(chan int, 1)
		go func() {
			ended <- cli.Run(ctx, programOf(line[0]), line, []string{"PATH=" + os.Getenv("PATH")}, strings.NewReader(""), out, out)
		}()
		select {
		case <-ended:
		case <-time.After(2 * time.Minute):
			t.Fatalf("%s: hangs, and ignores the signal", what)
		}
		interrupt()
		if cause := context.Cause(ctx); cause != nil && cause.Error() == "it hangs" {
			t.Errorf("%s: hangs", what)
		}
		out.mutex.Lock()
		waited := strings.Contains(out.text.String(), "waiting for a writer to the pipe pipe")
		if waited && !slices.Contains(tables, flag) {
			t.Errorf("%s: waits: %s", what, &out.text)
		}
		if what == "train --data" && (!waited || !strings.Contains(out.text.String(), "error: interrupted")) {
			t.Errorf("%s: must say that it waits, and end: %s", what, &out.text)
		}
		out.mutex.Unlock()
	}
}

// TestTablesComeThroughPipes: a pipe with a writer is read as a table.
func TestTablesComeThroughPipes(t *testing.T) {
	scene(t)
	rows, err := os.ReadFile("census.csv")
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo("pipe.csv", 0o600); err != nil {
		t.Fatal(err)
	}
	written := make(chan error, 1)
	go func() { written <- os.WriteFile("pipe.csv", rows, 0o600) }()
	said := tell(t, strings.Fields(with(trainLine, "--data pipe.csv")))
	if err := <-written; err != nil || !strings.Contains(said, "wrote n.json") {
		t.Errorf("%v, says %s", err, said)
	}
	said = tell(t, strings.Fields("predict --model m.json --data pipe.csv --out p.csv"))
	if !strings.Contains(said, "this command reads rows twice") { // without a writer, so that it is refused unread
		t.Errorf("says %s", said)
	}
}

// TestInputEndsAtASignal: a command that reads standard input, which stays silent, ends at a signal.
func TestInputEndsAtASignal(t *testing.T) {
	scene(t)
	in, silent, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	defer silent.Close()
	for _, line := range []string{with(trainLine, "--data -"), "predict --model m.json --data - --out p.csv", "predict-rows --model m.json"} {
		ctx, interrupt := context.WithCancel(t.Context())
		ended := make(chan int, 1)
		var out bytes.Buffer
		go func() { ended <- cli.Run(ctx, newRoot, strings.Fields(line), nil, in, &out, &out) }()
		interrupt()
		select {
		case code := <-ended:
			if code != cli.ExitFailed || !strings.Contains(out.String(), "error: interrupted") {
				t.Errorf("%s: exit code %d, says %s", line, code, &out)
			}
		case <-time.After(time.Minute):
			t.Fatalf("%s: ignores the signal", line)
		}
	}
}
