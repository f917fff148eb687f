// SPDX-License-Identifier: Apache-2.0

package party

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/discreet-dp/discreet/internal/ground/diskroom"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ground/openfile"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/net/federated/multiparty"
	"github.com/discreet-dp/discreet/internal/net/service/admission"
	"github.com/discreet-dp/discreet/internal/net/service/identity"
	"github.com/discreet-dp/discreet/internal/net/service/problem"
	"github.com/discreet-dp/discreet/internal/net/service/rpc"
	"github.com/discreet-dp/discreet/internal/net/service/secretsum"
	"github.com/discreet-dp/discreet/internal/net/service/tasks"
)

// Params are the options of an institution that votes.
type Params struct {
	Self  *identity.Identity // certificate of a party
	State string             // the folder of the permanent state; created if it does not exist
	// Terms returns what the institution allows at the moment.
	Terms func() *Terms
	// Charge finds a query in the account of the institution; nil: votes cost nothing more.
	Charge func(context.Context, ID) (Job, error)
	// Problem words an error of Charge, or of the Job, for combiners.
	Problem func(error) *problem.Problem
	// Key signs shares, and votes files.
	Key ed25519.PrivateKey
	// Plan checks a query and the files of its table, which are public, and refuses what cannot be
	// combined with a *dp.ParamError. It is called before the charge. length and below describe the
	// vector of a secret sum for the query.
	Plan func(ctx context.Context, q *Query, files []string) (length int, below uint64, err error)
	// Cast writes the party's votes file on the files, in order, of the query's table.
	Cast func(ctx context.Context, q *Query, files []string, to io.Writer) error
	// Add computes the party's term of the query's secret sum from a votes file.
	Add func(ctx context.Context, q *Query, files []string, votes io.Reader) (addend []uint64, err error)
	Log *slog.Logger
	// Calls counts calls.
	Calls *admission.Metrics
	// Now is the clock; nil: the system's.
	Now func() time.Time
}

// Terms are what an institution allows.
type Terms struct {
	// Combiners are the names of the combiners whose queries are answered. They see votes.
	Combiners []string
	Schema    multiparty.Digest // digest of the agreed schema file
	// Tables are the sizes in bytes of the auxiliary files that are voted on, which may be sent.
	Tables map[multiparty.Digest]int64
	Kinds  []multiparty.Kind // kinds of votes to hand in, which the combiner sees
	// Helpers are the names and addresses of the helpers that hold the shares of secret sums; no
	// others may. Without helpers, the party takes part in no secret sum.
	Helpers map[string]string
	// Peers are the keys of the parties with which this one makes secret sums, including its own. The
	// operator has checked that they belong to different organisations.
	Peers tasks.Roster
	// Honest is the minimum number of Peers, including this party, that add their noise correctly and
	// keep their vectors secret. In [1, Peers].
	Honest int
	// Each is the largest price of a query, unless its votes cost nothing more.
	Each dp.Price
	// Open refuses calls at this time.
	Open func(at time.Time) error
	// Refuse names the clause that refuses a query.
	Refuse func(clause, figures string, args ...any) error
}

// Job is a query in the account of an institution. What it stores is the digest of the answer. A job that was
// charged and has stored nothing is charged no second time: no answer had left.
type Job interface {
	guard.Account
	Stored() []byte
	Commit(ctx context.Context, result []byte) error
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

// Server answers combiners' queries, as a part of the service of an institution.
type Server struct {
	Params
	shelf   *shelf
	metrics *metrics
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
	job   Job            // nil if the votes cost nothing more
	files []string
	done  chan struct{} // closed once err is set
	err   error
}

// New makes a server. Run makes its votes.
func New(p Params) (*Server, error) {
	if p.Now == nil {
		p.Now = time.Now
	}
	s := &Server{Params: p, shelf: &shelf{filepath.Join(p.State, "tables")}, metrics: newMetrics(), queue: make(chan *work, maxQueued),
		wait: longest, patience: patience, works: map[ID]*work{}}
	for _, dir := range []string{s.votesDir(), s.shelf.dir} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
		if err := sweepFolder(dir, func(f os.FileInfo) bool { return strings.Contains(f.Name(), partial) }); err != nil {
			return nil, err
		}
	}
	return s, s.forgetVotes()
}

// Admit adds the calls to the gate of the service.
func Admit(g *admission.Gate) {
	votes, sending := admission.NewPlaces(maxInFlight, 0), admission.NewPlaces(maxSending, 0)
	if g.Bodies == nil {
		g.Bodies = map[string]int64{}
	}
	for call, of := range map[string]*admission.Places{rpc.PartyVoteProcedure: votes, rpc.PartyAddProcedure: votes,
		rpc.PartySendTableProcedure: sending} {
		g.May[call], g.Places[call], g.Bodies[call] = []identity.Role{identity.Combiner}, of, maxMessage
	}
	g.Streams = append(g.Streams, rpc.PartySendTableProcedure)
	g.Longest = max(g.Longest, transfer)
}

// Handler returns the calls of combiners and their path. The gate must have admitted them.
func (s *Server) Handler(g *admission.Gate) (path string, calls http.Handler) {
	return rpc.NewPartyHandler(s, g.Limits())
}

// StateNames matches the file names in Params.State.
const StateNames = `tables|votes`

func (s *Server) votesDir() string { return filepath.Join(s.State, "votes") }

func (s *Server) votesPath(id ID) string { return filepath.Join(s.votesDir(), id.String()) }

// sweepFolder deletes the files of a folder for which goes is true.
func sweepFolder(dir string, goes func(os.FileInfo) bool) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if info, gone := e.Info(); gone == nil && goes(info) {
			if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// forgetVotes deletes the votes of queries whose deadline has passed: the time of a file is its query's deadline.
func (s *Server) forgetVotes() error {
	return sweepFolder(s.votesDir(), func(f os.FileInfo) bool {
		return f.ModTime().Before(s.Now()) && !strings.Contains(f.Name(), partial)
	})
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
			if err := s.forgetVotes(); err != nil {
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

// beforeStep is called before each step that a crash may cut off. Tests kill a process there.
var beforeStep = func(step string) error { return nil }

// The steps of an answer, each on disk before the next. A process that was killed before the last has given
// nothing away, and the same query goes on where it stopped; after it the same query gets the same bytes.
const (
	beforeCharge = "charge" // nothing has happened
	beforeVoting = "voting" // the price is spent
	beforeCommit = "commit" // the answer is on disk
	beforeAnswer = "answer" // its digest is in the account: it may leave
)

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
	if err := s.findJob(ctx, w); err != nil { // it may have been answered since it was asked
		return err
	}
	if answered, err := s.isAnswered(w); answered || err != nil {
		return err
	}
	if err := s.chargeWork(ctx, w); err != nil {
		return err
	}
	if err := beforeStep(beforeVoting); err != nil {
		return err
	}
	write := func(to io.Writer) error { return s.Cast(ctx, w.query, w.files, to) }
	if w.sum != nil {
		write = func(to io.Writer) error { return s.share(ctx, w, to) }
	}
	err = keepFile(s.votesPath(w.id), w.query.Deadline, write)
	s.metrics.noteVotes(s.Now().Sub(began), err == nil)
	if errors.Is(err, diskroom.ErrFull) {
		return err
	}
	if err != nil {
		// Why is between the party and its operator.
		s.Log.Error("voting failed", "query", w.id.String(), "error", err)
		return problem.New(problem.Unable, "")
	}
	if err := s.commitWork(ctx, w); err != nil {
		return err
	}
	s.Log.Info("voted", "query", w.id.String(), "job", w.query.Job, "kind", string(w.query.Kind), "in_secret",
		w.sum != nil)
	return beforeStep(beforeAnswer)
}

// commitWork stores the answer's digest in the account (6.2): from then on this answer, and no other one, may leave.
func (s *Server) commitWork(ctx context.Context, w *work) error {
	if err := beforeStep(beforeCommit); err != nil || w.job == nil {
		return err
	}
	digest, err := DigestOf(s.votesPath(w.id))
	if err == nil {
		err = w.job.Commit(ctx, []byte(hex.EncodeToString(digest[:])))
	}
	return err
}

// isAnswered reports whether the answer to a query may be given (5.6), and keeps it until the query's deadline. An answer
// that is in the account and not on disk was deleted, or its state is a copy of another one.
func (s *Server) isAnswered(w *work) (bool, error) {
	path := s.votesPath(w.id)
	info, err := os.Stat(path)
	switch {
	case w.job != nil && w.job.Stored() == nil: // a file may be there: it has not left
		return false, nil
	case w.job == nil && errors.Is(err, os.ErrNotExist):
		return false, nil
	case err == nil && w.job != nil:
		digest, err := DigestOf(path)
		if err != nil || hex.EncodeToString(digest[:]) != string(w.job.Stored()) {
			return false, errors.Join(errors.New("party: the votes on disk must be those that were given"), err)
		}
	case err != nil:
		return false, problem.New(problem.Late, "the votes were given until a deadline, and deleted")
	}
	if info.ModTime().Before(w.query.Deadline) {
		return true, os.Chtimes(path, w.query.Deadline, w.query.Deadline)
	}
	return true, nil
}

// chargeWork charges a query once, after all checks that need no votes. A query that cannot be
// combined, a sum that does not match it, and a lack of disk space for the votes therefore cost
// nothing.
func (s *Server) chargeWork(ctx context.Context, w *work) error {
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
	if err := beforeStep(beforeCharge); err != nil || w.job == nil {
		return err
	}
	price := w.query.price()
	return w.job.Charge(ctx, price, []dp.Event{{Release: "votes", Mechanism: "votes", Epsilon: price.Epsilon, Delta: price.Delta}})
}

// price is what a query costs the institution: a secret sum may fail with a chance far below one unit.
func (q *Query) price() dp.Price {
	p := dp.Price{Epsilon: q.Params.Epsilon}
	if q.Honest > 0 {
		p.Delta = 1
	}
	return p
}

// serveCall bounds the time of a call, writes the audit log and turns errors into
// problems.
func (s *Server) serveCall(ctx context.Context, call string,
	f func(context.Context, identity.Caller) (*Query, error)) (err error) {
	problem.Reached(ctx)
	who, began := admission.Caller(ctx), s.Now()
	ctx, cancel := context.WithTimeout(ctx, transfer)
	defer cancel()
	var q *Query
	defer func() {
		if x := recover(); x != nil {
			s.Log.Error("a call failed", "call", call, "caller", who.String(), "fault", x, "stack", string(debug.Stack()))
			err = problem.New(problem.Internal, "")
		}
		s.Calls.Took(call, s.Now().Sub(began))
		refused, again := "", false
		if err != nil {
			p := s.Problem(err)
			if p.Kind == problem.Internal {
				s.Log.Error("a call failed", "call", call, "caller", who.String(), "error", err)
			}
			s.Calls.Refused(call, p.Kind)
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

// findJob finds the query in the account.
func (s *Server) findJob(ctx context.Context, w *work) (err error) {
	if s.Charge != nil {
		w.job, err = s.Charge(ctx, w.id)
	}
	return err
}

// check refuses a query that the institution does not allow.
func (s *Server) check(q *Query, who identity.Caller) error {
	t, price := s.Terms(), q.price()
	switch {
	case !slices.Contains(t.Combiners, who.Name):
		return problem.New(problem.Forbidden, "%s", who)
	case q.Schema != t.Schema:
		return t.Refuse("votes.schema", "another schema than %x", t.Schema[:])
	case q.Honest == 0 && !slices.Contains(t.Kinds, q.Kind):
		return t.Refuse("votes.kinds", "no %s", q.Kind)
	case q.Honest > 0 && len(t.Helpers) == 0:
		return t.Refuse("votes.helpers", "no secret sums")
	case s.Charge != nil && (price.Epsilon > t.Each.Epsilon || price.Delta > t.Each.Delta):
		return t.Refuse("votes.each", "at most %s, this asks %s", t.Each, price)
	}
	return t.Open(s.Now())
}

// metrics count an institution's votes. They do not reveal their content.
type metrics struct {
	answers  prometheus.Counter
	failures prometheus.Counter
	voting   prometheus.Histogram
}

func newMetrics() *metrics {
	return &metrics{
		answers: prometheus.NewCounter(prometheus.CounterOpts{Name: "discreet_votes_answers_total",
			Help: "Queries answered in full, repeated ones included."}),
		failures: prometheus.NewCounter(prometheus.CounterOpts{Name: "discreet_votes_failures_total",
			Help: "Times that the model or command failed to vote."}),
		voting: prometheus.NewHistogram(prometheus.HistogramOpts{Name: "discreet_votes_voting_seconds",
			Help: "How long voting took.", Buckets: prometheus.ExponentialBuckets(0.01, 4, 8)}),
	}
}

func (m *metrics) noteVotes(took time.Duration, well bool) {
	m.voting.Observe(took.Seconds())
	if !well {
		m.failures.Inc()
	}
}

// Metrics are for the page of the service.
func (s *Server) Metrics() []prometheus.Collector {
	return []prometheus.Collector{s.metrics.answers, s.metrics.failures, s.metrics.voting}
}

// DigestOf is the SHA-256 of a file.
func DigestOf(path string) (d multiparty.Digest, err error) {
	f, err := openfile.Regular(path)
	if err != nil {
		return d, err
	}
	h := sha256.New()
	_, err = io.Copy(h, f)
	h.Sum(d[:0])
	return d, errors.Join(err, f.Close())
}

// ParseTables parses the auxiliary files that are voted on, as SHA256:BYTES.
func ParseTables(tables []string) (map[multiparty.Digest]int64, error) {
	sizes := map[multiparty.Digest]int64{}
	for _, t := range tables {
		var d multiparty.Digest
		digits, size, _ := strings.Cut(t, ":")
		var n int64
		_, err := fmt.Sscanf(size, "%d", &n)
		if before := sizes[d]; d.UnmarshalText([]byte(digits)) != nil || err != nil || fmt.Sprint(n) != size || n < 1 || n > maxBytes ||
			before != 0 {
			return nil, fmt.Errorf("must be SHA256:BYTES, the SHA-256 of a file in lower-case hexadecimal digits and its size, 1 to %d",
				int64(maxBytes))
		}
		sizes[d] = n
	}
	if len(sizes) != len(tables) || len(sizes) == 0 {
		return nil, errors.New("must name at least one file, and each once")
	}
	return sizes, nil
}
