// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"connectrpc.com/connect"
	"go.uber.org/goleak"

	"github.com/discreet-dp/discreet/internal/check/testkit/censustest"
	"github.com/discreet-dp/discreet/internal/check/testkit/ledgertest"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/net/federated/collect"
	"github.com/discreet-dp/discreet/internal/net/federated/simulate"
	"github.com/discreet-dp/discreet/internal/net/federated/wire"
	"github.com/discreet-dp/discreet/internal/net/service/identity"
	"github.com/discreet-dp/discreet/internal/net/service/owner"
	"github.com/discreet-dp/discreet/internal/net/service/owner/spending"
	"github.com/discreet-dp/discreet/internal/net/service/problem"
	"github.com/discreet-dp/discreet/internal/net/service/rpc"
	"github.com/discreet-dp/discreet/internal/net/service/tasks"
	"github.com/discreet-dp/discreet/internal/net/testkit/nettest"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/table/census"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// The bounds of a soak: what a replica that lives all along, and this process's
// owners, may need more at the end than after a tenth of the time.
const (
	soakMemory     = 64 << 20 // bytes
	soakGoroutines = 20
	soakLanes      = 3 // tasks at a time
	soakOwners     = 150
)

// TestSoak keeps three replicas of an aggregator busy for DISCREET_SOAK: owners
// come to task after task, in processes of their own and in this one, over a
// network that is slow and cuts connections; two of the replicas, and the owners'
// processes, are killed with SIGKILL again and again. Every task's model is that
// of every owner's report, once; no memory grows and no goroutine stays.
func TestSoak(t *testing.T) {
	lasts, err := time.ParseDuration(os.Getenv("DISCREET_SOAK"))
	if err != nil {
		t.Skip("set DISCREET_SOAK to a duration (make soak)")
	}
	s := &soak{trial: newTrial(t, soakOwners), ends: time.Now().Add(lasts), rand: rand.New(rand.NewPCG(6, 5))}
	s.clock = ""
	server, why, err := ledgertest.Postgres()
	if err != nil {
		t.Fatal(err)
	}
	if server != nil {
		defer server.Stop()
		s.state = server.Database(t)
	} else {
		t.Log(why + ": the replicas share a file")
	}
	idle := goleak.IgnoreCurrent()
	for range 3 {
		s.replicas = append(s.replicas, s.replica())
	}
	if s.net, err = nettest.New(s.somebody, 6,
		nettest.Faults{Slice: 8000, Late: 3 * time.Millisecond, Cut: 0.3, Pieces: 60}); err != nil {
		t.Fatal(err)
	}
	chaos, stop := context.WithCancel(t.Context())
	var killer, lanes sync.WaitGroup
	killer.Go(func() { s.chaos(chaos) })
	for lane := range soakLanes {
		lanes.Go(func() { s.lane(lane) })
	}
	s.watch(&lanes)
	stop()
	killer.Wait()
	if err := s.net.Close(); err != nil {
		t.Error(err)
	}
	for _, r := range s.replicas {
		r.kill()
	}
	if err := goleak.Find(idle); err != nil {
		t.Error(err)
	}
	t.Logf("%s on %s: %d tasks of %d owners, %d reports; %d replicas and %d owners killed, %d connections cut",
		lasts, strings.SplitN(s.state, ":", 2)[0], s.tasks, 2*soakOwners, s.reports, s.kills, s.ownersKilled, s.net.Cuts())
}

// soak is a trial that goes on.
type soak struct {
	*trial
	ends     time.Time
	net      *nettest.Network
	replicas []*replica // the last is never killed

	mu                                  sync.Mutex
	rand                                *rand.Rand
	tasks, reports, kills, ownersKilled int
}

func (s *soak) draw(n int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rand.IntN(n)
}

// someone is a replica that a connection goes to.
func (s *soak) somebody() string { return s.replicas[s.draw(len(s.replicas))].address }

// replica is one process of the aggregator.
type replica struct {
	s             *soak
	address, page string
	process       *exec.Cmd
}

func (s *soak) replica() *replica {
	r := &replica{s: s, address: freeAddress(s.t), page: freeAddress(s.t)}
	r.start()
	return r
}

func (r *replica) start() {
	r.process = r.s.start("aggregator.log", "aggregator/main", "aggregator", "--listen", r.address, "--page", r.page,
		"--state", r.s.state, "--max-epsilon", "2")
}

func (r *replica) kill() {
	r.process.Process.Kill()
	r.process.Wait()
}

// chaos kills one of the replicas but the last, every few seconds.
func (s *soak) chaos(ctx context.Context) {
	for {
		select {
		case <-time.After(time.Duration(1000+s.draw(6000)) * time.Millisecond):
		case <-ctx.Done():
			return
		}
		r := s.replicas[s.draw(len(s.replicas)-1)]
		r.kill()
		r.start()
		s.kills++
	}
}

var gauge = regexp.MustCompile(`(?m)^(go_goroutines|process_resident_memory_bytes) (\S+)$`)

// witness is what the replica that lives all along needs.
func (s *soak) witness() (goroutines, memory float64, err error) {
	answer, err := http.Get("http://" + s.replicas[len(s.replicas)-1].page + "/metrics")
	if err != nil {
		return 0, 0, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	for _, m := range gauge.FindAllSubmatch(text, -1) {
		v, _ := strconv.ParseFloat(string(m[2]), 64)
		if string(m[1]) == "go_goroutines" {
			goroutines = v
		} else {
			memory = v
		}
	}
	if err == nil && (goroutines == 0 || memory == 0) {
		err = errors.New("the metrics lack goroutines or memory")
	}
	return goroutines, memory, err
}

// watch notes what the witness and this process need until the lanes end, and
// judges it.
func (s *soak) watch(lanes *sync.WaitGroup) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		lanes.Wait()
	}()
	began := time.Now()
	warm := began.Add(time.Until(s.ends) / 10)
	type need struct{ goroutines, memory, own float64 }
	var early, late need // the most of each
	samples := 0
	look := func() need {
		g, m, err := s.witness()
		if err != nil {
			s.t.Error(err)
		}
		runtime.GC()
		var mem runtime.MemStats
		runtime.ReadMemStats(&mem)
		return need{g, m, float64(mem.HeapInuse)}
	}
	for over := false; !over; {
		select {
		case <-done:
			over = true
		case <-time.After(10 * time.Second):
			n := look()
			most := &late
			if samples == 0 || time.Now().Before(warm) {
				most = &early
			}
			*most = need{max(most.goroutines, n.goroutines), max(most.memory, n.memory), max(most.own, n.own)}
			if samples++; samples%30 == 0 {
				s.t.Logf("%s: witness %.0f goroutines, %.0f MB; this process %.0f MB", time.Since(began).Round(time.Second),
					n.goroutines, n.memory/(1<<20), n.own/(1<<20))
			}
		}
	}
	s.net.Drop()
	last := look()
	for range 100 { // connections end
		if last.goroutines <= soakGoroutines {
			break
		}
		<-time.After(100 * time.Millisecond)
		last = look()
	}
	if last.goroutines > soakGoroutines {
		s.t.Errorf("the witness keeps %.0f goroutines when nobody asks, want at most %d", last.goroutines, soakGoroutines)
	}
	if late.memory > early.memory+soakMemory || late.own > early.own+soakMemory {
		s.t.Errorf("memory grew: witness from %.0f to %.0f MB, this process from %.0f to %.0f, want at most %d more",
			early.memory/(1<<20), late.memory/(1<<20), early.own/(1<<20), late.own/(1<<20), soakMemory>>20)
	}
	s.t.Logf("witness: %.0f MB at most in the first tenth, %.0f later; this process %.1f and %.1f MB; goroutines of "+
		"the witness %.0f at most, %.0f when nobody asks",
		early.memory/(1<<20), late.memory/(1<<20), early.own/(1<<20), late.own/(1<<20), max(early.goroutines,
			late.goroutines), last.goroutines)
}

// lane plays task after task.
func (s *soak) lane(lane int) {
	dir, own := filepath.Join(s.dir, "certs"), fmt.Sprintf("own%d.db", lane)
	load := func(role identity.Role, name string) *identity.Identity {
		id, err := identity.Load(dir, identity.Caller{Role: role, Name: name})
		if err != nil {
			s.t.Error(err)
		}
		return id
	}
	operator, relay := load(identity.Operator, "anna"), load(identity.Owner, "clinic")
	b, err := spending.Open(s.t.Context(), filepath.Join(s.dir, own), dp.MaxEpsilon, "")
	if err != nil {
		s.t.Error(err)
		return
	}
	defer b.Close()
	transport := &http.Transport{TLSClientConfig: operator.Client(identity.Aggregator), ForceAttemptHTTP2: true}
	defer transport.CloseIdleConnections()
	client := rpc.NewAggregatorClient(&http.Client{Transport: transport, Timeout: 30 * time.Second},
		"https://"+s.net.Address())
	for n := 0; time.Now().Before(s.ends) && !s.t.Failed(); n++ {
		if err := s.play(client, operator, relay, b, fmt.Sprintf("away%d-%d.db", lane, n)); err != nil {
			s.t.Errorf("lane %d, task %d: %v", lane, n, err)
		}
	}
}

// insist makes a call until it is answered.
func insist[T any](ctx context.Context, call func(context.Context) (*connect.Response[T], error)) (*T, error) {
	for {
		r, err := call(ctx)
		if err == nil {
			return r.Msg, nil
		}
		if !problem.Passing(err) {
			return nil, err
		}
		select {
		case <-time.After(200 * time.Millisecond):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// play lets one task have its owners, half of them in a process that is killed on
// the way, and holds the model against their books.
func (s *soak) play(client rpc.AggregatorClient, operator, relay *identity.Identity, b *spending.Book,
	away string) error {
	ctx := s.t.Context()
	task, err := collect.Plan(collect.Params{Schema: census.Schema(), Classifier: wire.Stump, Epsilon: dp.Nano,
		Owners: 2 * soakOwners, Rounds: 1, Nonce: simulate.Nonce(rng.System())})
	if err != nil {
		return err
	}
	ann := &tasks.Announcement{Task: task, Minimum: 5, Slot: 5 * time.Minute, Quiet: 12 * time.Second,
		Ends: time.Now().Add(20 * time.Minute).Truncate(time.Second)}
	signed, err := ann.Sign(operator)
	if err != nil {
		return err
	}
	created, err := insist(ctx, func(ctx context.Context) (*connect.Response[rpc.CreateTaskResponse], error) {
		return client.CreateTask(ctx,
			connect.NewRequest(&rpc.CreateTaskRequest{Task: &rpc.SignedTask{Announcement: signed.Text,
				Certificate: signed.Signature.Certificate, Signature: signed.Signature.Value}}))
	})
	if err != nil {
		return err
	}
	id := wire.Digest(created.GetTaskId())
	var wg sync.WaitGroup
	var mine, theirs error
	var sum *owner.Summary
	wg.Go(func() {
		sum, mine = owner.Params{
			Self: relay, Server: "https://" + s.net.Address(), Book: b, Owners: soakOwners, Connections: 2, Cap: dp.Nano,
			Log:  slog.New(slog.DiscardHandler),
			Read: func(*schema.Schema) (*dataset.Table, error) { return censustest.Table(1, soakOwners), nil },
		}.Run(ctx, id)
	})
	wg.Go(func() { theirs = s.awayFor(id, away) })
	wg.Wait()
	if err := errors.Join(mine, theirs); err != nil {
		return err
	}
	if sum.Accepted != soakOwners {
		return fmt.Errorf("%+v: want all accepted", *sum)
	}
	file, err := insist(ctx, func(ctx context.Context) (*connect.Response[rpc.GetModelResponse], error) {
		r, err := client.GetModel(ctx, connect.NewRequest(&rpc.GetModelRequest{TaskId: id[:]}))
		if err == nil && len(r.Msg.GetModel()) == 0 {
			err = problem.New(problem.Early, "")
		}
		return r, err
	})
	if err != nil {
		return err
	}
	if err := s.hold(ctx, id, task, file.GetModel(), b, away); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tasks++
	s.reports += 2 * soakOwners
	return nil
}

// awayFor lets owners in a process of their own answer a task; the process is
// killed up to three times.
func (s *soak) awayFor(id wire.Digest, away string) error {
	tr := *s.trial
	tr.address = s.net.Address()
	args := tr.ownerArgs(id.String(), away, soakOwners)
	for kills := s.draw(4); ; kills-- {
		c := tr.command("owner/clinic", args...)
		var said bytes.Buffer
		c.Stderr = &said
		if err := c.Start(); err != nil {
			return err
		}
		var dead *time.Timer
		if kills > 0 {
			dead = time.AfterFunc(time.Duration(100+s.draw(4000))*time.Millisecond, func() { c.Process.Kill() })
		}
		err := c.Wait()
		if dead == nil || dead.Stop() {
			if err != nil {
				return fmt.Errorf("%w\n%s", err, said.Bytes())
			}
			return nil
		}
		s.mu.Lock()
		s.ownersKilled++
		s.mu.Unlock()
	}
}

// hold compares a model with that of all reports in the books.
func (s *soak) hold(ctx context.Context, id wire.Digest, task *wire.Task, file []byte, b *spending.Book,
	away string) error {
	path := filepath.Join(s.dir, away)
	theirs, err := spending.Open(ctx, path, 2*dp.Nano, "")
	if err != nil {
		return err
	}
	defer func() {
		theirs.Close()
		for _, suffix := range []string{"", "-wal", "-shm"} {
			os.Remove(path + suffix)
		}
	}()
	slots := map[int][][]byte{}
	for _, of := range []*spending.Book{b, theirs} {
		given, err := of.For(ctx, id)
		if err != nil {
			return err
		}
		for i := range soakOwners {
			e, found := given[i]
			if !found {
				return fmt.Errorf("owner %d has not reported", i)
			}
			r, err := wire.ParseReport(e.Report)
			if err != nil {
				return err
			}
			slots[r.Slot] = append(slots[r.Slot], e.Report)
		}
	}
	c, err := collect.New(task)
	if err != nil {
		return err
	}
	for _, slot := range slices.Sorted(maps.Keys(slots)) {
		for _, r := range slots[slot] {
			err = errors.Join(err, c.Receive(r))
		}
		if err = errors.Join(err, c.Close()); err != nil {
			return err
		}
	}
	m, err := c.Model(collect.Statement{})
	if err != nil {
		return err
	}
	want, err := model.Marshal(m)
	if err == nil && !bytes.Equal(file, want) {
		err = errors.New("the model is not that of every owner's report, once")
	}
	return err
}
