// SPDX-License-Identifier: Apache-2.0

package party

import (
	"context"
	"crypto/ed25519"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/discreet-dp/discreet/internal/ground/anchor"
	"github.com/discreet-dp/discreet/internal/ground/diskroom"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ground/sqldb"
	"github.com/discreet-dp/discreet/internal/net/federated/multiparty"
	"github.com/discreet-dp/discreet/internal/net/service/admission"
	"github.com/discreet-dp/discreet/internal/net/service/identity"
	"github.com/discreet-dp/discreet/internal/net/service/problem"
	"github.com/discreet-dp/discreet/internal/net/service/rpc"
	"github.com/discreet-dp/discreet/internal/net/service/secretsum"
	"github.com/discreet-dp/discreet/internal/net/service/tasks"
)

// Params are the options of a party's operator.
type Params struct {
	Self  *identity.Identity // certificate of a party
	State string             // the folder of the permanent state; created if it does not exist
	// Anchors is the folder, outside of State, in which the newest state of State is noted; "" for
	// none.
	Anchors anchor.Folder
	// Combiners are the names of the combiners whose queries are answered. They see votes.
	Combiners []string
	Schema    multiparty.Digest // digest of the agreed schema file
	// Allow lists the auxiliary files to vote on: SHA256:BYTES, a SHA-256 in hexadecimal digits and a
	// size, for files that may be sent; paths of files; and folders.
	Allow []string
	Kinds []multiparty.Kind // kinds of votes to hand in, which the combiner sees
	// Helpers are the names and addresses of the helpers that hold the shares of secret sums; no
	// others may. Without helpers, the party takes part in no secret sum.
	Helpers map[string]string
	// Peers are the keys of the parties with which this one makes secret sums, including its own. The
	// operator has checked that they belong to different organisations. They must be given together
	// with Helpers.
	Peers tasks.Roster
	// Honest is the minimum number of Peers, including this party, that add their noise correctly and
	// keep their vectors secret. In [1, Peers].
	Honest int
	// Key signs shares, and votes files.
	Key ed25519.PrivateKey
	// MaxEpsilon is the largest ε of a query, and Lifetime the largest total; neither has a default.
	// If Persons is given, they limit models instead, and queries cost nothing more.
	MaxEpsilon, Lifetime dp.Epsilon
	// Persons is the price at which the voting model protects all rows of one person, if a person is
	// the party's unit of privacy. nil: the unit is the party.
	Persons *PersonPrice
	// Plan checks a query and the files of its table, which are public, and refuses what cannot be
	// combined with a *dp.ParamError. It is called before the charge. length and below describe the
	// vector of a secret sum for the query.
	Plan func(ctx context.Context, q *Query, files []string) (length int, below uint64, err error)
	// Cast writes the party's votes file on the files, in order, of the query's table.
	Cast func(ctx context.Context, q *Query, files []string, to io.Writer) error
	// Add computes the party's term of the query's secret sum from a votes file.
	Add func(ctx context.Context, q *Query, files []string, votes io.Reader) (addend []uint64, err error)
	Log *slog.Logger
	// Now is the clock; nil: the system's.
	Now func() time.Time
}

// PersonPrice is a voting model and the ε at which it protects all rows of one person.
type PersonPrice struct {
	Model   multiparty.Digest
	Epsilon dp.Epsilon
}

// The limits of the service. Requests beyond them are refused, never queued without bound.
const (
	maxInFlight = 64 // simultaneous calls for votes
	maxSending  = 8  // simultaneous uploads of tables
	maxQueued   = 16 // waiting queries
	maxMessage  = 1 << 20
	partBytes   = 1 << 16 // of a file per message
	// longest is how long a call waits for votes before it asks the caller to repeat it.
	longest = 20 * time.Second
	// transfer is the longest time for sending a file.
	transfer = 15 * time.Minute
	// voting is the longest time for a model or command, or until the query's deadline if that is
	// earlier, because other queries wait.
	voting = time.Hour
	// cleaning is the interval at which votes past their deadline are deleted.
	cleaning = time.Minute
)

// Server is a running party.
type Server struct {
	Params
	record  *record
	shelf   *shelf
	metrics *metrics
	gate    *admission.Gate
	queue   chan *work
	wait    time.Duration // in a call for votes
	// patience is how long to wait for helpers.
	patience time.Duration

	mu    sync.Mutex
	works map[ID]*work // queued or running
}

// work is the making of a query's votes.
type work struct {
	id    ID
	query *Query
	who   identity.Caller
	text  []byte         // of the query
	sum   *secretsum.Sum // nil if votes are handed in
	paid  bool           // paid for before
	files []string
	done  chan struct{} // closed once err is set
	err   error
}

// New makes a party's server. Run makes its votes; Close ends it.
func New(ctx context.Context, p Params) (*Server, error) {
	fault := dp.RefuseFor("party")
	most := "must be > 0 and at most " + dp.MaxEpsilon.String()
	switch {
	case p.Self == nil || p.Self.Role != identity.Party:
		return nil, fault("certificate", "must be a party's", nil)
	case p.MaxEpsilon < 1 || p.MaxEpsilon > dp.MaxEpsilon:
		return nil, fault("max epsilon", most, p.MaxEpsilon)
	case p.Lifetime < 1 || p.Lifetime > dp.MaxEpsilon:
		return nil, fault("lifetime epsilon", most, p.Lifetime)
	case p.Persons != nil && (p.Persons.Epsilon < 1 || p.Persons.Epsilon > p.MaxEpsilon):
		return nil, fault("max epsilon", "must be at least that of the model, whose unit is a person", p.MaxEpsilon)
	case len(p.Combiners) == 0:
		return nil, fault("combiner", "must be named at least once: a combiner sees votes", nil)
	case len(p.Kinds) == 0 && len(p.Helpers) == 0:
		return nil, fault("kind", "must be given at least once, or helpers", nil)
	case len(p.Helpers) != 0 && (len(p.Helpers) < 3 || len(p.Helpers) > 255):
		return nil, fault("helpers", "must number 3 to 255", len(p.Helpers))
	case len(p.Key) != ed25519.PrivateKeySize:
		return nil, fault("key", "must be given", nil)
	}
	if err := p.checkPeers(); err != nil {
		return nil, err
	}
	for _, name := range p.Combiners {
		if err := (identity.Caller{Role: identity.Combiner, Name: name}).Check(); err != nil {
			return nil, err
		}
	}
	for _, k := range p.Kinds {
		if k != multiparty.Labels && k != multiparty.Probabilities && k != multiparty.Coefficients {
			return nil, fault("kind", "must be labels, probabilities or coefficients", k)
		}
	}
	if p.Now == nil {
		p.Now = time.Now
	}
	s := &Server{Params: p, metrics: newMetrics(p.Self), queue: make(chan *work, maxQueued), wait: longest,
		patience: patience, works: map[ID]*work{}}
	combiners, votes := []identity.Role{identity.Combiner}, admission.NewPlaces(maxInFlight, 0)
	s.gate = &admission.Gate{
		Self: p.Self, May: map[string][]identity.Role{rpc.PartyVoteProcedure: combiners, rpc.PartyAddProcedure: combiners,
			rpc.PartySendTableProcedure: combiners}, Names: p.Combiners,
		Body: maxMessage, Streams: []string{rpc.PartySendTableProcedure}, Longest: transfer,
		Places: map[string]*admission.Places{rpc.PartyVoteProcedure: votes, rpc.PartyAddProcedure: votes,
			rpc.PartySendTableProcedure: admission.NewPlaces(maxSending, 0)},
		Metrics: s.metrics.Metrics, Log: p.Log,
	}
	var err error
	if s.shelf, err = newShelf(filepath.Join(p.State, "tables"), p.Allow); err != nil {
		return nil, err
	}
	for _, dir := range []string{s.votesDir(), s.shelf.dir} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
		if err := sweepFolder(dir, func(name string) bool { return strings.Contains(name, partial) }); err != nil {
			return nil, err
		}
	}
	unit := unitParty
	if p.Persons != nil {
		unit = unitPerson
	}
	if s.record, err = openRecord(ctx, filepath.Join(p.State, "party.db"), p.Lifetime, unit, p.Anchors); err != nil {
		return nil, err
	}
	if err = s.forgetVotes(ctx); err == nil && p.Persons != nil {
		err = s.record.chargeModel(ctx, *p.Persons)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// priceQuery returns the cost of an answer. Votes are a function of the model and of public rows. If
// the model was charged for persons, they therefore cost nothing more (G-MULTI-6).
func (s *Server) priceQuery(q *Query) dp.Epsilon {
	if s.Persons != nil {
		return 0
	}
	return q.Params.Epsilon
}

// Close closes the record.
func (s *Server) Close() error { return s.record.closeRecord() }

// StateNames matches the file names in Params.State.
const StateNames = `tables|votes|party\.db(-.+)?`

func (s *Server) votesDir() string { return filepath.Join(s.State, "votes") }

func (s *Server) votesPath(id ID) string { return filepath.Join(s.votesDir(), id.String()) }

// sweepFolder deletes the files of a folder for which goes is true.
func sweepFolder(dir string, goes func(name string) bool) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if goes(e.Name()) {
			if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// forgetVotes deletes the votes of queries whose deadline has passed. It marks the queries first, so
// that no votes are given after they have been deleted.
func (s *Server) forgetVotes(ctx context.Context) error {
	kept, err := s.record.forgetQueries(ctx, s.Now())
	if err != nil {
		return err
	}
	names := map[string]bool{}
	for id := range kept {
		names[id.String()] = true
	}
	return sweepFolder(s.votesDir(), func(name string) bool { return !names[name] && !strings.Contains(name, partial) })
}

// Run makes votes until ctx ends. Queries are answered only while it runs.
func (s *Server) Run(ctx context.Context) error {
	clean := time.NewTicker(cleaning)
	defer clean.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case w := <-s.queue:
			s.finishWork(w, s.makeVotes(ctx, w))
		case <-clean.C:
			if err := s.forgetVotes(ctx); err != nil && ctx.Err() == nil {
				s.Log.Error("deleting votes failed", "error", err)
			}
		}
	}
}

// finishWork answers the waiting calls. It removes the work first, so that a call after a failure
// starts again.
func (s *Server) finishWork(w *work, err error) {
	s.mu.Lock()
	delete(s.works, w.id)
	s.mu.Unlock()
	w.err = err
	close(w.done)
}

// makeVotes makes the votes of one query.
func (s *Server) makeVotes(ctx context.Context, w *work) (err error) {
	ctx, cancel := context.WithTimeout(ctx, min(voting, w.query.Deadline.Sub(s.Now())))
	defer cancel()
	began := s.Now()
	defer func() {
		if x := recover(); x != nil {
			s.Log.Error("voting failed", "query", w.id.String(), "fault", x, "stack", string(debug.Stack()))
			err = problem.New(problem.Unable, "")
		}
	}()
	if err := s.chargeWork(ctx, w); err != nil {
		return err
	}
	write := func(to io.Writer) error { return s.Cast(ctx, w.query, w.files, to) }
	if w.sum != nil {
		write = func(to io.Writer) error { return s.share(ctx, w, to) }
	}
	err = keepFile(s.votesPath(w.id), write)
	s.metrics.noteVotes(s.Now().Sub(began), err == nil)
	if errors.Is(err, diskroom.ErrFull) {
		return err
	}
	if err != nil {
		// Why is between the party and its operator.
		s.Log.Error("voting failed", "query", w.id.String(), "error", err)
		return problem.New(problem.Unable, "")
	}
	s.Log.Info("voted", "query", w.id.String(), "job", w.query.Job, "kind", string(w.query.Kind), "in_secret",
		w.sum != nil)
	return nil
}

// chargeWork charges a query once, after all checks that need no votes. A query that cannot be
// combined, a sum that does not match it, and a lack of disk space for the votes therefore cost
// nothing.
func (s *Server) chargeWork(ctx context.Context, w *work) error {
	if w.paid {
		return nil
	}
	length, below, err := s.Plan(ctx, w.query, w.files)
	switch bad := (*dp.ParamError)(nil); {
	case errors.As(err, &bad):
		return problem.New(problem.Malformed, "the query: %v", bad)
	case err != nil:
		s.Log.Error("a query cannot be combined", "query", w.id.String(), "error", err)
		return problem.New(problem.Unable, "")
	case w.sum != nil && (length != w.sum.Length || below != w.sum.Range): // 5.4
		return problem.New(problem.NotAllowed, "a sum of %d coordinates below %d, which the query makes %d below %d",
			w.sum.Length, w.sum.Range, length, below)
	}
	if err := checkRoom(s.State, int64(length)); err != nil {
		return err
	}
	return s.record.chargeQuery(ctx, w.id, w.who.String(), w.text, s.priceQuery(w.query), w.query.Deadline)
}

// Handler answers calls of the permitted combiners. It requires connections of identity.Server.
func (s *Server) Handler() http.Handler {
	_, calls := rpc.NewPartyHandler(s, s.gate.Limits())
	return s.gate.Handler(calls)
}

// serveCall bounds the time of a call, writes the audit log and turns errors into
// problems.
func (s *Server) serveCall(ctx context.Context, call string,
	f func(context.Context, identity.Caller) (*Query, error)) (err error) {
	problem.Reached(ctx)
	who := admission.Caller(ctx)
	began := s.Now()
	ctx, cancel := context.WithTimeout(ctx, transfer)
	defer cancel()
	var q *Query
	defer func() {
		if x := recover(); x != nil {
			s.Log.Error("a call failed", "call", call, "caller", who.String(), "fault", x, "stack", string(debug.Stack()))
			err = problem.New(problem.Internal, "")
		}
		s.metrics.Took(call, s.Now().Sub(began))
		refused, again := "", false
		if err != nil {
			p := problem.Of(err)
			if p.Kind == problem.Internal {
				s.Log.Error("a call failed", "call", call, "caller", who.String(), "error", err)
			}
			if errors.Is(err, sqldb.ErrFailed) || errors.Is(err, diskroom.ErrFull) || errors.Is(err, syscall.ENOSPC) {
				p = problem.New(problem.Storage, "")
			}
			s.metrics.Refused(call, p.Kind)
			problem.Status(ctx, p)
			err, refused, again = p.Connect(), p.Kind.String(), p.Kind.Again()
		}
		if again { // nothing has happened, and the caller comes back
			return
		}
		line := []any{"call", call, "caller", who.String(), "refused", refused}
		if q != nil {
			aux := q.Aux()
			line = append(line, "job", q.Job, "epsilon", q.Params.Epsilon.String(), "aux", multiparty.Digest(aux))
		}
		s.Log.Info("audit", line...)
	}()
	q, err = f(ctx, who)
	return err
}
