// SPDX-License-Identifier: Apache-2.0

package aggregator

import (
	"net/http"
	"sync"
	"time"

	"connectrpc.com/connect"
	"golang.org/x/time/rate"

	"github.com/discreet-dp/discreet/service/identity"
	"github.com/discreet-dp/discreet/service/problem"
	"github.com/discreet-dp/discreet/service/rpc"
)

// What one certificate may ask for. A relay that sends for many owners sends
// many reports in a request.
const (
	perSecond = 500
	burst     = 2000
	// manyCallers is when limits that bind nobody at the moment are forgotten.
	manyCallers = 10_000
	// queueTime is how long an upload waits for its turn before it is refused.
	queueTime = 10 * time.Second
)

// admit bounds what callers cost, before a byte of their message is read: each
// caller's requests per second, and the uploads of all at a time. Those that wait
// are held back by their connection's window.
func (s *Server) admit(next http.Handler) http.Handler {
	var limits limits
	write := connect.NewErrorWriter()
	refuse := func(w http.ResponseWriter, r *http.Request, k problem.Kind) {
		call := r.URL.Path
		if may[call] == nil { // callers choose paths, not the names of metrics
			call = "other"
		}
		s.metrics.refused(call, k)
		p := problem.New(k, "")
		if write.IsSupported(r) {
			_ = write.Write(w, r, p.Connect()) // the caller has gone: nobody to tell
			return
		}
		p.Write(w)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		who, _ := r.Context().Value(callerKey{}).(identity.Caller)
		if !limits.allow(who) {
			refuse(w, r, problem.TooMany)
			return
		}
		if r.ContentLength > maxUpload {
			refuse(w, r, problem.TooLarge)
			return
		}
		if r.URL.Path == rpc.AggregatorUploadProcedure {
			turn := time.NewTimer(queueTime)
			defer turn.Stop()
			select {
			case s.uploads <- struct{}{}:
				defer func() { <-s.uploads }()
			case <-turn.C:
				refuse(w, r, problem.Overloaded)
				return
			case <-r.Context().Done():
				return
			}
		}
		// Who has its turn and sends nothing loses it.
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(callTimeout)) // where there is none, the listener's holds
		next.ServeHTTP(w, r)
	})
}

// limits are the callers' rates.
type limits struct {
	mu sync.Mutex
	of map[identity.Caller]*rate.Limiter
}

func (l *limits) allow(who identity.Caller) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.of == nil || len(l.of) > manyCallers {
		kept := map[identity.Caller]*rate.Limiter{}
		for c, limiter := range l.of {
			if limiter.Tokens() < burst {
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
	return limiter.Allow()
}
