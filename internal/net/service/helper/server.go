// SPDX-License-Identifier: Apache-2.0

package helper

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"connectrpc.com/connect"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/discreet-dp/discreet/internal/net/federated/secsum"
	"github.com/discreet-dp/discreet/internal/net/service/admission"
	"github.com/discreet-dp/discreet/internal/net/service/identity"
	"github.com/discreet-dp/discreet/internal/net/service/problem"
	"github.com/discreet-dp/discreet/internal/net/service/rpc"
	"github.com/discreet-dp/discreet/internal/net/service/secretsum"
)

// Params are the options of a helper's operator.
type Params struct {
	Self  *identity.Identity // certificate of a helper
	Store *Store
	Log   *slog.Logger
	// Now is the clock; nil: the system's.
	Now func() time.Time
}

// The limits of the service. Requests beyond them are refused, never queued without bound.
const (
	maxLarge  = secretsum.MaxBytes + 1<<16              // bytes of a request with shares
	maxBegin  = maxLarge + 2<<20 + 32*secretsum.MaxList // bytes of a request with a sum, its task and the list of owners
	maxBody   = 64 << 10                                // bytes of any other request
	maxShares = 10_000                                  // per request
	reading   = 32                                      // simultaneous requests with shares
	maxSums   = 32                                      // per collector, begun and not opened
	maxKept   = 256 << 20                               // bytes of the sums and answers of one collector
	maxFaults = 16                                      // reported shares per sum that contradict their proofs
	maxFault  = maxLarge                                // total bytes of these
	maxShown  = 2 << 20                                 // bytes of proofs in one answer, exceeded by at most one proof
	inMemory  = 64                                      // parsed sums in memory
	// longest is how far in the future a combiner's sum may end: the longest time that parties answer
	// a query, plus an hour.
	longest = 31 * 24 * time.Hour
	forgets = time.Minute
)

// Server is a running helper.
type Server struct {
	Params
	gate   *admission.Gate
	stored prometheus.Counter
	opened prometheus.Counter
	heavy  sync.Mutex // allows the shares of one sum in memory at a time

	mu   sync.Mutex
	sums map[secretsum.ID]*live
}

// live is a sum in memory; it is immutable.
type live struct {
	id secretsum.ID
	*secretsum.Sum
	protocol *secsum.Protocol
	self     int // this helper's number
}

// New makes a server.
func New(p Params) (*Server, error) {
	if err := p.Self.CheckRole("helper", identity.Helper); err != nil {
		return nil, err
	}
	if p.Now == nil {
		p.Now = time.Now
	}
	s := &Server{
		Params: p, sums: map[secretsum.ID]*live{},
		stored: prometheus.NewCounter(prometheus.CounterOpts{Name: "discreet_shares_stored_total",
			Help: "Shares stored for the first time."}),
		opened: prometheus.NewCounter(prometheus.CounterOpts{Name: "discreet_sums_opened_total",
			Help: "Sums whose one request was answered for the first time."}),
	}
	s.gate = &admission.Gate{
		Self: p.Self, May: may, Body: maxBody, Bodies: map[string]int64{rpc.HelperShareProcedure: maxLarge,
			rpc.HelperBeginProcedure: maxBegin},
		Places: map[string]*admission.Places{rpc.HelperShareProcedure: admission.NewPlaces(reading, admission.Memory),
			rpc.HelperBeginProcedure: admission.NewPlaces(1, 0)},
		Frequent: []string{rpc.HelperShareProcedure}, Metrics: admission.NewMetrics(admission.Ends{Of: p.Self}, s.stored,
			s.opened), Log: p.Log,
	}
	return s, nil
}

// may lists the roles that may make each call. Other calls are forbidden.
var (
	collectors   = []identity.Role{identity.Aggregator, identity.Combiner}
	participants = []identity.Role{identity.Owner, identity.Party}
	may          = map[string][]identity.Role{
		rpc.HelperGetSelfProcedure:     append(participants[:2:2], collectors...),
		rpc.HelperBeginProcedure:       collectors,
		rpc.HelperShareProcedure:       participants,
		rpc.HelperGetProgressProcedure: collectors,
		rpc.HelperHeldProcedure:        collectors,
		rpc.HelperOpenProcedure:        collectors,
	}
)

// Handler answers calls. It requires connections of identity.Server.
func (s *Server) Handler() http.Handler {
	_, calls := rpc.NewHelperHandler(s, s.gate.Options())
	return s.gate.Handler(calls)
}

// Page serves operators; see admission.Metrics.Watch.
func (s *Server) Page() http.Handler { return s.gate.Metrics.Watch(s.Store.probeStore) }

// Run deletes sums that have ended, until ctx ends.
func (s *Server) Run(ctx context.Context) error {
	t := time.NewTicker(forgets)
	defer t.Stop()
	for {
		if n, err := s.Store.forgetSums(ctx, s.Now().Add(-secretsum.Skew)); err != nil && ctx.Err() == nil {
			s.Log.Error("forgetting failed", "error", err)
		} else if n > 0 {
			s.Log.Info("sums ended and are forgotten", "sums", n)
			s.mu.Lock()
			clear(s.sums)
			s.mu.Unlock()
		}
		select {
		case <-t.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// loadSum prepares a sum for which this helper holds shares.
func (s *Server) loadSum(parsed *secretsum.Sum, id secretsum.ID) (*live, error) {
	p, err := parsed.Protocol()
	if err != nil {
		return nil, err
	}
	for i, h := range parsed.Helpers {
		if h.Name != s.Self.Name {
			continue
		}
		if h.Memory != s.Store.memory {
			return nil, problem.New(problem.Forgot, "")
		}
		return &live{id, parsed, p, i}, nil
	}
	return nil, problem.New(problem.Forbidden, "%s is not one of the sum's helpers", s.Self.Caller)
}

// findSum returns a sum, from the store if it is not in memory; nil if it does not exist.
func (s *Server) findSum(ctx context.Context, name []byte) (*live, error) {
	if len(name) != len(secretsum.ID{}) {
		return nil, problem.New(problem.Malformed, "a sum's name has %d bytes, got %d", len(secretsum.ID{}), len(name))
	}
	id := secretsum.ID(name)
	s.mu.Lock()
	l := s.sums[id]
	s.mu.Unlock()
	if l != nil {
		return l, nil
	}
	text, err := s.Store.sumText(ctx, id)
	if err != nil || text == nil {
		return nil, err
	}
	parsed, err := secretsum.Parse(text)
	if err != nil {
		return nil, err
	}
	if l, err = s.loadSum(parsed, id); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.sums) >= inMemory {
		clear(s.sums)
	}
	s.sums[id] = l
	return l, nil
}

// findOwnSum returns a sum whose collector makes the call.
func (s *Server) findOwnSum(ctx context.Context, name []byte) (*live, error) {
	l, err := s.findSum(ctx, name)
	switch {
	case err != nil:
		return nil, err
	case l == nil:
		return nil, problem.New(problem.UnknownTask, "no such sum was begun here")
	case admission.Caller(ctx) != l.Collector:
		return nil, problem.New(problem.Forbidden, "%s is not the sum's collector", admission.Caller(ctx))
	}
	return l, nil
}

// GetSelf implements rpc.HelperHandler.
func (s *Server) GetSelf(context.Context,
	*connect.Request[rpc.GetSelfRequest]) (*connect.Response[rpc.GetSelfResponse], error) {
	return connect.NewResponse(&rpc.GetSelfResponse{Memory: s.Store.memory[:]}), nil
}

// Begin implements rpc.HelperHandler.
func (s *Server) Begin(ctx context.Context,
	r *connect.Request[rpc.BeginRequest]) (*connect.Response[rpc.BeginResponse], error) {
	signed, now := secretsum.FromProto(r.Msg.GetSum()), s.Now()
	parsed, id, err := signed.Open(s.Self, now)
	if err != nil {
		return nil, problem.New(problem.UnsafeTask, "%v", err)
	}
	switch {
	case admission.Caller(ctx) != parsed.Collector:
		return nil, problem.New(problem.Forbidden, "%s is not the sum's collector", admission.Caller(ctx))
	case parsed.Ends.After(now.Add(longest)) && parsed.Collector.Role != identity.Aggregator:
		return nil, problem.New(problem.UnsafeTask, "a sum ends within %s", longest)
	}
	if parsed.Collector.Role == identity.Aggregator { // owners are on a list; parties look after themselves
		if err := secretsum.AdmissionOf(r.Msg).Check(s.Self, parsed, now); err != nil {
			return nil, problem.New(problem.UnsafeTask, "%v", err)
		}
	}
	if _, err := s.loadSum(parsed, id); err != nil {
		return nil, err
	}
	if err := s.Store.beginSum(ctx, id, parsed.Collector.String(), signed.Bytes, parsed.Ends, maxSums,
		maxKept); err != nil {
		return nil, err
	}
	return connect.NewResponse(new(rpc.BeginResponse)), nil
}

// Share implements rpc.HelperHandler. It answers once all shares that it does not refuse are on disk.
func (s *Server) Share(ctx context.Context,
	r *connect.Request[rpc.ShareRequest]) (*connect.Response[rpc.ShareResponse], error) {
	sent := r.Msg.GetShares()
	if len(sent) > maxShares {
		return nil, problem.New(problem.TooLarge, "%d shares in a request, at most %d", len(sent), maxShares)
	}
	l, err := s.findSum(ctx, r.Msg.GetSumId())
	if err != nil {
		return nil, err
	}
	if l == nil { // its collector may be on the way here
		return nil, problem.New(problem.Early, "no such sum was begun here")
	}
	refusals := make([]*problem.Problem, len(sent))
	var good []share
	var place []int
	verified := map[int]bool{} // participants of good ones
	for i, m := range sent {
		one, p := l.checkShare(secretsum.Share{Message: m.GetMessage(), Signature: m.GetSignature()})
		if p == nil {
			known, err := s.Store.knowsSender(ctx, l.id, one.participant)
			if err != nil {
				return nil, err
			}
			p = l.verifyShare(one, known || verified[one.participant])
		}
		if refusals[i] = p; p == nil {
			good, place, verified[one.participant] = append(good, one), append(place, i), true
		} else if p.Kind == problem.Inconsistent {
			s.Log.Warn("a share contradicts its own proof: its participant is left out", "sum", l.id.String(), "round", l.Round,
				"participant", one.participant, "key", fmt.Sprintf("%x", l.Roster[one.participant]))
			if err := s.Store.storeFault(ctx, l.id, one, maxFaults); err != nil {
				return nil, err
			}
		}
	}
	refused, fresh, err := s.Store.acceptShares(ctx, l.id, good)
	if err != nil {
		return nil, err
	}
	for k, kind := range refused {
		refusals[place[k]] = problem.New(kind, "")
	}
	s.stored.Add(float64(fresh))
	said := s.gate.Metrics.RefusedItems(rpc.HelperShareProcedure, refusals)
	return connect.NewResponse(&rpc.ShareResponse{Refusals: said}), nil
}

// checkShare parses a share and verifies its signature.
func (l *live) checkShare(sent secretsum.Share) (share, *problem.Problem) {
	var m secsum.Message
	if err := m.UnmarshalBinary(sent.Message); err != nil || m.Kind != secsum.Share {
		return share{}, problem.New(problem.Malformed, "")
	}
	if m.From < 0 || m.From >= len(l.Roster) {
		return share{}, problem.New(problem.UnknownOwner, "participant %d of %d", m.From, len(l.Roster))
	}
	proof, err := secretsum.ProofIn(m)
	if proof.Signature = sent.Signature; err != nil || !proof.By(l.Roster[m.From]) {
		return share{}, problem.New(problem.BadSignature, "")
	}
	kept, err := l.protocol.Bare(m).MarshalBinary()
	if err != nil {
		return share{}, problem.New(problem.Malformed, "")
	}
	return share{m.From, proof.Bytes, sent.Message, sent.Signature, kept}, nil
}

// verifyShare verifies a share against its sum and its own proof. That takes milliseconds, so that
// only one share per participant is verified. Further shares of a known participant are only compared.
func (l *live) verifyShare(one share, known bool) *problem.Problem {
	var m secsum.Message
	h, err := l.newHolder()
	if err == nil {
		err = m.UnmarshalBinary(one.body)
	}
	switch {
	case err != nil:
	case known:
		err = h.Restore(l.protocol.Bare(m))
	default:
		_, err = h.Handle(m)
	}
	switch {
	case errors.Is(err, secsum.ErrInconsistent):
		return problem.New(problem.Inconsistent, "")
	case err != nil:
		return problem.New(problem.Malformed, "")
	}
	return nil
}

// newHolder returns a new state machine without shares.
func (l *live) newHolder() (*secsum.Holder, error) { return l.protocol.NewHolder(l.self) }

// replayShares returns a state machine that has processed all stored shares and the end of the wait,
// and its messages.
func (s *Server) replayShares(ctx context.Context, l *live) (*secsum.Holder, []secsum.Message, error) {
	h, err := l.newHolder()
	if err != nil {
		return nil, nil, err
	}
	if err := s.Store.eachShare(ctx, l.id, func(_ int, body []byte) error {
		var m secsum.Message
		if err := m.UnmarshalBinary(body); err != nil {
			return err
		}
		return h.Restore(m)
	}); err != nil {
		return nil, nil, err
	}
	return h, h.Close(), nil
}

// GetProgress implements rpc.HelperHandler.
func (s *Server) GetProgress(ctx context.Context,
	r *connect.Request[rpc.GetProgressRequest]) (*connect.Response[rpc.GetProgressResponse], error) {
	l, err := s.findOwnSum(ctx, r.Msg.GetSumId())
	if err != nil {
		return nil, err
	}
	if err := s.Store.checkWritable(ctx); err != nil {
		return nil, err
	}
	n, ended, err := s.Store.countShares(ctx, l.id)
	if err != nil {
		return nil, err
	}
	return connect.NewResponse(&rpc.GetProgressResponse{Shares: uint32(n), Closed: ended}), nil
}

// Held implements rpc.HelperHandler.
func (s *Server) Held(ctx context.Context,
	r *connect.Request[rpc.HeldRequest]) (*connect.Response[rpc.HeldResponse], error) {
	l, err := s.findOwnSum(ctx, r.Msg.GetSumId())
	if err != nil {
		return nil, err
	}
	if err := s.Store.endSum(ctx, l.id); err != nil {
		return nil, err
	}
	if show := r.Msg.GetShow(); len(show) > 0 {
		proofs, err := s.listProofs(ctx, l, show)
		return connect.NewResponse(&rpc.HeldResponse{Proofs: proofs}), err
	}
	s.heavy.Lock()
	defer s.heavy.Unlock()
	held, err := s.Store.shownHeld(ctx, l.id)
	if err == nil && held == nil {
		var said []secsum.Message
		if _, said, err = s.replayShares(ctx, l); err == nil {
			if held, err = said[0].MarshalBinary(); err == nil {
				err = s.Store.keepHeld(ctx, l.id, held)
			}
		}
	}
	answer := &rpc.HeldResponse{Message: held}
	if err == nil {
		answer.Faults, err = s.listFaults(ctx, l)
	}
	if err != nil {
		return nil, err
	}
	return connect.NewResponse(answer), nil
}

// listFaults returns shares that contradict their own proofs, as evidence for the collector.
func (s *Server) listFaults(ctx context.Context, l *live) (out []*rpc.SignedShare, err error) {
	stored, err := s.Store.storedFaults(ctx, l.id)
	for _, f := range stored {
		out = append(out, &rpc.SignedShare{Message: f.body, Signature: f.signature})
	}
	return out, err
}

// listProofs returns what participants have signed, without their shares, for the first participants,
// as many as fit. The list ends before a participant whose share is missing.
func (s *Server) listProofs(ctx context.Context, l *live, of []uint32) (out []*rpc.SignedProof, err error) {
	proofs, err := s.Store.proofsOf(ctx, l.id, of, maxShown)
	for _, p := range proofs {
		out = append(out, &rpc.SignedProof{Participant: uint32(p.participant), Proof: p.proof, Signature: p.signature})
	}
	return out, err
}

// Open implements rpc.HelperHandler. The answer is on disk before it is sent, and no other answer is
// ever sent.
func (s *Server) Open(ctx context.Context,
	r *connect.Request[rpc.OpenRequest]) (*connect.Response[rpc.OpenResponse], error) {
	l, err := s.findOwnSum(ctx, r.Msg.GetSumId())
	if err != nil {
		return nil, err
	}
	request := r.Msg.GetMessage()
	s.heavy.Lock()
	defer s.heavy.Unlock()
	asked, answer, err := s.Store.answeredRequest(ctx, l.id)
	if err == nil && asked == nil {
		var added []byte
		if added, err = s.addShares(ctx, l, request); err == nil {
			asked, answer, err = s.Store.keepAnswer(ctx, l.id, request, added)
		}
		if err == nil && string(asked) == string(request) {
			s.opened.Inc()
			s.Log.Info("a sum was opened", "sum", l.id.String(), "round", l.Round, "collector", l.Collector.String())
		}
	}
	switch {
	case err != nil:
		return nil, err
	case asked == nil:
		return nil, problem.New(problem.Early, "the wait for shares is not over")
	case string(asked) != string(request):
		return nil, problem.New(problem.Opened, "")
	}
	return connect.NewResponse(&rpc.OpenResponse{Message: answer}), nil
}

// addShares computes the sum that a request asks for.
func (s *Server) addShares(ctx context.Context, l *live, request []byte) ([]byte, error) {
	var m secsum.Message
	if err := m.UnmarshalBinary(request); err != nil || m.Kind != secsum.Open {
		return nil, problem.New(problem.Malformed, "")
	}
	switch _, ended, err := s.Store.countShares(ctx, l.id); {
	case err != nil:
		return nil, err
	case !ended:
		return nil, problem.New(problem.Early, "the wait for shares is not over")
	}
	h, _, err := s.replayShares(ctx, l)
	if err != nil {
		return nil, err
	}
	said, err := h.Handle(m)
	if few := (*secsum.Abort)(nil); errors.As(err, &few) {
		return nil, problem.New(problem.UnsafeTask, "%v", few)
	}
	if errors.Is(err, secsum.ErrRefused) {
		return nil, problem.New(problem.Malformed, "%v", err)
	}
	if err != nil {
		return nil, err
	}
	return said[0].MarshalBinary()
}
