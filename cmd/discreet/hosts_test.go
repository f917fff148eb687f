// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/check/testkit/size"
	"github.com/discreet-dp/discreet/internal/net/service/identity"
)

// hosts are network namespaces joined by a bridge: machines that can be cut off.
type hosts struct {
	t     *testing.T
	hub   string
	names []string
}

// aggregatorHost is the address of the first host, which newTrial's aggregator has
// a certificate for.
const aggregatorHost = "10.77.13.1"

func newHosts(t *testing.T, n int) *hosts {
	t.Helper()
	size.OnlyLong(t, "makes hosts of its own; the tests of services use one")
	if os.Getuid() != 0 {
		t.Skip("network namespaces need root")
	}
	name := fmt.Sprintf("dt%d", os.Getpid()%100000)
	h := &hosts{t: t, hub: name + "h"}
	if err := h.ip("netns", "add", h.hub); err != nil {
		t.Skipf("no network namespaces here: %v", err)
	}
	t.Cleanup(func() { h.ip("netns", "del", h.hub) })
	err := errors.Join(h.ip("-n", h.hub, "link", "add", "bridge", "type", "bridge"),
		h.ip("-n", h.hub, "link", "set", "bridge", "up"))
	for i := range n {
		host := fmt.Sprintf("%s%d", name, i)
		h.names = append(h.names, host)
		err = errors.Join(err, h.ip("netns", "add", host),
			h.ip("-n", host, "link", "add", "net", "type", "veth", "peer", "name", host, "netns", h.hub),
			h.ip("-n", host, "addr", "add", h.address(i)+"/24", "dev", "net"),
			h.ip("-n", host, "link", "set", "lo", "up"), h.ip("-n", host, "link", "set", "net", "up"), h.ip("-n", h.hub, "link",
				"set", host, "master", "bridge"))
		t.Cleanup(func() { h.ip("netns", "del", host) })
	}
	if err != nil {
		t.Skipf("no virtual network here: %v", err)
	}
	for i := range n {
		h.join(i)
	}
	return h
}

func (h *hosts) ip(args ...string) error { return exec.Command("ip", args...).Run() }

func (h *hosts) address(i int) string { return fmt.Sprintf("10.77.13.%d", i+1) }

// cut takes a host from the network, join brings it back.
func (h *hosts) cut(i int) { h.set(i, "down") }

func (h *hosts) join(i int) { h.set(i, "up") }

func (h *hosts) set(i int, state string) {
	h.t.Helper()
	if err := h.ip("-n", h.hub, "link", "set", h.names[i], state); err != nil {
		h.t.Fatal(err)
	}
}

// ends waits for processes of owners, for slots to be closed, and for the task's
// model.
func (tr *trial) ends(task string, closed func(), owners ...*exec.Cmd) []byte {
	tr.t.Helper()
	for _, c := range owners {
		if err := c.Wait(); err != nil {
			log, _ := os.ReadFile(filepath.Join(tr.dir, "owner.log"))
			tr.t.Fatalf("%v\n%s", err, log)
		}
	}
	closed()
	tr.run("reader/ben", "task", "show", task, "--server", "https://"+tr.address, "--wait", "--model", "model.json",
		"--announcement", "announcement")
	file, err := os.ReadFile(filepath.Join(tr.dir, "model.json"))
	if err != nil {
		tr.t.Fatal(err)
	}
	return file
}

// TestSeveralHosts puts the aggregator and two clinics on hosts of their own and
// cuts one clinic off while it reports. Both end with all their reports in the
// model.
func TestSeveralHosts(t *testing.T) {
	h := newHosts(t, 3)
	const owners = 1500
	tr := newTrial(t, owners)
	tr.address, tr.host = aggregatorHost+":8443", h.names[0]
	serving := tr.serve()
	defer func() { serving.Process.Kill(); serving.Wait() }()
	task := tr.announce(2*owners, "--rounds", "1")
	closed := tr.closeWhenFull(task, owners, "book0.db", "book1.db")
	var clinics []*exec.Cmd
	for i, host := range h.names[1:] {
		tr.host = host
		clinics = append(clinics,
			tr.start("owner.log", "owner/clinic", tr.ownerArgs(task, fmt.Sprintf("book%d.db", i), owners)...))
	}
	<-time.After(700 * time.Millisecond)
	h.cut(1)
	<-time.After(2 * time.Second)
	h.join(1)
	if got := tr.ends(task, closed, clinics...); !bytes.Equal(got, tr.inProcess(task, owners, "book0.db", "book1.db")) {
		t.Error("the model is not that of every owner's report, once")
	}
}

// TestSecretSumsOnSeveralHosts puts the aggregator, three helpers and the owners on
// hosts of their own, and cuts off a helper, then the owners, then the aggregator
// while shares are on their way. The model is that of every owner's shares, once.
func TestSecretSumsOnSeveralHosts(t *testing.T) {
	h := newHosts(t, 5)
	const owners = 600
	tr := newTrial(t, owners)
	tr.address, tr.host = aggregatorHost+":8443", h.names[0]
	authority, err := identity.LoadAuthority(filepath.Join(tr.dir, "certs"))
	if err != nil {
		t.Fatal(err)
	}
	list := ""
	var lives []*exec.Cmd
	defer func() {
		for _, c := range lives {
			c.Process.Kill()
			c.Wait()
		}
	}()
	for i, name := range []string{"one", "two", "three"} {
		id, err := authority.Issue(identity.Caller{Role: identity.Helper, Name: name}, []string{h.address(1 + i)}, time.Now(),
			24*time.Hour)
		if err = errors.Join(err, id.Save(filepath.Join(tr.dir, "certs"))); err != nil {
			t.Fatal(err)
		}
		list += fmt.Sprintf(",%s=https://%s:8445", name, h.address(1+i))
		tr.host = h.names[1+i]
		lives = append(lives,
			tr.start(name+".log", "helper/"+name, "helper", "--listen", h.address(1+i)+":8445", "--store", name+".db"))
	}
	tr.host = h.names[0]
	lives = append(lives, tr.serve())
	task := tr.announce(owners, append(tr.listed("book.db", owners), "--rounds", "1", "--helpers", list[1:])...)
	closed := tr.closeWhenFull(task, owners, "book.db")
	tr.host = h.names[4]
	owning := tr.start("owner.log", "owner/clinic",
		append(tr.ownerArgs(task, "book.db", owners), "--mode", "aggregate", "--honest", fmt.Sprint(owners))...)
	for _, host := range []int{2, 4, 0} {
		<-time.After(1500 * time.Millisecond)
		h.cut(host)
		<-time.After(1500 * time.Millisecond)
		h.join(host)
	}
	if got := tr.ends(task, closed, owning); !bytes.Equal(got, tr.secretly(task, owners)) {
		t.Error("the model is not that of every owner's shares, once")
	}
}
