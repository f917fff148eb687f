// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/stattest"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/privacy/response"
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
  - {name: id, role: ignored}
  - {name: y, role: private, label: {levels: [a, b, c], default: a}}
`

// testTask is a task of two questions, three levels and two rounds.
func testTask(t testing.TB, c Classifier) *Task {
	s, err := schema.Parse([]byte(testSchema))
	if err != nil {
		t.Fatal(err)
	}
	task := &Task{
		Nonce: strings.Repeat("0f", 16), Mode: Local, Classifier: c, Epsilon: dp.Nano, Schema: s, WeightCap: 1,
		Questions: []Question{{Column: "age", Edges: []float64{25, 50}}, {Column: "pet"}},
		Rounds:    []Shares{{9, 1}, {4, 6}},
	}
	if err := task.Check(); err != nil {
		t.Fatal(err)
	}
	return task
}

// testRound is an error slot with one weighing member and a candidate.
func testRound(t testing.TB, task *Task) *Round {
	d, err := task.Digest()
	if err != nil {
		t.Fatal(err)
	}
	leaf := [][]float64{{0, 1, -1}, {0.5, 0, 0}, {0, 0, 2}}
	r := &Round{Task: d.String(), Slot: 3, Members: []Member{
		{Vote: 1.5, Shapes: []Shape{{Question: 0, Leaves: leaf}, {Question: 1, Leaves: leaf}}},
		{Shapes: []Shape{{Question: 1, Leaves: leaf}}},
	}}
	if err := r.Check(task); err != nil {
		t.Fatal(err)
	}
	return r
}

func TestTextsAreReadBack(t *testing.T) {
	task := testTask(t, Stump)
	text, err := task.Text()
	if err != nil {
		t.Fatal(err)
	}
	again, err := ParseTask(text)
	if err != nil {
		t.Fatal(err)
	}
	if b, _ := again.Text(); !bytes.Equal(b, text) {
		t.Error("a task changes when it is read")
	}
	round := testRound(t, task)
	b, err := round.Text(task)
	if err != nil {
		t.Fatal(err)
	}
	r, err := ParseRound(again, b)
	if err != nil {
		t.Fatal(err)
	}
	if c, _ := r.Text(task); !bytes.Equal(b, c) {
		t.Error("a round changes when it is read")
	}
}

// One meaning has one spelling: no byte can be changed, added or removed so that
// a message still parses and means the same.
func TestTextsAreCanonical(t *testing.T) {
	task := testTask(t, Stump)
	text, _ := task.Text()
	for _, bad := range [][]byte{
		append(bytes.Clone(text), ' '),
		bytes.Replace(text, []byte(`"weight_cap":1`), []byte(`"weight_cap":1.0`), 1),
		bytes.Replace(text, []byte(`{"discreet"`), []byte(`{ "discreet"`), 1),
		bytes.Replace(text, []byte(`"version":1,`), []byte(`"version":1,"extra":0,`), 1),
		bytes.Replace(text, []byte(`"version":1,`), []byte(``), 1),
		bytes.Replace(text, []byte(`"version":1,`), []byte(`"version":2,`), 1),
	} {
		if bytes.Equal(bad, text) {
			t.Fatal("the case changes nothing")
		}
		if _, err := ParseTask(bad); err == nil {
			t.Errorf("accepted: %s", bad[:60])
		}
	}
	rep := Report{Owner: "ann", Slot: 1, Ask: 2, Words: response.Report{1, 2}}
	b := rep.Append(nil)
	for i := range b {
		for _, x := range []byte{1, 0x80} {
			c := bytes.Clone(b)
			c[i] ^= x
			if r, err := ParseReport(c); err == nil && !bytes.Equal(r.Append(nil), c) {
				t.Errorf("byte %d: a second spelling", i)
			}
		}
		if _, err := ParseReport(b[:i]); err == nil {
			t.Errorf("accepted the first %d bytes", i)
		}
	}
}

func TestTaskRefuses(t *testing.T) {
	for param, change := range map[string]func(*Task){
		"nonce":       func(x *Task) { x.Nonce = strings.Repeat("0F", 16) },
		"mode":        func(x *Task) { x.Mode = "paper" },
		"classifier":  func(x *Task) { x.Classifier = "tree" },
		"epsilon":     func(x *Task) { x.Epsilon = 0 },
		"schema":      func(x *Task) { x.Schema = nil },
		"rounds":      func(x *Task) { x.Rounds[1].Error = 0 },
		"weight cap":  func(x *Task) { x.WeightCap = math.NaN() },
		"mechanism":   func(x *Task) { x.Mechanism = "none" },
		"weights":     func(x *Task) { x.Schema.Label.Weights = []float64{1, 2} },
		"monotone":    func(x *Task) { x.Schema.Columns[0].Monotone = schema.Increasing },
		"questions":   func(x *Task) { x.Questions[1].Column = "id" }, // ignored
		"person rows": func(x *Task) { x.Schema.Person = &schema.Person{Column: "id", Rows: 2} },

		`default of column "age"`: func(x *Task) { x.Schema.Columns[0].Default = nil },
		`default of column "y"`:   func(x *Task) { x.Schema.Label.Role, x.Schema.Label.Default = schema.Public, -1 },
	} {
		task := testTask(t, Stump)
		change(task)
		var p *dp.ParamError
		if err := task.Check(); !errors.As(err, &p) || p.Param != param {
			t.Errorf("%s: %v", param, err)
		}
	}
	for what, q := range map[string]Question{
		"edges out of bounds": {Column: "age", Edges: []float64{25, 101}},
		"edges not in order":  {Column: "age", Edges: []float64{50, 25}},
		"a NaN edge":          {Column: "age", Edges: []float64{math.NaN()}},
		"a cut category":      {Column: "pet", Edges: []float64{1}},
	} {
		task := testTask(t, Stump)
		task.Questions[0] = q
		if task.Check() == nil {
			t.Errorf("%s was accepted", what)
		}
	}
}

// A broadcast that reaches for more than the task allows is refused.
func TestRoundRefuses(t *testing.T) {
	for what, change := range map[string]func(*Round){
		"another task":       func(r *Round) { r.Task = strings.Repeat("0", 64) },
		"no such slot":       func(r *Round) { r.Slot = 4 },
		"asks of errors":     func(r *Round) { r.Asks = []Ask{{Question: 0}} },
		"no candidate":       func(r *Round) { r.Members = nil },
		"too many members":   func(r *Round) { r.Members = append(r.Members, r.Members[0]) },
		"a negative vote":    func(r *Round) { r.Members[0].Vote = -1 },
		"a NaN vote":         func(r *Round) { r.Members[0].Vote = math.NaN() },
		"a leaf too large":   func(r *Round) { r.Members[0].Shapes[0].Leaves[0] = []float64{0, 65, 0} },
		"a leaf too short":   func(r *Round) { r.Members[0].Shapes[0].Leaves[0] = []float64{0, 1} },
		"shapes out of turn": func(r *Round) { r.Members[0].Shapes[0].Question = 1 },
		"a linear member":    func(r *Round) { r.Members[0] = Member{Vote: 1, Argmax: &Argmax{}} },
	} {
		task := testTask(t, Stump)
		r := testRound(t, task)
		r.Members = append([]Member(nil), r.Members...)
		change(r)
		if r.Check(task) == nil {
			t.Errorf("%s was accepted", what)
		}
	}
	task := testTask(t, Stump)
	d, _ := task.Digest()
	for what, asks := range map[string][]Ask{
		"no ask":              nil,
		"no such question":    {{Question: 2}},
		"a question twice":    {{Question: 0}, {Question: 0}},
		"groups too few":      {{Question: 0, Groups: []int{0, 1}}},
		"groups out of range": {{Question: 0, Groups: []int{0, 1, 3}}},
	} {
		if (&Round{Task: d.String(), Asks: asks}).Check(task) == nil {
			t.Errorf("%s was accepted", what)
		}
	}
}

// Naive twin of W_t: the largest weight over all records that there can be.
func TestWeightBound(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		task := testTask(t, Stump)
		task.WeightCap = 1 << 20
		m := Member{Vote: r.Float64()}
		for q := range 2 {
			s := Shape{Question: q}
			for range 3 {
				s.Leaves = append(s.Leaves, []float64{r.NormFloat64(), r.NormFloat64(), r.NormFloat64()})
			}
			m.Shapes = append(m.Shapes, s)
		}
		most := 0.0
		for i := range 3 {
			for j := range 3 {
				for y := range 3 {
					for k := range 3 {
						a, b := m.Shapes[0].Leaves[i], m.Shapes[1].Leaves[j]
						most = max(most, math.Exp(m.Vote*(a[k]+b[k]-a[y]-b[y])))
					}
				}
			}
		}
		if got := task.WeightBound([]Member{m}); !(got >= most*(1-1e-12)) {
			t.Fatalf("W_t = %g, but a record weighs %g", got, most)
		}
		task.WeightCap = 1
		if got := task.WeightBound([]Member{m}); got != 1 {
			t.Fatalf("W_t = %g beyond the cap", got)
		}
	}
}

// Names land in slots in proportion to the shares; another nonce deals again.
func TestPlaces(t *testing.T) {
	const owners = 40_000
	task := testTask(t, Stump)
	p, err := task.Placing()
	if err != nil {
		t.Fatal(err)
	}
	task.Nonce = strings.Repeat("0e", 16)
	other, err := task.Placing()
	if err != nil {
		t.Fatal(err)
	}
	counts, tickets, same := make([]int, 4), make([]int, 7), 0
	for i := range owners {
		name := strconv.Itoa(i)
		at := p.Of(name)
		counts[at.Slot]++
		tickets[at.Ticket%7]++
		if at != p.Of(name) {
			t.Fatal("a place must not change")
		}
		if at.Slot == other.Of(name).Slot {
			same++
		}
	}
	claim := stattest.Claim{FalsePositive: 1e-9, Detects: "a share off by a hundredth"}
	stattest.Cells(t, claim, counts, []float64{0.45, 0.05, 0.2, 0.3})
	stattest.Cells(t, claim, tickets, []float64{1. / 7, 1. / 7, 1. / 7, 1. / 7, 1. / 7, 1. / 7, 1. / 7})
	stattest.Binomial(t, claim, same, owners, 0.45*0.45+0.05*0.05+0.2*0.2+0.3*0.3)
}

func FuzzParseReport(f *testing.F) {
	f.Add((&Report{Owner: "ann", Words: response.Report{7}}).Append(nil))
	f.Add([]byte(reportMagic))
	f.Fuzz(func(t *testing.T, b []byte) {
		if r, err := ParseReport(b); err == nil && !bytes.Equal(r.Append(nil), b) {
			t.Fatal("a second spelling")
		}
	})
}

func FuzzParseTask(f *testing.F) {
	for _, c := range []Classifier{Stump, Centroid} {
		text, err := testTask(f, c).Text()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		task, err := ParseTask(b)
		if err != nil {
			return
		}
		if again, err := task.Text(); err != nil || !bytes.Equal(again, b) {
			t.Fatal("a second spelling")
		}
	})
}

func FuzzParseRound(f *testing.F) {
	task := testTask(f, Stump)
	text, err := testRound(f, task).Text(task)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	d, _ := task.Digest()
	text, err = (&Round{Task: d.String(), Asks: []Ask{{Question: 0, Groups: []int{0, 1, 1}}}}).Text(task)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := ParseRound(task, b)
		if err != nil {
			return
		}
		if again, err := r.Text(task); err != nil || !bytes.Equal(again, b) {
			t.Fatal("a second spelling")
		}
		if w := task.WeightBound(r.Weighing()); !(w >= 1 && w <= task.WeightCap) {
			t.Fatalf("W_t = %g", w)
		}
	})
}
