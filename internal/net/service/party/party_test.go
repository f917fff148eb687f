// SPDX-License-Identifier: Apache-2.0

package party

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"connectrpc.com/connect"
	"go.uber.org/goleak"

	"github.com/discreet-dp/discreet/internal/ground/diskroom"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ledger"
	"github.com/discreet-dp/discreet/internal/net/federated/multiparty"
	"github.com/discreet-dp/discreet/internal/net/service/admission"
	"github.com/discreet-dp/discreet/internal/net/service/identity"
	"github.com/discreet-dp/discreet/internal/net/service/problem"
	"github.com/discreet-dp/discreet/internal/net/service/rpc"
	"github.com/discreet-dp/discreet/internal/net/testkit/crltest"
)

// No goroutine is left behind, whatever a test has cut off.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var quiet = slog.New(slog.DiscardHandler)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// table is an auxiliary table of so many rows, for votes that need not look at it.
const rows = 40

var table = []byte(strings.Repeat("x\n", rows))

// world is an authority, a combiner and an auxiliary file.
type world struct {
	t         *testing.T
	authority *identity.Authority
	combiner  *identity.Identity
	aux       string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	a, err := identity.NewAuthority(time.Now(), 24*time.Hour)
	must(t, err)
	w := &world{t: t, authority: a, aux: filepath.Join(t.TempDir(), "aux.csv")}
	w.combiner = w.identity(identity.Combiner, "uni")
	must(t, os.WriteFile(w.aux, table, 0o600))
	return w
}

func (w *world) identity(role identity.Role, name string) *identity.Identity {
	w.t.Helper()
	id, err := w.authority.Issue(identity.Caller{Role: role, Name: name}, []string{"127.0.0.1"}, time.Now(), 12*time.Hour)
	must(w.t, err)
	return id
}

// query is one that parties of this test answer, but for what change does.
func (w *world) query(change func(*Query)) *Query {
	w.t.Helper()
	d, err := DigestOf(w.aux)
	must(w.t, err)
	p := multiparty.Defaults()
	p.Epsilon, p.Parties = dp.Nano, 10
	q := &Query{
		Job: "test", Params: p, Schema: multiparty.Digest{1}, Kind: multiparty.Labels,
		Tables:   []Table{{Digest: d, Bytes: int64(len(table)), Format: CSV}},
		Deadline: time.Now().Add(time.Hour).Truncate(time.Second),
	}
	if change != nil {
		change(q)
	}
	return q
}

// member is a party that is served.
type member struct {
	*Server
	w       *world
	name    string
	address string
	key     ed25519.PrivateKey
	params  setup
	casts   atomic.Int32
	ledger  *ledger.Ledger
	wrap    func(http.Handler) http.Handler
	stop    func() // nil while it is down
}

// setup is how a member begins.
type setup struct {
	Params
	terms    Terms
	lifetime dp.Epsilon
	here     bool // the auxiliary file was sent before
	free     bool // votes cost nothing more
}

// levels of every test's label.
var levels = []string{"no", "yes"}

// member starts a party. Its votes are random, so that none are made twice alike.
func (w *world) member(name string, change func(*setup)) *member {
	w.t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0") // an address to come back to
	must(w.t, err)
	m := &member{w: w, name: name, address: l.Addr().String(), key: keyOf(name)}
	must(w.t, l.Close())
	d, err := DigestOf(w.aux)
	must(w.t, err)
	m.params = setup{Params: Params{
		Self: w.identity(identity.Party, name), State: w.t.TempDir(), Key: m.key, Problem: problem.Of,
		Calls: admission.NewMetrics(), Log: quiet,
		Plan: func(context.Context, *Query, []string) (int, uint64, error) { return 0, 0, nil },
		Cast: func(_ context.Context, q *Query, _ []string, to io.Writer) error {
			return m.votes(q, byte(m.casts.Add(1)), to)
		},
	}, terms: Terms{
		Combiners: []string{"uni"}, Schema: multiparty.Digest{1}, Tables: map[multiparty.Digest]int64{d: int64(len(table))},
		Kinds: []multiparty.Kind{multiparty.Labels}, Each: dp.Price{Epsilon: 2 * dp.Nano, Delta: 1},
		Open: func(time.Time) error { return nil }, Refuse: func(clause, figures string, args ...any) error {
			return problem.New(problem.NotAllowed, clause+": "+figures, args...)
		},
	}, lifetime: 4 * dp.Nano, here: true}
	if change != nil {
		change(&m.params)
	}
	w.t.Cleanup(m.kill)
	return m.start()
}

// keyOf is the key of a party of that name.
func keyOf(name string) ed25519.PrivateKey {
	seed := sha256.Sum256([]byte(name))
	return ed25519.NewKeyFromSeed(seed[:])
}

// votes writes a file whose votes say which it is.
func (m *member) votes(q *Query, which byte, to io.Writer) error {
	codes := make([]byte, rows)
	for i := range codes {
		codes[i] = which >> (i % 8) & 1
	}
	v, err := multiparty.NewWriter(to, multiparty.Header{Party: m.name, Kind: multiparty.Labels, Levels: levels,
		Rows: rows, Aux: q.Aux()}, m.key)
	if err == nil {
		err = v.Labels(codes)
	}
	if err == nil {
		err = v.Close()
	}
	return err
}

// start serves a party that is down, on its state and at its address.
func (m *member) start() *member {
	m.w.t.Helper()
	m.open()
	s, err := New(m.params.Params)
	must(m.w.t, err)
	m.Server = s
	if m.params.here {
		d, err := DigestOf(m.w.aux)
		must(m.w.t, err)
		must(m.w.t, os.WriteFile(s.shelf.sentPath(Table{Digest: d, Format: CSV}), table, 0o600))
	}
	l, err := net.Listen("tcp", m.address)
	must(m.w.t, err)
	g := &admission.Gate{Self: s.Self, May: map[string][]identity.Role{}, Names: m.params.terms.Combiners, Body: maxMessage,
		Places: map[string]*admission.Places{}, Metrics: s.Calls, Log: s.Log}
	Admit(g)
	calls := http.NewServeMux()
	calls.Handle(s.Handler(g))
	h := g.Handler(calls)
	if m.wrap != nil {
		h = m.wrap(h)
	}
	server := httptest.NewUnstartedServer(h)
	must(m.w.t, server.Listener.Close())
	server.Listener, server.TLS, server.EnableHTTP2 = l, m.params.Self.Server(), true
	server.Config.ErrorLog = slog.NewLogLogger(quiet.Handler(), slog.LevelDebug)
	server.StartTLS()
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { _ = s.Run(ctx) }) // it returns nil
	m.stop = func() {
		server.CloseClientConnections()
		cancel()
		server.Close()
		wg.Wait()
		must(m.w.t, m.ledger.Close())
	}
	return m
}

// open opens the ledger of a member.
func (m *member) open() {
	t := m.w.t
	t.Helper()
	l, err := ledger.Create(context.Background(), filepath.Join(m.params.State, "ledger.db"))
	must(t, err)
	m.ledger = l
	all := dp.Price{Epsilon: m.params.lifetime, Delta: 1000}
	if err := l.Declare(t.Context(), ledger.Dataset{Name: "rows", Epsilon: all.Epsilon, Delta: all.Delta,
		Institution: &ledger.Institution{Price: all}}); !errors.As(err, new(*ledger.Exists)) {
		must(t, err)
	}
	m.params.Terms = func() *Terms { return &m.params.terms }
	m.params.Charge = func(ctx context.Context, id ID) (Job, error) {
		return l.Job(ctx, ledger.Request{Dataset: "rows", ID: "vote-" + id.String(), Config: []byte(id.String()), Institution: true,
			Resume: true})
	}
	if m.params.free {
		m.params.Charge = nil
	}
	m.params.Problem = func(err error) *problem.Problem {
		switch {
		case errors.As(err, new(*ledger.Exceeded)):
			return problem.New(problem.Spent, "")
		case errors.Is(err, diskroom.ErrFull):
			return problem.New(problem.Storage, "")
		}
		return problem.Of(err)
	}
}

// spent is what all queries cost together, and how many there were.
func (m *member) spent(ctx context.Context) (spent dp.Epsilon, queries int, err error) {
	b, err := m.ledger.Balances(ctx, "rows")
	if err != nil {
		return 0, 0, err
	}
	err = m.ledger.History(ctx, "rows", func(e ledger.Entry) error {
		if e.Kind == ledger.Began {
			queries++
		}
		return nil
	})
	return b[0].OfInstitution.Spent.Epsilon, queries, err
}

// kill stops a party and cuts off the calls under way.
func (m *member) kill() {
	if m.stop != nil {
		m.stop()
		m.stop = nil
	}
}

func (m *member) peer() Peer {
	p := Peer{URL: "https://" + m.address, Name: m.name}
	copy(p.Key[:], m.key.Public().(ed25519.PublicKey))
	return p
}

// asking asks parties by a combiner.
func (w *world) asking(q *Query, peers ...Peer) Asking {
	w.t.Helper()
	return Asking{Self: w.combiner, Peers: peers, Query: q, Files: []string{w.aux}, Dir: w.t.TempDir(), Log: quiet,
		Fits: func(h *multiparty.Header) error {
			if h.Aux != q.Aux() || h.Rows != rows {
				return errors.New("another table")
			}
			return nil
		}}
}

// ask asks one party and returns its votes file, or why there is none.
func (w *world) ask(q *Query, m *member) ([]byte, error) {
	w.t.Helper()
	a := w.asking(q, m.peer())
	answers, err := a.Votes(w.t.Context())
	must(w.t, err)
	if answers[0].Err != nil {
		return nil, answers[0].Err
	}
	text, err := os.ReadFile(filepath.Join(a.Dir, m.name))
	must(w.t, err)
	return text, nil
}

func (w *world) wants(kind problem.Kind, err error) {
	w.t.Helper()
	if got := problem.Of(err); err == nil || got.Kind != kind {
		w.t.Errorf("err = %v, want %s", err, kind)
	}
}

// A query has one answer, given again for nothing, by the process that comes
// after, too; a second query has another one, until all is spent.
func TestOneQueryOneAnswer(t *testing.T) {
	w := newWorld(t)
	m := w.member("mary", nil)
	first, err := w.ask(w.query(nil), m)
	must(t, err)
	for range 2 {
		again, err := w.ask(w.query(func(q *Query) { q.Deadline = q.Deadline.Add(time.Minute) }), m)
		must(t, err)
		if !bytes.Equal(first, again) {
			t.Error("the same query has another answer")
		}
		m.kill()
		m.start()
	}
	second, err := w.ask(w.query(func(q *Query) { q.Job, q.Params.Epsilon = "two", 2*dp.Nano }), m)
	must(t, err)
	if bytes.Equal(first, second) || m.casts.Load() != 2 {
		t.Errorf("two queries were answered by %d casts", m.casts.Load())
	}
	_, err = w.ask(w.query(func(q *Query) { q.Job, q.Params.Epsilon = "three", dp.Nano+1 }), m)
	w.wants(problem.Spent, err)
	_, err = w.ask(w.query(func(q *Query) { q.Job = "three" }), m)
	must(t, err)
	if spent, n, err := m.spent(t.Context()); err != nil || spent != 4*dp.Nano || n != 3 {
		t.Errorf("%s is spent on %d queries, %v; want 4 on 3", spent, n, err)
	}
}

// Callers at once with one query wait for one cast.
func TestOneCastForManyCallers(t *testing.T) {
	w := newWorld(t)
	begun, go1 := make(chan struct{}), make(chan struct{})
	var m *member
	m = w.member("mary", func(p *setup) {
		p.Cast = func(_ context.Context, q *Query, _ []string, to io.Writer) error {
			close(begun) // a second time is a panic, and no answer
			<-go1
			return m.votes(q, 1, to)
		}
	})
	var wg sync.WaitGroup
	var failed atomic.Int32
	for range 8 {
		wg.Go(func() {
			if _, err := w.ask(w.query(nil), m); err != nil {
				failed.Add(1)
			}
		})
	}
	<-begun
	close(go1)
	wg.Wait()
	if failed.Load() != 0 {
		t.Errorf("%d of 8 callers have no votes", failed.Load())
	}
}

// Anyone who asks before the votes are ready is asked to come back, and gets them.
func TestSlowVotesAreWaitedFor(t *testing.T) {
	w := newWorld(t)
	ready := make(chan struct{})
	var m *member
	m = w.member("mary", func(p *setup) {
		p.Cast = func(_ context.Context, q *Query, _ []string, to io.Writer) error {
			<-ready
			return m.votes(q, 1, to)
		}
	})
	m.wait = time.Millisecond
	client, query := w.client(m, w.combiner, w.query(nil))
	err := call(t, client, query)
	w.wants(problem.Overloaded, err)
	close(ready)
	if _, err := w.ask(w.query(nil), m); err != nil {
		t.Error(err)
	}
}

// client makes raw calls to a party.
func (w *world) client(m *member, as *identity.Identity, q *Query) (rpc.PartyClient, *rpc.SignedQuery) {
	w.t.Helper()
	tr := &http.Transport{TLSClientConfig: as.Client(identity.Party), ForceAttemptHTTP2: true}
	w.t.Cleanup(tr.CloseIdleConnections)
	signed := new(rpc.SignedQuery)
	if q != nil {
		text, err := q.encodeText(q.Deadline.Unix()) // what Check refuses, too
		must(w.t, err)
		s, err := as.Sign(Purpose, text)
		must(w.t, err)
		signed = &rpc.SignedQuery{Query: text, Certificate: s.Certificate, Signature: s.Value}
	}
	return rpc.NewPartyClient(&http.Client{Transport: tr}, "https://"+m.address), signed
}

// call asks for votes once.
func call(t *testing.T, c rpc.PartyClient, q *rpc.SignedQuery) error {
	t.Helper()
	stream, err := c.Vote(t.Context(), connect.NewRequest(&rpc.VoteRequest{Query: q}))
	if err != nil {
		return err
	}
	defer stream.Close()
	for stream.Receive() {
	}
	return stream.Err()
}

// What the operator has not allowed is refused, before anything is charged.
func TestRefusals(t *testing.T) {
	w := newWorld(t)
	m := w.member("mary", nil)
	for name, c := range map[string]struct {
		as     *identity.Identity
		change func(*Query)
		want   problem.Kind
	}{
		"another combiner":  {w.identity(identity.Combiner, "other"), nil, problem.Forbidden},
		"an operator":       {w.identity(identity.Operator, "uni"), nil, problem.Forbidden},
		"a party":           {w.identity(identity.Party, "uni"), nil, problem.Forbidden},
		"an owner":          {w.identity(identity.Owner, "uni"), nil, problem.Forbidden},
		"too dear":          {w.combiner, func(q *Query) { q.Params.Epsilon = 2*dp.Nano + 1 }, problem.NotAllowed},
		"for nothing":       {w.combiner, func(q *Query) { q.Params.Epsilon = 0 }, problem.Malformed},
		"less than nothing": {w.combiner, func(q *Query) { q.Params.Epsilon = -dp.Nano }, problem.Malformed},
		"without privacy": {w.combiner, func(q *Query) { q.Params.Epsilon, q.Params.NotPrivate = 0, true },
			problem.Malformed},
		"another schema":  {w.combiner, func(q *Query) { q.Schema[0]++ }, problem.NotAllowed},
		"another table":   {w.combiner, func(q *Query) { q.Tables[0].Digest[0]++ }, problem.NotAllowed},
		"another size":    {w.combiner, func(q *Query) { q.Tables[0].Bytes++ }, problem.NotAllowed},
		"another format":  {w.combiner, func(q *Query) { q.Tables[0].Format = Parquet }, problem.UnknownTable},
		"no table":        {w.combiner, func(q *Query) { q.Tables = nil }, problem.Malformed},
		"too many tables": {w.combiner, func(q *Query) { q.Tables = make([]Table, maxTables+1) }, problem.Malformed},
		"one more table": {w.combiner, func(q *Query) { q.Tables = append(q.Tables, Table{Bytes: 1, Format: CSV}) },
			problem.NotAllowed},
		"another kind": {w.combiner, func(q *Query) { q.Kind = multiparty.Probabilities }, problem.NotAllowed},
		"the model itself": {w.combiner, func(q *Query) {
			q.Kind, q.Params.Method = multiparty.Coefficients, multiparty.Average
		}, problem.NotAllowed},
		"a method of no use": {w.combiner, func(q *Query) { q.Params.Method = "all" }, problem.Malformed},
		"a job with a path":  {w.combiner, func(q *Query) { q.Job = "../x" }, problem.Malformed},
		"too late": {w.combiner, func(q *Query) { q.Deadline = time.Now().Add(-time.Second).Truncate(time.Second) },
			problem.Late},
		"in years":     {w.combiner, func(q *Query) { q.Deadline = q.Deadline.Add(maxAhead) }, problem.NotAllowed},
		"a secret sum": {w.combiner, func(q *Query) { q.Honest = 3 }, problem.NotAllowed},
	} {
		t.Run(name, func(t *testing.T) {
			client, query := w.client(m, c.as, w.query(c.change))
			err := call(t, client, query)
			if got := problem.Of(err); err == nil || got.Kind != c.want {
				t.Errorf("err = %v, want %s", err, c.want)
			}
		})
	}
	if spent, n, err := m.spent(t.Context()); err != nil || spent != 0 || n != 0 || m.casts.Load() != 0 {
		t.Errorf("refused queries have cost %s, %v, and %d casts", spent, err, m.casts.Load())
	}
}

// A combiner whose certificate is revoked gets no votes, not over a connection that
// stood before and not by what it signed before; another certificate of its own does.
func TestRevokedCombiners(t *testing.T) {
	w := newWorld(t)
	dir := t.TempDir()
	must(t, w.authority.Save(dir))
	self := w.identity(identity.Party, "mary")
	must(t, self.Save(dir))
	must(t, w.combiner.Save(dir))
	self, err := identity.Load(dir, self.Caller)
	must(t, err)
	m := w.member("mary", func(p *setup) { p.Self = self })
	client, query := w.client(m, w.combiner, w.query(nil))
	must(t, call(t, client, query))
	crltest.Revoke(t, dir, time.Now(), time.Hour, "combiner-"+w.combiner.Name)
	w.wants(problem.Reconnect, call(t, client, query))
	if call(t, client, query) == nil {
		t.Error("a revoked combiner has connected anew")
	}
	again := w.identity(identity.Combiner, w.combiner.Name)
	if client, _ := w.client(m, again, w.query(nil)); call(t, client, query) == nil {
		t.Error("what a revoked certificate has signed is answered")
	}
	client, query = w.client(m, again, w.query(nil))
	must(t, call(t, client, query))
}

// A query is what its combiner has signed, to the last bit, and no one else's.
func TestForgeries(t *testing.T) {
	w := newWorld(t)
	m := w.member("mary", func(p *setup) { p.terms.Combiners = []string{"uni", "other"} })
	client, good := w.client(m, w.combiner, w.query(nil))
	must(t, call(t, client, good))
	w.wants(problem.BadSignature, call(t, client, nil))
	w.wants(problem.BadSignature, call(t, client, new(rpc.SignedQuery)))
	for bit := 0; bit < 8*len(good.Query); bit += 7 {
		bad := &rpc.SignedQuery{Query: bytes.Clone(good.Query), Certificate: good.Certificate, Signature: good.Signature}
		bad.Query[bit/8] ^= 1 << (bit % 8)
		w.wants(problem.BadSignature, call(t, client, bad))
	}
	_, others := w.client(m, w.identity(identity.Combiner, "other"), w.query(nil))
	w.wants(problem.Forbidden, call(t, client, others))
	_, operators := w.client(m, w.identity(identity.Operator, "uni"), w.query(nil))
	w.wants(problem.BadSignature, call(t, client, operators))
	stranger, err := identity.NewAuthority(time.Now(), time.Hour*24)
	must(t, err)
	foreign, err := stranger.Issue(identity.Caller{Role: identity.Combiner, Name: "uni"}, nil, time.Now(), time.Hour)
	must(t, err)
	_, foreigners := w.client(m, foreign, w.query(nil))
	w.wants(problem.BadSignature, call(t, client, foreigners))
	// A signature for something else is none of a query.
	s, err := w.combiner.Sign("discreet announcement 1", good.Query)
	must(t, err)
	w.wants(problem.BadSignature,
		call(t, client, &rpc.SignedQuery{Query: good.Query, Certificate: s.Certificate, Signature: s.Value}))
}

// A party says that it cannot vote, and nothing of why; the next time it may.
func TestFailuresStayAtHome(t *testing.T) {
	w := newWorld(t)
	fails := true
	var m *member
	m = w.member("mary", func(p *setup) {
		p.Cast = func(_ context.Context, q *Query, _ []string, to io.Writer) error {
			if fails {
				_, err := to.Write([]byte("half a file"))
				return errors.Join(err, errors.New("row 7: Smith has no pulse"))
			}
			return m.votes(q, 1, to)
		}
	})
	_, err := w.ask(w.query(nil), m)
	w.wants(problem.Unable, err)
	if strings.Contains(err.Error(), "Smith") {
		t.Errorf("the combiner reads %q", err)
	}
	if files, err := os.ReadDir(m.votesDir()); err != nil || len(files) != 0 {
		t.Errorf("half a file is kept: %v %v", files, err)
	}
	fails = false
	if _, err := w.ask(w.query(nil), m); err != nil {
		t.Error(err)
	}
	m.kill()
	m.params.Cast = func(context.Context, *Query, []string, io.Writer) error { panic("Smith") }
	m.start()
	_, err = w.ask(w.query(func(q *Query) { q.Job = "panics" }), m)
	w.wants(problem.Unable, err)
}

// Votes are there until the deadline and gone afterwards, for good.
func TestVotesAreForgotten(t *testing.T) {
	w := newWorld(t)
	var ahead atomic.Int64
	m := w.member("mary", func(p *setup) {
		p.Now = func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
	})
	_, err := w.ask(w.query(nil), m)
	must(t, err)
	must(t, m.forgetVotes())
	if files, _ := os.ReadDir(m.votesDir()); len(files) != 1 {
		t.Errorf("%d votes files before the deadline, want 1", len(files))
	}
	ahead.Store(int64(2 * time.Hour))
	must(t, m.forgetVotes())
	if files, _ := os.ReadDir(m.votesDir()); len(files) != 0 {
		t.Errorf("%d votes files after the deadline, want 0", len(files))
	}
	_, err = w.ask(w.query(func(q *Query) { q.Deadline = q.Deadline.Add(4 * time.Hour) }), m)
	w.wants(problem.Late, err)
	if m.casts.Load() != 1 {
		t.Errorf("%d casts, want 1: a second one is another answer", m.casts.Load())
	}
}

// What combiners ask adds up, whoever of them asks.
func TestLifetimeIsOfAllCombiners(t *testing.T) {
	w := newWorld(t)
	m := w.member("mary", func(p *setup) { p.terms.Combiners, p.lifetime = []string{"uni", "other"}, 3*dp.Nano/2 })
	client, query := w.client(m, w.combiner, w.query(nil))
	must(t, call(t, client, query))
	client, query = w.client(m, w.identity(identity.Combiner, "other"), w.query(nil))
	w.wants(problem.Spent, call(t, client, query))
}

// Where the model's price is in the ledger its votes cost nothing more, whatever they are about and however often;
// the same query gets the same bytes all the same.
func TestModelsInTheLedgerVoteForNothing(t *testing.T) {
	w := newWorld(t)
	m := w.member("mary", func(p *setup) { p.free = true })
	for _, job := range []string{"first", "second", "third"} {
		dear := w.query(func(q *Query) { q.Job, q.Params.Epsilon = job, 100*dp.Nano })
		first, err := w.ask(dear, m)
		must(t, err)
		m.kill()
		m.start()
		again, err := w.ask(dear, m)
		must(t, err)
		if !bytes.Equal(first, again) {
			t.Error("the same query has another answer")
		}
	}
	if spent, n, err := m.spent(t.Context()); err != nil || spent != 0 || n != 0 {
		t.Errorf("%s is spent on %d queries, %v", spent, n, err)
	}
}

// What is half written when a process dies is gone when the next one begins.
func TestHalvesAreSwept(t *testing.T) {
	w := newWorld(t)
	m := w.member("mary", nil)
	_, err := w.ask(w.query(nil), m)
	must(t, err)
	m.kill()
	half := filepath.Join(m.params.State, "votes", "abc"+partial+"1")
	must(t, os.WriteFile(half, []byte("x"), 0o600))
	m.start()
	if files, _ := os.ReadDir(m.votesDir()); len(files) != 1 || strings.Contains(files[0].Name(), partial) {
		t.Errorf("%v is kept, want the whole file alone", files)
	}
}

// FuzzQuery: what is accepted is written back as it was.
func FuzzQuery(f *testing.F) {
	p := multiparty.Defaults()
	p.Epsilon, p.Parties = dp.Nano, 10
	q := &Query{Job: "a", Params: p, Kind: multiparty.Labels, Tables: []Table{{Bytes: 1, Format: CSV}},
		Deadline: time.Unix(1, 0)}
	text, err := q.Text()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add(bytes.Replace(text, []byte(`"honest":0`), []byte(`"honest":3`), 1))
	f.Add([]byte("{}\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		q, err := ParseQuery(b)
		if err != nil {
			return
		}
		again, err := q.Text()
		if err != nil || !bytes.Equal(again, b) {
			t.Errorf("%q is read and written as %q, %v", b, again, err)
		}
	})
}

// The log says who asked, for what, and what was refused; nothing of a vote.
func TestAuditLog(t *testing.T) {
	w := newWorld(t)
	var said lines
	m := w.member("mary", func(p *setup) { p.Log = slog.New(slog.NewTextHandler(&said, nil)) })
	_, err := w.ask(w.query(nil), m)
	must(t, err)
	_, err = w.ask(w.query(func(q *Query) { q.Job, q.Params.Epsilon = "dear", 3*dp.Nano }), m)
	w.wants(problem.NotAllowed, err)
	client, query := w.client(m, w.identity(identity.Owner, "o"), w.query(nil))
	w.wants(problem.Forbidden, call(t, client, query))
	// What Connect refuses by itself, of a call and of a stream.
	large := bytes.Repeat([]byte("canary"), 1<<20)
	client, _ = w.client(m, w.identity(identity.Combiner, "uni"), nil)
	w.wants(problem.TooLarge, call(t, client, &rpc.SignedQuery{Query: large}))
	_, err = client.Add(t.Context(), connect.NewRequest(&rpc.AddRequest{Query: &rpc.SignedQuery{Query: large}}))
	w.wants(problem.TooLarge, err)
	if strings.Contains(said.String(), "canary") {
		t.Errorf("the log quotes a message:\n%s", said.String())
	}
	for _, want := range []string{
		`msg=audit call=/discreet.v1.Party/Vote caller=combiner/uni refused=true problem=too-large`,
		`msg=audit call=/discreet.v1.Party/Add caller=combiner/uni refused=true problem=too-large`,
		`msg=audit call=vote caller=combiner/uni refused="" job=test epsilon=1 aux=`,
		`msg=audit call=vote caller=combiner/uni refused=not-allowed job=dear epsilon=3 aux=`,
		`msg=audit call=/discreet.v1.Party/Vote caller=owner/o refused=true problem=forbidden`,
	} {
		if !strings.Contains(said.String(), want) {
			t.Errorf("the log does not say %q:\n%s", want, said.String())
		}
	}
}

// lines is a log that goroutines share.
type lines struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// A process that is cut off at any step of an answer has given nothing away unless the answer's digest is in the
// account. The one that comes after goes on there: it charges no second time, and what may have left is what it gives.
func TestAnswersAreCutOffAtEveryStep(t *testing.T) {
	for _, step := range []string{beforeCharge, beforeVoting, beforeCommit, beforeAnswer} {
		w := newWorld(t)
		m := w.member("mary", nil)
		cut := errors.New("cut off")
		reached := false
		beforeStep = func(at string) error {
			if at != step || reached {
				return nil
			}
			reached = true
			return cut
		}
		t.Cleanup(func() { beforeStep = func(string) error { return nil } })
		client, query := w.client(m, w.combiner, w.query(nil))
		if err := call(t, client, query); err == nil || !reached {
			t.Fatalf("%s: the first call had an answer", step)
		}
		kept := map[string][]byte{}
		files, err := os.ReadDir(m.votesDir())
		must(t, err)
		for _, f := range files {
			kept[f.Name()], err = os.ReadFile(filepath.Join(m.votesDir(), f.Name()))
			must(t, err)
		}
		if len(kept) != map[string]int{beforeCommit: 1, beforeAnswer: 1}[step] {
			t.Errorf("%s: %d answers are on disk", step, len(kept))
		}
		m.kill()
		m.start()
		answer, err := w.ask(w.query(nil), m)
		must(t, err)
		again, err := w.ask(w.query(nil), m)
		must(t, err)
		if !bytes.Equal(answer, again) {
			t.Errorf("%s: two answers to one query", step)
		}
		for _, before := range kept {
			if step == beforeAnswer && !bytes.Equal(before, answer) {
				t.Errorf("%s: another answer than the one that may have left", step)
			}
		}
		if spent, n, err := m.spent(t.Context()); err != nil || spent != dp.Nano || n != 1 {
			t.Errorf("%s: %s is spent on %d queries, %v", step, spent, n, err)
		}
		_, err = m.ledger.Verify(t.Context(), nil)
		must(t, err)
	}
}

// An answer that is in the account is given as it was, or not at all: not one that is made anew for a state which was
// restored from a copy or changed.
func TestOtherAnswersAreNotGiven(t *testing.T) {
	for name, change := range map[string]func(path string) error{
		"restored": os.Remove,
		"changed":  func(path string) error { return os.WriteFile(path, []byte("other votes"), 0o600) },
	} {
		w := newWorld(t)
		m := w.member("mary", nil)
		_, err := w.ask(w.query(nil), m)
		must(t, err)
		m.kill()
		files, err := os.ReadDir(m.votesDir())
		must(t, err)
		must(t, change(filepath.Join(m.votesDir(), files[0].Name())))
		m.start()
		client, query := w.client(m, w.combiner, w.query(nil))
		if err := call(t, client, query); err == nil || m.casts.Load() != 1 {
			t.Errorf("%s: err = %v after %d casts", name, err, m.casts.Load())
		}
	}
}
