// SPDX-License-Identifier: Apache-2.0

package answer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/net/federated/wire"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/response"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

const testSchema = `
name: t
unit: one person
relation: replace-one
file: {delimiter: ",", quote: "", header: true}
columns:
  - {name: age, role: public, number: {lower: 0, upper: 100, default: 50}}
  - {name: pet, role: private, category: {levels: [cat, dog]}}
  - {name: y, role: private, label: {levels: [a, b, c], default: a}}
`

// people are all records there can be, with ages 0, 25, ..., 100.
func people(t testing.TB) *dataset.Table {
	s, err := schema.Parse([]byte(testSchema))
	if err != nil {
		t.Fatal(err)
	}
	var age, pet []uint32
	tab := &dataset.Table{Schema: s}
	for a := range uint32(5) {
		for p := range uint32(3) {
			for y := range uint8(3) {
				age, pet, tab.Labels = append(age, a), append(pet, p), append(tab.Labels, y)
			}
		}
	}
	tab.Rows = len(age)
	tab.Cols = []column.Column{{Codes: column.Narrow(age, 5), Values: []float64{0, 25, 50, 75, 100}},
		{Codes: column.Narrow(pet, 3)}}
	return tab
}

func testTask(t testing.TB, c wire.Classifier, mechanism string) *wire.Task {
	task := &wire.Task{
		Nonce: strings.Repeat("0f", 16), Mode: wire.Local, Classifier: c, Mechanism: mechanism, Epsilon: dp.Nano,
		Schema:    people(t).Schema,
		Questions: []wire.Question{{Column: "age", Edges: []float64{25, 50}}, {Column: "pet"}},
		Rounds:    []wire.Shares{{Table: 1, Error: 1}, {Table: 1, Error: 1}},
		WeightCap: 3,
	}
	return task
}

func accept(t testing.TB, task *wire.Task) (*Terms, *Records) {
	text, err := task.Text()
	if err != nil {
		t.Fatal(err)
	}
	terms, err := Accept(text, Caps{Epsilon: dp.Nano})
	if err != nil {
		t.Fatal(err)
	}
	recs, err := terms.Bind(people(t))
	if err != nil {
		t.Fatal(err)
	}
	return terms, recs
}

func randomMember(r *rand.Rand, task *wire.Task, vote float64) wire.Member {
	random := func(n int) (row []float64) {
		for range n {
			row = append(row, r.NormFloat64())
		}
		return row
	}
	if task.Classifier == wire.Centroid {
		a := &wire.Argmax{Bias: random(3)}
		for range 3 {
			a.Coef = append(a.Coef, random(4)) // age; cat, dog, other
		}
		return wire.Member{Vote: vote, Argmax: a}
	}
	m := wire.Member{Vote: vote}
	for q := range 2 {
		s := wire.Shape{Question: q}
		for range 3 {
			s.Leaves = append(s.Leaves, random(3))
		}
		m.Shapes = append(m.Shapes, s)
	}
	return m
}

func broadcast(t testing.TB, task *wire.Task, slot int, members ...wire.Member) []byte {
	d, err := task.Digest()
	if err != nil {
		t.Fatal(err)
	}
	r := &wire.Round{Task: d.String(), Slot: slot, Members: members}
	if !r.IsError() {
		r.Asks = []wire.Ask{{Question: 0}, {Question: 1}}
	}
	text, err := r.Text(task)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// features of a record, by hand: age in [-1, 1], then one of three pets.
func features(tab *dataset.Table, i int) []float64 {
	x := make([]float64, 4)
	x[0] = tab.Cols[0].Values[tab.Cols[0].Codes.At(i)]/50 - 1
	x[1+tab.Cols[1].Codes.At(i)] = 1
	return x
}

// Naive twin of the weight: margins and mistakes, straight from the formulas.
func TestWeights(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for _, c := range []wire.Classifier{wire.Stump, wire.Centroid} {
		task := testTask(t, c, "")
		_, recs := accept(t, task)
		for range 50 {
			members := []wire.Member{randomMember(r, task, r.Float64()), randomMember(r, task, r.Float64())}
			w := newWeigher(recs, members)
			for i := range recs.tab.Rows {
				y, log := int(recs.tab.Labels[i]), 0.0
				if c == wire.Stump {
					age := min(int(recs.tab.Cols[0].Codes.At(i)), 2)
					pet := recs.tab.Cols[1].Codes.At(i)
					z := make([]float64, 3)
					for _, m := range members {
						for k := range z {
							z[k] += m.Vote * (m.Shapes[0].Leaves[age][k] + m.Shapes[1].Leaves[pet][k])
						}
					}
					log = max(z[(y+1)%3], z[(y+2)%3]) - z[y]
				} else {
					x := features(recs.tab, i)
					for _, m := range members {
						z := append([]float64(nil), m.Argmax.Bias...)
						for k := range z {
							for f := range x {
								z[k] += m.Argmax.Coef[k][f] * x[f]
							}
						}
						if z[(y+1)%3] > z[y] || z[(y+2)%3] > z[y] {
							log += m.Vote
						}
					}
				}
				bound := task.WeightBound(members)
				want := math.Min(math.Exp(log), bound) / bound
				if got := w.weight(i); math.Abs(got-want) > 1e-12 || !(got >= 0 && got <= 1) {
					t.Fatalf("%s: record %d weighs %g, want %g", c, i, got, want)
				}
			}
		}
	}
}

// tape keeps what reaches a law and answers the same for everyone.
type tape struct{ truths [][]mech.Ratio }

func (p *tape) Numbers(string, mech.Mechanism, []mech.Ratio) []float64 { panic("not a report") }
func (p *tape) Choice(string, mech.Selector, []mech.Ratio) int         { panic("not a report") }
func (p *tape) Report(_ string, l response.Priced, v []mech.Ratio) response.Report {
	p.truths = append(p.truths, v)
	return response.Report{0}
}

// Replay non-interference: with the law's answer fixed, an owner's bytes are the
// same whatever its record, and what reaches the law is in the law's range.
func TestOnlyTheLawSeesTheRecord(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for _, c := range []wire.Classifier{wire.Stump, wire.Centroid} {
		for _, mechanism := range []string{"", "oue", "piecewise", "duchi"} {
			task := testTask(t, c, mechanism)
			terms, recs := accept(t, task)
			for slot := range task.Slots() {
				members := []wire.Member{randomMember(r, task, 2), randomMember(r, task, 0)}[:(slot+1)/2]
				round, err := terms.Read(broadcast(t, task, slot, members...))
				if err != nil {
					t.Fatal(err)
				}
				var want []byte
				for i := range recs.tab.Rows {
					p := &tape{}
					rep, err := round.Reporter(owners(t, recs, nil)).perturbReport("ann", 1, i,
						mech.NewTapedExit(replay.Seeded(1, "x"), p))
					if err != nil {
						t.Fatal(err)
					}
					if b := rep.Append(nil); want == nil {
						want = b
					} else if !bytes.Equal(b, want) {
						t.Fatalf("%s, slot %d: record %d shows beside the law's answer", c, slot, i)
					}
					sum := 0.0
					for _, v := range p.truths[0] {
						sum += v.Float()
					}
					if len(p.truths) != 1 || mechanism != "" && mechanism != "oue" && !(sum >= 0 && sum <= 1+1e-9) {
						t.Fatalf("%s %s, slot %d: the law saw %v", c, mechanism, slot, p.truths)
					}
				}
			}
		}
	}
}

// memory is a book of owners who have enough for one task; fail makes its next
// commit fail, before or after keeping.
type memory struct {
	entries map[int]Entry // by owner
	spent   map[int]dp.Epsilon
	broke   map[int]bool
	fail    string
}

func newMemory() *memory {
	return &memory{entries: map[int]Entry{}, spent: map[int]dp.Epsilon{}, broke: map[int]bool{}}
}

var errBroke = errors.New("nothing left")

func (m *memory) Commit(_ context.Context, given []Given) error {
	fail := m.fail
	m.fail = ""
	if fail == "before" {
		return errors.New("disk full")
	}
	for i := range given {
		g := &given[i]
		before, found := m.entries[g.Owner]
		switch {
		case found:
			g.Entry = before
		case m.broke[g.Owner]:
			g.Refused = errBroke
		default:
			m.entries[g.Owner] = g.Entry
			m.spent[g.Owner] += g.Cost
		}
	}
	if fail == "after" {
		return errors.New("power cut")
	}
	return nil
}

// owners are all people, each of whom is one owner.
func owners(t testing.TB, recs *Records, book Book) *Owners {
	o, err := NewOwners(recs, recs.tab.Rows, strconv.Itoa, book)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// An owner answers in its one slot, once, and nothing leaves before its book has
// it: a script of what a server may try.
func TestOneReport(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	task := testTask(t, wire.Stump, "")
	terms, recs := accept(t, task)
	book, exit, ctx := newMemory(), mech.NewExit(rng.System()), t.Context()
	all := owners(t, recs, book)
	members := func(slot int) []wire.Member {
		return []wire.Member{randomMember(r, task, 1), randomMember(r, task, 0)}[:(slot+1)/2]
	}
	ask := func(text []byte, owners ...int32) ([]Given, error) {
		round, err := terms.Read(text)
		if err != nil {
			return nil, err
		}
		return round.Reporter(all).Report(ctx, owners, exit)
	}
	const ann, bob = 3, 4
	mine := all.Place(ann).Slot
	for slot := range task.Slots() {
		if slot == mine {
			continue
		}
		if given, err := ask(broadcast(t, task, slot, members(slot)...), ann); given != nil || err == nil {
			t.Errorf("slot %d, not its own: %v %v", slot, given, err)
		}
	}
	if len(book.spent) != 0 {
		t.Fatal("spent without a report")
	}
	text := broadcast(t, task, mine, members(mine)...)
	for _, fail := range []string{"before", "after"} {
		book.fail = fail
		if given, err := ask(text, ann); given != nil || err == nil {
			t.Fatal("a report left although the book failed")
		}
	}
	kept := book.entries[ann]
	for range 3 {
		given, err := ask(text, ann)
		if err != nil || len(given) != 1 || !bytes.Equal(given[0].Report, kept.Report) {
			t.Fatalf("again: other bytes than the book's (%v)", err)
		}
	}
	other := broadcast(t, task, mine, members(mine)...)
	if mine == 0 { // a first round without members has one broadcast but for its asks
		var err error
		if other, err = (&wire.Round{Task: terms.digest.String(), Asks: []wire.Ask{{Question: 1}}}).Text(task); err != nil {
			t.Fatal(err)
		}
	}
	if given, err := ask(other, ann); len(given) != 0 || err != nil {
		t.Errorf("a second broadcast of the slot was answered: %v, %v", given, err)
	}
	if book.spent[ann] != task.Epsilon {
		t.Errorf("spent %s for one report of %s", book.spent[ann], task.Epsilon)
	}
	if _, err := ask([]byte("{}"), ann); err == nil {
		t.Error("rubbish was answered")
	}
	var same []int32 // owners of the slot who have not answered yet
	for i := range int32(recs.tab.Rows) {
		if i != ann && all.Place(int(i)).Slot == mine {
			same = append(same, i)
		}
	}
	book.broke[int(same[0])] = true
	given, err := ask(text, append(same, ann)...)
	if err != nil || len(given) != len(same) || given[0].Owner == int(same[0]) || len(book.entries) != len(same) {
		t.Errorf("%d of %d may leave, one being broke: %v", len(given), len(same)+1, err)
	}
}

// In mode aggregate the same holds for the shares of an owner's addend: the first
// sum gets them, no other one does.
func TestOneAddend(t *testing.T) {
	task := testTask(t, wire.Stump, "")
	task.Mode, task.Mechanism = wire.Aggregate, ""
	terms, recs := accept(t, task)
	book, exit, ctx := newMemory(), mech.NewExit(rng.System()), t.Context()
	all := owners(t, recs, book)
	const ann = 3
	slot := all.Place(ann).Slot
	round := &Round{terms: terms, round: &wire.Round{Slot: slot}}
	round.starts = []int{0}
	var err error
	if round.addend, err = response.CellAddendFor(task.Epsilon, 9, 1, 40, 30); err != nil {
		t.Fatal(err)
	}
	round.round.Asks = []wire.Ask{{Question: 0}}
	draws := 0
	share := func(sum byte) ([]Given, error) {
		return round.Reporter(all).Share(ctx, [32]byte{sum}, []int32{ann}, exit,
			func(owner int, addend []uint64) ([]byte, error) {
				draws++
				return fmt.Append(nil, owner, draws, len(addend)), nil
			})
	}
	first, err := share(1)
	if err != nil || len(first) != 1 || string(first[0].Report) != "3 1 9" {
		t.Fatalf("%v, %v", first, err)
	}
	again, err := share(1)
	if err != nil || len(again) != 1 || !bytes.Equal(again[0].Report, first[0].Report) {
		t.Errorf("again: %v, %v", again, err)
	}
	if other, err := share(2); err != nil || len(other) != 0 {
		t.Errorf("another sum got shares: %v, %v", other, err)
	}
	if book.spent[ann] != task.Epsilon {
		t.Errorf("spent %s for one addend of %s", book.spent[ann], task.Epsilon)
	}
	book.fail = "before"
	if given, err := share(1); given != nil || err == nil {
		t.Error("shares left although the book failed")
	}
	if _, err := round.Reporter(all).Report(ctx, []int32{ann}, exit); !errors.Is(err, errSecret) {
		t.Errorf("a report in mode aggregate: %v", err)
	}
}

func TestOwnersRefuse(t *testing.T) {
	task := testTask(t, wire.Stump, "")
	task.Epsilon++
	text, err := task.Text()
	if err != nil {
		t.Fatal(err)
	}
	var p *dp.ParamError
	if _, err := Accept(text, Caps{Epsilon: dp.Nano}); !errors.As(err, &p) || p.Param != "epsilon" {
		t.Errorf("a task beyond the cap: %v", err)
	}
	if _, err := Accept([]byte("not a task"), Caps{Epsilon: dp.Nano}); err == nil {
		t.Error("what is no task was accepted")
	}
	terms, _ := accept(t, testTask(t, wire.Stump, ""))
	tab := people(t)
	s := *tab.Schema
	s.Columns = append([]schema.Column(nil), s.Columns...)
	s.Columns[0].Upper = 10
	if _, err := terms.Bind(&dataset.Table{Schema: &s, Rows: tab.Rows, Cols: tab.Cols, Labels: tab.Labels}); err == nil {
		t.Error("records of another schema were bound")
	}
	if _, err := terms.Bind(&dataset.Table{Schema: tab.Schema, Rows: tab.Rows, Cols: tab.Cols}); err == nil {
		t.Error("records without labels were bound")
	}
	_, recs := accept(t, testTask(t, wire.Stump, ""))
	for _, count := range []int{-1, 0, tab.Rows + 1} {
		if _, err := NewOwners(recs, count, strconv.Itoa, newMemory()); !errors.As(err, &p) || p.Param != "owners" {
			t.Errorf("%d owners of %d records: %v", count, tab.Rows, err)
		}
	}
}
