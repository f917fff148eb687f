// SPDX-License-Identifier: Apache-2.0

// Package admission stands before the calls of a service: it says who calls, whether
// they may, and how much they may ask for, and notes what became of it.
package admission

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
	"golang.org/x/time/rate"

	"github.com/discreet-dp/discreet/internal/service/identity"
	"github.com/discreet-dp/discreet/internal/service/problem"
	"github.com/discreet-dp/discreet/internal/sqldb"
)

// What one certificate may ask for. A relay that sends for many sends much in a
// request.
const (
	perSecond = 500
	burst     = 2000
	// manyCallers is when limits that bind nobody at the moment are forgotten.
	manyCallers = 10_000
	// queueTime is how long a call waits for its turn before it is refused.
	queueTime = 10 * time.Second
	// Timeout is how long a call may take.
	Timeout = 30 * time.Second
)

// Gate is what a service lets in.
type Gate struct {
	// Self says whose certificates hold.
	Self *identity.Identity
	// May lists who may call what. What is not here nobody may.
	May map[string][]identity.Role
	// Body is the most bytes of one request, and Bodies of those of some calls.
	Body   int64
	Bodies map[string]int64
	// Turns bounds how many of some calls are read at a time; the others wait.
	Turns map[string]Turns
	// Frequent calls are left out of the audit log, as are those without effects.
	Frequent []string
	Metrics  *Metrics
	Log      *slog.Logger
	Now      func() time.Time
}

// Turns is one token per call at a time.
type Turns chan struct{}

type callerKey struct{}

// Caller is who makes the call of a context.
func Caller(ctx context.Context) identity.Caller {
	who, _ := ctx.Value(callerKey{}).(identity.Caller)
	return who
}

// Handler lets requests through to calls, which must be made with Options. Before a
// byte of a message is read, it checks the caller's role and bounds what callers
// cost: each caller's requests per second, and calls that take turns. Those that
// wait are held back by their connection's window. Whatever is refused, by whom
// ever, is a problem. It needs connections of identity.Server.
func (g *Gate) Handler(calls http.Handler) http.Handler {
	calls = problem.Handler(calls, nil)
	var limits limits
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		who, err := g.Self.Peer(r.TLS)
		if errors.Is(err, identity.ErrStale) {
			// The next handshake settles it, with the certificate of then.
			g.Log.Info("audit", "call", r.URL.Path, "caller", who.String(), "refused", true, "error", err)
			w.Header().Set("Connection", "close")
			g.refuse(w, r, problem.New(problem.Reconnect, "%s", who))
			return
		}
		if err != nil {
			problem.New(problem.Forbidden, "no certificate").Write(w)
			return
		}
		if !limits.allow(who, g.Now()) {
			g.refuse(w, r, problem.New(problem.TooMany, ""))
			return
		}
		roles, known := g.May[r.URL.Path]
		if !known {
			g.refuse(w, r, problem.New(problem.UnknownCall, ""))
			return
		}
		if !slices.Contains(roles, who.Role) {
			g.Log.Info("audit", "call", r.URL.Path, "caller", who.String(), "refused", true)
			g.refuse(w, r, problem.New(problem.Forbidden, "%s", who))
			return
		}
		if r.ContentLength > g.most(r.URL.Path) {
			g.refuse(w, r, problem.New(problem.TooLarge, ""))
			return
		}
		if turns := g.Turns[r.URL.Path]; turns != nil {
			wait := time.NewTimer(queueTime)
			defer wait.Stop()
			select {
			case turns <- struct{}{}:
				defer func() { <-turns }()
			case <-wait.C:
				g.refuse(w, r, problem.New(problem.Overloaded, ""))
				return
			case <-r.Context().Done():
				return
			}
		}
		// Who has its turn and sends nothing loses it.
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(Timeout)) // where there is none, the listener's holds
		calls.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), callerKey{}, who)))
	})
}

// most is the most bytes of a call's request.
func (g *Gate) most(call string) int64 {
	if n, ok := g.Bodies[call]; ok {
		return n
	}
	return g.Body
}

func (g *Gate) refuse(w http.ResponseWriter, r *http.Request, p *problem.Problem) {
	call := r.URL.Path
	if g.May[call] == nil { // callers choose paths, not the names of metrics
		call = "other"
	}
	g.Metrics.Refused(call, p.Kind)
	p.Answer(w, r)
}

// Options are what the calls of a service are made with: they bound messages and
// the time of a call, write the audit log and turn errors into problems.
func (g *Gate) Options() connect.HandlerOption {
	return connect.WithHandlerOptions(
		connect.WithInterceptors(g.interceptor()),
		connect.WithConditionalHandlerOptions(func(s connect.Spec) []connect.HandlerOption {
			return []connect.HandlerOption{connect.WithReadMaxBytes(int(g.most(s.Procedure)))}
		}))
}

func (g *Gate) interceptor() connect.UnaryInterceptorFunc {
	return func(next connect.UnaryFunc) connect.UnaryFunc {
		return func(ctx context.Context, r connect.AnyRequest) (answer connect.AnyResponse, err error) {
			problem.Reached(ctx)
			who, call, began := Caller(ctx), r.Spec().Procedure, g.Now()
			ctx, cancel := context.WithTimeout(ctx, Timeout)
			defer cancel()
			defer func() {
				if x := recover(); x != nil {
					g.Log.Error("a call failed", "call", call, "caller", who.String(), "fault", x, "stack", string(debug.Stack()))
					answer, err = nil, problem.New(problem.Internal, "")
				}
				if err != nil {
					p := problem.Of(err)
					switch {
					case p.Kind == problem.Internal && ctx.Err() != nil:
						p = problem.New(problem.Timeout, "")
					case p.Kind == problem.Internal && connect.CodeOf(err) == connect.CodeUnimplemented:
						p = problem.New(problem.UnknownCall, "")
					case p.Kind == problem.Internal:
						g.Log.Error("a call failed", "call", call, "caller", who.String(), "error", err)
						if errors.Is(err, sqldb.ErrFailed) {
							p = problem.New(problem.Storage, "")
						}
					}
					g.Metrics.Refused(call, p.Kind)
					problem.Status(ctx, p)
					err = p.Connect()
				}
				g.Metrics.Took(call, g.Now().Sub(began))
				if r.Spec().IdempotencyLevel != connect.IdempotencyNoSideEffects && !slices.Contains(g.Frequent, call) {
					g.Log.Info("audit", "call", call, "caller", who.String(), "refused", err != nil)
				}
			}()
			return next(ctx, r)
		}
	}
}

// limits are the callers' rates.
type limits struct {
	mu sync.Mutex
	of map[identity.Caller]*rate.Limiter
}

func (l *limits) allow(who identity.Caller, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.of == nil || len(l.of) > manyCallers {
		kept := map[identity.Caller]*rate.Limiter{}
		for c, limiter := range l.of {
			if limiter.TokensAt(now) < burst {
				kept[c] = limiter
			}
		}
		l.of = kept
	}
	limiter := l.of[who]
	if limiter == nil {
		limiter = rate.NewLimiter(perSecond, burst)
		l.of[who] = limiter
	}
	return limiter.AllowN(now, 1)
}
