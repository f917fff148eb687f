// SPDX-License-Identifier: Apache-2.0

package aggregator

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"connectrpc.com/connect"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/service/announce"
	"github.com/discreet-dp/discreet/service/identity"
	"github.com/discreet-dp/discreet/service/problem"
	"github.com/discreet-dp/discreet/service/rpc"
	"github.com/discreet-dp/discreet/service/store"
)

// Params are what an operator of the service decides.
type Params struct {
	Self  *identity.Identity // an aggregator's
	Store *store.Store
	// MaxEpsilon is the largest ε of a task that is taken; there is no default.
	MaxEpsilon dp.Epsilon
	Log        *slog.Logger
	// Now is the clock; nil: the system's.
	Now func() time.Time
}

// The limits of the service. What exceeds them is refused, never queued without
// end.
const (
	maxUpload   = 4 << 20 // bytes of one request
	maxReports  = 10_000  // of one request
	maxInFlight = 128     // uploads at a time
	maxWaiting  = 60_000  // reports that wait for the disk
	callTimeout = 30 * time.Second
	tick        = 100 * time.Millisecond
	// What other processes on the same store have done is looked up more rarely:
	// it costs as much as there is.
	ticksToDiscover = 10
	recount         = time.Second
)

// Server is a running aggregator.
type Server struct {
	Params
	writer  *writer
	uploads chan struct{} // one token per upload at a time
	metrics *metrics

	mu    sync.RWMutex
	tasks map[store.ID]*live
}

// New makes a server and reads its tasks from the store. Run moves them.
func New(ctx context.Context, p Params) (*Server, error) {
	switch {
	case p.Self == nil || p.Self.Role != identity.Aggregator:
		return nil, &dp.ParamError{Op: "aggregator", Param: "certificate", Want: "must be an aggregator's"}
	case p.MaxEpsilon < 1 || p.MaxEpsilon > dp.MaxEpsilon:
		return nil, &dp.ParamError{Op: "aggregator", Param: "max epsilon", Want: "must be > 0 and at most " + dp.MaxEpsilon.String(), Got: p.MaxEpsilon}
	}
	if p.Now == nil {
		p.Now = time.Now
	}
	s := &Server{Params: p, uploads: make(chan struct{}, maxInFlight), tasks: map[store.ID]*live{}, metrics: newMetrics()}
	s.writer = newWriter(p.Store, s.metrics)
	return s, s.discover(ctx)
}

// Run moves tasks and stores reports until ctx ends. Uploads are answered only
// while it runs.
func (s *Server) Run(ctx context.Context) error {
	var wg sync.WaitGroup
	wg.Go(func() { s.writer.run(ctx) })
	wg.Go(func() { s.keepTime(ctx) })
	wg.Wait()
	return nil
}

// Handler answers calls. It needs connections of identity.Server.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle(rpc.NewAggregatorHandler(s, connect.WithReadMaxBytes(maxUpload), connect.WithInterceptors(s.guard())))
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		problem.New(problem.UnknownTask, "no such path").Write(w)
	})
	return s.name(s.admit(mux))
}

// may lists who may call what. What is not here nobody may.
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

type callerKey struct{}

// name puts the caller into the request's context.
func (s *Server) name(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		who, err := identity.Of(r.TLS)
		if err != nil {
			problem.New(problem.Forbidden, "no certificate").Write(w)
			return
		}
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), callerKey{}, who)))
	})
}

// guard checks the caller's role, bounds the time of a call, writes the audit log
// and turns errors into problems.
func (s *Server) guard() connect.UnaryInterceptorFunc {
	return func(next connect.UnaryFunc) connect.UnaryFunc {
		return func(ctx context.Context, r connect.AnyRequest) (answer connect.AnyResponse, err error) {
			who, _ := ctx.Value(callerKey{}).(identity.Caller)
			began := s.Now()
			call := r.Spec().Procedure
			ctx, cancel := context.WithTimeout(ctx, callTimeout)
			defer cancel()
			defer func() {
				if x := recover(); x != nil {
					s.Log.Error("a call failed", "call", call, "caller", who.String(), "fault", x, "stack", string(debug.Stack()))
					answer, err = nil, problem.New(problem.Internal, "")
				}
				if err != nil {
					p := problem.Of(err)
					if p.Kind == problem.Internal {
						s.Log.Error("a call failed", "call", call, "caller", who.String(), "error", err)
					}
					if errors.Is(err, store.ErrFailed) {
						p = problem.New(problem.Storage, "")
					}
					s.metrics.refused(call, p.Kind)
					err = p.Connect()
				}
				s.metrics.call(call, s.Now().Sub(began))
				if call != rpc.AggregatorUploadProcedure && r.Spec().IdempotencyLevel != connect.IdempotencyNoSideEffects {
					s.Log.Info("audit", "call", call, "caller", who.String(), "refused", err != nil)
				}
			}()
			if !slices.Contains(may[call], who.Role) {
				return nil, problem.New(problem.Forbidden, "%s", who)
			}
			return next(ctx, r)
		}
	}
}

// find returns a task, asking the store where it is not in memory.
func (s *Server) find(ctx context.Context, id []byte) (*live, error) {
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
	return s.add(ctx, t)
}

// add takes a stored task into memory.
func (s *Server) add(ctx context.Context, t store.Task) (*live, error) {
	l, err := enliven(t)
	if err == nil {
		err = l.admit(ctx, s.Store, s.all())
	}
	if err == nil {
		err = l.refresh(ctx, s.Store)
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

// discover takes the tasks of the store into memory that are not there.
func (s *Server) discover(ctx context.Context) error {
	ids, err := s.Store.Tasks(ctx)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if _, err := s.find(ctx, id[:]); err != nil {
			return err
		}
	}
	return nil
}

// all lists the tasks in memory.
func (s *Server) all() (out []*live) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, l := range s.tasks {
		out = append(out, l)
	}
	slices.SortFunc(out, func(a, b *live) int { return slices.Compare(a.id[:], b.id[:]) })
	return out
}

// open opens a signed task as the service accepts it.
func (s *Server) open(signed announce.Signed) (*announce.Announcement, error) {
	ann, err := signed.Open(s.Self, s.Now())
	if err != nil {
		return nil, problem.New(problem.UnsafeTask, "%v", err)
	}
	if ann.Task.Epsilon > s.MaxEpsilon {
		return nil, problem.New(problem.UnsafeTask, "epsilon %s is more than this service takes, %s", ann.Task.Epsilon, s.MaxEpsilon)
	}
	return ann, nil
}
