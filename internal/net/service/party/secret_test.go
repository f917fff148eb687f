// SPDX-License-Identifier: Apache-2.0

package party

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"connectrpc.com/connect"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/net/federated/multiparty"
	"github.com/discreet-dp/discreet/internal/net/federated/secsum"
	"github.com/discreet-dp/discreet/internal/net/service/identity"
	"github.com/discreet-dp/discreet/internal/net/service/problem"
	"github.com/discreet-dp/discreet/internal/net/service/rpc"
	"github.com/discreet-dp/discreet/internal/net/service/secretsum"
	"github.com/discreet-dp/discreet/internal/net/service/tasks"
	"github.com/discreet-dp/discreet/internal/net/testkit/helpertest"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
)

// The shape of every test's sum.
const (
	length = 7
	below  = 1 << 20
	// soon is how long a combiner waits for helpers before it asks them again, and
	// how long a party that is to have none waits.
	soon = 500 * time.Millisecond
	// patient is how long other parties wait: no one is slower, unless it hangs.
	patient = 20 * time.Minute
)

// committee is helpers and the parties that trust them.
type committee struct {
	*world
	*helpertest.Committee
	addresses map[string]string
}

func newCommittee(t *testing.T) *committee {
	t.Helper()
	w := newWorld(t)
	c := &committee{w, helpertest.New(t, quiet, w.authority, 3), map[string]string{}}
	for h := range 3 {
		c.addresses[c.Name(h)] = c.Address(h)
	}
	return c
}

// member is a party that hands in nothing in the clear. It adds to each coordinate
// how often it was asked, times its scale.
func (c *committee) member(name string, scale uint64, change func(*setup)) *member {
	c.t.Helper()
	var m *member
	m = c.world.member(name, func(p *setup) {
		p.terms.Kinds, p.terms.Helpers, p.terms.Peers, p.terms.Honest = nil, c.addresses, listOf(c.t, named...), len(named)
		p.Plan = func(context.Context, *Query, []string) (int, uint64, error) { return length, below, nil }
		p.Add = func(_ context.Context, _ *Query, _ []string, votes io.Reader) ([]uint64, error) {
			r, err := multiparty.NewReader(votes)
			if err == nil {
				err = r.Rest()
			}
			out := make([]uint64, length)
			for i := range out {
				out[i] = scale * uint64(m.casts.Load())
			}
			return out, err
		}
		if change != nil {
			change(p)
		}
	})
	m.patience = patient
	return m
}

// named are the parties on every test's list.
var named = []string{"a", "b", "d"}

func listOf(t *testing.T, names ...string) tasks.Roster {
	t.Helper()
	var text []byte
	for _, name := range names {
		text = fmt.Appendf(text, "%x\n", keyOf(name).Public())
	}
	list, err := tasks.ParseRoster(text)
	must(t, err)
	return list
}

func (c *committee) query(change func(*Query)) *Query {
	c.t.Helper()
	return c.world.query(func(q *Query) {
		q.Honest = 2
		if change != nil {
			change(q)
		}
	})
}

// total has members add up.
func (c *committee) total(q *Query, members ...*member) (*Total, error) {
	c.t.Helper()
	var peers []Peer
	for _, m := range members {
		peers = append(peers, m.peer())
	}
	a := c.asking(q, peers...)
	return c.added(a)
}

// added has the parties that are asked add up.
func (c *committee) added(a Asking) (*Total, error) {
	c.t.Helper()
	a.patience = soon
	paid := 0
	// Seconds are enough: only a party that does not answer as it should meets the limit.
	ctx, cancel := context.WithTimeout(c.t.Context(), 2*time.Minute)
	defer cancel()
	total, err := a.Total(ctx, c.addresses, length, below, func() error { paid++; return nil })
	if paid != 1 {
		c.t.Errorf("the sum was paid for %d times, want once", paid)
	}
	return total, err
}

func (c *committee) adds(total *Total, err error, parties int, each uint64) {
	c.t.Helper()
	must(c.t, err)
	if total.Parties != parties || !slices.Equal(total.Sum, slices.Repeat([]uint64{each}, length)) {
		c.t.Errorf("%d parties add up to %v, want %d and %d in each coordinate", total.Parties, total.Sum, parties, each)
	}
}

// The sum is that of the parties that are there, and no byte that a party sends to
// the combiner is about a vote: its answers are empty.
func TestNobodySeesAVote(t *testing.T) {
	c := newCommittee(t)
	a, b, d := c.member("a", 1, nil), c.member("b", 10, nil), c.member("d", 100, nil)
	sent := &tap{}
	for _, m := range []*member{a, b, d} {
		m.kill()
		m.wrap = sent.wrap
		m.start().patience = patient
	}
	total, err := c.total(c.query(nil), a, b, d)
	c.adds(total, err, 3, 111)
	all := sent.all()
	if one := all[:len(all)/3]; len(one) > 32 || !bytes.Equal(all, bytes.Repeat(one, 3)) {
		t.Errorf("the parties have sent %q to the combiner, want one and the same empty answer", all)
	}
	for _, m := range []*member{a, b, d} {
		_, err := c.ask(c.world.query(nil), m)
		c.wants(problem.NotAllowed, err)
	}
	files, err := os.ReadDir(a.votesDir())
	must(t, err)
	for _, f := range files {
		text, err := os.ReadFile(a.votesPath(ID(unhex(t, f.Name()))))
		must(t, err)
		if bytes.Contains(text, []byte("discreet votes")) {
			t.Error("a party keeps votes, not shares")
		}
	}
}

// A combiner that invents all other parties knows what they add, and that none of
// it is noise: the sum would be its one real party's vector, nearly bare.
func TestInventedPartiesAreRefused(t *testing.T) {
	c := newCommittee(t)
	mary := c.member("a", 7, nil)
	const invented = 120
	accomplice := c.identity(identity.Party, "accomplice") // one is enough: helpers ask whose key signed
	q := c.query(func(q *Query) {
		q.Params.Parties, q.Honest = invented+1, invented+1
		q.Deadline = time.Now().Add(time.Minute).Truncate(time.Second)
	})
	query, announced := c.announce(q, c.combiner, func(s *secretsum.Sum) {
		s.AtLeast, s.Roster = q.Honest, s.Roster[:1]
		for i := range invented {
			s.Roster = append(s.Roster, secretsum.Key(keyOf(fmt.Sprint("invented ", i)).Public().(ed25519.PublicKey)))
		}
	}, mary)
	s, id, err := announced.Open(c.combiner, time.Now())
	must(t, err)
	protocol, err := s.Protocol()
	must(t, err)
	own := make([][]secretsum.Share, invented)
	for i := range own {
		messages, err := protocol.Split(rng.System(), i+1, make([]uint64, length))
		must(t, err)
		for _, m := range messages {
			share, err := secretsum.Seal(m, keyOf(fmt.Sprint("invented ", i)))
			must(t, err)
			own[i] = append(own[i], share)
		}
	}
	collection := &secretsum.Collection{Sum: s, Signed: announced, Clients: c.Clients(c.combiner), Patience: soon,
		Wait: func(ctx context.Context, _ func(context.Context) []int) error {
			secretsum.Deliver(ctx, id, c.Clients(accomplice), own)
			client, _ := c.client(mary, c.combiner, nil)
			_, err := client.Add(ctx, connect.NewRequest(&rpc.AddRequest{Query: query, Sum: announced.Proto()}))
			c.wants(problem.NotAllowed, err)
			return nil
		}}
	if total, _, err := collection.Run(t.Context()); err == nil {
		t.Errorf("a combiner with %d parties of its own learns %v, which is what the one real party has added",
			invented, total)
	}
	if spent, _, err := mary.spent(t.Context()); err != nil || spent != 0 || mary.casts.Load() != 0 {
		t.Errorf("a refused sum has cost %s and %d casts, %v", spent, mary.casts.Load(), err)
	}
}

// Of a list, so many may add no noise as its operator does not count on; whoever is
// in the sum is the combiner's choice, so it takes as many more than are counted on.
func TestNoiseIsCountedOnAsOperatorsSay(t *testing.T) {
	c := newCommittee(t)
	for _, k := range []struct {
		honest          int // of the three on the list, as the operator says
		parties, others int // of the sum at least, and who count on them
		refused         bool
	}{
		{3, 3, 3, false}, {3, 2, 2, false}, {3, 2, 1, false}, {3, 3, 1, false},
		{2, 3, 3, true}, {2, 3, 2, false}, {2, 2, 2, true}, {2, 2, 1, false},
		{1, 3, 2, true}, {1, 3, 1, false}, {1, 2, 1, true},
	} {
		a := c.member("a", 1, func(p *setup) { p.terms.Honest = k.honest })
		a.patience = soon // no helper knows of the sum
		q := c.query(func(q *Query) { q.Honest = k.others })
		query, announced := c.announce(q, c.combiner, func(s *secretsum.Sum) {
			s.AtLeast, s.Roster = k.parties, nil
			for _, name := range named {
				s.Roster = append(s.Roster, secretsum.Key(keyOf(name).Public().(ed25519.PublicKey)))
			}
		}, a)
		client, _ := c.client(a, c.combiner, nil)
		_, err := client.Add(t.Context(), connect.NewRequest(&rpc.AddRequest{Query: query, Sum: announced.Proto()}))
		if got := problem.Of(err).Kind; (got == problem.NotAllowed) != k.refused {
			t.Errorf("%+v: err = %v", k, err)
		}
		if spent, _, err := a.spent(t.Context()); err != nil || spent != 0 || a.casts.Load() != 0 {
			t.Errorf("%+v: the party has voted %d times, for %s, %v", k, a.casts.Load(), spent, err)
		}
		a.kill()
	}
}

// tap hears what is sent.
type tap struct {
	mu   sync.Mutex
	sent []byte
}

func (tp *tap) wrap(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(&tapped{w, tp}, r)
	})
}

func (tp *tap) all() []byte {
	tp.mu.Lock()
	defer tp.mu.Unlock()
	return bytes.Clone(tp.sent)
}

type tapped struct {
	http.ResponseWriter
	tap *tap
}

func (t *tapped) Write(b []byte) (int, error) {
	t.tap.mu.Lock()
	t.tap.sent = append(t.tap.sent, b...)
	t.tap.mu.Unlock()
	return t.ResponseWriter.Write(b)
}

func (t *tapped) Unwrap() http.ResponseWriter { return t.ResponseWriter }

func unhex(t *testing.T, text string) (d multiparty.Digest) {
	t.Helper()
	must(t, d.UnmarshalText([]byte(text)))
	return d
}

// A party that is gone is not in the sum, and a helper that is gone is not needed.
func TestSumsOutliveTheDead(t *testing.T) {
	c := newCommittee(t)
	a, b, d := c.member("a", 1, nil), c.member("b", 10, nil), c.member("d", 100, nil)
	d.kill()
	c.Kill(1)
	q := c.query(nil)
	asking := c.asking(q, a.peer(), b.peer(), d.peer())
	var over atomic.Bool // the time of the query
	asking.Now = func() time.Time {
		if over.Load() {
			return q.Deadline
		}
		return time.Now()
	}
	asking.Progress = func(done, _ int) { over.Store(done == 2) }
	total, err := c.added(asking)
	c.adds(total, err, 2, 11)
	if total.Answers[0].Err != nil || total.Answers[1].Err != nil || total.Answers[2].Err == nil {
		t.Errorf("answers: %+v, want a and b alone", total.Answers)
	}
}

// A helper that answers with a sum of its choice does not write it, while no more than a
// quorum answers: the combiner's log names it.
func TestALyingHelperIsNamed(t *testing.T) {
	c := newCommittee(t)
	until := make(chan struct{})
	var once sync.Once
	var lines bytes.Buffer
	c.Lie(1, 2, until, helpertest.AddOne(0, 1))
	asking := c.asking(c.query(nil), c.member("a", 1, nil).peer(), c.member("b", 10, nil).peer())
	asking.Log = slog.New(slog.NewTextHandler(writerFunc(func(p []byte) (int, error) {
		lines.Write(p)
		if bytes.Contains(p, []byte("deviated")) {
			once.Do(func() { close(until) })
		}
		return len(p), nil
	}), nil))
	total, err := c.added(asking)
	c.adds(total, err, 2, 11)
	if want := "helper " + c.Name(1) + " has answered with another sum"; !strings.Contains(lines.String(), want) {
		t.Errorf("no line of the log says that %s", want)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// A helper that sends a party elsewhere gets nothing there: the shares of the others
// suffice, and its own goes nowhere.
func TestSharesAreNotRedirected(t *testing.T) {
	c := newCommittee(t)
	var heard atomic.Int32
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { heard.Add(1) }))
	defer elsewhere.Close()
	var sent atomic.Int32
	c.Kill(1)
	c.Wrap = func(_ int, h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, "/Share") {
				sent.Add(1)
				http.Redirect(w, r, elsewhere.URL+r.URL.Path, http.StatusTemporaryRedirect)
				return
			}
			h.ServeHTTP(w, r)
		})
	}
	c.Start(1)
	total, err := c.total(c.query(nil), c.member("a", 1, nil), c.member("b", 10, nil))
	c.adds(total, err, 2, 11)
	if sent.Load() == 0 || heard.Load() != 0 {
		t.Errorf("of %d shares that were sent elsewhere %d went there, want some and none", sent.Load(), heard.Load())
	}
}

// Fewer than are honest make no sum.
func TestTooFewOpenNothing(t *testing.T) {
	c := newCommittee(t)
	a, b := c.member("a", 1, nil), c.member("b", 10, func(p *setup) { p.terms.Each.Epsilon = 1 })
	d := c.member("d", 100, nil)
	_, err := c.total(c.query(func(q *Query) { q.Honest = 3 }), a, b, d)
	if abort := (*secsum.Abort)(nil); !errors.As(err, &abort) {
		t.Errorf("err = %v, want an abort", err)
	}
}

// A party that dies when its shares are made and none is sent sends the same ones:
// they are never split again. It costs once.
func TestSharesAreSplitOnce(t *testing.T) {
	c := newCommittee(t)
	var a *member
	a = c.member("a", 1, func(p *setup) {
		p.Cast = func(_ context.Context, q *Query, _ []string, to io.Writer) error {
			for h := range 3 { // nothing is sent
				c.Kill(h)
			}
			return a.votes(q, byte(a.casts.Add(1)), to)
		}
	})
	q := c.query(nil)
	query, announced := c.announce(q, c.combiner, nil, a)
	add := func() error {
		client, _ := c.client(a, c.combiner, nil)
		_, err := client.Add(t.Context(), connect.NewRequest(&rpc.AddRequest{Query: query, Sum: announced.Proto()}))
		return err
	}
	a.patience = soon
	c.wants(problem.Overloaded, add()) // no helper knows of the sum
	if spent, n, err := a.spent(t.Context()); err != nil || n != 0 || a.casts.Load() != 0 {
		t.Fatalf("a sum that no helper takes shares of has cost %s, %v", spent, err)
	}
	for _, client := range c.Clients(c.combiner) {
		must(t, client.Begin(t.Context(), announced, nil))
	}
	for err := error(nil); a.casts.Load() == 0; { // helpers may take their time
		if err = add(); problem.Of(err).Kind != problem.Overloaded {
			t.Fatal(err)
		}
	}
	shares := c.kept(a)
	a.kill()
	a.start().patience = soon
	c.wants(problem.Overloaded, add())
	if !bytes.Equal(shares, c.kept(a)) || a.casts.Load() != 1 {
		t.Errorf("shares were made anew, by %d casts", a.casts.Load())
	}
	for h := range 3 {
		c.Start(h)
	}
	a.patience = patient
	must(t, add())
	must(t, add())
	if !bytes.Equal(shares, c.kept(a)) {
		t.Error("shares were made anew")
	}
	if spent, n, err := a.spent(t.Context()); err != nil || n != 1 {
		t.Errorf("%s is spent on %d sums, %v; want one", spent, n, err)
	}
}

// kept is the one file that a party keeps.
func (c *committee) kept(m *member) []byte {
	c.t.Helper()
	files, err := os.ReadDir(m.votesDir())
	must(c.t, err)
	if len(files) != 1 {
		c.t.Fatalf("a party keeps %v, want one file", files)
	}
	text, err := os.ReadFile(m.votesPath(ID(unhex(c.t, files[0].Name()))))
	must(c.t, err)
	return text
}

// announce signs a query and a sum about it, but for what change does.
func (c *committee) announce(q *Query, collector *identity.Identity, change func(*secretsum.Sum),
	members ...*member) (*rpc.SignedQuery, secretsum.Signed) {
	c.t.Helper()
	query, err := (Asking{Self: c.combiner, Query: q}).signQuery()
	must(c.t, err)
	s := &secretsum.Sum{Round: "r", Topic: sha256.Sum256(query.GetQuery()), Helpers: helpertest.Meet(c.t.Context(),
		c.Clients(c.combiner)), Length: length, Range: below, AtLeast: 2, Ends: q.Deadline.Add(time.Hour)}
	for _, m := range members {
		s.Roster = append(s.Roster, secretsum.Key(m.key.Public().(ed25519.PublicKey)))
	}
	for _, name := range named {
		if k := secretsum.Key(keyOf(name).Public().(ed25519.PublicKey)); len(s.Roster) < 2 && !slices.Contains(s.Roster, k) {
			s.Roster = append(s.Roster, k)
		}
	}
	if change != nil {
		change(s)
	}
	signed, err := s.Sign(collector)
	must(c.t, err)
	return query, signed
}

// Sums that a party does not add to, and that cost it nothing.
func TestSumsThatAreRefused(t *testing.T) {
	c := newCommittee(t)
	a := c.member("a", 1, nil)
	other := c.world.member("other", nil)
	for name, k := range map[string]struct {
		query     func(*Query)
		collector *identity.Identity
		change    func(*secretsum.Sum)
		want      problem.Kind
	}{
		"about another query":  {nil, c.combiner, func(s *secretsum.Sum) { s.Topic[0]++ }, problem.NotAllowed},
		"of another collector": {nil, c.identity(identity.Combiner, "other"), nil, problem.NotAllowed},
		"of too few":           {func(q *Query) { q.Honest = 3 }, c.combiner, nil, problem.NotAllowed},
		"without the party": {nil, c.combiner, func(s *secretsum.Sum) { s.Roster[0] = secretsum.Key{7} },
			problem.NotAllowed},
		"of more than were asked": {func(q *Query) { q.Params.Parties = 2 }, c.combiner,
			func(s *secretsum.Sum) { s.Roster = append(s.Roster, secretsum.Key{8}) }, problem.NotAllowed},
		"with a stranger": {nil, c.combiner, func(s *secretsum.Sum) { s.Roster[1] = secretsum.Key{8} },
			problem.NotAllowed},
		"with a helper too many": {nil, c.combiner, func(s *secretsum.Sum) {
			s.Helpers = append(s.Helpers, secretsum.Helper{Name: "h3", Memory: secretsum.Memory{1}})
		}, problem.NotAllowed},
		"with another helper": {nil, c.combiner, func(s *secretsum.Sum) { s.Helpers[0].Name = "evil" },
			problem.NotAllowed},
		"for a query for votes": {func(q *Query) { q.Honest = 0 }, c.combiner, nil, problem.NotAllowed},
		"for a dear query":      {func(q *Query) { q.Params.Epsilon *= 10 }, c.combiner, nil, problem.NotAllowed},
		"that ended": {nil, c.combiner, func(s *secretsum.Sum) { s.Ends = time.Unix(time.Now().Unix()-1, 0) },
			problem.Malformed},
		"of majority, which turns": {func(q *Query) { q.Params.Method = multiparty.Majority }, c.combiner, nil,
			problem.Malformed},
	} {
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			q := c.query(k.query)
			text, err := q.encodeText(q.Deadline.Unix())
			must(t, err)
			s, err := c.combiner.Sign(Purpose, text)
			must(t, err)
			sound := c.query(nil)
			_, announced := c.announce(sound, k.collector, func(s *secretsum.Sum) {
				s.Topic = sha256.Sum256(text)
				if k.change != nil {
					k.change(s)
				}
			}, a)
			client, _ := c.client(a, c.combiner, nil)
			// A party that does not refuse waits for the other members, who never come.
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			_, err = client.Add(ctx,
				connect.NewRequest(
					&rpc.AddRequest{Query: &rpc.SignedQuery{Query: text, Certificate: s.Certificate, Signature: s.Value},
						Sum: announced.Proto()}))
			if got := problem.Of(err); err == nil || got.Kind != k.want {
				t.Errorf("err = %v, want %s", err, k.want)
			}
		})
	}
	if spent, n, err := a.spent(t.Context()); err != nil || n != 0 || a.casts.Load() != 0 {
		t.Errorf("refused sums have cost %s, %v", spent, err)
	}
	// A party that knows no helpers takes part in none.
	query, announced := c.announce(c.query(nil), c.combiner, nil, other)
	client, _ := c.client(other, c.combiner, nil)
	_, err := client.Add(t.Context(), connect.NewRequest(&rpc.AddRequest{Query: query, Sum: announced.Proto()}))
	c.wants(problem.NotAllowed, err)
	// A party takes part with all helpers that its operator has named: two thirds of fewer are easier to buy.
	more := c.member("b", 1, func(p *setup) {
		p.terms.Helpers = maps.Clone(p.terms.Helpers)
		p.terms.Helpers["another"] = "https://localhost:1"
	})
	query, announced = c.announce(c.query(nil), c.combiner, nil, more)
	client, _ = c.client(more, c.combiner, nil)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second) // who does not refuse waits for the other members
	defer cancel()
	_, err = client.Add(ctx, connect.NewRequest(&rpc.AddRequest{Query: query, Sum: announced.Proto()}))
	c.wants(problem.NotAllowed, err)
	// A query for votes by way of Vote.
	client, signed := c.client(a, c.combiner, c.query(nil))
	c.wants(problem.Malformed, call(t, client, signed))
}

// A sum of another shape than the query makes is not added to.
func TestSumsOfAnotherShape(t *testing.T) {
	c := newCommittee(t)
	a, b := c.member("a", 1, nil), c.member("b", 1, nil)
	for _, shape := range [][2]uint64{{length + 1, below}, {length, below - 1}} {
		q := c.query(func(q *Query) { q.Job = strings.Repeat("j", int(shape[0])) })
		total, err := c.asking(q, a.peer(), b.peer()).Total(t.Context(), c.addresses, int(shape[0]), shape[1],
			func() error { return nil })
		if err == nil {
			t.Errorf("%v: %v is the sum", shape, total.Sum)
		}
		for _, answer := range total.Answers {
			c.wants(problem.NotAllowed, answer.Err)
		}
	}
	for _, m := range []*member{a, b} {
		if spent, n, err := m.spent(t.Context()); err != nil || n != 0 || m.casts.Load() != 0 {
			t.Errorf("sums of another shape have cost %s, and %d casts, %v", spent, m.casts.Load(), err)
		}
	}
}

// TestNothingIsPaidForWhatPublicThingsDoom asks for what no votes are needed to refuse: a query
// that cannot be combined, and one whose table is none. It costs nothing, and neither does what a
// party cannot afford; what was paid before is not looked at again.
func TestNothingIsPaidForWhatPublicThingsDoom(t *testing.T) {
	c := newCommittee(t)
	var doomed error
	for _, k := range []struct {
		why  error
		want problem.Kind
	}{
		{&dp.ParamError{Op: "combine", Param: "bound", Want: "must be from 2^-10 to 2^10", Got: 0}, problem.Malformed},
		{errors.New("the table is none of the schema"), problem.Unable},
	} {
		doomed = k.why
		plan := func(context.Context, *Query, []string) (int, uint64, error) { return length, below, doomed }
		open := c.world.member("open", func(p *setup) { p.Plan = plan })
		client, query := c.client(open, c.combiner, c.world.query(nil))
		c.wants(k.want, call(t, client, query))
		secret := c.member("a", 1, func(p *setup) { p.Plan = plan })
		total, err := c.total(c.query(nil), secret, c.member("b", 1, func(p *setup) { p.Plan = plan }))
		if err == nil {
			t.Errorf("%v is the sum", total)
		}
		c.wants(k.want, total.Answers[0].Err)
		for _, m := range []*member{open, secret} {
			if spent, n, err := m.spent(t.Context()); err != nil || n != 0 || m.casts.Load() != 0 {
				t.Errorf("%v: it has cost %s, and %d casts, %v", k.why, spent, m.casts.Load(), err)
			}
		}
		doomed = nil
		must(t, call(t, client, query))
		doomed = k.why
		must(t, call(t, client, query)) // the same votes again
		open.kill()
		secret.kill()
	}
}

// A sum that cannot be, or that no one pays for, costs nothing: no party is asked.
func TestSumsThatAreNotBegun(t *testing.T) {
	c := newCommittee(t)
	a, b := c.member("a", 1, nil), c.member("b", 1, nil)
	broke := errors.New("the purse is empty")
	for name, k := range map[string]struct {
		peers     []Peer
		addresses map[string]string
		down      int // helpers
		pay       error
	}{
		"one helper":         {[]Peer{a.peer(), b.peer()}, map[string]string{"h0": c.Address(0)}, 0, nil},
		"one party":          {[]Peer{a.peer()}, c.addresses, 0, nil},
		"an empty purse":     {[]Peer{a.peer(), b.peer()}, c.addresses, 0, broke},
		"one helper answers": {[]Peer{a.peer(), b.peer()}, c.addresses, 2, nil},
	} {
		t.Run(name, func(t *testing.T) {
			for h := range k.down {
				c.Kill(h)
				defer c.Start(h)
			}
			asking, paid := c.asking(c.query(nil), k.peers...), 0
			asking.patience = soon
			if k.down > 0 { // the deadline comes when they have been asked twice
				began := time.Now()
				asking.Now = func() time.Time {
					if time.Since(began) > 2*soon {
						return asking.Query.Deadline
					}
					return began
				}
			}
			_, err := asking.Total(t.Context(), k.addresses, length, below, func() error { paid++; return k.pay })
			if err == nil || k.pay != nil && !errors.Is(err, k.pay) {
				t.Errorf("err = %v", err)
			}
			if k.pay == nil && paid != 0 {
				t.Error("a sum that cannot be was paid for")
			}
		})
	}
	if a.casts.Load()+b.casts.Load() != 0 {
		t.Error("a party was asked")
	}
}

// A second sum about the same query is one more that someone opens: it is charged,
// and has shares of its own.
func TestEachSumHasItsPrice(t *testing.T) {
	c := newCommittee(t)
	a, b := c.member("a", 1, nil), c.member("b", 10, nil)
	q := c.query(nil)
	total, err := c.total(q, a, b)
	c.adds(total, err, 2, 11)
	c.Kill(0)
	c.Lose(0)
	c.Start(0) // with another memory, so it is another sum
	total, err = c.total(q, a, b)
	c.adds(total, err, 2, 22)
	for _, m := range []*member{a, b} {
		if spent, n, err := m.spent(t.Context()); err != nil || n != 2 || spent != 2*q.Params.Epsilon {
			t.Errorf("%s is spent on %d sums, %v; want two at %s each", spent, n, err, q.Params.Epsilon)
		}
	}
}

// TestVotesOfSumsKeepRoom has room for the vector of a secret sum, and none for the votes that it is
// made of, which no one sees: nothing is added, no part of a file is left, and the same call goes
// through later at the same price.
func TestVotesOfSumsKeepRoom(t *testing.T) {
	c := newCommittee(t)
	left := fillDisk(t, length)
	adds := 0
	a := c.member("a", 1, func(p *setup) {
		add := p.Add
		p.Add = func(ctx context.Context, q *Query, files []string, votes io.Reader) ([]uint64, error) {
			adds++
			return add(ctx, q, files, votes)
		}
	})
	query, announced := c.announce(c.query(nil), c.combiner, nil, a)
	for _, client := range c.Clients(c.combiner) {
		must(t, client.Begin(t.Context(), announced, nil))
	}
	client, _ := c.client(a, c.combiner, nil)
	call := func() error {
		_, err := client.Add(t.Context(), connect.NewRequest(&rpc.AddRequest{Query: query, Sum: announced.Proto()}))
		return err
	}
	c.wants(problem.Storage, call())
	if files, err := os.ReadDir(a.votesDir()); err != nil || len(files) > 0 || adds > 0 {
		t.Errorf("without room for votes %v is left, and %d vectors are made: %v", files, adds, err)
	}
	left.Store(1 << 20)
	must(t, call())
	if spent, n, _ := a.spent(t.Context()); spent != dp.Nano || n != 1 || adds != 1 {
		t.Errorf("one sum of %d vectors has cost %s", adds, spent)
	}
}
