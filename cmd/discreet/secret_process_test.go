// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/check/testkit/size"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/net/federated/collect"
	"github.com/discreet-dp/discreet/internal/net/service/aggregator/store"
	"github.com/discreet-dp/discreet/internal/net/service/identity"
	"github.com/discreet-dp/discreet/internal/net/service/operator"
	"github.com/discreet-dp/discreet/internal/net/service/owner"
	"github.com/discreet-dp/discreet/internal/net/service/owner/spending"
	"github.com/discreet-dp/discreet/internal/net/service/secretsum"
	"github.com/discreet-dp/discreet/internal/net/service/tasks"
	"github.com/discreet-dp/discreet/internal/net/testkit/helpertest"
)

// TestKillNineSecretly kills helpers, aggregator and owners with SIGKILL, again and
// again, in the middle of a task in mode aggregate. In the end the model is that of
// the shares in the owners' book, of every owner once.
func TestKillNineSecretly(t *testing.T) {
	size.OnlyLong(t, "kills in a loop; TestHelpersDie and TestCollectorDies stop the same parts within one process")
	const owners = 600
	tr := newTrial(t, owners)
	starts, list := tr.helpers(3)
	var lives []*exec.Cmd // helpers, the aggregator, the owners; each is started again as it was
	starts = append(starts, tr.serve)
	for _, start := range starts {
		lives = append(lives, start())
	}
	task := tr.announce(owners, append(tr.listed("book.db", owners), "--rounds", "1", "--helpers", list)...)
	closed := tr.closeWhenFull(task, owners, "book.db")
	starts = append(starts, func() *exec.Cmd {
		return tr.start("owner.log", "owner/clinic",
			append(tr.ownerArgs(task, "book.db", owners), "--mode", "aggregate", "--honest", fmt.Sprint(owners))...)
	})
	lives = append(lives, starts[len(starts)-1]())
	defer func() {
		for _, c := range lives {
			c.Process.Kill()
			c.Wait()
		}
	}()
	r := rand.New(rand.NewPCG(9, 10))
	for range 24 {
		<-time.After(time.Duration(50+r.IntN(500)) * time.Millisecond)
		who := r.IntN(len(lives))
		lives[who].Process.Kill()
		lives[who].Wait()
		lives[who] = starts[who]()
	}
	if err := lives[len(lives)-1].Wait(); err != nil {
		log, _ := os.ReadFile(filepath.Join(tr.dir, "owner.log"))
		t.Fatalf("%v\n%s", err, log)
	}
	closed()
	tr.run("reader/ben", "task", "show", task, "--server", "https://"+tr.address, "--wait", "--model", "model.json",
		"--announcement", "announcement")
	got, err := os.ReadFile(filepath.Join(tr.dir, "model.json"))
	if err != nil {
		t.Fatal(err)
	}
	if want := tr.secretly(task, owners); !bytes.Equal(got, want) {
		t.Error("the model is not that of every owner's shares, once")
	}
}

// listed makes the owners of a book a task's list, in mode aggregate, all of whom are
// counted on to be honest, and returns the flags that say so.
func (tr *trial) listed(book string, owners int) []string {
	tr.t.Helper()
	c := exec.Command("discreet-net", "owner", "keys", "--book", book, "--lifetime-epsilon", "2", "--owners",
		fmt.Sprint(owners))
	c.Dir = tr.dir
	keys, err := c.Output()
	if err == nil {
		err = os.WriteFile(filepath.Join(tr.dir, "roster.txt"), keys, 0o600)
	}
	if err != nil {
		tr.t.Fatal(err)
	}
	return []string{"--mode", "aggregate", "--roster", "roster.txt", "--honest", fmt.Sprint(owners)}
}

// helpers gives so many helpers a certificate and an address, and returns what
// starts them and what announces them.
func (tr *trial) helpers(n int) (starts []func() *exec.Cmd, list string) {
	tr.t.Helper()
	authority, err := identity.LoadAuthority(filepath.Join(tr.dir, "certs"))
	if err != nil {
		tr.t.Fatal(err)
	}
	var all []string
	for h := range n {
		name, address := fmt.Sprintf("h%d", h), freeAddress(tr.t)
		id, err := authority.Issue(identity.Caller{Role: identity.Helper, Name: name}, []string{"127.0.0.1"}, time.Now(),
			24*time.Hour)
		if err == nil {
			err = id.Save(filepath.Join(tr.dir, "certs"))
		}
		if err != nil {
			tr.t.Fatal(err)
		}
		all = append(all, name+"=https://"+address)
		starts = append(starts, func() *exec.Cmd {
			return tr.start(name+".log", "helper/"+name, "helper", "--listen", address, "--store", name+".db")
		})
	}
	return starts, strings.Join(all, ",")
}

// TestLoadSecretly is the benchmark of mode aggregate: DISCREET_LOAD_SECRET owners,
// each with its own key, give shares to three helpers on the same machine. It
// prints what each process cost.
func TestLoadSecretly(t *testing.T) {
	owners, _ := strconv.Atoi(os.Getenv("DISCREET_LOAD_SECRET"))
	if owners < 1 {
		t.Skip("set DISCREET_LOAD_SECRET to a number of owners (make load-secret)")
	}
	tr := newTrial(t, owners)
	tr.clock = ""
	starts, list := tr.helpers(3)
	var serving []*exec.Cmd
	for _, start := range append(starts, tr.serve) {
		serving = append(serving, start())
	}
	task := tr.announce(owners,
		append(tr.listed("book.db", owners), "--rounds", "1", "--slot", "1h", "--quiet", "5s", "--helpers", list)...)
	began := time.Now()
	c := tr.command("owner/clinic", append(tr.ownerArgs(task, "book.db", owners), "--mode", "aggregate", "--honest",
		fmt.Sprint(owners), "--model", "model.json")...)
	out, err := c.Output()
	took := time.Since(began)
	if err != nil {
		t.Fatal(err)
	}
	var sum owner.Summary
	if err := json.Unmarshal(out, &sum); err != nil {
		t.Fatal(err)
	}
	if sum.Accepted != owners {
		t.Errorf("%+v: want all %d accepted", sum, owners)
	}
	for _, c := range serving {
		c.Process.Signal(os.Interrupt)
		c.Wait()
	}
	usage := func(c *exec.Cmd) string {
		s := c.ProcessState
		return fmt.Sprintf("%.1f s of processor, %d MB at most", (s.UserTime() + s.SystemTime()).Seconds(),
			s.SysUsage().(*syscall.Rusage).Maxrss>>10)
	}
	t.Logf("%d owners: %.1f s in all, the model included\neach helper: %s\naggregator: %s\nowners: %s", owners,
		took.Seconds(), usage(serving[0]), usage(serving[3]), usage(c))
}

// secretly is the model that the shares in the book make in this process.
func (tr *trial) secretly(task string, owners int) []byte {
	t := tr.t
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	id, err := operator.ParseTaskID(task)
	must(err)
	text, err := os.ReadFile(filepath.Join(tr.dir, "announcement"))
	must(err)
	announced, err := tasks.Parse(text)
	must(err)
	st, err := store.At(t.Context(), filepath.Join(tr.dir, tr.state), "")
	must(err)
	defer st.Close()
	b, err := spending.Open(t.Context(), filepath.Join(tr.dir, "book.db"), 2*dp.Nano, "")
	must(err)
	defer b.Close()
	c, err := collect.New(announced.Task)
	must(err)
	for slot := range announced.Task.Slots() {
		x, err := st.Secret(t.Context(), store.ID(id), slot)
		must(err)
		secret, err := secretsum.Parse(x.Sum)
		must(err)
		sumID, err := secret.ID()
		must(err)
		var shares [][]byte
		given, err := b.For(t.Context(), id)
		must(err)
		for i := range owners {
			e, found := given[i]
			if !found {
				t.Fatalf("owner %d has given nothing", i)
			}
			if e.Round != sumID {
				continue
			}
			some, err := secretsum.Unpack(e.Report)
			must(err)
			shares = append(shares, some...)
		}
		total, of, err := helpertest.Play(secret, shares)
		must(err)
		if len(of) != len(secret.Roster) {
			t.Errorf("slot %d: %d owners have given shares, %d take part", slot, len(of), len(secret.Roster))
		}
		must(c.Assemble(len(secret.Roster), announced.Leaned(len(secret.Roster), owners)))
		must(c.ReceiveSum(total, len(of)))
		must(c.Close())
	}
	m, err := c.Model(collect.Statement{})
	must(err)
	file, err := model.Marshal(m)
	must(err)
	return file
}
