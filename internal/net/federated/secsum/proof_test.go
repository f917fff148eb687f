// SPDX-License-Identifier: Apache-2.0

package secsum

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/cloudflare/circl/group"

	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
)

// forge makes an owner's shares of polynomials that go wrong: bend changes the points
// of one holder before the owner commits to them and proves.
func forge(t *testing.T, p *Protocol, owner int, bend func(holder int, points []group.Scalar)) []Message {
	t.Helper()
	s := p.shamir
	src := replay.Seeded(21, "forge")
	polynomials := make([][]group.Scalar, 1+s.countScalars())
	for i := range polynomials {
		for range s.quorum() {
			polynomials[i] = append(polynomials[i], group.Ristretto255.RandomScalar(reader{src}))
		}
	}
	parts := make([][]byte, p.task.Holders)
	for h := range parts {
		points := make([]group.Scalar, len(polynomials))
		for i, f := range polynomials {
			points[i] = evaluatePolynomial(f, group.Ristretto255.NewScalar().SetUint64(uint64(h+1)))
		}
		bend(h, points)
		parts[h] = make([]byte, 32)
		for _, y := range points {
			b, err := y.MarshalBinary()
			if err != nil {
				t.Fatal(err)
			}
			parts[h] = append(parts[h], b...)
		}
	}
	bodies, err := s.proveShares(owner, polynomials, parts, nil)
	if err != nil {
		t.Fatal(err)
	}
	var out []Message
	for h, b := range bodies {
		out = append(out, Message{p.tag, Share, owner, h, b})
	}
	return out
}

// hand gives shares to holders and returns what each says.
func hand(t *testing.T, p *Protocol, holders []*Holder, shares []Message) []error {
	t.Helper()
	errs := make([]error, len(shares))
	for i, m := range shares {
		_, errs[i] = holders[m.To].Handle(m)
	}
	return errs
}

func fresh(t *testing.T, p *Protocol) []*Holder {
	t.Helper()
	holders := make([]*Holder, p.task.Holders)
	for i := range holders {
		var err error
		if holders[i], err = p.NewHolder(i); err != nil {
			t.Fatal(err)
		}
	}
	return holders
}

// finish ends the wait and opens the sum, through lie.
func finish(t *testing.T, p *Protocol, holders []*Holder, lie func(*Message)) *Collector {
	t.Helper()
	c := p.NewCollector()
	var requests []Message
	for _, h := range holders {
		m := h.Close()[0]
		if lie != nil {
			lie(&m)
		}
		follow, err := c.Handle(m)
		if err != nil {
			t.Fatal(err)
		}
		requests = append(requests, follow...)
	}
	for ; len(requests) > 0; requests = requests[1:] {
		answer, err := holders[requests[0].To].Handle(requests[0])
		if err != nil {
			t.Fatal(err)
		}
		follow, err := c.Handle(answer[0])
		if err != nil && !errors.Is(err, ErrDeviation) { // which Sum returns
			t.Fatal(err)
		}
		requests = append(requests, follow...)
	}
	return c
}

// One owner whose shares do not lie on one polynomial is convicted by the holder that
// has a wrong one, wherever it is wrong, and left out: the sum of the others is exact.
func TestInconsistentSharesAreLeftOut(t *testing.T) {
	task := Task{Round: "culprit", Owners: 5, AtLeast: 4, Holders: 5, Length: 40, Range: 1 << 17}
	p := protocol(t, Shamir, task)
	src := replay.Seeded(22, "culprit")
	values := vectors(src, task)
	one := group.Ristretto255.NewScalar().SetUint64(1)
	turns := 20
	for turn := range turns {
		bad, where := turn%task.Holders, turn%(1+p.shamir.countScalars())
		holders := fresh(t, p)
		for o, v := range values {
			if o == 2 {
				continue
			}
			out, err := p.Split(src, o, v)
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(hand(t, p, holders, out)...); err != nil {
				t.Fatal(err)
			}
		}
		shares := forge(t, p, 2, func(h int, points []group.Scalar) {
			if h == bad {
				points[where].Add(points[where], one)
			}
		})
		for h, err := range hand(t, p, holders, shares) {
			if errors.Is(err, ErrInconsistent) != (h == bad) || errors.Is(err, ErrRefused) != (h == bad) {
				t.Errorf("point %d at holder %d is wrong, holder %d says %v", where, bad, h, err)
			}
		}
		exact(t, finish(t, p, holders, nil), values, 2)
	}
}

// What is moved from one coordinate to another does not cancel; nor does a proof serve
// another owner, holder or sum.
func TestProofsAreBound(t *testing.T) {
	task := Task{Round: "bound", Owners: 5, AtLeast: 4, Holders: 4, Length: 40, Range: 1 << 17}
	p := protocol(t, Shamir, task)
	s := p.shamir
	honest := forge(t, p, 1, func(int, []group.Scalar) {})
	if err := errors.Join(hand(t, p, fresh(t, p), honest)...); err != nil {
		t.Fatal(err)
	}
	for from := range 1 + s.countScalars() {
		for to := range from {
			shares := forge(t, p, 1, func(h int, points []group.Scalar) {
				if h == 0 {
					points[from].Sub(points[from], group.Ristretto255.NewScalar().SetUint64(1))
					points[to].Add(points[to], group.Ristretto255.NewScalar().SetUint64(1))
				}
			})
			if err := hand(t, p, fresh(t, p), shares)[0]; !errors.Is(err, ErrInconsistent) {
				t.Errorf("one from point %d at point %d: %v", from, to, err)
			}
		}
	}
	task.Round = "another"
	other := protocol(t, Shamir, task)
	for name, m := range map[string]Message{
		"another owner": {p.tag, Share, 2, 0, honest[0].Body},
		"another sum":   {other.tag, Share, 1, 0, honest[0].Body},
	} {
		q := p
		if m.Task == other.tag {
			q = other
		}
		h := fresh(t, q)[0]
		if _, err := h.Handle(m); !errors.Is(err, ErrRefused) || errors.Is(err, ErrInconsistent) {
			t.Errorf("a share for %s: %v, want it refused, and nobody convicted", name, err)
		}
	}
	// Somebody else's bytes under an owner's proof convict no one.
	forged := bytes.Clone(honest[0].Body)
	forged[len(forged)-1] ^= 1
	if _, err := fresh(t, p)[0].Handle(Message{p.tag, Share, 1, 0, forged}); !errors.Is(err, ErrRefused) ||
		errors.Is(err, ErrInconsistent) {
		t.Errorf("a part that the proof is not about: %v", err)
	}
}

// An owner that proves one thing to some holders and another to the rest is left out,
// or counts with those who were told alike.
func TestTwoTalesAreToldApart(t *testing.T) {
	task := Task{Round: "two tales", Owners: 5, AtLeast: 4, Holders: 5, Length: 3, Range: 100}
	p := protocol(t, Shamir, task)
	src := replay.Seeded(23, "tales")
	values := vectors(src, task)
	for _, second := range [][]int{{0}, {4}, {0, 3}, {1, 2, 4}} {
		holders := fresh(t, p)
		for o, v := range values {
			out, err := p.Split(src, o, v)
			if err != nil {
				t.Fatal(err)
			}
			if o == 3 {
				again, err := p.Split(src, o, v)
				if err != nil {
					t.Fatal(err)
				}
				for _, h := range second {
					out[h] = again[h]
				}
			}
			if err := errors.Join(hand(t, p, holders, out)...); err != nil {
				t.Fatal(err)
			}
		}
		c := finish(t, p, holders, nil)
		exact(t, c, values, 3)
		if got := c.Disputed(); !slices.Equal(got, []int{3}) {
			t.Errorf("disputed are %v, want owner 3 alone", got)
		}
	}
}

// A holder that lies about every owner's proof is left out itself: it must not be able
// to end the sum, nor to have honest owners left out.
func TestALyingHolderIsLeftOut(t *testing.T) {
	task := Task{Round: "liar", Owners: 5, AtLeast: 4, Holders: 5, Length: 3, Range: 100}
	p := protocol(t, Shamir, task)
	src := replay.Seeded(24, "liar")
	values := vectors(src, task)
	for liar := range task.Holders {
		holders := fresh(t, p)
		for o, v := range values {
			out, err := p.Split(src, o, v)
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(hand(t, p, holders, out)...); err != nil {
				t.Fatal(err)
			}
		}
		c := finish(t, p, holders, func(m *Message) {
			if m.From == liar {
				m.Body = bytes.Clone(m.Body)
				for i := 1; i < len(m.Body); i++ { // after the one byte of the set
					m.Body[i] ^= byte(1 + rng.Below(src, 255))
				}
			}
		})
		exact(t, c, values)
	}
}
