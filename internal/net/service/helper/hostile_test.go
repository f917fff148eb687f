// SPDX-License-Identifier: Apache-2.0

package helper_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"

	"github.com/discreet-dp/discreet/internal/net/federated/secsum"
	"github.com/discreet-dp/discreet/internal/net/service/identity"
	"github.com/discreet-dp/discreet/internal/net/service/problem"
	"github.com/discreet-dp/discreet/internal/net/service/rpc"
	"github.com/discreet-dp/discreet/internal/net/service/secretsum"
	"github.com/discreet-dp/discreet/internal/net/testkit/helpertest"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
)

// calls reaches one helper without the client's patience.
func (c *committee) calls(h int, as *identity.Identity) rpc.HelperClient {
	transport := &http.Transport{TLSClientConfig: as.ClientOf(identity.Caller{Role: identity.Helper, Name: c.Name(h)}),
		ForceAttemptHTTP2: true}
	c.t.Cleanup(transport.CloseIdleConnections)
	return rpc.NewHelperClient(&http.Client{Transport: transport}, c.Address(h))
}

func kindOf(err error) problem.Kind {
	if err == nil {
		return problem.Kind{}
	}
	return problem.Of(err).Kind
}

// openOf is a request for some participants' sum.
func openOf(t *testing.T, col *secretsum.Collection, h int, participants ...int) []byte {
	t.Helper()
	proto, err := col.Sum.Protocol()
	must(t, err)
	any, err := proto.Split(replay.Seeded(1, "tag"), 0, make([]uint64, length)) // for the tag
	must(t, err)
	set := make([]byte, (len(col.Sum.Roster)+7)/8)
	for _, p := range participants {
		set[p/8] |= 1 << (p % 8)
	}
	b, err := secsum.Message{Task: any[0].Task, Kind: secsum.Open, From: secsum.ToCollector, To: h,
		Body: set}.MarshalBinary()
	must(t, err)
	return b
}

// filled is a sum whose shares are all with the helpers.
func (c *committee) filled(n, atLeast int, round string) (*secretsum.Collection, secretsum.ID, *people) {
	c.t.Helper()
	col, id, p := c.begin(n, atLeast, round)
	for _, client := range col.Clients {
		must(c.t, client.Begin(c.t.Context(), col.Signed, nil))
	}
	d := secretsum.Deliver(c.t.Context(), id, c.Clients(c.Identity(identity.Owner, "o")), p.shares)
	for i, kept := range d.Kept {
		if kept != len(col.Clients) {
			c.t.Fatalf("participant %d: %d helpers have its share: %v", i, kept, d.Refused)
		}
	}
	return col, id, p
}

// TestOneAnswer asks a helper again and again, across restarts: for the first
// request the same answer, for another one none. A second sum's difference to the
// first would be one participant's vector.
func TestOneAnswer(t *testing.T) {
	c := assemble(t, 3)
	col, id, _ := c.filled(6, 4, "a")
	open := func(h int, of ...int) ([]byte, error) {
		r, err := c.calls(h, c.collector).Open(t.Context(),
			connect.NewRequest(&rpc.OpenRequest{SumId: id[:], Message: openOf(t, col, h, of...)}))
		if err != nil {
			return nil, err
		}
		return r.Msg.GetMessage(), nil
	}
	if _, err := open(0, 0, 1, 2, 3); kindOf(err) != problem.Early {
		t.Errorf("before the wait is over: %v", err)
	}
	_, err := col.Clients[0].Held(t.Context(), id)
	must(t, err)
	if _, err := open(0, 0, 1, 2); kindOf(err) != problem.UnsafeTask {
		t.Errorf("for fewer than allowed: %v", err)
	}
	if _, err := open(1, 0, 1, 2, 3); kindOf(err) != problem.Early {
		t.Errorf("another helper, whose wait is not over: %v", err)
	}
	first, err := open(0, 0, 1, 2, 3, 4)
	must(t, err)
	for range 2 {
		again, err := open(0, 0, 1, 2, 3, 4)
		must(t, err)
		if !bytes.Equal(first, again) {
			t.Error("the answer to the same request differs")
		}
		for _, of := range [][]int{{0, 1, 2, 3}, {0, 1, 2, 3, 4, 5}, {1, 2, 3, 4, 5}} {
			if _, err := open(0, of...); kindOf(err) != problem.Opened {
				t.Errorf("for %v: %v, want none", of, err)
			}
		}
		c.Kill(0)
		c.Start(0)
	}
	if _, err := col.Clients[0].Held(t.Context(), id); err != nil {
		t.Errorf("what was held cannot be said again: %v", err)
	}
}

// TestAnswersRace sends two requests at once, many times: one is answered.
func TestAnswersRace(t *testing.T) {
	c := assemble(t, 3)
	col, id, _ := c.filled(6, 4, "a")
	_, err := col.Clients[0].Held(t.Context(), id)
	must(t, err)
	sets := [][]int{{0, 1, 2, 3}, {0, 1, 2, 3, 4}, {0, 1, 2, 3, 4, 5}, {2, 3, 4, 5}}
	errs := make(chan error, 4*len(sets))
	client := c.calls(0, c.collector)
	for range 4 {
		for _, of := range sets {
			go func() {
				_, err := client.Open(t.Context(),
					connect.NewRequest(&rpc.OpenRequest{SumId: id[:], Message: openOf(t, col, 0, of...)}))
				errs <- err
			}()
		}
	}
	answered := 0
	for range cap(errs) {
		switch err := <-errs; kindOf(err) {
		case problem.Kind{}:
			answered++
		case problem.Opened:
		default:
			t.Error(err)
		}
	}
	if answered != 4 {
		t.Errorf("%d requests were answered, want the four that are alike", answered)
	}
}

// TestForgottenMemory starts a helper with an empty store. It knows no sum of
// before, takes none of before, and takes part in new ones.
func TestForgottenMemory(t *testing.T) {
	c := assemble(t, 3)
	col, id, p := c.filled(6, 4, "a")
	col.Wait = given(6, 3)
	_, _, err := col.Run(t.Context())
	must(t, err)
	c.Kill(0)
	c.Lose(0)
	c.Start(0)
	if err := col.Clients[0].Begin(t.Context(), col.Signed, nil); kindOf(err) != problem.Forgot {
		t.Errorf("the sum was begun again: %v", err)
	}
	if _, err := c.calls(0, c.collector).Held(t.Context(),
		connect.NewRequest(&rpc.HeldRequest{SumId: id[:]})); kindOf(err) != problem.UnknownTask {
		t.Errorf("held: %v", err)
	}
	a, err := c.calls(0, c.Identity(identity.Owner, "o")).Share(t.Context(),
		connect.NewRequest(&rpc.ShareRequest{SumId: id[:],
			Shares: []*rpc.SignedShare{{Message: p.shares[0][0].Message, Signature: p.shares[0][0].Signature}}}))
	if kindOf(err) != problem.Early {
		t.Errorf("a share was taken: %v %v", a, err)
	}
	again, _, _ := c.filled(6, 4, "b")
	again.Wait = given(6, 3)
	_, _, err = again.Run(t.Context())
	must(t, err)
}

// TestHostileShares sends what no honest participant sends.
func TestHostileShares(t *testing.T) {
	c := assemble(t, 3)
	col, id, p := c.begin(6, 4, "a")
	other, _, strangers := c.begin(6, 4, "b")
	must(t, col.Clients[0].Begin(t.Context(), col.Signed, nil))
	must(t, other.Clients[0].Begin(t.Context(), other.Signed, nil))
	proto, err := col.Sum.Protocol()
	must(t, err)
	seal := func(m secsum.Message, key ed25519.PrivateKey) secretsum.Share {
		s, err := secretsum.Seal(m, key)
		must(t, err)
		return s
	}
	forged, err := helpertest.Forge(col.Sum, 3, 0)
	must(t, err)
	again, err := helpertest.Forge(col.Sum, 0, 0)
	must(t, err)
	anew, err := proto.Split(replay.Seeded(9, "anew"), 0, p.vectors[0])
	must(t, err)
	changed := func(f func(*secsum.Message)) secretsum.Share {
		m := anew[0]
		m.Body = slices.Clone(m.Body)
		f(&m)
		return seal(m, p.keys[0])
	}
	unseen, err := proto.Split(replay.Seeded(10, "unseen"), 4, p.vectors[4])
	must(t, err)
	unknown := func(f func(*secsum.Message)) secretsum.Share {
		m := unseen[0]
		m.Body = slices.Clone(m.Body)
		f(&m)
		return seal(m, p.keys[4])
	}
	bare := len(proto.Bare(anew[0]).Body)
	good := p.shares[0][0]
	sent := []struct {
		name  string
		share secretsum.Share
		want  problem.Kind
	}{
		{"good", good, problem.Kind{}},
		{"the same again", good, problem.Kind{}},
		{"another of the same participant", seal(anew[0], p.keys[0]), problem.Replayed},
		{"nothing", secretsum.Share{}, problem.Malformed},
		{"cut", secretsum.Share{Message: good.Message[:40], Signature: good.Signature}, problem.Malformed},
		{"a request", changed(func(m *secsum.Message) { m.Kind = secsum.Open }), problem.Malformed},
		{"by another's key", seal(anew[0], p.keys[1]), problem.BadSignature},
		{"unsigned", secretsum.Share{Message: good.Message}, problem.BadSignature},
		{"signed as something else", secretsum.Share{Message: good.Message, Signature: ed25519.Sign(p.keys[0], good.Message)},
			problem.BadSignature},
		{"in another's name", changed(func(m *secsum.Message) { m.From = 1 }), problem.BadSignature},
		{"of nobody", changed(func(m *secsum.Message) { m.From = 6 }), problem.UnknownOwner},
		{"of less than nobody", changed(func(m *secsum.Message) { m.From = -1 }), problem.UnknownOwner},
		{"for another helper", p.shares[1][1], problem.Malformed},
		{"of another sum", strangers.shares[1][0], problem.Malformed},
		{"no scalars", changed(func(m *secsum.Message) { copy(m.Body[bare-32:], bytes.Repeat([]byte{0xff}, 32)) }),
			problem.Malformed},
		{"another than it commits to", changed(func(m *secsum.Message) { m.Body[bare-32] ^= 1 }), problem.Malformed},
		{"too long", unknown(func(m *secsum.Message) { m.Body = append(m.Body, 0) }), problem.Malformed},
		{"without its ranges", unknown(func(m *secsum.Message) { m.Body = m.Body[:bare] }), problem.Malformed},
		{"of other ranges", unknown(func(m *secsum.Message) { m.Body[len(m.Body)-32] ^= 1 }), problem.Malformed},
		{"without a proof", secretsum.Share{Message: good.Message[:46], Signature: good.Signature}, problem.Malformed},
		{"that contradicts its proof", seal(forged[0], p.keys[3]), problem.Inconsistent},
		{"honest, of who was convicted", p.shares[3][0], problem.Inconsistent},
	}
	request := &rpc.ShareRequest{SumId: id[:]}
	for _, s := range sent {
		request.Shares = append(request.Shares, &rpc.SignedShare{Message: s.share.Message, Signature: s.share.Signature})
	}
	client := c.calls(0, c.Identity(identity.Owner, "o"))
	check := func(late bool) {
		t.Helper()
		a, err := client.Share(t.Context(), connect.NewRequest(request))
		must(t, err)
		got := map[int]problem.Kind{}
		for _, f := range a.Msg.GetRefusals() {
			got[int(f.GetIndex())] = problem.FromProto(f.GetProblem()).Kind
		}
		for i, s := range sent {
			if got[i] != s.want {
				t.Errorf("%s: %v, want %v (late: %v)", s.name, got[i].Title(), s.want.Title(), late)
			}
		}
	}
	check(false)
	if n, _, err := col.Clients[0].Progress(t.Context(), id); err != nil || n != 1 {
		t.Errorf("%d shares are stored, %v: want the good one", n, err)
	}
	sender := c.Clients(c.Identity(identity.Owner, "o"))[0]
	if refused, err := sender.Share(t.Context(), id, []secretsum.Share{seal(again[0], p.keys[0])}); err != nil ||
		len(refused) != 1 || refused[0].Kind != problem.Replayed {
		t.Errorf("one that contradicts its proof, after a good one: %v, %v", refused, err)
	}
	_, err = col.Clients[0].Held(t.Context(), id)
	must(t, err)
	sent = append(sent, struct {
		name  string
		share secretsum.Share
		want  problem.Kind
	}{"after the wait", p.shares[2][0], problem.Late})
	request.Shares = append(request.Shares,
		&rpc.SignedShare{Message: p.shares[2][0].Message, Signature: p.shares[2][0].Signature})
	check(true)
	if _, err := client.Share(t.Context(), connect.NewRequest(&rpc.ShareRequest{SumId: make([]byte, 32)})); kindOf(err) !=
		problem.Early {
		t.Errorf("of a sum that was not begun: %v", err)
	}
	if _, err := client.Share(t.Context(), connect.NewRequest(&rpc.ShareRequest{SumId: []byte("x")})); kindOf(err) !=
		problem.Malformed {
		t.Errorf("of no sum: %v", err)
	}
	for want, length := range map[problem.Kind]int{problem.TooLarge: 150, problem.Malformed: 0} { // short ones are none
		many := &rpc.ShareRequest{SumId: id[:]}
		for range 10_001 {
			many.Shares = append(many.Shares, &rpc.SignedShare{Message: make([]byte, length)})
		}
		if _, err := client.Share(t.Context(), connect.NewRequest(many)); kindOf(err) != want {
			t.Errorf("10,001 shares of %d bytes: %v, want %v", length, err, want)
		}
	}
	huge := &rpc.ShareRequest{SumId: id[:], Shares: []*rpc.SignedShare{{Message: make([]byte, 5<<20)}}}
	if _, err := client.Share(t.Context(), connect.NewRequest(huge)); kindOf(err) != problem.TooLarge {
		t.Errorf("too large: %v", err)
	}
}

// TestRolesAreKept calls everything as everyone.
func TestRolesAreKept(t *testing.T) {
	c := assemble(t, 3)
	col, id, _ := c.filled(6, 4, "a")
	allowed := map[identity.Role]string{
		identity.Aggregator: "GetSelf Begin GetProgress Held Open", identity.Combiner: "GetSelf Begin GetProgress Held Open",
		identity.Owner: "GetSelf Share", identity.Party: "GetSelf Share", identity.Operator: "", identity.Reader: "",
		identity.Helper: "",
	}
	for role, list := range allowed {
		name := "x"
		if role == identity.Combiner {
			name = c.collector.Name
		}
		client := c.calls(1, c.Identity(role, name))
		for name, call := range map[string]func() error{
			"GetSelf": func() error {
				_, err := client.GetSelf(t.Context(), connect.NewRequest(&rpc.GetSelfRequest{}))
				return err
			},
			"Begin": func() error {
				_, err := client.Begin(t.Context(), connect.NewRequest(&rpc.BeginRequest{}))
				return err
			},
			"Share": func() error {
				_, err := client.Share(t.Context(), connect.NewRequest(&rpc.ShareRequest{SumId: id[:]}))
				return err
			},
			"GetProgress": func() error {
				_, err := client.GetProgress(t.Context(), connect.NewRequest(&rpc.GetProgressRequest{SumId: make([]byte, 32)}))
				return err
			},
			"Held": func() error {
				_, err := client.Held(t.Context(), connect.NewRequest(&rpc.HeldRequest{SumId: make([]byte, 32)}))
				return err
			},
			"Open": func() error {
				_, err := client.Open(t.Context(), connect.NewRequest(&rpc.OpenRequest{SumId: make([]byte, 32)}))
				return err
			},
		} {
			got := kindOf(call()) != problem.Forbidden
			if want := slices.Contains(strings.Fields(list), name); got != want {
				t.Errorf("%s may %s: %v, want %v", role, name, got, want)
			}
		}
	}
	// Another combiner is not the sum's.
	stranger := c.calls(1, c.Identity(identity.Combiner, "other"))
	if _, err := stranger.GetProgress(t.Context(),
		connect.NewRequest(&rpc.GetProgressRequest{SumId: id[:]})); kindOf(err) != problem.Forbidden {
		t.Errorf("a stranger sees how many shares there are: %v", err)
	}
	if _, err := stranger.Held(t.Context(), connect.NewRequest(&rpc.HeldRequest{SumId: id[:]})); kindOf(err) !=
		problem.Forbidden {
		t.Errorf("a stranger ends the wait: %v", err)
	}
	if _, err := stranger.Open(t.Context(),
		connect.NewRequest(&rpc.OpenRequest{SumId: id[:], Message: openOf(t, col, 1, 0, 1, 2, 3)})); kindOf(err) !=
		problem.Forbidden {
		t.Errorf("a stranger opens a sum: %v", err)
	}
	if _, err := stranger.Begin(t.Context(),
		connect.NewRequest(&rpc.BeginRequest{Sum: col.Signed.Proto()})); kindOf(err) != problem.Forbidden {
		t.Errorf("a stranger begins a sum: %v", err)
	}
	bare := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	if r, err := bare.Get(c.Address(1)); err == nil {
		r.Body.Close()
		t.Error("a caller without a certificate was heard")
	}
}

// TestHostileSums begins what no honest collector begins.
func TestHostileSums(t *testing.T) {
	c := assemble(t, 3)
	mallory, err := identity.NewAuthority(time.Now(), time.Hour)
	must(t, err)
	foreign, err := mallory.Issue(identity.Caller{Role: identity.Combiner, Name: "main"}, []string{"127.0.0.1"},
		time.Now(), time.Minute)
	must(t, err)
	begin := func(change func(*secretsum.Sum), by *identity.Identity, bend func(*secretsum.Signed)) error {
		col, _, _ := c.begin(6, 4, "a")
		if change != nil {
			change(col.Sum)
		}
		signed, err := col.Sum.Sign(by)
		must(t, err)
		if bend != nil {
			bend(&signed)
		}
		_, err = c.calls(0, c.collector).Begin(t.Context(), connect.NewRequest(&rpc.BeginRequest{Sum: signed.Proto()}))
		return err
	}
	for name, x := range map[string]struct {
		err  error
		want problem.Kind
	}{
		"honest":        {begin(nil, c.collector, nil), problem.Kind{}},
		"by a stranger": {begin(nil, foreign, nil), problem.UnsafeTask},
		"bent": {begin(nil, c.collector, func(s *secretsum.Signed) { s.Bytes[len(s.Bytes)-1] ^= 1 }),
			problem.UnsafeTask},
		"cut": {begin(nil, c.collector, func(s *secretsum.Signed) { s.Bytes = s.Bytes[:50] }),
			problem.UnsafeTask},
		"over": {begin(func(s *secretsum.Sum) { s.Ends = time.Unix(1_700_000_000, 0) }, c.collector, nil),
			problem.UnsafeTask},
		"in a month": {begin(func(s *secretsum.Sum) { s.Ends = s.Ends.Add(31 * 24 * time.Hour) }, c.collector, nil),
			problem.UnsafeTask},
		"of other helpers": {begin(func(s *secretsum.Sum) { s.Helpers[0].Name = "zero" }, c.collector, nil),
			problem.Forbidden},
		"another memory": {begin(func(s *secretsum.Sum) { s.Helpers[0].Memory[0] ^= 1 }, c.collector, nil),
			problem.Forgot},
		"of one who is away": {begin(func(s *secretsum.Sum) { s.Helpers[0].Memory = secretsum.Memory{} }, c.collector, nil),
			problem.Forgot},
		"by another": {begin(nil, c.Identity(identity.Combiner, "other"), nil), problem.Forbidden},
	} {
		if kindOf(x.err) != x.want {
			t.Errorf("%s: %v, want %v", name, x.err, x.want.Title())
		}
	}
}

// TestCollectorsDoNotCrowdEachOther: one certificate begins sums without end. It is
// refused beyond its own bound, and another collector does not notice; what has ended
// makes room.
func TestCollectorsDoNotCrowdEachOther(t *testing.T) {
	c := assemble(t, 3)
	begin := func(of *committee, i int) error {
		col, _, _ := of.begin(2, 2, fmt.Sprintf("%d", i))
		_, err := of.calls(0, of.collector).Begin(t.Context(), connect.NewRequest(&rpc.BeginRequest{Sum: col.Signed.Proto()}))
		return err
	}
	most := 0
	for ; most < 1000; most++ {
		if err := begin(c, most); err != nil {
			if kindOf(err) != problem.Overloaded {
				t.Fatal(err)
			}
			break
		}
	}
	if most != 32 {
		t.Errorf("one certificate has begun %d sums, want 32", most)
	}
	other := *c
	other.collector = c.Identity(identity.Combiner, "other")
	must(t, begin(&other, 0))
	c.Kill(0)
	c.Ahead.Store(int64(4 * time.Hour)) // all have ended, and are forgotten
	c.Start(0)
	again, _, _ := c.begin(2, 2, "later")
	again.Sum.Ends = time.Now().Add(8 * time.Hour).Truncate(time.Second)
	signed, err := again.Sum.Sign(c.collector)
	must(t, err)
	for { // the helper forgets beside what it serves
		_, err := c.calls(0, c.collector).Begin(t.Context(), connect.NewRequest(&rpc.BeginRequest{Sum: signed.Proto()}))
		if kindOf(err) != problem.Overloaded {
			must(t, err)
			break
		}
		<-time.After(20 * time.Millisecond)
	}
}

// TestAnotherHelperAnswers puts a helper where another one is expected: it gets
// nothing, not even the question.
func TestAnotherHelperAnswers(t *testing.T) {
	c := assemble(t, 3)
	col, id, p := c.filled(6, 4, "a")
	wrong := secretsum.Dial(c.Identity(identity.Owner, "o"), c.Name(0), c.Address(1), slog.New(slog.DiscardHandler))
	defer wrong.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if m, err := wrong.Self(ctx); err == nil {
		t.Errorf("helper 1 answers for helper 0: its memory is %x", m)
	}
	if d := secretsum.Deliver(ctx, id, []*secretsum.Client{wrong, nil, nil}, p.shares); d.Kept[0] > 0 {
		t.Error("helper 1 has the share for helper 0")
	}
	right := secretsum.Dial(c.Identity(identity.Owner, "o"), c.Name(1), c.Address(1), slog.New(slog.DiscardHandler))
	defer right.Close()
	m, err := right.Self(t.Context())
	must(t, err)
	if m != col.Sum.Helpers[1].Memory {
		t.Errorf("helper 1's memory is %x, want %x", m, col.Sum.Helpers[1].Memory)
	}
}

// TestLiarsAreTold: a helper that claims other proofs than it was sent, or shows a share
// that convicts no one, is told by what it cannot show; the sum goes on without it, and
// no participant is named.
func TestLiarsAreTold(t *testing.T) {
	for what, lie := range map[string]func(p *people, held *secsum.Message, a *rpc.HeldResponse){
		"claims a share whose proof it cannot show": func(_ *people, held *secsum.Message, _ *rpc.HeldResponse) {
			for i := 1; i < len(held.Body); i++ { // after the one byte that says whose
				held.Body[i] ^= 1
			}
		},
		"accuses a participant without proof": func(p *people, _ *secsum.Message, a *rpc.HeldResponse) {
			bent := slices.Clone(p.shares[3][1].Message)
			bent[len(bent)-1] ^= 1
			a.Faults = append(a.Faults, &rpc.SignedShare{Message: bent, Signature: p.shares[3][1].Signature})
		},
	} {
		t.Run(what, func(t *testing.T) {
			c := assemble(t, 4)
			var p *people
			c.Wrap = c.mangled(func(a *rpc.HeldResponse) {
				if len(a.Message) == 0 { // proofs
					return
				}
				held := new(secsum.Message)
				must(t, held.UnmarshalBinary(a.Message))
				lie(p, held, a)
				var err error
				a.Message, err = held.MarshalBinary()
				must(t, err)
			})
			c.Kill(1)
			c.Start(1)
			c.Wrap = nil
			col, _, people := c.filled(6, 4, "a")
			p = people
			var mu sync.Mutex
			found := map[string]bool{}
			col.Found = func(f secretsum.Fault) {
				mu.Lock()
				defer mu.Unlock()
				found[f.String()] = true
			}
			col.Wait = given(6, 4)
			total, of, err := col.Run(t.Context())
			must(t, err)
			if len(of) != 6 || !slices.Equal(total, p.total(of)) {
				t.Errorf("%v of %v, want all six", total, of)
			}
			if len(found) != 1 || !found["helper "+c.Name(1)+" "+what] {
				t.Errorf("found are %v, want that helper 1 %s", found, what)
			}
		})
	}
}

// mangled changes what a helper answers to Held.
func (c *committee) mangled(change func(*rpc.HeldResponse)) func(int, http.Handler) http.Handler {
	return func(_ int, next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != rpc.HelperHeldProcedure {
				next.ServeHTTP(w, r)
				return
			}
			r.Header.Del("Accept-Encoding")
			said := httptest.NewRecorder()
			next.ServeHTTP(said, r)
			answer := new(rpc.HeldResponse)
			must(c.t, proto.Unmarshal(said.Body.Bytes(), answer))
			change(answer)
			b, err := proto.Marshal(answer)
			must(c.t, err)
			w.Header().Set("Content-Type", said.Header().Get("Content-Type"))
			_, _ = w.Write(b) // who asked may have gone
		})
	}
}

// TestProofsAreSigned: what determines helpers' answers is what participants have signed,
// not what helpers say of it. One that shows something else is named, and another shows
// it; where all do, there is no sum.
func TestProofsAreSigned(t *testing.T) {
	for name, change := range map[string]func([]*rpc.SignedProof){
		"another signature":  func(p []*rpc.SignedProof) { p[0].Signature[1] ^= 1 },
		"another's":          func(p []*rpc.SignedProof) { p[0].Participant++ },
		"in another's place": func(p []*rpc.SignedProof) { p[0].Proof = p[1].Proof },
		"nobody's":           func(p []*rpc.SignedProof) { p[2].Participant = 1 << 31 },
	} {
		for _, liars := range [][]int{{0}, {0, 1, 2}} {
			t.Run(fmt.Sprint(name, liars), func(t *testing.T) {
				c := assemble(t, 3)
				c.Wrap = c.mangled(func(a *rpc.HeldResponse) {
					if len(a.Proofs) > 0 {
						change(a.Proofs)
					}
				})
				for _, h := range liars {
					c.Kill(h)
					c.Start(h)
				}
				c.Wrap = nil
				col, _, p := c.filled(6, 4, "a")
				col.Wait = given(6, 3)
				var found []string
				col.Found = func(f secretsum.Fault) { found = append(found, f.String()) }
				total, of, err := col.Run(t.Context())
				var want []string
				for _, h := range liars {
					want = append(want, "helper "+c.Name(h)+" claims a share whose proof it cannot show")
				}
				if !slices.Equal(found, want) {
					t.Errorf("found are %v, want %v", found, want)
				}
				if abort := (*secsum.Abort)(nil); len(liars) == 3 {
					if !errors.As(err, &abort) || abort.Waiting != secsum.Shown {
						t.Errorf("%v of %v, %v: want no sum", total, of, err)
					}
					return
				}
				must(t, err)
				if len(of) != 6 || !slices.Equal(total, p.total(of)) {
					t.Errorf("%v of %v, want all six", total, of)
				}
			})
		}
	}
}
