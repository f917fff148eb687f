// SPDX-License-Identifier: Apache-2.0

package aggregator_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/ed25519"
	"encoding/binary"
	"errors"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"connectrpc.com/connect"

	"github.com/discreet-dp/discreet/internal/check/testkit/censustest"
	"github.com/discreet-dp/discreet/internal/check/testkit/size"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	owning "github.com/discreet-dp/discreet/internal/net/federated/answer"
	"github.com/discreet-dp/discreet/internal/net/federated/wire"
	"github.com/discreet-dp/discreet/internal/net/service/aggregator"
	"github.com/discreet-dp/discreet/internal/net/service/identity"
	"github.com/discreet-dp/discreet/internal/net/service/owner/spending"
	"github.com/discreet-dp/discreet/internal/net/service/problem"
	"github.com/discreet-dp/discreet/internal/net/service/rpc"
	"github.com/discreet-dp/discreet/internal/net/service/tasks"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
)

// adversary knows the task, honest owners' reports and keys of its own.
type adversary struct {
	t      *testing.T
	f      *federation
	id     wire.Digest
	terms  *owning.Terms
	owners *owning.Owners
	exit   *mech.Exit
	keys   spending.Keys
	slots  [][]int // owners of each slot
	rand   *rand.Rand
	from   map[int]int    // the next unused owner of each slot
	number map[string]int // of each owner
	read   map[*owning.Round]*wire.Round
}

func newAdversary(t *testing.T, f *federation, ann *tasks.Announcement, id wire.Digest, owners int) *adversary {
	text, err := ann.Task.Text()
	must(t, err)
	a := &adversary{t: t, f: f, id: id, exit: mech.NewExit(rng.System()), rand: rand.New(rand.NewPCG(6, 27)),
		from: map[int]int{}, number: map[string]int{}, slots: make([][]int, ann.Task.Slots()),
		read: map[*owning.Round]*wire.Round{}}
	a.terms, err = owning.Accept(text, owning.Caps{Epsilon: 2 * dp.Nano})
	must(t, err)
	recs, err := a.terms.Bind(censustest.Table(1, owners))
	must(t, err)
	b, err := spending.Open(t.Context(), filepath.Join(t.TempDir(), "keys.db"), dp.Nano, "")
	must(t, err)
	a.keys, err = b.Keys(t.Context(), owners)
	must(t, err)
	must(t, b.Close())
	a.owners, err = owning.NewOwners(recs, owners, a.keys.Name, forgetful{})
	must(t, err)
	for i := range owners {
		a.number[a.keys.Name(i)] = i
		slot := a.owners.Place(i).Slot
		a.slots[slot] = append(a.slots[slot], i)
	}
	return a
}

// fresh is an owner of the slot that no one has used.
func (a *adversary) fresh(slot int) int {
	a.from[slot]++
	return a.slots[slot][a.from[slot]-1]
}

// any is some owner of the slot.
func (a *adversary) any(slot int) int { return a.slots[slot][a.rand.IntN(len(a.slots[slot]))] }

func (a *adversary) sign(owner int, report []byte) *rpc.SignedReport {
	return &rpc.SignedReport{Report: report, Signature: ed25519.Sign(a.keys.At(owner), tasks.Signable(report))}
}

// forgetful is a book that keeps nothing.
type forgetful struct{}

func (forgetful) Commit(context.Context, []owning.Given) error { return nil }

// honest is what an owner answers to a broadcast.
func (a *adversary) honest(round *owning.Round, owner int) *wire.Report {
	a.t.Helper()
	given, err := round.Reporter(a.owners).Report(a.t.Context(), []int32{int32(owner)}, a.exit)
	must(a.t, err)
	r, err := wire.ParseReport(given[0].Report)
	must(a.t, err)
	return r
}

// lying is what an owner of another slot answers who keeps to all other rules.
func (a *adversary) lying(round *owning.Round, owner int) *wire.Report {
	ask := a.read[round].Ask(a.owners.Place(owner).Ticket)
	for {
		if r := a.honest(round, a.any(round.Slot())); r.Ask == ask {
			r.Owner = a.keys.Name(owner)
			return r
		}
	}
}

// wantNothingGiven wants no owner to have paid for a task.
func wantNothingGiven(t *testing.T, b *spending.Book, task wire.Digest) {
	t.Helper()
	given, err := b.For(t.Context(), task)
	must(t, err)
	if len(given) > 0 {
		t.Errorf("%d owners have paid", len(given))
	}
}

// crowd lets n fresh owners answer the open slot and returns what they sent.
func (a *adversary) crowd(client rpc.AggregatorClient, n int) (*owning.Round, []*rpc.SignedReport) {
	a.t.Helper()
	state, err := client.GetRound(a.t.Context(), connect.NewRequest(&rpc.GetRoundRequest{TaskId: a.id[:]}))
	must(a.t, err)
	round, err := a.terms.Read(state.Msg.GetBroadcast())
	must(a.t, err)
	a.read[round], err = wire.ParseRound(a.terms.Task(), state.Msg.GetBroadcast())
	must(a.t, err)
	var sent []*rpc.SignedReport
	for range n {
		owner := a.fresh(round.Slot())
		sent = append(sent, a.sign(owner, a.honest(round, owner).Append(nil)))
	}
	a.upload(client, sent, nil)
	return round, sent
}

// upload demands that each report meets the problem named for it; nil: that all
// are stored.
func (a *adversary) upload(client rpc.AggregatorClient, reports []*rpc.SignedReport, want []problem.Kind) {
	a.t.Helper()
	r, err := client.Upload(a.t.Context(), connect.NewRequest(&rpc.UploadRequest{TaskId: a.id[:], Reports: reports}))
	must(a.t, err)
	got := make([]problem.Kind, len(reports))
	for _, refusal := range r.Msg.GetRefusals() {
		got[refusal.GetIndex()] = problem.FromProto(refusal.GetProblem()).Kind
	}
	if want == nil {
		want = make([]problem.Kind, len(reports))
	}
	for i := range got {
		if got[i] != want[i] {
			a.t.Fatalf("report %d of %d: got %v, want %v", i, len(reports), outcomeProblem(got[i]), outcomeProblem(want[i]))
		}
	}
}

func outcomeProblem(k problem.Kind) string {
	if k == (problem.Kind{}) {
		return "stored"
	}
	return k.String()
}

// TestHostileReportsAreRefused sends 100,000 reports that no honest owner sends
// while slot 1 of 4 is open, among them every kind that claim G-LOCALBOOST-2
// names. Each meets its problem, the model is that of the honest reports alone,
// and the honest ones may be sent again, also to the next process.
func TestHostileReportsAreRefused(t *testing.T) {
	total := size.Of(2_000, 100_000)
	const owners, honest = 8000, 40
	f := newFederation(t)
	f.serve()
	ann := f.plan(func(a *tasks.Announcement) { a.Minimum, a.Quiet = honest, 0 })
	id := f.announce(ann)
	a := newAdversary(t, f, ann, id, owners)
	client := f.client(f.identity(identity.Owner, "mallory"))
	var sent []*rpc.SignedReport
	next := func() *owning.Round {
		t.Helper()
		if len(sent) > 0 {
			f.ahead.Add(int64(slotTime))
			f.waitSlot(client, id, len(sent)/honest)
		}
		round, reports := a.crowd(client, honest)
		sent = append(sent, reports...)
		return round
	}
	past, open := next(), next()
	known, fresh := sent[:honest], sent[honest:]

	report := func(r *wire.Report) *rpc.SignedReport { // signed by whom it names
		return a.sign(a.number[r.Owner], r.Append(nil))
	}
	parse := func(s *rpc.SignedReport) *wire.Report {
		r, err := wire.ParseReport(s.GetReport())
		must(t, err)
		return r
	}
	another := func(round *owning.Round, s *rpc.SignedReport) *rpc.SignedReport { // the same owner, other words
		for before := parse(s); ; {
			if r := a.honest(round, a.number[before.Owner]); !slices.Equal(r.Words, before.Words) {
				return report(r)
			}
		}
	}
	one := func(list []*rpc.SignedReport) *rpc.SignedReport { return list[a.rand.IntN(len(list))] }
	good := func() (int, *wire.Report) { // an owner whose turn it is, that has not spoken
		owner := a.slots[1][honest+a.rand.IntN(len(a.slots[1])-honest)]
		return owner, a.honest(open, owner)
	}
	renamed := func(name string) []byte {
		_, r := good()
		r.Owner = name
		return r.Append(nil)
	}
	type kind struct {
		want problem.Kind
		make func() *rpc.SignedReport
	}
	kinds := map[string]kind{
		"replay with other bytes": {problem.Replayed, func() *rpc.SignedReport { return another(open, one(fresh)) }},
		"replay of a passed slot": {problem.Replayed, func() *rpc.SignedReport { return another(past, one(known)) }},
		"late": {problem.Late, func() *rpc.SignedReport {
			owner := a.slots[0][honest+a.rand.IntN(len(a.slots[0])-honest)]
			return a.sign(owner, a.honest(past, owner).Append(nil))
		}},
		"early": {problem.Early, func() *rpc.SignedReport {
			owner := a.any(2 + a.rand.IntN(2))
			r := a.lying(open, owner)
			r.Slot = a.terms.Place(r.Owner).Slot
			return report(r)
		}},
		"an owner of another slot": {problem.WrongGroup, func() *rpc.SignedReport {
			return report(a.lying(open, a.any([]int{0, 2, 3}[a.rand.IntN(3)])))
		}},
		"an owner in two rounds": {problem.WrongGroup, func() *rpc.SignedReport {
			owner := parse(one(known)).Owner
			r := parse(one(fresh))
			r.Owner = owner
			return report(r)
		}},
		"a slot that the task has not": {problem.WrongGroup, func() *rpc.SignedReport {
			_, r := good()
			r.Slot = 4 + a.rand.IntN(60000)
			return report(r)
		}},
		"another question": {problem.WrongRound, func() *rpc.SignedReport {
			_, r := good()
			r.Ask = 1 + a.rand.IntN(60000)
			return report(r)
		}},
		"a word too large": {problem.OutOfRange, func() *rpc.SignedReport {
			_, r := good()
			r.Words = slices.Clone(r.Words)
			r.Words[a.rand.IntN(len(r.Words))] = 1<<31 + a.rand.Uint32N(1<<31)
			return report(r)
		}},
		"a word too many": {problem.OutOfRange, func() *rpc.SignedReport {
			_, r := good()
			r.Words = append(slices.Clone(r.Words), make([]uint32, 70+a.rand.IntN(40))...)
			return report(r)
		}},
		"cut short": {problem.Malformed, func() *rpc.SignedReport {
			owner, r := good()
			b := r.Append(nil)
			return a.sign(owner, b[:a.rand.IntN(len(b))])
		}},
		"with a tail": {problem.Malformed, func() *rpc.SignedReport {
			owner, r := good()
			return a.sign(owner, append(r.Append(nil), make([]byte, 1+a.rand.IntN(3))...))
		}},
		"rubbish": {problem.Malformed, func() *rpc.SignedReport {
			b := make([]byte, a.rand.IntN(300))
			for i := range b {
				b[i] = byte(a.rand.Uint32())
			}
			return a.sign(0, b)
		}},
		"counts more words than there are": {problem.Malformed, func() *rpc.SignedReport {
			owner, r := good()
			b := r.Append(nil)
			binary.LittleEndian.PutUint32(b[len(b)-4*len(r.Words)-4:], 1<<31-1)
			return a.sign(owner, b)
		}},
		"an owner in capital letters": {problem.Malformed, func() *rpc.SignedReport {
			owner, r := good()
			upper := strings.ToUpper(r.Owner)
			if upper == r.Owner {
				upper = "A" + upper[1:]
			}
			r.Owner = upper
			return a.sign(owner, r.Append(nil))
		}},
		"an owner without a key": {problem.Malformed, func() *rpc.SignedReport {
			return a.sign(0, renamed([]string{"ann", strings.Repeat("0", 63), strings.Repeat("g", 64),
				strings.Repeat("0", 66)}[a.rand.IntN(4)]))
		}},
		"a bent signature": {problem.BadSignature, func() *rpc.SignedReport {
			owner, r := good()
			s := a.sign(owner, r.Append(nil))
			s.Signature[a.rand.IntN(len(s.Signature))] ^= 1 << a.rand.IntN(8)
			return s
		}},
		"another owner's signature": {problem.BadSignature, func() *rpc.SignedReport {
			owner, r := good()
			other := a.any(1)
			for other == owner {
				other = a.any(1)
			}
			return a.sign(other, r.Append(nil))
		}},
		"no signature": {problem.BadSignature, func() *rpc.SignedReport {
			_, r := good()
			return &rpc.SignedReport{Report: r.Append(nil), Signature: make([]byte, a.rand.IntN(80))}
		}},
		"a signature of bare bytes": {problem.BadSignature, func() *rpc.SignedReport {
			owner, r := good()
			b := r.Append(nil)
			return &rpc.SignedReport{Report: b, Signature: ed25519.Sign(a.keys.At(owner), b)}
		}},
		"an accepted report under a bent signature": {problem.BadSignature, func() *rpc.SignedReport {
			s := one(fresh)
			bent := bytes.Clone(s.GetSignature())
			bent[3] ^= 1
			return &rpc.SignedReport{Report: s.GetReport(), Signature: bent}
		}},
		"another task": {problem.UnknownTask, func() *rpc.SignedReport {
			_, r := good()
			r.Task[a.rand.IntN(32)] ^= 1 << a.rand.IntN(8)
			return report(r)
		}},
	}
	names := slices.Sorted(maps.Keys(kinds))
	for left := total; left > 0; {
		var reports []*rpc.SignedReport
		var want []problem.Kind
		for range min(left, 5000) {
			k := kinds[names[a.rand.IntN(len(names))]]
			reports, want = append(reports, k.make()), append(want, k.want)
		}
		a.upload(client, reports, want)
		left -= len(reports)
	}
	huge := make([]byte, wire.MaxReport+1)
	a.upload(client, []*rpc.SignedReport{a.sign(0, huge), fresh[0]}, []problem.Kind{problem.TooLarge, {}})

	a.upload(client, sent, nil) // identical retries
	f.serve()                   // the next process
	client = f.client(f.identity(identity.Owner, "mallory"))
	a.upload(client, sent, nil)
	if n := f.stored(client, id); n != honest {
		t.Errorf("slot 1 holds %d reports, want the %d honest ones", n, honest)
	}
	next()
	next()
	f.ahead.Add(int64(slotTime))
	got := f.model(id)
	var honestly [][]byte
	for _, s := range sent {
		honestly = append(honestly, s.GetReport())
	}
	if !bytes.Equal(got, ofReports(t, ann.Task, honestly)) {
		t.Error("the model is not that of the honest reports alone")
	}
}

// TestOneCertificateBringsSoManyOwners invents owners by the dozen, all under one
// certificate. It brings as many as one may; others' owners are taken, and a relay's as
// many as are declared, also by the next process. Owners find out before they pay.
func TestOneCertificateBringsSoManyOwners(t *testing.T) {
	f := newFederation(t)
	f.change = func(p *aggregator.Params) { p.OwnersEach, p.Relays = 10, map[string]int{"clinic": 60} }
	f.serve()
	ann := f.plan(func(a *tasks.Announcement) { a.Quiet = 0 })
	id := f.announce(ann)
	a := newAdversary(t, f, ann, id, 1000)
	bring := func(name string, owners, stored int) {
		t.Helper()
		client := f.client(f.identity(identity.Owner, name))
		round, _ := a.crowd(client, 0)
		var sent []*rpc.SignedReport
		for range owners {
			owner := a.fresh(0)
			sent = append(sent, a.sign(owner, a.honest(round, owner).Append(nil)))
		}
		a.upload(client, sent, append(make([]problem.Kind, stored),
			slices.Repeat([]problem.Kind{problem.Crowded}, owners-stored)...))
		a.upload(client, sent[:stored], nil) // again
		told, err := client.GetTask(t.Context(), connect.NewRequest(&rpc.GetTaskRequest{TaskId: id[:]}))
		must(t, err)
		if want := map[string]uint64{"clinic": 60}[name]; told.Msg.GetOwners() != max(10, want) {
			t.Errorf("%s is told that it may bring %d owners", name, told.Msg.GetOwners())
		}
	}
	bring("mallory", 25, 10)
	bring("clinic", 70, 60)
	f.serve() // the next process
	bring("mallory", 5, 0)
	bring("ann", 1, 1)
	if n := f.stored(f.client(f.identity(identity.Reader, "ben")), id); n != 71 {
		t.Errorf("%d reports are stored, want 71", n)
	}
	many := f.owners(61, 1)
	if _, err := many.Run(t.Context(), id); err == nil || !strings.Contains(err.Error(), "at most 60") {
		t.Errorf("61 owners of one certificate set out: %v", err)
	}
	wantNothingGiven(t, many.Book, id)
	few := f.owners(30, 1)
	if _, err := few.Run(t.Context(), id); kindOf(err) != problem.Crowded {
		t.Errorf("thirty more owners of a certificate that has brought all it may: %v", err)
	}
}

// hurried is a request whose caller, it says, waits for no time at all.
func hurried[T any](m *T) *connect.Request[T] {
	r := connect.NewRequest(m)
	r.Header().Set("Connect-Timeout-Ms", "0")
	r.Header().Set("Grpc-Timeout", "1n")
	return r
}

// TestHostileRequestsAreRefused sends requests that are too large, or none of the
// protocol's, as a whole.
func TestHostileRequestsAreRefused(t *testing.T) {
	f := newFederation(t)
	f.serve()
	id := f.announce(f.plan(nil))
	who := f.identity(identity.Owner, "mallory")
	client := f.client(who)
	upload := func(r *rpc.UploadRequest) error {
		_, err := client.Upload(t.Context(), connect.NewRequest(r))
		return err
	}
	many, short := &rpc.UploadRequest{TaskId: id[:]}, &rpc.UploadRequest{TaskId: id[:]}
	for range 10_001 {
		many.Reports = append(many.Reports, &rpc.SignedReport{Report: make([]byte, 109), Signature: make([]byte, 64)})
		short.Reports = append(short.Reports, new(rpc.SignedReport))
	}
	large := &rpc.UploadRequest{TaskId: id[:], Reports: []*rpc.SignedReport{{Report: make([]byte, 5<<20)}}}
	for name, c := range map[string]struct {
		err  error
		want problem.Kind
	}{
		"10,001 reports":       {upload(many), problem.TooLarge},
		"as many short parts":  {upload(short), problem.Malformed},
		"5 MiB":                {upload(large), problem.TooLarge},
		"a task's name of 31":  {upload(&rpc.UploadRequest{TaskId: id[:31]}), problem.Malformed},
		"a task of nobody":     {upload(&rpc.UploadRequest{TaskId: make([]byte, 32)}), problem.UnknownTask},
		"no task at all":       {upload(new(rpc.UploadRequest)), problem.Malformed},
		"a report of no bytes": {nil, problem.Kind{}},
		"a second task's close": {func() error {
			_, err := client.CloseTask(t.Context(), connect.NewRequest(new(rpc.CloseTaskRequest)))
			return err
		}(), problem.Forbidden},
	} {
		if got := kindOfNil(c.err); got != c.want {
			t.Errorf("%s: %v, want %v", name, c.err, outcomeProblem(c.want))
		}
	}
	for name, c := range map[string]struct {
		call func(context.Context, rpc.AggregatorClient) error
		want problem.Kind
	}{
		"rubbish": {func(ctx context.Context, c rpc.AggregatorClient) error {
			_, err := c.GetTask(ctx, connect.NewRequest(&rpc.GetTaskRequest{TaskId: []byte("rubbish")}))
			return err
		}, problem.Malformed},
		"5 MiB": {func(ctx context.Context, c rpc.AggregatorClient) error {
			_, err := c.Upload(ctx, connect.NewRequest(large))
			return err
		}, problem.TooLarge},
		"another's call": {func(ctx context.Context, c rpc.AggregatorClient) error {
			_, err := c.CreateTask(ctx, connect.NewRequest(new(rpc.CreateTaskRequest)))
			return err
		}, problem.Forbidden},
		"no time": {func(ctx context.Context, c rpc.AggregatorClient) error {
			_, err := c.GetTask(ctx, hurried(&rpc.GetTaskRequest{TaskId: make([]byte, 32)}))
			return err
		}, problem.Timeout},
	} {
		for protocol, option := range map[string]connect.ClientOption{"Connect": connect.WithSendMaxBytes(8 << 20),
			"gRPC": connect.WithGRPC(), "gRPC-Web": connect.WithGRPCWeb(), "JSON": connect.WithProtoJSON()} {
			if got := kindOfNil(c.call(t.Context(), f.client(who, option))); got != c.want {
				t.Errorf("%s by %s: %v, want %v", name, protocol, outcomeProblem(got), outcomeProblem(c.want))
			}
		}
	}
	raw := &http.Client{Transport: &http.Transport{TLSClientConfig: who.Client(identity.Aggregator),
		ForceAttemptHTTP2: true}}
	post := func(body []byte, header map[string]string) int {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, f.http.URL+rpc.AggregatorUploadProcedure,
			bytes.NewReader(body))
		must(t, err)
		r.Header.Set("Content-Type", "application/proto")
		for k, v := range header {
			r.Header.Set(k, v)
		}
		answer, err := raw.Do(r)
		must(t, err)
		text, err := io.ReadAll(answer.Body)
		must(t, errors.Join(err, answer.Body.Close()))
		if !bytes.Contains(text, []byte("urn:discreet:problem:")) {
			t.Errorf("refused without a problem: %d %q", answer.StatusCode, text)
		}
		return answer.StatusCode
	}
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	_, err := z.Write(make([]byte, 64<<20))
	must(t, err)
	must(t, z.Close())
	for name, c := range map[string]struct{ got, want int }{
		"a bomb": {post(bomb.Bytes(), map[string]string{"Content-Encoding": "gzip"}),
			http.StatusRequestEntityTooLarge},
		"no message":          {post([]byte{0xff, 0xff, 0xff}, nil), http.StatusBadRequest},
		"not even gzip":       {post([]byte("x"), map[string]string{"Content-Encoding": "gzip"}), http.StatusBadRequest},
		"an unknown type":     {post(nil, map[string]string{"Content-Type": "text/csv"}), http.StatusUnsupportedMediaType},
		"5 MiB, as announced": {post(make([]byte, 5<<20), nil), http.StatusRequestEntityTooLarge},
	} {
		if c.got != c.want {
			t.Errorf("%s: status %d, want %d", name, c.got, c.want)
		}
	}
}
