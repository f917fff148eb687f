// SPDX-License-Identifier: Apache-2.0

// Package admission stands before the calls of a service: it says who calls, whether
// they may, and how much they may ask for, and notes what became of it.
package admission

import (
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"log/slog"
	"math"
	"net/http"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"connectrpc.com/connect"
	"golang.org/x/time/rate"

	"github.com/discreet-dp/discreet/internal/service/identity"
	"github.com/discreet-dp/discreet/internal/service/places"
	"github.com/discreet-dp/discreet/internal/service/problem"
	"github.com/discreet-dp/discreet/internal/sqldb"
)

// What one certificate may ask for. A relay that sends for many sends much in a
// request.
const (
	perSecond = 500
	burst     = 2000
	// Refusals are logged at this rate; the next line says how many were left out.
	linesPerSecond = 5
	lines          = 50
	// manyCallers is when limits that bind no one at the moment are forgotten.
	manyCallers = 10_000
	// Timeout is the longest time that a call may take.
	Timeout = 30 * time.Second
)

// Gate decides which calls a service accepts.
type Gate struct {
	// Self says whose certificates hold.
	Self *identity.Identity
	// May lists who may call what. What is not here no one may.
	May map[string][]identity.Role
	// Names lists, if it is not nil, the callers' names.
	Names []string
	// Body is the most bytes of one request, and Bodies of those of some calls. What
	// is not in Places is short.
	Body   int64
	Bodies map[string]int64
	// Streams are calls of many messages, each of Body bytes at most; together they
	// have no bound of their own.
	Streams []string
	// Places bounds what is read at a time of some calls; the others wait.
	Places map[string]*Places
	// Grace is the longest time that a body may keep its reader waiting before it must come at a
	// rate; 0: ten seconds.
	Grace time.Duration
	// Longest is the longest time that a call may take; 0: Timeout.
	Longest time.Duration
	// Frequent calls are left out of the audit log, as are those without effects;
	// what is refused of them is not.
	Frequent []string
	Metrics  *Metrics
	Log      *slog.Logger
	// Now is the clock of rates and durations; nil: the system's, also where a task's clock is another.
	Now func() time.Time

	limits limits
}

type callerKey struct{}

// Caller is the caller in a context.
func Caller(ctx context.Context) identity.Caller {
	who, _ := ctx.Value(callerKey{}).(identity.Caller)
	return who
}

// Handler lets requests through to calls, which must be made with Options. Before a
// byte of a message is read, it checks the caller's role and bounds what callers
// cost: each caller's requests per second, and the places of calls that have some.
// Those that wait are held back by their connection's window, and those that are
// read must come in time. Whatever is refused, by whom ever, is a problem, counted
// and logged with its caller. It needs connections of identity.Server.
func (g *Gate) Handler(calls http.Handler) http.Handler {
	calls = problem.Handler(calls, g.noteRefusal)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		who, err := g.Self.Peer(r.TLS)
		r = r.WithContext(context.WithValue(r.Context(), callerKey{}, who))
		if errors.Is(err, identity.ErrStale) {
			// The next handshake settles it, with the certificate of then.
			g.Log.Info("a call by a certificate that does not hold any more", "caller", who.String(), "error", err)
			w.Header().Set("Connection", "close")
			g.refuseRequest(w, r, problem.New(problem.Reconnect, "%s", who))
			return
		}
		if err != nil {
			g.refuseRequest(w, r, problem.New(problem.Forbidden, "no certificate"))
			return
		}
		most, all := g.mostBytes(r.URL.Path), g.mostBytes(r.URL.Path)
		if slices.Contains(g.Streams, r.URL.Path) {
			all = math.MaxInt64 / 2
		}
		roles, known := g.May[r.URL.Path]
		switch {
		case !g.limits.allowCall(who, g.now()):
			g.refuseRequest(w, r, problem.New(problem.TooMany, ""))
			return
		case !known:
			g.refuseRequest(w, r, problem.New(problem.UnknownCall, ""))
			return
		case !slices.Contains(roles, who.Role), g.Names != nil && !slices.Contains(g.Names, who.Name):
			g.refuseRequest(w, r, problem.New(problem.Forbidden, "%s", who))
			return
		case r.ContentLength > all:
			g.refuseRequest(w, r, problem.New(problem.TooLarge, ""))
			return
		}
		if of := g.Places[r.URL.Path]; of != nil {
			place, err := of.Take(r.Context(), who, memoryOf(r, most))
			if err != nil {
				if p := placeProblem(err); p != nil {
					g.refuseRequest(w, r, p)
				}
				return
			}
			defer place.Leave()
		}
		if g.Longest > 0 { // the listener's limit is for short calls; where none can be set, it holds
			_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(g.Longest))
		}
		r.Body = places.PaceBody(w, r.Body, all, cmp.Or(g.Grace, places.Grace), cmp.Or(g.Longest, Timeout))
		calls.ServeHTTP(w, r)
	})
}

// mostBytes is the most bytes of a call's request.
func (g *Gate) mostBytes(call string) int64 {
	if n, ok := g.Bodies[call]; ok {
		return n
	}
	return g.Body
}

func (g *Gate) refuseRequest(w http.ResponseWriter, r *http.Request, p *problem.Problem) {
	g.noteRefusal(r, p)
	p.Answer(w, r)
}

// noteRefusal counts and logs a request that is refused before its call is reached.
func (g *Gate) noteRefusal(r *http.Request, p *problem.Problem) {
	call := r.URL.Path
	if g.May[call] == nil { // callers choose paths, not the words of metrics and logs
		call = "other"
	}
	g.Metrics.Refused(call, p.Kind)
	g.auditCall(call, Caller(r.Context()), p)
}

// auditCall logs what became of a call; p is nil if it was not refused. Refusals of
// one caller are logged at a rate.
func (g *Gate) auditCall(call string, who identity.Caller, p *problem.Problem) {
	line := []any{"call", call, "caller", who.String(), "refused", p != nil}
	if p != nil {
		logged, before := g.limits.logLine(who, g.now())
		if !logged {
			return
		}
		line = append(line, "problem", p.Kind.String())
		if before > 0 {
			line = append(line, "refused_since_and_not_logged", before)
		}
	}
	g.Log.Info("audit", line...)
}

// Options are the options of a service's calls: Limits, and what bounds the
// time of a call, writes the audit log and turns errors into problems.
func (g *Gate) Options() connect.HandlerOption {
	return connect.WithHandlerOptions(g.Limits(), connect.WithInterceptors(g.interceptor()))
}

// Limits bound the messages of a service's calls.
func (g *Gate) Limits() connect.HandlerOption {
	return connect.WithHandlerOptions(codecs, connect.WithInterceptors(streams{g}),
		connect.WithConditionalHandlerOptions(func(s connect.Spec) []connect.HandlerOption {
			most := g.mostBytes(s.Procedure)
			return []connect.HandlerOption{
				connect.WithReadMaxBytes(int(most)),
				connect.WithCompression("gzip", func() connect.Decompressor { return &unpacker{most: most} },
					func() connect.Compressor { return gzip.NewWriter(io.Discard) }),
			}
		}))
}

func (g *Gate) now() time.Time {
	if g.Now == nil {
		return time.Now()
	}
	return g.Now()
}

func (g *Gate) interceptor() connect.UnaryInterceptorFunc {
	return func(next connect.UnaryFunc) connect.UnaryFunc {
		return func(ctx context.Context, r connect.AnyRequest) (answer connect.AnyResponse, err error) {
			problem.Reached(ctx)
			who, call, began := Caller(ctx), r.Spec().Procedure, g.now()
			ctx, cancel := context.WithTimeout(ctx, cmp.Or(g.Longest, Timeout))
			defer cancel()
			defer func() {
				if x := recover(); x != nil {
					g.Log.Error("a call failed", "call", call, "caller", who.String(), "fault", x, "stack", string(debug.Stack()))
					answer, err = nil, problem.New(problem.Internal, "")
				}
				var p *problem.Problem
				if err != nil {
					p = problem.Of(err)
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
				g.Metrics.Took(call, g.now().Sub(began))
				if p != nil || r.Spec().IdempotencyLevel != connect.IdempotencyNoSideEffects && !slices.Contains(g.Frequent, call) {
					g.auditCall(call, who, p)
				}
			}()
			return next(ctx, r)
		}
	}
}

// streams are calls whose errors are problems already, but for what Connect refuses by
// itself: that is counted, logged and answered as such.
type streams struct{ g *Gate }

func (streams) WrapUnary(next connect.UnaryFunc) connect.UnaryFunc { return next }

func (streams) WrapStreamingClient(next connect.StreamingClientFunc) connect.StreamingClientFunc {
	return next
}

func (s streams) WrapStreamingHandler(next connect.StreamingHandlerFunc) connect.StreamingHandlerFunc {
	return func(ctx context.Context, c connect.StreamingHandlerConn) error {
		err := next(ctx, c)
		if e := (*connect.Error)(nil); err == nil || errors.As(err, &e) && len(e.Details()) > 0 {
			return err
		}
		p := problem.OfLibrary(err)
		s.g.Metrics.Refused(c.Spec().Procedure, p.Kind)
		s.g.auditCall(c.Spec().Procedure, Caller(ctx), p)
		return p.Connect()
	}
}

// limits are the callers' rates.
type limits struct {
	mu sync.Mutex
	of map[identity.Caller]*limit
}

// limit is one caller's: of calls, and of lines about those that are refused.
type limit struct {
	calls, lines *rate.Limiter
	unlogged     int
}

// limitOf is a caller's limits. l.mu is held.
func (l *limits) limitOf(who identity.Caller, now time.Time) *limit {
	if l.of == nil || len(l.of) > manyCallers {
		kept := map[identity.Caller]*limit{}
		for c, one := range l.of {
			if one.calls.TokensAt(now) < burst || one.lines.TokensAt(now) < lines {
				kept[c] = one
			}
		}
		l.of = kept
	}
	one := l.of[who]
	if one == nil {
		one = &limit{calls: rate.NewLimiter(perSecond, burst), lines: rate.NewLimiter(linesPerSecond, lines)}
		l.of[who] = one
	}
	return one
}

// allowCall reports whether a caller may make another call now.
func (l *limits) allowCall(who identity.Caller, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.limitOf(who, now).calls.AllowN(now, 1)
}

// logLine reports whether a refusal is logged, and how many were not since the last.
func (l *limits) logLine(who identity.Caller, now time.Time) (logged bool, before int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	one := l.limitOf(who, now)
	if !one.lines.AllowN(now, 1) {
		one.unlogged++
		return false, 0
	}
	before, one.unlogged = one.unlogged, 0
	return true, before
}
