// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/check/testkit/censustest"
	"github.com/discreet-dp/discreet/internal/check/testkit/clitest"
	"github.com/discreet-dp/discreet/internal/check/testkit/size"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/net/federated/collect"
	"github.com/discreet-dp/discreet/internal/net/federated/wire"
	"github.com/discreet-dp/discreet/internal/net/service/aggregator/store"
	"github.com/discreet-dp/discreet/internal/net/service/identity"
	"github.com/discreet-dp/discreet/internal/net/service/operator"
	"github.com/discreet-dp/discreet/internal/net/service/owner"
	"github.com/discreet-dp/discreet/internal/net/service/owner/spending"
	"github.com/discreet-dp/discreet/internal/net/service/tasks"
)

// trial is a federation of real processes in one folder.
type trial struct {
	t       *testing.T
	dir     string
	address string // of the aggregator
	page    string
	served  int      // how often an aggregator has begun to listen
	host    string   // the network namespace that commands run in; "": this one
	prefix  []string // of every command line
	state   string   // where the aggregator keeps its tasks
	clock   string   // the file that the clocks of all processes show; "": the system's
}

func newTrial(t *testing.T, rows int) *trial {
	t.Helper()
	tr := &trial{t: t, state: "state.db", dir: t.TempDir(), address: freeAddress(t), page: freeAddress(t)}
	tr.clock = filepath.Join(tr.dir, "now")
	if err := errors.Join(clitest.WriteCensus(tr.dir, rows), writeClock(tr.clock, time.Now())); err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	a, err := identity.NewAuthority(now, 48*time.Hour)
	if err == nil {
		err = a.Save(filepath.Join(tr.dir, "certs"))
	}
	for _, c := range []identity.Caller{{Role: identity.Aggregator, Name: "main"}, {Role: identity.Operator, Name: "anna"},
		{Role: identity.Owner, Name: "clinic"}, {Role: identity.Reader, Name: "ben"}} {
		id, issued := a.Issue(c, []string{"127.0.0.1", aggregatorHost}, now, 24*time.Hour)
		if err = errors.Join(err, issued); err == nil {
			err = id.Save(filepath.Join(tr.dir, "certs"))
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// asked counts calls of freePort.
var asked atomic.Int64

// freePort is a port of this machine that no one uses. It lies below those that the
// system hands out by itself, or the connection of another test could take it before
// the process that it is for begins to listen.
func freePort() (port string, err error) {
	const lowest, most = 10_000, 22_000
	for range 100 {
		port = strconv.Itoa(lowest + int((int64(os.Getpid())*31+asked.Add(1)*7)%most))
		var l net.Listener
		if l, err = net.Listen("tcp", net.JoinHostPort("127.0.0.1", port)); err == nil {
			return port, l.Close()
		}
	}
	return "", err
}

func freeAddress(t *testing.T) string {
	t.Helper()
	port, err := freePort()
	if err != nil {
		t.Fatal(err)
	}
	return net.JoinHostPort("127.0.0.1", port)
}

func (tr *trial) command(as string, args ...string) *exec.Cmd {
	args = append(append([]string{"discreet-net"}, args...), "--certs", "certs", "--as", as)
	if tr.host != "" {
		args = append([]string{"ip", "netns", "exec", tr.host}, args...)
	}
	args = append(slices.Clip(tr.prefix), args...)
	c := exec.Command(args[0], args[1:]...)
	c.Dir = tr.dir
	c.Env = append(os.Environ(), clockFile+"="+tr.clock)
	return c
}

// run runs a command to its end and returns what it printed.
func (tr *trial) run(as string, args ...string) string {
	tr.t.Helper()
	c := tr.command(as, args...)
	var said bytes.Buffer
	c.Stderr = &said
	out, err := c.Output()
	if err != nil {
		tr.t.Fatalf("%s: %v\n%s", args, err, said.String())
	}
	return strings.TrimSpace(string(out))
}

// start starts a process. Its log goes to a file of its own.
func (tr *trial) start(log, as string, args ...string) *exec.Cmd {
	tr.t.Helper()
	f, err := os.OpenFile(filepath.Join(tr.dir, log), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		tr.t.Fatal(err)
	}
	defer f.Close()
	c := tr.command(as, args...)
	c.Stderr = f
	if c.Stdout == nil {
		c.Stdout = f
	}
	if err := c.Start(); err != nil {
		tr.t.Fatal(err)
	}
	return c
}

// serve starts an aggregator and waits until it listens.
func (tr *trial) serve() *exec.Cmd {
	tr.t.Helper()
	c := tr.start("aggregator.log", "aggregator/main", "aggregator", "--listen", tr.address, "--page", tr.page, "--state",
		tr.state, "--max-epsilon", "2", "--relay", "clinic=10000000")
	if err := waitFor(tr.t.Context(), "for an aggregator that listens", func() bool {
		log, err := os.ReadFile(filepath.Join(tr.dir, "aggregator.log"))
		if err != nil {
			tr.t.Fatal(err)
		}
		return bytes.Count(log, []byte(`"tls":true`)) > tr.served
	}); err != nil {
		tr.t.Fatal(err)
	}
	tr.served++
	return c
}

// slotTime is how long the slots of a trial are, by clocks that closeWhenFull sets:
// short, for owners ask again in a part of that.
const slotTime = time.Minute

// closeWhenFull closes each slot of a task, by the clocks of its processes, once
// all owners of the books have reported. Call over to wait for that.
func (tr *trial) closeWhenFull(task string, owners int, books ...string) (over func()) {
	tr.t.Helper()
	announced, err := tr.announced(task)
	if err != nil {
		tr.t.Fatal(err)
	}
	closed := make(chan error, 1)
	go func() { closed <- tr.closeSlots(announced.Task, owners, books) }()
	return func() {
		tr.t.Helper()
		if err := <-closed; err != nil {
			tr.t.Fatal(err)
		}
	}
}

func (tr *trial) closeSlots(task *wire.Task, owners int, books []string) error {
	id, err := task.Digest()
	if err != nil {
		return err
	}
	placing, err := task.Placing()
	if err != nil {
		return err
	}
	want := make([]int, task.Slots())
	for _, name := range books {
		b, err := spending.Open(tr.t.Context(), filepath.Join(tr.dir, name), 2*dp.Nano, "")
		if err != nil {
			return err
		}
		keys, err := b.Keys(tr.t.Context(), owners)
		if err = errors.Join(err, b.Close()); err != nil {
			return err
		}
		for i := range owners {
			want[placing.Of(keys.Name(i)).Slot]++
		}
	}
	st, err := store.At(tr.t.Context(), filepath.Join(tr.dir, tr.state), "")
	if err != nil {
		return err
	}
	defer st.Close()
	for slot, n := range want {
		if err := waitFor(tr.t.Context(), fmt.Sprintf("for %d reports of slot %d", n, slot), func() bool {
			have, err := st.Count(tr.t.Context(), store.ID(id), slot)
			return err == nil && have == n
		}); err != nil {
			return err
		}
		if err := advanceClock(tr.clock, slotTime); err != nil {
			return err
		}
	}
	return nil
}

// announced is a task as its operator has signed it.
func (tr *trial) announced(task string) (*tasks.Announcement, error) {
	path := filepath.Join(tr.dir, "announcement")
	c := tr.command("reader/ben", "task", "show", task, "--server", "https://"+tr.address, "--announcement", path)
	if out, err := c.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, out)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return tasks.Parse(text)
}

func (tr *trial) announce(owners int, args ...string) string {
	tr.t.Helper()
	return tr.run("operator/anna", append([]string{"task", "create", "--server", "https://" + tr.address, "--schema",
		"census.yaml", "--classifier", "stump", "--epsilon", "2",
		"--owners", strconv.Itoa(owners), "--minimum", "20", "--slot", slotTime.String(), "--ends", "12h"}, args...)...)
}

func (tr *trial) ownerArgs(task, book string, owners int) []string {
	return []string{"owner", "--server", "https://" + tr.address, "--task", task, "--data", "census.csv", "--book", book,
		"--max-epsilon", "2", "--lifetime-epsilon", "2", "--owners", strconv.Itoa(owners), "--json"}
}

// TestKillNine kills aggregator and owners with SIGKILL, again and again, in the
// middle of what they do. In the end every report of every owner's book is in
// the model, once.
func TestKillNine(t *testing.T) {
	owners, kills := size.Of(400, 3000), size.Of(3, 8)
	if s := os.Getenv("DISCREET_KILLS"); s != "" {
		kills, _ = strconv.Atoi(s)
	}
	tr := newTrial(t, owners)
	serving := tr.serve()
	defer func() { serving.Process.Kill(); serving.Wait() }()
	task := tr.announce(owners, "--rounds", "1")
	args := tr.ownerArgs(task, "book.db", owners)
	closed := tr.closeWhenFull(task, owners, "book.db")
	owning := tr.start("owner.log", "owner/clinic", args...)
	r := rand.New(rand.NewPCG(9, 9))
	for i := range kills {
		<-time.After(time.Duration(20+r.IntN(300)) * time.Millisecond)
		if i%2 == 0 {
			serving.Process.Kill()
			serving.Wait()
			serving = tr.serve()
		} else {
			owning.Process.Kill()
			owning.Wait()
			owning = tr.start("owner.log", "owner/clinic", args...)
		}
	}
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
	if want := tr.inProcess(task, owners, "book.db"); !bytes.Equal(got, want) {
		t.Error("the model is not that of every owner's report, once")
	}
}

// inProcess is the model that the reports of books make in this process.
func (tr *trial) inProcess(task string, owners int, books ...string) []byte {
	t := tr.t
	t.Helper()
	id, err := operator.ParseTaskID(task)
	if err != nil {
		t.Fatal(err)
	}
	var reports [][]byte
	for _, name := range books {
		b, err := spending.Open(t.Context(), filepath.Join(tr.dir, name), 2*dp.Nano, "")
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		given, err := b.For(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		for i := range owners {
			e, found := given[i]
			if !found {
				t.Fatalf("owner %d has not reported", i)
			}
			reports = append(reports, e.Report)
		}
	}
	announced, err := tr.announced(task)
	if err != nil {
		t.Fatal(err)
	}
	c, err := collect.New(announced.Task)
	if err != nil {
		t.Fatal(err)
	}
	for slot := range announced.Task.Slots() {
		for _, raw := range reports {
			if r, _ := wire.ParseReport(raw); r.Slot == slot {
				err = errors.Join(err, c.Receive(raw))
			}
		}
		if err = errors.Join(err, c.Close()); err != nil {
			t.Fatal(err)
		}
	}
	m, err := c.Model(collect.Statement{})
	if err != nil {
		t.Fatal(err)
	}
	file, err := model.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// loadMemory is what the aggregator and the owners of TestLoad may need together.
const loadMemory = 1 << 30

// confine makes a control group of so much memory, and returns the start of a
// command line that runs the rest of it there; none, and why, where the machine
// has no such groups for us.
func confine(t *testing.T, memory int) (prefix []string, why string) {
	t.Helper()
	for root, limit := range map[string]string{"/sys/fs/cgroup/memory": "memory.limit_in_bytes",
		"/sys/fs/cgroup": "memory.max"} {
		dir := filepath.Join(root, fmt.Sprintf("discreet-load-%d", os.Getpid()))
		if err := os.Mkdir(dir, 0o755); err != nil {
			why = err.Error()
			continue
		}
		t.Cleanup(func() { os.Remove(dir) })
		if err := os.WriteFile(filepath.Join(dir, limit), []byte(strconv.Itoa(memory)), 0o644); err != nil {
			why = err.Error()
			continue
		}
		return []string{"sh", "-c", "echo $$ > " + filepath.Join(dir, "cgroup.procs") + ` && exec "$@"`, "sh"}, ""
	}
	return nil, why
}

// TestLoad is the benchmark of a federation: DISCREET_LOAD owners, each with its
// own key, report over DISCREET_CONNECTIONS connections to an aggregator on the
// same machine, both within a gibibyte. It prints what they cost.
func TestLoad(t *testing.T) {
	owners, _ := strconv.Atoi(os.Getenv("DISCREET_LOAD"))
	if owners < 1 {
		t.Skip("set DISCREET_LOAD to a number of owners (make load)")
	}
	connections := os.Getenv("DISCREET_CONNECTIONS")
	if connections == "" {
		connections = "1000"
	}
	tr := newTrial(t, min(owners, 1000))
	tr.clock = ""
	group, why := confine(t, loadMemory)
	limits := "the kernel holds both to 1 GiB"
	if group == nil {
		limits = "the kernel holds nobody to 1 GiB: " + why
	}
	// The collector is told, so that it runs when memory is short and not by habit.
	tr.prefix = append(group, "env", "GOMEMLIMIT=400MiB")
	if err := os.WriteFile(filepath.Join(tr.dir, "census.csv"), censustest.CSV(1, owners), 0o666); err != nil {
		t.Fatal(err)
	}
	serving := tr.serve()
	task := tr.announce(owners, "--slot", "1h", "--quiet", "5s")
	began := time.Now()
	c := tr.command("owner/clinic", append(tr.ownerArgs(task, "book.db", owners), "--connections", connections)...)
	out, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	tr.run("reader/ben", "task", "show", task, "--server", "https://"+tr.address, "--wait", "--model", "model.json")
	took := time.Since(began)
	var sum owner.Summary
	if err := json.Unmarshal(out, &sum); err != nil {
		t.Fatal(err)
	}
	if sum.Accepted != owners {
		t.Errorf("%+v: want all %d accepted", sum, owners)
	}
	answer, err := http.Get("http://" + tr.page + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	metrics, err := io.ReadAll(answer.Body)
	answer.Body.Close()
	if err != nil {
		t.Fatal(err)
	}
	if m := regexp.MustCompile(`(?m)^discreet_reports_stored_total (\S+)$`).FindSubmatch(metrics); m == nil {
		t.Error("the metrics do not count reports")
	} else if n, _ := strconv.ParseFloat(string(m[1]), 64); int(n) != owners {
		t.Errorf("%s reports stored, want %d", m[1], owners)
	}
	serving.Process.Signal(os.Interrupt)
	serving.Wait()
	most := int64(0)
	usage := func(c *exec.Cmd) string {
		s := c.ProcessState
		kb := s.SysUsage().(*syscall.Rusage).Maxrss
		most += kb << 10
		return fmt.Sprintf("%.1f s of processor, %d MB at most", (s.UserTime() + s.SystemTime()).Seconds(), kb>>10)
	}
	size := func(name string) int64 {
		info, err := os.Stat(filepath.Join(tr.dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return info.Size() >> 20
	}
	t.Logf("%d owners, %s connections: %.1f s in all, the model included (%.0f reports/s)\nuploads: median %d ms, p99 "+
		"%d ms\naggregator: %s, %d MB of state\nowners: %s, %d MB of books\n%s",
		owners, connections, took.Seconds(), float64(owners)/took.Seconds(), sum.UploadMedianMs,
		sum.UploadP99Ms, usage(serving), size("state.db"), usage(c), size("book.db"), limits)
	if most > loadMemory {
		t.Errorf("both needed %d MB at most, want 1024", most>>20)
	}
}
