// SPDX-License-Identifier: Apache-2.0

package aggregator

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/net/service/admission"
	"github.com/discreet-dp/discreet/internal/net/service/aggregator/store"
	"github.com/discreet-dp/discreet/internal/net/service/identity"
	"github.com/discreet-dp/discreet/internal/net/service/problem"
	"github.com/discreet-dp/discreet/internal/net/service/rpc"
	"github.com/discreet-dp/discreet/internal/net/service/tasks"
)

// DefaultOwnersEach suffices for the patients of a clinic.
const DefaultOwnersEach = 10_000

// Params are the options of the service's operator.
type Params struct {
	Self  *identity.Identity // certificate of an aggregator
	Store *store.Store
	// MaxEpsilon is the largest ε of an accepted task; it has no default.
	MaxEpsilon dp.Epsilon
	// OwnersEach is the number of owners that one certificate may bring to a task without a list of
	// owners; 0: DefaultOwnersEach. Relays holds other numbers, by the certificate's name.
	OwnersEach int
	Relays     map[string]int
	Log        *slog.Logger
	// Now is the clock; nil: the system's.
	Now func() time.Time
}

// The limits of the service. Requests beyond them are refused, never queued without bound.
const (
	maxUpload   = 4 << 20  // bytes of a request with reports
	maxTask     = 80 << 20 // bytes of a request that creates a task, with its list of owners
	maxBody     = 64 << 10 // bytes of any other request
	maxReports  = 10_000   // per request
	maxInFlight = 128      // simultaneous uploads
	maxWaiting  = 60_000   // reports waiting to be stored
	tick        = 100 * time.Millisecond
	// Changes by other processes on the same store are looked up less often, because the cost grows
	// with the number of tasks.
	ticksToDiscover = 10
	recount         = time.Second
)

// Server is a running aggregator.
type Server struct {
	Params
	writer  *writer
	gate    *admission.Gate
	places  *admission.Places // for uploads
	clock   *clock
	metrics *metrics

	mu    sync.RWMutex
	tasks map[store.ID]*live
}

// New makes a server and reads its tasks from the store. Run advances them.
func New(ctx context.Context, p Params) (*Server, error) {
	if err := p.Self.CheckRole("aggregator", identity.Aggregator); err != nil {
		return nil, err
	}
	switch {
	case p.MaxEpsilon < 1 || p.MaxEpsilon > dp.MaxEpsilon:
		return nil, dp.Refuse("aggregator", "max epsilon", "must be > 0 and at most "+dp.MaxEpsilon.String(),
			p.MaxEpsilon)
	}
	if p.OwnersEach == 0 {
		p.OwnersEach = DefaultOwnersEach
	}
	each := []int{p.OwnersEach}
	for _, n := range p.Relays {
		each = append(each, n)
	}
	if n := slices.Min(each); n < 1 {
		return nil, dp.Refuse("aggregator", "owners of a certificate", "must be at least 1", n)
	}
	if p.Now == nil {
		p.Now = time.Now
	}
	s := &Server{Params: p, places: admission.NewPlaces(maxInFlight, admission.Memory), tasks: map[store.ID]*live{}}
	s.metrics = newMetrics(s)
	s.gate = &admission.Gate{
		Self: p.Self, May: may, Body: maxBody, Bodies: map[string]int64{rpc.AggregatorUploadProcedure: maxUpload,
			rpc.AggregatorCreateTaskProcedure: maxTask},
		Places: map[string]*admission.Places{rpc.AggregatorUploadProcedure: s.places,
			rpc.AggregatorCreateTaskProcedure: admission.NewPlaces(1, 0)},
		Frequent: []string{rpc.AggregatorUploadProcedure}, Metrics: s.metrics.Metrics, Log: p.Log,
	}
	s.clock = newClock(time.Now, s.places.WasFull, p.Store.Probe)
	s.writer = newWriter(p.Store, s.metrics, s.clock)
	if err := s.discoverTasks(ctx); err != nil {
		return nil, err
	}
	if len(s.tasks) > 0 {
		s.clock.noteMissing()
	}
	return s, nil
}

// Run advances tasks and stores reports until ctx ends. Uploads are answered only while it runs.
func (s *Server) Run(ctx context.Context) error {
	var wg sync.WaitGroup
	wg.Go(func() { s.writer.runWriter(ctx) })
	wg.Go(func() { s.keepTime(ctx) })
	wg.Wait()
	return nil
}

// Handler answers calls. It requires connections of identity.Server.
func (s *Server) Handler() http.Handler {
	_, calls := rpc.NewAggregatorHandler(s, s.gate.Options())
	return s.gate.Handler(calls)
}

// may lists the roles that may make each call. Other calls are forbidden.
var may = map[string][]identity.Role{
	rpc.AggregatorGetTaskProcedure:    {identity.Owner, identity.Reader, identity.Operator, identity.Helper},
	rpc.AggregatorGetRosterProcedure:  {identity.Owner, identity.Reader, identity.Operator, identity.Helper},
	rpc.AggregatorListTasksProcedure:  {identity.Owner, identity.Reader, identity.Operator, identity.Helper},
	rpc.AggregatorGetRoundProcedure:   {identity.Owner, identity.Reader, identity.Operator, identity.Helper},
	rpc.AggregatorGetModelProcedure:   {identity.Owner, identity.Reader, identity.Operator},
	rpc.AggregatorUploadProcedure:     {identity.Owner},
	rpc.AggregatorCreateTaskProcedure: {identity.Operator},
	rpc.AggregatorCloseTaskProcedure:  {identity.Operator},
}

// findTask returns a task, from memory or else from the store.
func (s *Server) findTask(ctx context.Context, id []byte) (*live, error) {
	if len(id) != len(store.ID{}) {
		return nil, problem.New(problem.Malformed, "a task's name has %d bytes, got %d", len(store.ID{}), len(id))
	}
	key := store.ID(id)
	s.mu.RLock()
	l := s.tasks[key]
	s.mu.RUnlock()
	if l != nil {
		return l, nil
	}
	t, _, err := s.Store.Task(ctx, key)
	if errors.Is(err, store.ErrUnknown) {
		return nil, problem.New(problem.UnknownTask, "%x", id)
	}
	if err != nil {
		return nil, err
	}
	return s.addTask(ctx, t)
}

// addTask adds a stored task to the tasks in memory.
func (s *Server) addTask(ctx context.Context, t store.Task) (*live, error) {
	l, err := loadTask(t)
	if err == nil {
		err = l.readRoster(ctx, s.Store, s.allTasks())
	}
	if err == nil {
		err = l.refreshState(ctx, s.Store)
	}
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if before := s.tasks[t.ID]; before != nil {
		return before, nil
	}
	s.tasks[t.ID] = l
	return l, nil
}

// discoverTasks adds tasks of the store that are not in memory.
func (s *Server) discoverTasks(ctx context.Context) error {
	ids, err := s.Store.Tasks(ctx)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if _, err := s.findTask(ctx, id[:]); err != nil {
			return err
		}
	}
	return nil
}

// allTasks lists the tasks in memory.
func (s *Server) allTasks() (out []*live) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, l := range s.tasks {
		out = append(out, l)
	}
	slices.SortFunc(out, func(a, b *live) int { return slices.Compare(a.id[:], b.id[:]) })
	return out
}

// openTask verifies a signed task by the rules of the service.
func (s *Server) openTask(signed tasks.Signed) (*tasks.Announcement, error) {
	ann, err := signed.Open(s.Self, s.Now())
	if err != nil {
		return nil, problem.New(problem.UnsafeTask, "%v", err)
	}
	if ann.Task.Epsilon > s.MaxEpsilon {
		return nil, problem.New(problem.UnsafeTask, "epsilon %s is more than this service takes, %s", ann.Task.Epsilon,
			s.MaxEpsilon)
	}
	return ann, nil
}
