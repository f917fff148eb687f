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

	"github.com/discreet-dp/discreet/internal/anchor"
	"github.com/discreet-dp/discreet/internal/diskroom"
	"github.com/discreet-dp/discreet/internal/federated/multiparty"
	"github.com/discreet-dp/discreet/internal/privacy/dp"
	"github.com/discreet-dp/discreet/internal/service/admission"
	"github.com/discreet-dp/discreet/internal/service/identity"
	"github.com/discreet-dp/discreet/internal/service/problem"
	"github.com/discreet-dp/discreet/internal/service/rpc"
	"github.com/discreet-dp/discreet/internal/service/secretsum"
	"github.com/discreet-dp/discreet/internal/service/tasks"
	"github.com/discreet-dp/discreet/internal/sqldb"
)

// Params are the decisions of a party's operator.
type Params struct {
	Self  *identity.Identity // a party's
	State string             // the folder of what must not be forgotten; made if there is none
	// Anchors is the folder, outside of State, that remembers how far State has come; "" for none.
	Anchors anchor.Folder
	// Combiners are the names of those whose queries are answered: they see votes.
	Combiners []string
	Schema    multiparty.Digest // of the bytes of the schema file that was agreed on
	// Allow names the auxiliary files that are voted on: SHA-256s in hexadecimal digits
	// with sizes, as SHA256:BYTES, which may be sent, files, and folders.
	Allow []string
	Kinds []multiparty.Kind // what may be handed in, for the combiner to see
	// Helpers are the addresses, by name, of those who hold the shares of secret
	// sums: all of them and no one else. None: no secret sum is taken part in.
	Helpers map[string]string
	// Peers are the keys of the parties that this one adds up with in secret, its own
	// among them: its operator knows that they are of so many organisations. They are
	// given with Helpers, and there only.
	Peers tasks.Roster
	// Honest is how many of Peers at least, this party among them, add their noise as
	// they should and do not tell what they added. In [1, Peers].
	Honest int
	// Key signs shares, and votes files.
	Key ed25519.PrivateKey
	// MaxEpsilon is the largest ε of a query, Lifetime that of all together; there
	// is no default. Where Persons is given they are of models instead: a query costs
	// nothing more.
	MaxEpsilon, Lifetime dp.Epsilon
	// Persons says that the party's unit is a person, and at which price what votes
	// protects all rows of one. nil: the unit is the party.
	Persons *PersonPrice
	// Plan works out of a query and the files of its table, which are public, what is
	// combined, and refuses with a *dp.ParamError what cannot be. It is asked before
	// the charge. length and below are those of a secret sum about the query.
	Plan func(ctx context.Context, q *Query, files []string) (length int, below uint64, err error)
	// Cast writes the party's votes file about the files, in order, that make up
	// the query's table.
	Cast func(ctx context.Context, q *Query, files []string, to io.Writer) error
	// Add makes of a votes file what the party adds to the query's secret sum.
	Add func(ctx context.Context, q *Query, files []string, votes io.Reader) (addend []uint64, err error)
	Log *slog.Logger
	// Now is the clock; nil: the system's.
	Now func() time.Time
}

// PersonPrice is a voter and the ε at which it protects all rows of one person.
type PersonPrice struct {
	Model   multiparty.Digest
	Epsilon dp.Epsilon
}

// The limits of the service. What exceeds them is refused, never queued without
// end.
const (
	maxInFlight = 64 // calls for votes at a time
	maxSending  = 8  // tables that are sent
	maxQueued   = 16 // queries that wait for their turn
	maxMessage  = 1 << 20
	partBytes   = 1 << 16 // of one message of a file
	// longest is the longest time that a call waits for votes before it asks to be asked again.
	longest = 20 * time.Second
	// transfer is the longest time that a file may take on its way.
	transfer = 15 * time.Minute
	// voting is the longest time that a model or command may take, where the query's deadline is
	// not before: others wait.
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
	wait    time.Duration // of a call for votes
	// patience is with helpers.
	patience time.Duration

	mu    sync.Mutex
	works map[ID]*work // queued or under way
}

// work is a query whose votes are being made.
type work struct {
	id    ID
	query *Query
	who   identity.Caller
	text  []byte         // of the query
	sum   *secretsum.Sum // nil if votes are handed in
	paid  bool           // before
	files []string
	done  chan struct{} // closed when err is set
	err   error
}

// New makes a party's server. Run makes its votes; Close ends it.
func New(ctx context.Context, p Params) (*Server, error) {
	fault := func(param, want string, got any) (*Server, error) {
		return nil, &dp.ParamError{Op: "party", Param: param, Want: want, Got: got}
	}
	most := "must be > 0 and at most " + dp.MaxEpsilon.String()
	switch {
	case p.Self == nil || p.Self.Role != identity.Party:
		return fault("certificate", "must be a party's", nil)
	case p.MaxEpsilon < 1 || p.MaxEpsilon > dp.MaxEpsilon:
		return fault("max epsilon", most, p.MaxEpsilon)
	case p.Lifetime < 1 || p.Lifetime > dp.MaxEpsilon:
		return fault("lifetime epsilon", most, p.Lifetime)
	case p.Persons != nil && (p.Persons.Epsilon < 1 || p.Persons.Epsilon > p.MaxEpsilon):
		return fault("max epsilon", "must be at least that of the model, whose unit is a person", p.MaxEpsilon)
	case len(p.Combiners) == 0:
		return fault("combiner", "must be named at least once: a combiner sees votes", nil)
	case len(p.Kinds) == 0 && len(p.Helpers) == 0:
		return fault("kind", "must be given at least once, or helpers", nil)
	case len(p.Helpers) != 0 && (len(p.Helpers) < 3 || len(p.Helpers) > 255):
		return fault("helpers", "must number 3 to 255", len(p.Helpers))
	case len(p.Key) != ed25519.PrivateKeySize:
		return fault("key", "must be given", nil)
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
			return fault("kind", "must be labels, probabilities or coefficients", k)
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

// priceQuery is the cost of an answer. A vote is a function of the model and of public rows, so
// if the model was charged for persons it costs them nothing more (G-MULTI-6).
func (s *Server) priceQuery(q *Query) dp.Epsilon {
	if s.Persons != nil {
		return 0
	}
	return q.Params.Epsilon
}

// Close closes the record.
func (s *Server) Close() error { return s.record.closeRecord() }

// StateNames matches the names in Params.State.
const StateNames = `tables|votes|party\.db(-.+)?`

func (s *Server) votesDir() string { return filepath.Join(s.State, "votes") }

func (s *Server) votesPath(id ID) string { return filepath.Join(s.votesDir(), id.String()) }

// sweepFolder deletes the files of a folder that are to go.
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

// forgetVotes deletes the votes of queries whose deadline has passed: first they are
// marked, so that none is given after it is deleted.
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

// finishWork answers those who wait. The work is forgotten first, so that a call that
// follows a failure begins again.
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

// chargeWork charges a query once, when all that needs no vote has been checked: a
// query that cannot be combined, a sum that is not the query's, and votes that the disk
// has no room for cost nothing.
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

// Handler answers calls, of combiners of the operator's choice. It needs connections of
// identity.Server.
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
