// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/size"
)

// disk mounts a disk of its own below the trial's folder, with room for so much.
func (tr *trial) disk(name, room string) {
	tr.t.Helper()
	path := filepath.Join(tr.dir, name)
	if err := os.Mkdir(path, 0o700); err != nil {
		tr.t.Fatal(err)
	}
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size="+room, "tmpfs", path).CombinedOutput(); err != nil {
		tr.t.Skipf("no disks of our own here: %v %s", err, out)
	}
	tr.t.Cleanup(func() { exec.Command("umount", path).Run() })
}

// enlarge gives a disk room for so much.
func (tr *trial) enlarge(name, room string) {
	tr.t.Helper()
	if out, err := exec.Command("mount", "-o", "remount,size="+room,
		filepath.Join(tr.dir, name)).CombinedOutput(); err != nil {
		tr.t.Fatalf("%v %s", err, out)
	}
}

// failures is some: the aggregator could not keep reports.
var failures = regexp.MustCompile(`(?m)^discreet_storage_failures_total [1-9]`)

// look asks an aggregator's page.
func (tr *trial) look(path string) (text []byte, code int) {
	tr.t.Helper()
	answer, err := http.Get("http://" + tr.page + path)
	if err != nil {
		tr.t.Fatal(err)
	}
	defer answer.Body.Close()
	if text, err = io.ReadAll(answer.Body); err != nil {
		tr.t.Fatal(err)
	}
	return text, answer.StatusCode
}

// TestDisksFull lets first the owners' disk and then the aggregator's run full in
// the middle of a slot. Owners stop without sending what they could not write; the aggregator
// acknowledges nothing, is not ready, and takes the same reports once there is room. Every report
// is in the model once.
func TestDisksFull(t *testing.T) {
	size.OnlyLong(t, "fills disks; the tests of services inject the same faults")
	if os.Getuid() != 0 {
		t.Skip("disks of one's own need root")
	}
	const owners = 4000
	tr := newTrial(t, owners)
	tr.disk("owners", "1200k")
	tr.disk("aggregator", "1400k")
	tr.state = "aggregator/state.db"
	serving := tr.serve()
	defer func() { serving.Process.Kill(); serving.Wait() }()
	task := tr.announce(owners, "--rounds", "1")
	args := tr.ownerArgs(task, "owners/book.db", owners)
	c := tr.command("owner/clinic", args...)
	if out, err := c.CombinedOutput(); err == nil || !bytes.Contains(out, []byte("full")) {
		t.Fatalf("%v: the owners' disk is full, they say:\n%s", err, out)
	}
	tr.enlarge("owners", "64m")
	owning := tr.start("owner.log", "owner/clinic", args...)
	if err := waitFor(t.Context(), "for the aggregator's disk to run full", func() bool {
		if text, _ := tr.look("/metrics"); !failures.Match(text) {
			return false
		}
		_, code := tr.look("/readyz") // not yet 503 while a smaller batch still finds room
		return code == http.StatusServiceUnavailable
	}); err != nil {
		t.Fatal(err)
	}
	tr.enlarge("aggregator", "64m")
	if err := waitFor(t.Context(), "for the aggregator to be ready again", func() bool {
		_, code := tr.look("/readyz")
		return code == http.StatusOK
	}); err != nil {
		t.Fatal(err)
	}
	closed := tr.closeWhenFull(task, owners, "owners/book.db")
	if err := owning.Wait(); err != nil {
		log, _ := os.ReadFile(filepath.Join(tr.dir, "owner.log"))
		t.Fatalf("%v\n%s", err, log)
	}
	closed()
	tr.run("reader/ben", "task", "show", task, "--server", "https://"+tr.address, "--wait", "--model", "model.json")
	got, err := os.ReadFile(filepath.Join(tr.dir, "model.json"))
	if err != nil {
		t.Fatal(err)
	}
	if want := tr.inProcess(task, owners, "owners/book.db"); !bytes.Equal(got, want) {
		t.Error("the model is not that of every owner's report, once")
	}
}
