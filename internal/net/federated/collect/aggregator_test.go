// SPDX-License-Identifier: Apache-2.0

package collect

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/net/federated/wire"
	"github.com/discreet-dp/discreet/internal/privacy/response"
	"github.com/discreet-dp/discreet/internal/table/column"
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

func testSchemaOf(t testing.TB) *schema.Schema {
	s, err := schema.Parse([]byte(testSchema))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// start opens a task of so many rounds.
func start(t testing.TB, c wire.Classifier, rounds int) *Aggregator {
	task, err := Plan(Params{Schema: testSchemaOf(t), Classifier: c, Epsilon: 3 * dp.Nano, Owners: 1000, Rounds: rounds,
		Nonce: strings.Repeat("ab", 16)})
	if err != nil {
		t.Fatal(err)
	}
	a, err := New(task)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// reports draws what some law-abiding owners of the open slot send: each claims a
// random cell and label that go together, told truthfully three times of four.
func reports(t testing.TB, a *Aggregator, owners int, r *rand.Rand) (out [][]byte) {
	for i := range owners {
		name := strconv.Itoa(i)
		place := a.placing.Of(name)
		if place.Slot != a.round.Slot {
			continue
		}
		ask := a.round.Ask(place.Ticket)
		law, y := a.laws[ask], r.IntN(3)
		cell := y % (law.Dim() / 3)
		if r.IntN(4) == 0 {
			cell = r.IntN(law.Dim() / 3)
		}
		at := cell*3 + y
		words := make(response.Report, law.Words())
		if law.Name() == "grr" {
			words[0] = uint32(at)
		} else {
			for j := range law.Dim() {
				if j == at && r.IntN(2) == 0 || j != at && r.IntN(20) == 0 {
					words[j/32] |= 1 << (j % 32)
				}
			}
		}
		out = append(out, (&wire.Report{Task: a.digest, Owner: name, Slot: place.Slot, Ask: ask, Words: words}).Append(nil))
	}
	return out
}

// finish answers every slot with reports in an order of its own.
func finish(t testing.TB, a *Aggregator, shuffle *rand.Rand) *model.Model {
	draws := rand.New(rand.NewPCG(9, 9))
	for a.round != nil {
		all := reports(t, a, 3000, draws)
		shuffle.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		for _, b := range all {
			if err := a.Receive(b); err != nil {
				t.Fatal(err)
			}
		}
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
	}
	m, err := a.Model(Statement{})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// A script of reports that must not count, and one that must count once.
func TestReceiveRefuses(t *testing.T) {
	a := start(t, wire.Stump, 2)
	good := reports(t, a, 3000, rand.New(rand.NewPCG(1, 1)))
	rep, err := wire.ParseReport(good[0])
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := "" // an owner of another slot
	for i := 0; elsewhere == ""; i++ {
		if n := strconv.Itoa(i); a.placing.Of(n).Slot != 0 {
			elsewhere = n
		}
	}
	change := func(f func(*wire.Report)) []byte {
		c := *rep
		c.Words = append(response.Report(nil), rep.Words...)
		f(&c)
		return c.Append(nil)
	}
	for what, c := range map[string]struct {
		report []byte
		want   error
	}{
		"another task":       {change(func(r *wire.Report) { r.Task[0] ^= 1 }), ErrOtherTask},
		"another slot":       {change(func(r *wire.Report) { r.Slot = 1 }), ErrLate},
		"another's slot":     {change(func(r *wire.Report) { r.Owner = elsewhere }), ErrPlace},
		"another question":   {change(func(r *wire.Report) { r.Ask = 1 - r.Ask }), ErrPlace},
		"no such question":   {change(func(r *wire.Report) { r.Ask = 999 }), ErrPlace},
		"words out of range": {change(func(r *wire.Report) { r.Words[0] = math.MaxUint32 }), nil},
		"too many words":     {change(func(r *wire.Report) { r.Words = append(r.Words, 0) }), nil},
		"no words":           {change(func(r *wire.Report) { r.Words = nil }), nil},
		"rubbish":            {[]byte("rubbish"), nil},
	} {
		err := a.Receive(c.report)
		if err == nil || c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", what, err, c.want)
		}
		if a.Received() != 0 {
			t.Fatalf("%s was counted", what)
		}
	}
	for range 3 {
		if err := a.Receive(good[0]); err != nil || a.Received() != 1 {
			t.Fatalf("the same bytes again: %v, counted %d", err, a.Received())
		}
	}
	second := change(func(r *wire.Report) {
		if len(a.laws[r.Ask].Name()) > 0 {
			r.Words[0] ^= 1
		}
	})
	if err := a.Receive(second); !errors.Is(err, ErrTwice) || a.Received() != 1 {
		t.Errorf("a second report of an owner: %v, counted %d", err, a.Received())
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if err := a.Receive(good[1]); !errors.Is(err, ErrLate) {
		t.Errorf("a late report: %v", err)
	}
}

// The same reports in any order, sent once or twice, give the same bytes.
func TestOrderDoesNotMatter(t *testing.T) {
	for _, c := range []wire.Classifier{wire.Stump, wire.Centroid, wire.Logistic} {
		var want []byte
		for seed := range uint64(3) {
			b, err := model.Marshal(finish(t, start(t, c, 2), rand.New(rand.NewPCG(seed, 0))))
			if err != nil {
				t.Fatal(c, err)
			}
			if want == nil {
				want = b
			} else if !bytes.Equal(b, want) {
				t.Errorf("%s: another order, another model", c)
			}
		}
	}
}

// Slots without a single report are a model too: no owner is worth a refusal.
func TestNobodyAnswers(t *testing.T) {
	for _, c := range []wire.Classifier{wire.Stump, wire.Centroid, wire.Logistic} {
		a := start(t, c, 3)
		for a.round != nil {
			if err := a.Close(); err != nil {
				t.Fatal(c, err)
			}
		}
		m, err := a.Model(Statement{})
		if err != nil {
			t.Fatal(c, err)
		}
		if _, err := model.Marshal(m); err != nil {
			t.Errorf("%s: %v", c, err)
		}
		if err := a.Close(); !errors.Is(err, ErrDone) {
			t.Errorf("%s: a task that is done was closed: %v", c, err)
		}
	}
}

// The model scores a record as its owner would: prior and leaves, cell by cell.
func TestModelIsTheSumOfLeaves(t *testing.T) {
	a := start(t, wire.Stump, 3)
	m := finish(t, a, rand.New(rand.NewPCG(2, 2)))
	s := a.task.Schema
	var rows int
	var age, pet []uint32
	ages := []float64{0, 10, 24.9, 25, 40, 50, 62, 75, 76, 100}
	for i := range ages {
		for p := range 3 {
			age, pet = append(age, uint32(i)), append(pet, uint32(p))
			rows++
		}
	}
	cols := []column.Column{{Codes: column.Narrow(age, len(ages)), Values: ages}, {Codes: column.Narrow(pet, 3)}}
	scores, err := m.Scores(cols, rows)
	if err != nil {
		t.Fatal(err)
	}
	bins := a.task.Bins(0)
	for i := range rows {
		z := append([]float64(nil), a.prior...)
		for q, cell := range []int{bins.Number(ages[age[i]]), int(pet[i])} {
			if sum := a.sumLeaves(q); sum != nil {
				for k := range z {
					z[k] += sum[cell][k]
				}
			}
		}
		all := 0.0
		for k := range z {
			z[k] = math.Exp(z[k])
			all += z[k]
		}
		for k := range z {
			if got := scores[i*s.Classes()+k]; math.Abs(got-z[k]/all) > 1e-9 {
				t.Fatalf("record %d, level %d: the model says %g, its leaves %g", i, k, got, z[k]/all)
			}
		}
	}
}
