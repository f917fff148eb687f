// SPDX-License-Identifier: Apache-2.0

// Package admission handles a request before the calls of a service: it identifies the caller, checks
// its permission and rate limits, and logs the result.
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

	"github.com/discreet-dp/discreet/internal/ground/places"
	"github.com/discreet-dp/discreet/internal/ground/sqldb"
	"github.com/discreet-dp/discreet/internal/net/service/identity"
	"github.com/discreet-dp/discreet/internal/net/service/problem"
)

// Rate limits of one certificate. A relay that sends for many owners puts many reports into one
// request.
const (
	perSecond = 500
	burst     = 2000
	// Refusals are logged at this rate; the next line gives the number of omitted ones.
	linesPerSecond = 5
	lines          = 50
	// manyCallers is the number of callers from which on limits that are not in use are forgotten.
	manyCallers = 10_000
	// Timeout is the longest time that a call may take.
	Timeout = 30 * time.Second
)

// Gate decides which calls a service accepts.
type Gate struct {
	// Self determines which certificates are valid.
	Self *identity.Identity
	// May lists the roles that may make each call. Other calls are forbidden.
	May map[string][]identity.Role
	// Names lists the permitted callers' names, if it is not nil.
	Names []string
	// Body is the largest size of a request in bytes, and Bodies holds the sizes for some calls. Calls
	// that are not in Places must be short.
	Body   int64
	Bodies map[string]int64
	// Streams are calls of many messages, each of at most Body bytes, with no bound on their total.
	Streams []string
	// Places bounds how many requests of some calls are read at a time; the others wait.
	Places map[string]*Places
	// Grace is how long a body may keep its reader waiting before a minimum rate is required; 0: ten
	// seconds.
	Grace time.Duration
	// Longest is the longest duration of a call; 0: Timeout.
	Longest time.Duration
	// Frequent calls are left out of the audit log, like calls without effects, unless they are
	// refused.
	Frequent []string
	Metrics  *Metrics
	Log      *slog.Logger
	// Now is the clock for rates and durations; nil: the system's, even if tasks use another clock.
	Now func() time.Time

	limits limits
}

type callerKey struct{}

// Caller returns the caller in a context.
func Caller(ctx context.Context) identity.Caller {
	who, _ := ctx.Value(callerKey{}).(identity.Caller)
	return who
}

// Handler passes requests on to calls, which must be made with Options. Before any byte of a message
// is read, it checks the caller's role and limits its cost: the caller's requests per second, and the
// places of some calls. Waiting requests are held back by the flow control of their connection, and
// requests being read must arrive in time. Every refusal, from any layer, is a problem that is counted
// and logged with its caller. It requires connections of identity.Server.
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

// mostBytes returns the largest size of a call's request in bytes.
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

// noteRefusal counts and logs a request that is refused before its call.
func (g *Gate) noteRefusal(r *http.Request, p *problem.Problem) {
	call := r.URL.Path
	if g.May[call] == nil { // callers choose paths, not the words of metrics and logs
		call = "other"
	}
	g.Metrics.Refused(call, p.Kind)
	g.auditCall(call, Caller(r.Context()), p)
}

// auditCall logs the result of a call; p is nil if it was not refused. Refusals of one caller are
// logged at a limited rate.
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

// Options returns the options of a service's calls: Limits, and interceptors that bound the time of a
// call, write the audit log and turn errors into problems.
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

// streams handles calls whose errors are already problems. It counts, logs and answers the errors that
// Connect creates itself.
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

// limits holds the callers' rates.
type limits struct {
	mu sync.Mutex
	of map[identity.Caller]*limit
}

// limit holds one caller's rates: of calls, and of log lines about refused calls.
type limit struct {
	calls, lines *rate.Limiter
	unlogged     int
}

// limitOf returns a caller's limits. l.mu must be held.
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

// allowCall reports whether a caller may make a call now.
func (l *limits) allowCall(who identity.Caller, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.limitOf(who, now).calls.AllowN(now, 1)
}

// logLine reports whether to log a refusal, and how many were not logged since the last line.
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
