// SPDX-License-Identifier: Apache-2.0

//go:build unix

package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/audit/subject"
	"github.com/discreet-dp/discreet/internal/cli"
	"github.com/discreet-dp/discreet/internal/federated/multiparty"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// A command that is given up ends with all that it has started.
func TestCommandsEndWithTheirChildren(t *testing.T) {
	dir := t.TempDir()
	if err := writeCensus(dir, 20); err != nil {
		t.Fatal(err)
	}
	s, err := schema.Load(filepath.Join(dir, "census.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	child := filepath.Join(dir, "child")
	v := &voter{app: &app{&cli.App{Env: os.Environ(), Stderr: new(bytes.Buffer)}}, encoding: "onehot", command: "sleep 1000 & echo $! > " + subject.ShellWord(child) + ".new; mv " + subject.ShellWord(child) + ".new " + subject.ShellWord(child) + "; wait"}
	if err := v.open(); err != nil {
		t.Fatal(err)
	}
	v.public = s
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	failed := make(chan error)
	go func() {
		_, err := v.cast(ctx, "mary", multiparty.Labels, []string{filepath.Join(dir, "census.csv")}, new(bytes.Buffer))
		failed <- err
	}()
	text, err := []byte(nil), error(os.ErrNotExist)
	for err != nil {
		<-time.After(5 * time.Millisecond)
		text, err = os.ReadFile(child)
	}
	cancel()
	if err := <-failed; !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v, want %v", err, context.Canceled)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	if err := waitFor(t.Context(), "for the command's child to end", func() bool {
		return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) || zombie(pid)
	}); err != nil {
		t.Error(err)
	}
}

// zombie holds for a process that has ended and whose new parent has not asked.
func zombie(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && bytes.Contains(stat, []byte(") Z "))
}
