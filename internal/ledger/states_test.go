// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/ground/dp"
)

// heap is a store in memory whose states can be kept and taken up again.
type heap struct {
	all     []Entry
	stored  map[string][]byte
	version int
}

func (h *heap) create(context.Context) error                   { return nil }
func (h *heap) close() error                                   { return nil }
func (h *heap) view(_ context.Context, f func(tx) error) error { return f(h) }
func (h *heap) head() (Head, int, error)                       { return headOf(h.all), max(h.version, format), nil }
func (h *heap) raiseFormat(to int) error                       { h.version = to; return nil }
func (h *heap) append(e Entry) error                           { h.all = append(h.all, e); return nil }
func (h *heap) putResult(request string, b []byte) error       { h.stored[request] = b; return nil }
func (h *heap) result(request string) ([]byte, error)          { return h.stored[request], nil }
func (h *heap) update(_ context.Context, f func(tx) error) (err error) {
	before, results, version := h.all, maps.Clone(h.stored), h.version
	if err = f(h); err != nil {
		h.all, h.stored, h.version = before[:len(before):len(before)], results, version
	}
	return err
}

func headOf(all []Entry) Head {
	if len(all) == 0 {
		return Head{}
	}
	return Head{all[len(all)-1].Seq, all[len(all)-1].Hash}
}

func (h *heap) entries(f func(Entry) error) error {
	for _, e := range h.all {
		if err := f(e); err != nil {
			return err
		}
	}
	return nil
}

func (h *heap) results(f func(string, []byte) error) error {
	for _, r := range slices.Sorted(maps.Keys(h.stored)) {
		if err := f(r, h.stored[r]); err != nil {
			return err
		}
	}
	return nil
}

// stateOf is what has become of a job, by the ledger.
func stateOf(l *Ledger, dataset, job string) (p past, err error) {
	err = l.view(context.Background(), func(b *books) error { p = b.job(dataset, job); return nil })
	return p, err
}

// identify is the identity of a request.
func identify(l *Ledger, req Request) (request string, err error) {
	err = l.view(context.Background(), func(b *books) error {
		d, err := b.dataset(req.Dataset)
		if err == nil {
			request = jobIdentity(d.hash, req)
		}
		return err
	})
	return request, err
}

// client is a process with a job in its hands. Two of them have the same.
type client struct {
	name   string
	terms  Terms
	price  dp.Epsilon
	result string // what it would commit
}

var clients = []client{
	{"a", Terms{Unit: "row", Relation: dp.ReplaceOne, Protected: []string{"x", "y"}}, 1, "one"},
	{"a", Terms{Unit: "row", Relation: dp.ReplaceOne, Protected: []string{"x", "y"}}, 1, "another"},
	{"b", Terms{Unit: "row", Relation: dp.ReplaceOne, Protected: []string{"x"}}, 1, "b"},
	{"c", Terms{Unit: "row", Relation: dp.AddRemove, Protected: []string{"x", "y"}}, 2, "c"},
	{"e", Terms{Unit: "house", Relation: dp.ReplaceOne, Protected: []string{"x", "y"}}, 1, "e"},
}

const total = 2 // ε, in nano

// books of the model: what has become of each job, and under which terms the first began.
type model struct {
	jobs  map[string]Kind // "" for none
	made  map[string]string
	first *Terms
}

func (m model) key() string {
	first := ""
	if m.first != nil {
		first = fmt.Sprint(*m.first)
	}
	return fmt.Sprint(m.jobs, m.made, first)
}

func (m model) charged() (sum dp.Epsilon) {
	for name, kind := range m.jobs {
		if kind != "" {
			sum += clients[slices.IndexFunc(clients, func(c client) bool { return c.name == name })].price
		}
	}
	return sum
}

// agrees is when prices under terms add up to those under the first.
func (m model) agrees(t Terms) bool {
	if m.first == nil {
		return true
	}
	for _, c := range m.first.Protected {
		if !slices.Contains(t.Protected, c) {
			return false
		}
	}
	return t.Unit == m.first.Unit && t.Relation == m.first.Relation
}

// step is what the model says of a step: whether it is granted, and what is then.
func (m model) step(what string, c client) (next model, granted bool) {
	next = model{maps.Clone(m.jobs), maps.Clone(m.made), m.first}
	now := m.jobs[c.name]
	switch what {
	case "reserve":
		if granted = now == "" && m.agrees(c.terms) && m.charged()+c.price <= total; granted {
			next.jobs[c.name] = Reserved
		}
	case "begin":
		if granted = now == Reserved && m.agrees(c.terms); granted {
			if next.jobs[c.name] = Began; m.first == nil {
				next.first = &c.terms
			}
		}
	case "commit":
		switch now {
		case Began:
			granted, next.jobs[c.name], next.made[c.name] = true, Committed, c.result
		case Committed, Published:
			granted = m.made[c.name] == c.result
		}
	case "publish":
		if granted = now == Committed || now == Published; granted {
			next.jobs[c.name] = Published
		}
	case "refund":
		if granted = now == Reserved; granted {
			next.jobs[c.name] = ""
		}
	case "close":
		if granted = now == Began; granted {
			next.jobs[c.name] = Closed
		}
	}
	return next, granted
}

// Every order of every step of five processes, two of them with one job: each step is
// granted if the model grants it and refused otherwise, from every state there is.
// A process may stop anywhere, take any step at any time and be settled at any time, so
// this holds for every crash between two steps, too. In each state the prices of what
// has begun or may begin are within the total, all that has begun is under terms that
// agree, and the ledger verifies.
func TestEveryOrderOfSteps(t *testing.T) {
	ctx := context.Background()
	store := &heap{stored: map[string][]byte{}}
	l := &Ledger{store: store, now: time.Now, files: disk{}, pass: func(string) error { return nil }}
	must(t, l.Declare(ctx, Dataset{Name: "d", Epsilon: total}))
	var jobs []*Job
	var bills [][]dp.Event
	for _, c := range clients {
		j := mustJob(t, l, Request{Dataset: "d", ID: c.name, Config: []byte("config"), Worker: "w", Terms: c.terms})
		price, b := bill(c.price)
		j.price = price
		jobs, bills = append(jobs, j), append(bills, b)
	}
	take := func(what string, i int) error {
		j := jobs[i]
		switch what {
		case "reserve":
			return j.reservePrice(ctx, j.price, bills[i])
		case "begin":
			return j.beginReading(ctx)
		case "commit":
			return j.Commit(ctx, []byte(clients[i].result))
		case "publish":
			return l.notePublished(ctx, j.name(), j.request)
		case "refund":
			return l.refundJob(ctx, j.name(), j.request)
		}
		return l.closeJob(ctx, j.name(), j.request, "stopped")
	}
	type state struct {
		model
		all    []Entry
		stored map[string][]byte
		way    string
	}
	open := []state{{model{map[string]Kind{}, map[string]string{}, nil}, store.all, store.stored, ""}}
	seen := map[string]bool{open[0].key(): true}
	steps := 0
	for len(open) > 0 {
		at := open[0]
		open = open[1:]
		for _, what := range []string{"reserve", "begin", "commit", "publish", "refund", "close"} {
			for i, c := range clients {
				store.all, store.stored = slices.Clone(at.all), maps.Clone(at.stored)
				want, granted := at.step(what, c)
				way := fmt.Sprintf("%s %s%d:%s", at.way, c.name, i, what)
				err := take(what, i)
				if steps++; (err == nil) != granted {
					t.Fatalf("after%s: error %v, and the model grants it: %v", way, err, granted)
				}
				if err != nil {
					if len(store.all) != len(at.all) {
						t.Fatalf("after%s: a refused step leaves a trace", way)
					}
					continue
				}
				if seen[want.key()] {
					continue
				}
				seen[want.key()] = true
				if fault := unsound(l, store, want); fault != "" {
					t.Fatalf("after%s: %s", way, fault)
				}
				open = append(open, state{want, store.all, store.stored, way})
			}
		}
	}
	if len(seen) < 300 {
		t.Errorf("%d states were reached", len(seen))
	}
	t.Logf("%d states, %d steps", len(seen), steps)
}

// unsound is what is wrong with the ledger's state, "" for nothing.
func unsound(l *Ledger, h *heap, m model) string {
	ctx := context.Background()
	if _, err := l.Verify(ctx, nil); err != nil {
		return err.Error()
	}
	b, err := l.Balances(ctx, "d")
	if err != nil {
		return err.Error()
	}
	if charged := b[0].Spent + b[0].Reserved; charged != m.charged() || charged > total {
		return fmt.Sprintf("ε = %s is charged, %s in the model, of %d", charged, m.charged(), total)
	}
	var under []Terms
	for _, e := range h.all {
		if e.Kind == Began {
			var d began
			if err := json.Unmarshal(e.Detail, &d); err != nil {
				return err.Error()
			}
			under = append(under, d.Terms)
		}
	}
	for _, t := range under {
		if !(model{first: &under[0]}).agrees(t) {
			return fmt.Sprintf("%v and %v have both begun", under[0], t)
		}
	}
	for _, j := range clients {
		newest, err := stateOf(l, "d", j.name)
		if err != nil {
			return err.Error()
		}
		if kind := newest.kind; kind != m.jobs[j.name] && (kind != Refunded || m.jobs[j.name] != "") {
			return fmt.Sprintf("job %s is %q, in the model %q", j.name, kind, m.jobs[j.name])
		}
		if made := h.stored[newest.request]; m.made[j.name] != "" && !bytes.Equal(made, []byte(m.made[j.name])) {
			return "the stored result is another"
		}
	}
	return ""
}
