// SPDX-License-Identifier: Apache-2.0

package secsum

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
)

// both are the two ways to split, with as many holders as make sense for each.
var both = []struct {
	name    string
	holders int
	make    func(Task) (*Protocol, error)
}{{"shamir", 7, Shamir}}

func protocol(t testing.TB, make func(Task) (*Protocol, error), task Task) *Protocol {
	t.Helper()
	p, err := make(task)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// vectors draws one for each owner; the last owner's is as large as can be.
func vectors(src rng.Source, t Task) [][]uint64 {
	out := make([][]uint64, t.Owners)
	for o := range out {
		out[o] = make([]uint64, t.Length)
		for j := range out[o] {
			if out[o][j] = rng.Below(src, t.Range); o == t.Owners-1 {
				out[o][j] = t.Range - 1
			}
		}
	}
	return out
}

// drops says who falls silent, and when.
type drops struct {
	ownersBefore, ownersMidway []int // before any share; after some holders have theirs
	holdersBefore              []int // before they say what they have
	holdersAfter               []int // before they send their sum
	mangle                     func(Message) Message
}

// carry runs a task to its end: every message, but those of the dropped, in the
// order it was sent, through the wire format.
func carry(t testing.TB, p *Protocol, values [][]uint64, d drops) (*Collector, error) {
	t.Helper()
	src := replay.Seeded(1, fmt.Sprint(p.task))
	holders := make([]*Holder, p.task.Holders)
	for i := range holders {
		var err error
		if holders[i], err = p.NewHolder(i); err != nil {
			t.Fatal(err)
		}
	}
	c := p.NewCollector()
	wired := func(m Message) Message {
		if d.mangle != nil {
			m = d.mangle(m)
		}
		b, err := m.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		var back Message
		if err := back.UnmarshalBinary(b); err != nil {
			t.Fatal(err)
		}
		return back
	}
	var final error
	note := func(err error) {
		if err != nil && !errors.Is(err, ErrRefused) {
			final = err
		}
	}
	for o, v := range values {
		if slices.Contains(d.ownersBefore, o) {
			continue
		}
		out, err := p.Split(src, o, v)
		if err != nil {
			t.Fatal(err)
		}
		if slices.Contains(d.ownersMidway, o) {
			out = out[:len(out)/2]
		}
		for _, m := range out {
			_, err := holders[m.To].Handle(wired(m))
			note(err)
		}
	}
	var queue []Message
	for i, h := range holders {
		if !slices.Contains(d.holdersBefore, i) {
			queue = append(queue, h.Close()...)
		}
	}
	work := func() {
		for ; len(queue) > 0; queue = queue[1:] {
			m := wired(queue[0])
			var out []Message
			var err error
			switch {
			case m.To == ToCollector:
				out, err = c.Handle(m)
			case slices.Contains(d.holdersBefore, m.To) || m.Kind == Open && slices.Contains(d.holdersAfter, m.To):
			default:
				out, err = holders[m.To].Handle(m)
			}
			note(err)
			queue = append(queue, out...)
		}
	}
	work()
	for range 3 { // the deadlines of the waits
		out, err := c.Close()
		note(err)
		queue = out
		work()
	}
	if _, _, _, err := c.Sum(); err != nil && final == nil {
		final = err
	}
	return c, final
}

// exact checks a sum against the plain one over the owners that it names.
func exact(t *testing.T, c *Collector, values [][]uint64, without ...int) {
	t.Helper()
	total, owners, ok, err := c.Sum()
	if !ok || err != nil {
		t.Fatalf("there is no sum: %v", err)
	}
	want := make([]uint64, len(values[0]))
	for _, o := range owners {
		for j, v := range values[o] {
			want[j] += v
		}
	}
	if !slices.Equal(total, want) {
		t.Errorf("the sum is %v, not %v", total, want)
	}
	if len(owners) != len(values)-len(without) ||
		slices.ContainsFunc(owners, func(o int) bool { return slices.Contains(without, o) }) {
		t.Errorf("the sum is of owners %v; %v dropped out", owners, without)
	}
}

// Sums are exact whichever third of the parties drops out at each phase.
func TestSumsAreExactUnderDropouts(t *testing.T) {
	src := replay.Seeded(2, "dropouts")
	for _, b := range both {
		t.Run(b.name, func(t *testing.T) {
			for turn := range 12 {
				task := Task{Round: fmt.Sprint(turn), Owners: 9, AtLeast: 6, Holders: b.holders, Length: 1 + turn*2,
					Range: 1 << (1 + turn)}
				p := protocol(t, b.make, task)
				values := vectors(src, task)
				third := func(n int) []int {
					all := make([]int, n)
					for i := range all {
						all[i] = i
					}
					rng.Shuffle(src, n, func(i, j int) { all[i], all[j] = all[j], all[i] })
					return all[:n/3]
				}
				owners, holders := third(task.Owners), third(task.Holders)
				d := drops{ownersBefore: owners[:1], ownersMidway: owners[1:]}
				if b.name == "shamir" {
					d.holdersBefore, d.holdersAfter = holders[:turn%3], holders[turn%3:]
				}
				c, err := carry(t, p, values, d)
				if err != nil {
					t.Fatal(err)
				}
				exact(t, c, values, owners...)
				if c.Liars() != nil {
					t.Errorf("honest holders are accused: %v", c.Liars())
				}
			}
		})
	}
}

// Every pattern of a third of a small committee, at each of its two phases.
func TestEveryThirdOfTheHoldersMayDropOut(t *testing.T) {
	task := Task{Round: "patterns", Owners: 4, AtLeast: 3, Holders: 6, Length: 3, Range: 1000}
	p := protocol(t, Shamir, task)
	values := vectors(replay.Seeded(3, ""), task)
	for a := range task.Holders {
		for b := range a {
			for _, d := range []drops{{holdersBefore: []int{a, b}}, {holdersAfter: []int{a, b}},
				{holdersBefore: []int{a}, holdersAfter: []int{b}}} {
				c, err := carry(t, p, values, d)
				if err != nil {
					t.Fatalf("%+v: %v", d, err)
				}
				exact(t, c, values)
			}
		}
	}
}

func TestTooManyDropoutsAbort(t *testing.T) {
	for _, b := range both {
		task := Task{Round: "abort", Owners: 9, AtLeast: 6, Holders: b.holders, Length: 2, Range: 5}
		p := protocol(t, b.make, task)
		values := vectors(replay.Seeded(4, ""), task)
		most := p.Task().Holders - p.Quorum()
		few := make([]int, most+1)
		for i := range few {
			few[i] = i
		}
		for _, c := range []struct {
			d       drops
			waiting Kind
		}{
			{drops{ownersBefore: []int{0, 3, 5, 7}}, Share},
			{drops{ownersMidway: []int{0, 3, 5, 7}}, Share},
			{drops{holdersBefore: few}, Held},
			{drops{holdersAfter: few}, Sum},
		} {
			col, err := carry(t, p, values, c.d)
			var abort *Abort
			if !errors.As(err, &abort) || abort.Waiting != c.waiting || abort.Have != abort.Need-1 {
				t.Errorf("%s %+v: %v", b.name, c.d, err)
			}
			if total, _, ok, _ := col.Sum(); ok || total != nil {
				t.Errorf("%s %+v: a sum was opened", b.name, c.d)
			}
			if _, err := col.Close(); !errors.As(err, &abort) {
				t.Errorf("%s: an abort is final, got %v", b.name, err)
			}
		}
	}
}

// A sum that could overflow is refused; one that just cannot is exact.
func TestOverflowIsImpossible(t *testing.T) {
	for _, b := range both {
		task := Task{Round: "large", Owners: 4, AtLeast: 2, Holders: b.holders, Length: 5, Range: 1 << 60}
		values := make([][]uint64, task.Owners)
		for o := range values {
			values[o] = slices.Repeat([]uint64{task.Range - 1}, task.Length)
		}
		c, err := carry(t, protocol(t, b.make, task), values, drops{})
		if err != nil {
			t.Fatal(err)
		}
		exact(t, c, values)
		task.Range = 1<<61 + 1
		if _, err := b.make(task); err == nil {
			t.Errorf("%s: 4 owners of range 2^61 + 1 were accepted", b.name)
		}
	}
}

func TestTasksAndVectorsAreRefused(t *testing.T) {
	good := Task{Round: "r", Owners: 3, AtLeast: 2, Holders: 3, Length: 2, Range: 4}
	for name, spoil := range map[string]func(*Task){
		"no round": func(t *Task) { t.Round = "" }, "long round": func(t *Task) { t.Round = string(make([]byte, 256)) },
		"one owner":       func(t *Task) { t.Owners, t.AtLeast = 1, 1 },
		"too many owners": func(t *Task) { t.Owners = 1<<24 + 1 },
		"one is enough":   func(t *Task) { t.AtLeast = 1 }, "more than all": func(t *Task) { t.AtLeast = 4 },
		"one holder": func(t *Task) { t.Holders = 1 }, "too many holders": func(t *Task) { t.Holders = 256 },
		"no length": func(t *Task) { t.Length = 0 }, "long": func(t *Task) { t.Length = 1<<20 + 1 },
		"no range": func(t *Task) { t.Range = 1 }, "all of 64 bits": func(t *Task) { t.Range = 1<<64 - 1 },
	} {
		for _, b := range both {
			task := good
			if spoil(&task); true {
				if _, err := b.make(task); err == nil {
					t.Errorf("%s: %s was accepted", b.name, name)
				}
			}
		}
	}
	for _, b := range both {
		p := protocol(t, b.make, good)
		for _, v := range [][]uint64{nil, {1}, {1, 2, 3}, {0, 4}, {1<<64 - 1, 0}} {
			if _, err := p.Split(rng.System(), 0, v); err == nil {
				t.Errorf("%s: %v was split", b.name, v)
			}
		}
		for _, o := range []int{-1, 3} {
			if _, err := p.Split(rng.System(), o, []uint64{0, 0}); err == nil {
				t.Errorf("%s: owner %d was let in", b.name, o)
			}
			if _, err := p.NewHolder(o); err == nil {
				t.Errorf("%s: holder %d was let in", b.name, o)
			}
		}
	}
}
