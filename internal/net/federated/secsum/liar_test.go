// SPDX-License-Identifier: Apache-2.0

package secsum

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/cloudflare/circl/group"

	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
)

// asked is a sum whose holders have been asked for their sums of shares.
type asked struct {
	p        *Protocol
	values   [][]uint64
	holders  []*Holder
	requests []Message
	c        *Collector
}

// ask brings a sum as far as the requests. Its task's name is round.
func ask(t *testing.T, round string, holders int) *asked {
	t.Helper()
	task := Task{Round: round, Owners: 5, AtLeast: 4, Holders: holders, Length: 40, Range: 1 << 17}
	a := &asked{p: protocol(t, Shamir, task)}
	a.c, a.holders = a.p.NewCollector(), fresh(t, a.p)
	src := replay.Seeded(31, round)
	a.values = vectors(src, task)
	for o, v := range a.values {
		out, err := a.p.Split(src, o, v)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(hand(t, a.p, a.holders, out)...); err != nil {
			t.Fatal(err)
		}
	}
	var shows []Message
	for _, h := range a.holders {
		follow, err := a.c.Handle(h.Close()[0])
		if err != nil {
			t.Fatal(err)
		}
		shows = append(shows, follow...)
	}
	shown, err := a.holders[shows[0].To].Handle(shows[0])
	if err != nil {
		t.Fatal(err)
	}
	if a.requests, err = a.c.Handle(shown[0]); err != nil {
		t.Fatal(err)
	}
	return a
}

// answer is what holder h honestly says.
func (a *asked) answer(t *testing.T, h int) Message {
	t.Helper()
	for _, r := range a.requests {
		if r.To == h {
			out, err := a.holders[h].Handle(r)
			if err != nil {
				t.Fatal(err)
			}
			return out[0]
		}
	}
	t.Fatalf("holder %d was not asked", h)
	return Message{}
}

// A holder that answers with anything but the sum of its shares is named, and does not
// count: also where the others are one too few to open the sum
// without it, and where it has seen all of their answers. Where a quorum is right, the
// sum is exact.
func TestALyingAnswerIsNamed(t *testing.T) {
	scalarsOf := func(t *testing.T, m Message) []group.Scalar {
		t.Helper()
		s, err := readScalars(m.Body[32:])
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	write := func(t *testing.T, m Message, scalars []group.Scalar) Message {
		t.Helper()
		m.Body = bytes.Clone(m.Body[:32])
		for _, s := range scalars {
			b, err := s.MarshalBinary()
			if err != nil {
				t.Fatal(err)
			}
			m.Body = append(m.Body, b...)
		}
		return m
	}
	number := func(n uint64) group.Scalar { return group.Ristretto255.NewScalar().SetUint64(n) }
	for name, lie := range map[string]func(t *testing.T, a *asked, honest Message) Message{
		"one coordinate more": func(t *testing.T, _ *asked, m Message) Message {
			s := scalarsOf(t, m)
			s[1].Add(s[1], number(1))
			return write(t, m, s)
		},
		"all coordinates more": func(t *testing.T, _ *asked, m Message) Message {
			s := scalarsOf(t, m)
			for i := range s {
				s[i].Add(s[i], number(uint64(1+i)))
			}
			return write(t, m, s)
		},
		"blinded otherwise": func(t *testing.T, _ *asked, m Message) Message {
			s := scalarsOf(t, m)
			s[0].Add(s[0], number(1))
			return write(t, m, s)
		},
		"moved from one coordinate to another": func(t *testing.T, _ *asked, m Message) Message {
			s := scalarsOf(t, m)
			s[1].Add(s[1], number(1))
			s[2].Sub(s[2], number(1))
			return write(t, m, s)
		},
		// The others' answers are seen, and the lie is made to fit them: the total that comes
		// out is a vector in range.
		"fitted to the others' answers": func(t *testing.T, a *asked, m Message) Message {
			s := scalarsOf(t, m)
			q, x := a.p.Quorum(), number(uint64(m.From+1))
			weight := number(1) // of the answer, in the secret that the first quorum opens
			for h := range q {
				if h != m.From {
					y := number(uint64(h + 1))
					difference := group.Ristretto255.NewScalar().Sub(y, x)
					weight.Mul(weight, y.Mul(y, difference.Inv(difference)))
				}
			}
			s[1].Add(s[1], weight.Inv(weight)) // one more in the first coordinate
			return write(t, m, s)
		},
		"another's answer": func(t *testing.T, a *asked, m Message) Message {
			m.Body = a.answer(t, (m.From+1)%len(a.holders)).Body
			return m
		},
		"an owner left out": func(t *testing.T, a *asked, m Message) Message {
			sum, err := a.holders[m.From].addShares([]int{0, 1, 2, 3})
			if err != nil {
				t.Fatal(err)
			}
			m.Body = append(bytes.Clone(m.Body[:32]), sum...)
			return m
		},
		"an owner twice": func(t *testing.T, a *asked, m Message) Message {
			sum, err := a.holders[m.From].addShares([]int{0, 1, 2, 3, 4, 4})
			if err != nil {
				t.Fatal(err)
			}
			m.Body = append(bytes.Clone(m.Body[:32]), sum...)
			return m
		},
		"an answer of another sum": func(t *testing.T, a *asked, m Message) Message {
			old := ask(t, "old", len(a.holders)).answer(t, m.From)
			m.Body = old.Body
			return m
		},
		"nothing": func(t *testing.T, _ *asked, m Message) Message {
			m.Body = m.Body[:32]
			return m
		},
	} {
		for _, holders := range []int{3, 4, 5} {
			for _, silent := range []bool{true, false} {
				t.Run(fmt.Sprintf("%s/%d/%v", name, holders, silent), func(t *testing.T) {
					a := ask(t, "now", holders)
					q := a.p.Quorum()
					answering := holders
					if silent {
						answering = q
					}
					for h := range answering {
						if h == 0 {
							continue
						}
						if _, err := a.c.Handle(a.answer(t, h)); err != nil {
							t.Fatal(err)
						}
					}
					_, err := a.c.Handle(lie(t, a, a.answer(t, 0))) // the last to answer
					if !errors.Is(err, ErrRefused) || !errors.Is(err, ErrWrongSum) {
						t.Errorf("the lie: %v, want it refused", err)
					}
					if _, err := a.c.Handle(a.answer(t, 0)); !errors.Is(err, ErrRefused) {
						t.Errorf("the truth after a lie: %v", err)
					}
					if !slices.Equal(a.c.Liars(), []int{0}) {
						t.Errorf("liars are %v", a.c.Liars())
					}
					_, err = a.c.Close()
					if silent {
						if abort := (*Abort)(nil); !errors.As(err, &abort) || abort.Have != q-1 {
							t.Errorf("%v, want one holder too few", err)
						}
						return
					}
					exact(t, a.c, a.values)
				})
			}
		}
	}
}

// What determines holders' sums are the owners' proofs, whose hashes holders have given
// before: a holder that shows others, fewer or none of them is passed over.
func TestProofsAreShownAsTheyWereHeld(t *testing.T) {
	task := Task{Round: "shown", Owners: 5, AtLeast: 4, Holders: 4, Length: 3, Range: 100}
	p := protocol(t, Shamir, task)
	src := replay.Seeded(32, "shown")
	values := vectors(src, task)
	for name, lie := range map[string]func([]byte) []byte{
		"none":       func([]byte) []byte { return nil },
		"fewer":      func(b []byte) []byte { return b[p.proof():] },
		"a bit":      func(b []byte) []byte { b[len(b)-1] ^= 2; return b },
		"in order":   func(b []byte) []byte { return append(b[p.proof():], b[:p.proof()]...) },
		"of another": func(b []byte) []byte { return append(b[p.proof():2*p.proof():2*p.proof()], b[p.proof():]...) },
	} {
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
		c := p.NewCollector()
		var queue []Message
		for _, h := range holders {
			queue = append(queue, h.Close()...)
		}
		liars := map[int]bool{0: true, 1: true, 2: true}
		for ; len(queue) > 0; queue = queue[1:] {
			m := queue[0]
			handle := c.Handle
			if m.To != ToCollector {
				handle = holders[m.To].Handle
			}
			if m.Kind == Shown && liars[m.From] {
				m.Body = lie(bytes.Clone(m.Body))
			}
			follow, err := handle(m)
			if err != nil {
				t.Fatal(name, err)
			}
			queue = append(queue, follow...)
		}
		exact(t, c, values)
		// A collector that starts again goes on with what was found.
		again := p.NewCollector()
		for _, h := range holders {
			if _, err := again.Handle(h.Close()[0]); err != nil {
				t.Fatal(err)
			}
		}
		requests, err := again.Bind(c.Bound())
		if err != nil || len(requests) != task.Holders {
			t.Fatal(name, requests, err)
		}
		for _, r := range requests {
			out, err := holders[r.To].Handle(r)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := again.Handle(out[0]); err != nil {
				t.Fatal(err)
			}
		}
		exact(t, again, values)
	}
	// All of them lie: there is no sum.
	a := ask(t, "all lie", 3)
	c := a.p.NewCollector()
	var queue []Message
	for _, h := range a.holders {
		follow, err := c.Handle(h.Close()[0])
		if err != nil {
			t.Fatal(err)
		}
		queue = append(queue, follow...)
	}
	var err error
	for err == nil {
		var follow []Message
		follow, err = c.Handle(Message{a.p.tag, Shown, queue[0].To, ToCollector, nil})
		queue = append(queue[1:], follow...)
	}
	if abort := (*Abort)(nil); !errors.As(err, &abort) || abort.Waiting != Shown {
		t.Errorf("%v, want no proofs", err)
	}
}

// A holder's stored shares come back as they were, and no others.
func TestSharesAreRestored(t *testing.T) {
	a := ask(t, "restored", 3)
	src := replay.Seeded(33, "restored")
	h := fresh(t, a.p)[1]
	out, err := a.p.Split(src, 0, a.values[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Restore(out[1]); err != nil {
		t.Fatal(err)
	}
	if err := h.Restore(out[1]); err != nil {
		t.Errorf("the same again: %v", err)
	}
	want := fresh(t, a.p)[1]
	if _, err := want.Handle(out[1]); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(h.Close()[0].Body, want.Close()[0].Body) {
		t.Error("what is held has changed")
	}
	bent := out[1]
	bent.Body = bytes.Clone(bent.Body)
	bent.Body[len(bent.Body)-1] ^= 1
	for name, m := range map[string]Message{"bent": bent, "another's": out[0], "a request": a.requests[1]} {
		if err := fresh(t, a.p)[1].Restore(m); !errors.Is(err, ErrRefused) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Sums of multiples are those of the plain method, on either side of each change of the
// width of digits, with the smallest and the largest scalars among them.
func TestMultiplesAddUp(t *testing.T) {
	g := group.Ristretto255
	largest := g.NewScalar().SetUint64(1)
	largest.Neg(largest)
	sizes := []int{1, 2, 3}
	for n := 2; n < 400; n++ {
		if windowFor(n) != windowFor(n-1) {
			sizes = append(sizes, n-1, n)
		}
	}
	for _, n := range sizes {
		points, scalars := listGenerators(n), make([]group.Scalar, n)
		want := g.Identity()
		for i := range scalars {
			switch scalars[i] = g.HashToScalar([]byte{byte(i), byte(n)}, []byte("test")); {
			case i%7 == 2:
				scalars[i] = g.NewScalar()
			case i%7 == 0:
				scalars[i] = largest
			}
			want.Add(want, g.NewElement().Mul(points[i], scalars[i]))
		}
		got, err := addMultiples(scalars, points)
		if err != nil || !got.IsEqual(want) {
			t.Errorf("%d points: another sum, %v", n, err)
		}
	}
	if w := windowFor(1 << 20); w < 12 || w > 16 {
		t.Errorf("a million points take digits of %d bits", w)
	}
}

// The generators are those that docs/protocol.md describes, each another.
func TestGeneratorsKeepTheirBytes(t *testing.T) {
	b, err := writeElements(listGenerators(300))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for e := range slices.Chunk(b, elementBytes) {
		seen[string(e)] = true
	}
	if len(seen) != 300 {
		t.Errorf("%d generators are the same", 300-len(seen))
	}
	const first = "d2862451013c1be588d204bda01504b450990c2e596441157385e22c17dfba33" +
		"0271d7778b834ec3fe2c5397776c4bec3781a8fc9ab1588bab076ab34ab4882e"
	if got := fmt.Sprintf("%x", b[:2*elementBytes]); got != first {
		t.Errorf("the first two generators are %s, want %s", got, first)
	}
}
