// SPDX-License-Identifier: Apache-2.0

//go:build unix

package ballot

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

	"github.com/discreet-dp/discreet/internal/check/testkit/censustest"
	"github.com/discreet-dp/discreet/internal/net/federated/multiparty"
	"github.com/discreet-dp/discreet/internal/table/census"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// A command that is given up ends with all that it has started.
func TestCommandsEndWithTheirChildren(t *testing.T) {
	dir := t.TempDir()
	table := filepath.Join(dir, "census.csv")
	if err := os.WriteFile(table, censustest.CSV(1, 20), 0o600); err != nil {
		t.Fatal(err)
	}
	child := filepath.Join(dir, "child")
	v := &Voter{Env: os.Environ(), Read: readRows, Encoding: "onehot", Command: "sleep 1000 & echo $! > " +
		shellWord(child) + ".new; mv " + shellWord(child) + ".new " + shellWord(child) + "; wait"}
	if err := v.Open(); err != nil {
		t.Fatal(err)
	}
	v.public = census.Schema()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	failed := make(chan error)
	go func() {
		_, err := v.Cast(ctx, "mary", multiparty.Labels, []string{table}, new(bytes.Buffer))
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
	for !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) && !zombie(pid) {
		<-time.After(5 * time.Millisecond)
	}
}

func readRows(ctx context.Context, s *schema.Schema, paths []string) (*dataset.Table, error) {
	return dataset.Read(ctx, s, dataset.Options{Labels: dataset.LabelsIgnored}, paths...)
}

// zombie holds for a process that has ended and whose new parent has not asked.
func zombie(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && bytes.Contains(stat, []byte(") Z "))
}
