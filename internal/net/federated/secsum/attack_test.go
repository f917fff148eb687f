// SPDX-License-Identifier: Apache-2.0

package secsum

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/cloudflare/circl/group"
	"github.com/cloudflare/circl/secretsharing"

	"github.com/discreet-dp/discreet/internal/check/testkit/size"
	"github.com/discreet-dp/discreet/internal/check/testkit/stattest"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
)

// What one holder short of a quorum sees together is uniform whatever was
// shared: tried on the combination of their shares that would give the secret
// away if the polynomial had one degree less.
func TestShamirCoalitionSeesUniformShares(t *testing.T) {
	task := Task{Round: "view", Owners: 2, AtLeast: 2, Holders: 5, Length: 1, Range: 1 << 40}
	p := protocol(t, Shamir, task)
	const cells = 16
	n := size.Of(120, 600)
	look := func(secret uint64, coalition int) (counts []int) {
		counts = make([]int, cells)
		src := replay.Seeded(5, "view")
		for range n {
			out, err := p.Split(src, 0, []uint64{secret})
			if err != nil {
				t.Fatal(err)
			}
			var shares []secretsharing.Share
			for i := range coalition {
				_, part, err := ProofOf(out[i].Body)
				if err != nil {
					t.Fatal(err)
				}
				points, err := readScalars(part[scalarBytes:])
				if err != nil {
					t.Fatal(err)
				}
				shares = append(shares, secretsharing.Share{ID: group.Ristretto255.NewScalar().SetUint64(uint64(i + 1)),
					Value: points[1]})
			}
			guess, err := secretsharing.Recover(uint(coalition-1), shares)
			if err != nil {
				t.Fatal(err)
			}
			b, err := guess.MarshalBinary()
			if err != nil {
				t.Fatal(err)
			}
			counts[b[0]%cells]++
		}
		return counts
	}
	uniform := slices.Repeat([]float64{1.0 / cells}, cells)
	claim := stattest.Claim{FalsePositive: 1e-9 / 2, Detects: "a polynomial of one degree too few"}
	for _, secret := range []uint64{0, task.Range - 1} {
		stattest.Cells(t, claim, look(secret, p.Quorum()-1), uniform)
		stattest.Rejects(t, func(t stattest.T) { stattest.Cells(t, claim, look(secret, p.Quorum()), uniform) })
	}
}

// What a proof shows of a vector is uniform whatever was shared: the commitment that
// would give the secret away if nothing blinded it.
func TestProofsShowNothing(t *testing.T) {
	task := Task{Round: "blind", Owners: 2, AtLeast: 2, Holders: 5, Length: 1, Range: 1 << 40}
	p := protocol(t, Shamir, task)
	s := p.shamir
	const cells = 16
	n := size.Of(120, 600)
	uniform := slices.Repeat([]float64{1.0 / cells}, cells)
	claim := stattest.Claim{FalsePositive: 1e-9 / 2, Detects: "a commitment that nothing blinds"}
	for _, secret := range []uint64{0, task.Range - 1} {
		counts, bare := make([]int, cells), make([]int, cells)
		src := replay.Seeded(13, "blind")
		value := group.Ristretto255.NewScalar().SetUint64(secret)
		unblinded, err := group.Ristretto255.NewElement().Mul(listGenerators(2)[1], value).MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		bare[unblinded[1]%cells] = n // what it would be: the same, every time
		for range n {
			out, err := p.Split(src, 0, []uint64{secret})
			if err != nil {
				t.Fatal(err)
			}
			proof, _, err := ProofOf(out[0].Body)
			if err != nil {
				t.Fatal(err)
			}
			counts[s.coefficientsIn(proof)[1]%cells]++
		}
		stattest.Cells(t, claim, counts, uniform)
		stattest.Rejects(t, func(t stattest.T) { stattest.Cells(t, claim, bare, uniform) })
	}
}

// A holder answers one request. Two would be subtracted.
func TestHoldersAnswerOnce(t *testing.T) {
	for _, b := range both {
		task := Task{Round: "once", Owners: 4, AtLeast: 2, Holders: b.holders, Length: 1, Range: 10}
		p := protocol(t, b.make, task)
		holders := make([]*Holder, task.Holders)
		for i := range holders {
			holders[i], _ = p.NewHolder(i)
		}
		open := func(owners ...int) Message {
			s := newSet(task.Owners)
			for _, o := range owners {
				s.addMember(o)
			}
			return Message{p.tag, Open, ToCollector, 0, s}
		}
		h := holders[0]
		src := replay.Seeded(7, b.name)
		for o := range 3 {
			out, err := p.Split(src, o, []uint64{uint64(o)})
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range out {
				if _, err := holders[m.To].Handle(m); err != nil {
					t.Fatal(err)
				}
				if _, err := holders[m.To].Handle(m); err != nil {
					t.Errorf("%s: the same share once more: %v", b.name, err)
				}
			}
			again, _ := p.Split(src, o, []uint64{uint64(o)})
			if _, err := h.Handle(again[0]); !errors.Is(err, ErrRefused) {
				t.Errorf("%s: another share of owner %d: %v", b.name, o, err)
			}
		}
		if _, err := h.Handle(open(0, 1, 2)); !errors.Is(err, ErrRefused) {
			t.Errorf("%s: a request before the end of the wait: %v", b.name, err)
		}
		for _, o := range holders {
			for _, m := range o.Close() {
				if m.To == 0 {
					if _, err := h.Handle(m); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
		late, _ := p.Split(src, 3, []uint64{3})
		if _, err := h.Handle(late[0]); !errors.Is(err, ErrRefused) {
			t.Errorf("%s: a late share: %v", b.name, err)
		}
		if _, err := h.Handle(open(0, 1, 3)); !errors.Is(err, ErrRefused) {
			t.Errorf("%s: a request for a share that is not here: %v", b.name, err)
		}
		var abort *Abort
		if _, err := h.Handle(open(1)); !errors.As(err, &abort) {
			t.Errorf("%s: a request for one owner's vector: %v", b.name, err)
		}
		first, err := h.Handle(open(0, 1, 2))
		if err != nil || len(first) != 1 {
			t.Fatal(b.name, first, err)
		}
		if _, err := h.Handle(open(0, 1)); !errors.Is(err, ErrRefused) {
			t.Errorf("%s: a second request: %v", b.name, err)
		}
		if again, err := h.Handle(open(0, 1, 2)); err != nil || !bytes.Equal(again[0].Body, first[0].Body) {
			t.Errorf("%s: the same request again: %v", b.name, err)
		}
	}
}

// Anyone who breaks the protocol is left out if it can be told, and else no
// sum is opened; a wrong sum never is.
func TestMalformedShares(t *testing.T) {
	for _, b := range both {
		task := Task{Round: "bad", Owners: 5, AtLeast: 4, Holders: b.holders, Length: 3, Range: 100}
		p := protocol(t, b.make, task)
		values := vectors(replay.Seeded(8, ""), task)
		mangled := func(kind Kind, from int, change func(body []byte) []byte) drops {
			return drops{mangle: func(m Message) Message {
				if m.Kind == kind && m.From == from {
					m.Body = change(bytes.Clone(m.Body))
				}
				return m
			}}
		}
		shorter := func(b []byte) []byte { return b[:len(b)-1] }
		longer := func(b []byte) []byte { return append(b, 0) }
		ones := func(b []byte) []byte { return bytes.Repeat([]byte{0xff}, len(b)) }
		for name, change := range map[string]func([]byte) []byte{"short": shorter, "long": longer, "not of the field": ones,
			"empty": func([]byte) []byte { return nil }} {
			c, err := carry(t, p, values, mangled(Share, 2, change))
			if err != nil {
				t.Fatalf("%s, a share that is %s: %v", b.name, name, err)
			}
			exact(t, c, values, 2)
		}
		flipped := func(at int) func([]byte) []byte {
			return func(b []byte) []byte { b[at%len(b)] ^= 1; return b }
		}
		for _, at := range []int{0, 40, 100, 200} {
			c, err := carry(t, p, values, mangled(Share, 2, flipped(at)))
			if err != nil {
				t.Fatalf("%s, bit %d of a share: %v", b.name, at, err)
			}
			exact(t, c, values, 2)
		}
		for name, change := range map[string]func([]byte) []byte{"short": shorter, "long": longer, "all ones": ones,
			"off": flipped(32 + 5), "blinded otherwise": flipped(32), "of another request": flipped(3)} {
			// As if the holder had dropped out.
			c, err := carry(t, p, values, mangled(Sum, 1, change))
			if err != nil {
				t.Fatalf("a sum that is %s: %v", name, err)
			}
			exact(t, c, values)
			if !slices.Equal(c.Liars(), []int{1}) {
				t.Errorf("a sum that is %s: liars are %v", name, c.Liars())
			}
		}
	}
}

func TestMessagesOfOthersAreRefused(t *testing.T) {
	for _, b := range both {
		task := Task{Round: "mine", Owners: 3, AtLeast: 2, Holders: b.holders, Length: 1, Range: 3}
		p := protocol(t, b.make, task)
		h, _ := p.NewHolder(0)
		out, err := p.Split(replay.Seeded(11, ""), 0, []uint64{1})
		if err != nil {
			t.Fatal(err)
		}
		task.Round = "other"
		other := protocol(t, b.make, task)
		held, _ := other.NewHolder(0)
		for name, m := range map[string]Message{
			"of another task":   {other.tag, Share, 0, 0, out[0].Body},
			"to another holder": out[1],
			"of nobody":         {p.tag, Share, 3, 0, out[0].Body},
			"of a negative":     {p.tag, Share, -1, 0, out[0].Body},
			"of no kind":        {p.tag, 9, 0, 0, out[0].Body},
			"a sum":             {p.tag, Sum, 0, 0, nil},
			"opened by a peer":  {p.tag, Open, 1, 0, newSet(3)},
			"own evidence":      {p.tag, Held, 0, 0, newSet(3)},
		} {
			if _, err := h.Handle(m); !errors.Is(err, ErrRefused) {
				t.Errorf("%s: a holder takes a message that is %s: %v", b.name, name, err)
			}
		}
		c := p.NewCollector()
		for name, m := range map[string]Message{
			"of another task": held.Close()[0],
			"a share":         {p.tag, Share, 0, ToCollector, out[0].Body},
			"a sum too early": {p.tag, Sum, 0, ToCollector, nil},
			"too short":       {p.tag, Held, 0, ToCollector, nil},
			"of no owner":     {p.tag, Held, 0, ToCollector, []byte{0xf8}},
			"with more":       {p.tag, Held, 0, ToCollector, []byte{1, 2, 3}},
		} {
			if _, err := c.Handle(m); !errors.Is(err, ErrRefused) {
				t.Errorf("%s: the collector takes a message that is %s: %v", b.name, name, err)
			}
		}
	}
}

// No bytes make a parser or a state machine panic, and what parses has one form.
func FuzzMessage(f *testing.F) {
	task := Task{Round: "fuzz", Owners: 3, AtLeast: 2, Holders: 3, Length: 2, Range: 5}
	type party struct {
		p *Protocol
		h *Holder
	}
	fresh := func(t testing.TB) (all []party) {
		for _, b := range both {
			p := protocol(t, b.make, task)
			h, err := p.NewHolder(0)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, party{p, h})
		}
		return all
	}
	for _, x := range fresh(f) {
		out, err := x.p.Split(replay.Seeded(12, ""), 1, []uint64{1, 4})
		if err != nil {
			f.Fatal(err)
		}
		for _, m := range append(x.h.Close(), out[0], Message{x.p.tag, Open, ToCollector, 0, []byte{3}},
			Message{x.p.tag, Sum, 2, ToCollector, make([]byte, 64)}) {
			b, err := m.MarshalBinary()
			if err != nil {
				f.Fatal(err)
			}
			f.Add(b)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var m Message
		if m.UnmarshalBinary(b) != nil {
			return
		}
		if back, err := m.MarshalBinary(); err != nil || !bytes.Equal(b, back) {
			t.Fatalf("%x was read from %x", back, b)
		}
		for _, x := range fresh(t) {
			m.Task = x.p.tag // deeper than the tag
			c := x.p.NewCollector()
			for range 2 {
				_, _ = x.h.Handle(m)
				_, _ = c.Handle(m)
				x.h.Close()
			}
			if _, err := c.Close(); err == nil {
				t.Fatal("one message made a sum")
			}
		}
	})
}
