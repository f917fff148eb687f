// SPDX-License-Identifier: Apache-2.0

package noninterference

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/mechtest"
	"github.com/discreet-dp/discreet/internal/check/testkit/size"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/privacy/accounting"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
	"github.com/discreet-dp/discreet/internal/table/engine/memory"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
	"github.com/discreet-dp/discreet/internal/train"
)

// searched lists the learners that are searched: the product's here, and others where the
// laboratory runs these tests.
var searched = train.Learners

// mode is a private learner with some of its choices.
type mode struct {
	learner, delta string
	options        map[string]string
	judges         int  // models of the learner that are evaluated; 0 for a training
	across         bool // the rows are at sites
}

func (m mode) String() string {
	s := m.learner
	for _, name := range slices.Sorted(func(yield func(string) bool) {
		for name := range m.options {
			if !yield(name) {
				return
			}
		}
	}) {
		s += ":" + name + "=" + m.options[name]
	}
	if m.delta != "" {
		s += ":delta=" + m.delta
	}
	if m.judges > 0 {
		s = fmt.Sprintf("evaluate:%d %s", m.judges, s)
	}
	if m.across {
		s = "sites: " + s
	}
	return s
}

// trains reports whether a mode is a training of rows that are here.
func (m mode) trains() bool { return m.judges == 0 && !m.across }

// weighs reports whether a mode takes all rows of a person and weighs them. Others draw some.
func (m mode) weighs() bool { return m.learner == "additive" }

// trainings are the modes that train on rows that are here.
func trainings() []mode {
	return slices.DeleteFunc(slices.Clone(modes()), func(m mode) bool { return !m.trains() })
}

// request is nil if the options do not go together.
func (m mode) request() *train.Request {
	c := train.Choice{Learner: m.learner, Options: m.options, Price: train.PriceText{Epsilon: "2", Delta: m.delta}}
	req, err := c.Request("search")
	if err != nil {
		return nil
	}
	return req
}

// settings are all there are.
func settings() (all []setting) {
	for i := range 2 * 2 * 32 {
		all = append(all, readSetting(&choices{byte(i & 1), byte(i >> 1 & 1), byte(i >> 2)}))
	}
	return all
}

func parse(s setting) *schema.Schema {
	sch, err := schema.Parse([]byte(s.yaml()))
	if err != nil {
		panic(err)
	}
	return sch
}

// modes lists all that releases: each private learner with each choice that the words of its options name,
// alone and beside one other, as far as some setting takes it; evaluations of one model and of two;
// and both across sites.
var modes = sync.OnceValue(func() (all []mode) {
	var schemas []*schema.Schema
	for _, s := range settings() {
		schemas = append(schemas, parse(s))
	}
	takes := func(m mode) bool {
		req := m.request()
		return req != nil && slices.ContainsFunc(schemas, func(s *schema.Schema) bool {
			_, err := req.Plan(s, 0)
			return err == nil
		})
	}
	word := regexp.MustCompile(`[a-z][a-z0-9]+`)
	for _, l := range searched() {
		if !l.Private {
			continue
		}
		var singles []map[string]string
		for _, o := range l.Options {
			if o.Value.Type() != "name" {
				continue
			}
			for _, w := range word.FindAllString(o.Usage, -1) {
				if w != o.Value.String() {
					singles = append(singles, map[string]string{o.Name: w})
				}
			}
		}
		some := []map[string]string{nil}
		for i, one := range singles {
			some = append(some, one)
			for _, other := range singles[i+1:] {
				both := map[string]string{}
				for _, o := range []map[string]string{one, other} {
					for name, w := range o {
						both[name] = w
					}
				}
				if len(both) == 2 {
					some = append(some, both)
				}
			}
		}
		for _, o := range some {
			for _, delta := range []string{"", "1e-9"} {
				if m := (mode{learner: l.Name, delta: delta, options: o}); takes(m) {
					all = append(all, m)
				}
			}
		}
	}
	for _, delta := range []string{"", "1e-3"} {
		for judges := range 3 {
			for _, across := range []bool{false, true} {
				if judges > 0 || across {
					all = append(all, mode{learner: "additive", delta: delta, judges: judges, across: across})
				}
			}
		}
	}
	return all
})

// script says what leaves instead of what was about to. It answers for the first of two
// neighbours; the second hears the same.
type script int

const (
	noisy script = iota // the truth, with noise of the release's own scale
	exact               // the truth
	wave                // something in (0, 1)
	below               // less than any truth
	above               // more than any
	zero                // nothing
	scripts
)

func (s script) answers(p mechtest.Passage, src *rand.Rand) []float64 {
	best := 0
	out := make([]float64, len(p.Values))
	for i, v := range p.Values {
		if p.Values[i].Float() > p.Values[best].Float() {
			best = i
		}
		scale := p.Bound
		switch {
		case p.Rho > 0:
			scale /= math.Sqrt(2 * p.Rho.Float())
		case p.Loss != dp.Infinite && p.Loss > 0:
			scale /= p.Loss.Float()
		}
		switch s {
		case noisy:
			out[i] = v.Float() + scale*src.NormFloat64()
		case exact:
			out[i] = v.Float()
		case wave:
			out[i] = 0.5 + 0.45*math.Sin(src.Float64()*7)
		case below:
			out[i] = -1 - src.Float64()*100*scale
		case above:
			out[i] = 1 + src.Float64()*1000*scale
		}
	}
	if !p.Choice {
		return out
	}
	if s == noisy || s == exact {
		return []float64{float64(best)}
	}
	return []float64{float64(src.IntN(len(p.Values)))}
}

// run is everything that a training shows.
type run struct {
	passages []mechtest.Passage
	file     []byte
	facts    string
	err      string
	terms    guard.Terms
	sites    int // that each release passes, one after the other; 0 if the rows are here
}

// read reads a table from its text, with dictionaries of its own.
func read(s *schema.Schema, t table) (*dataset.Table, error) {
	return dataset.Read(context.Background(), s, dataset.Options{Stdin: strings.NewReader(t.text())}, "-")
}

// fit trains on a table that is read again; what leaves is answered by script.
func fit(m mode, s *schema.Schema, t table, script func(k int, p mechtest.Passage) []float64) (r run) {
	defer func() {
		if x := recover(); x != nil { // of a learner that is wrong
			r.err = fmt.Sprintf("panic: %v", x)
		}
	}()
	tape := &mechtest.Recorder{Script: script}
	defer func() { r.passages = tape.Passages }()
	exit := mech.NewTapedExit(replay.Seeded(0, "search"), tape)
	var err error
	if m.across {
		err = r.fitAcross(m, s, t, exit)
	} else if tab, e := read(s, t); e != nil {
		err = e
	} else if m.judges > 0 {
		err = r.evaluate(m, s, tab, exit)
	} else {
		err = r.fit(m, s, tab, exit)
	}
	if err != nil {
		r.err = err.Error()
	}
	return r
}

var errNoPlan = errors.New("this learner does not take this setting")

func (r *run) fit(m mode, s *schema.Schema, tab *dataset.Table, exit *mech.Exit) error {
	mem, err := memory.New(tab)
	if err != nil {
		return err
	}
	req := m.request()
	if req == nil {
		return errNoPlan
	}
	pl, err := req.Plan(s, guard.PublicUnits(mem))
	if err != nil {
		return errNoPlan
	}
	r.plan(pl)
	fitted, err := guard.Train(context.Background(), pl, mem, guard.Uncounted{}, exit)
	if err != nil {
		return err
	}
	r.file, err = model.Marshal(fitted)
	return err
}

// plan notes what a plan says before rows are read.
func (r *run) plan(pl interface{ Terms() guard.Terms }) {
	if l, ok := pl.(interface{ Facts() []learn.Fact }); ok {
		for _, f := range l.Facts() {
			r.facts += fmt.Sprintf("%s=%v %s\n", f.Key, f.Value, f.Text)
		}
	}
	r.terms = pl.Terms()
	r.terms.Bill = slices.Clone(r.terms.Bill)
}

// deals reports whether a mode deals rows by their place in the table's groups: then the
// coins that deal one table deal its neighbour in another way, and the law of the parts
// is what does not depend on the rows. So releases may move further on one set of coins.
func (m mode) deals() bool { return m.learner == "pate" }

// interference searches one pair and describes what shows, "" for nothing. ok is false
// where the choices make no case. A wrong learner may refuse any table, if it refuses both.
func interference(c choices, rows int, wrong bool) (what string, m mode, ok bool) {
	all := modes()
	m = all[(c.next(256)*256+c.next(256))%len(all)]
	set := readSetting(&c)
	s := parse(set)
	if s.Person != nil && s.Relation == dp.AddRemove && !m.weighs() {
		return "", m, false // the coins that draw one table's rows draw its neighbour's in another way
	}
	kind := script(c.next(int(scripts)))
	src := rand.New(rand.NewPCG(uint64(c.next(256)), 1))
	a := readTable(&c, set, rows)
	var said [][]float64
	first := fit(m, s, a, func(_ int, p mechtest.Passage) []float64 {
		out := kind.answers(p, src)
		said = append(said, slices.Clone(out)) // a learner may use what it was given as its own
		return out
	})
	if first.err == errNoPlan.Error() {
		return "", m, false
	}
	if first.err != "" && !wrong {
		return "the first table is refused: " + first.err, m, true
	}
	scope := first.terms.Scope
	b, most := neighbour(&c, a, s, scope, m.weighs())
	if c.next(4) == 0 && !m.deals() {
		b, most = stranger(&c, a, set, s, scope), math.Inf(1)
	}
	if len(b) == 0 && s.Relation == dp.ReplaceOne {
		return "", m, false
	}
	second := fit(m, s, b, func(k int, p mechtest.Passage) []float64 {
		if k < len(said) && (p.Choice || len(said[k]) == len(p.Values)) {
			return slices.Clone(said[k])
		}
		return kind.answers(p, src) // another transcript, which is told below
	})
	if s.Person != nil && !m.weighs() { // each of a person's rows moves a release, and pays
		most *= float64(s.Person.Rows)
	}
	if what := m.compare(first, second, most); what != "" || !wrong || m.deals() {
		return what, m, true
	}
	return first.overspent(s), m, true
}

// overspent says by what a training cost more than was charged for it, "" for nothing.
func (r *run) overspent(s *schema.Schema) string {
	var spent []dp.Event
	for k, p := range r.passages {
		if k%max(1, r.sites) > 0 { // each site has a purse of its own
			continue
		}
		e := dp.Event{Release: p.Label, Mechanism: p.Name, Rho: p.Rho}
		if p.Rho == 0 {
			e.Epsilon = p.Loss
		}
		spent = append(spent, e)
	}
	if len(spent) == 0 {
		return "" // a plan that fails charges nothing
	}
	if within, err := accounting.Within(spent, r.terms.Price); !within || err != nil {
		return fmt.Sprintf("a price of more than %s: %v (%v)", r.terms.Price, spent, err)
	}
	return ""
}

func (m mode) compare(a, b run, moves float64) string {
	switch {
	case a.err != b.err:
		return fmt.Sprintf("errors %q and %q", a.err, b.err)
	case a.facts != b.facts:
		return "what the plan says"
	case len(a.passages) != len(b.passages):
		return fmt.Sprintf("%d releases and %d", len(a.passages), len(b.passages))
	}
	for k, p := range a.passages {
		q := b.passages[k]
		if p.Label != q.Label || p.Name != q.Name || p.Loss != q.Loss || p.Rho != q.Rho || p.Bound != q.Bound ||
			p.Norm != q.Norm || !slices.Equal(p.Blocks, q.Blocks) || p.Choice != q.Choice || len(p.Values) != len(q.Values) {
			return fmt.Sprintf("release %d is %q by %s (bound %g, %d numbers) and %q by %s (bound %g, %d numbers)",
				k, p.Label, p.Name, p.Bound, len(p.Values), q.Label, q.Name, q.Bound, len(q.Values))
		}
		if moved := p.Moved(q); moved > moves*p.Bound*(1+1e-9) && !m.deals() {
			return fmt.Sprintf("release %d, %q, moves by %g, declared for %g", k, p.Label, moved, p.Bound)
		}
	}
	if !bytes.Equal(a.file, b.file) {
		return "the model files"
	}
	return ""
}

// FuzzNeighbours searches pairs of small tables. What it finds it keeps as a file of
// testdata, which every ordinary run tries again.
func FuzzNeighbours(f *testing.F) {
	for i := range 8 {
		f.Add(binary.BigEndian.AppendUint64(nil, uint64(i)*0x0123456789abcdef))
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		if what, m, _ := interference(input, 0, false); what != "" {
			t.Errorf("%s: neighbours differ in %s", m, what)
		}
	})
}

// drawn are choices that a seed makes.
func drawn(m int, src *rand.Rand) choices {
	c := choices{byte(m >> 8), byte(m)}
	for range 40 {
		c = append(c, byte(src.IntN(256)))
	}
	return c
}

// Every learner with every choice is searched on some pairs of small tables.
func TestEveryModeOnPairs(t *testing.T) {
	src := rand.New(rand.NewPCG(17, 0))
	learners, modesOf, none := map[string]int{}, map[string]int{}, 0
	for _, l := range searched() {
		if l.Private {
			modesOf[l.Name] = 0
		}
	}
	for _, m := range modes() {
		modesOf[m.family()]++
	}
	for i, m := range modes() {
		tried, wanted := 0, (pairsPerFamily+modesOf[m.family()]-1)/modesOf[m.family()]
		if m.judges > 0 { // they have few modes, each of which is tried in every corner
			wanted = 16
		}
		for attempt := 0; tried < wanted && attempt < 60*wanted; attempt++ {
			c := drawn(i, src)
			if m.judges > 0 {
				relation, roles, persons := attempt&1, attempt>>1&3, attempt>>3&1
				c[3], c[4] = byte(relation), byte(roles+96*persons)
			}
			what, _, ok := interference(c, 0, false)
			if !ok {
				continue
			}
			tried++
			if what != "" {
				t.Errorf("%s: neighbours differ in %s (choices %v)", m, what, []byte(c))
				break
			}
		}
		if learners[m.family()] += tried; tried == 0 {
			none++
			t.Logf("%s: no case", m)
		}
	}
	for family := range modesOf {
		if learners[family] < pairsPerFamily/2 {
			t.Errorf("%s was searched on %d pairs", family, learners[family])
		}
	}
	t.Logf("%d modes, %d of them without a case: %v pairs", len(modes()), none, learners)
}

var pairsPerFamily = size.Of(8, 60)

// What learners do with what the guard shows them costs accuracy alone. internal/check/mutants runs this for
// learners with mistakes (TestWrongLearners): these may fail on any table, if they fail on its
// neighbour in the same way.
func TestPromiseHolds(t *testing.T) {
	src := rand.New(rand.NewPCG(23, 0))
	tried, wanted := map[string]int{}, size.Of(6, 25)
	for range wanted * len(searched()) {
		for i, m := range modes() {
			if tried[m.family()] >= wanted || src.IntN(4) > 0 {
				continue
			}
			c := drawn(i, src)
			what, _, ok := interference(c, 0, true)
			if what != "" {
				t.Fatalf("%s: neighbours differ in %s (choices %v)", m, what, []byte(c))
			}
			if ok {
				tried[m.family()]++
			}
		}
	}
	t.Logf("pairs: %v", tried)
}

// family is whose code a mode is about.
func (m mode) family() string {
	switch {
	case m.judges > 0 && m.across:
		return "evaluation across sites"
	case m.judges > 0:
		return "evaluation"
	case m.across:
		return "sites"
	}
	return m.learner
}
