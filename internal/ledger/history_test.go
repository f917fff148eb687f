// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/size"
	"github.com/discreet-dp/discreet/internal/ground/dp"
)

// histories is the number of random histories each store goes through:
// DISCREET_HISTORIES, 100 when not given.
func histories(t *testing.T) int {
	if n, err := strconv.Atoi(os.Getenv("DISCREET_HISTORIES")); err == nil && n > 0 {
		return n
	}
	return size.Of(10, 100)
}

// towns are the parts of the data sets of the histories; partsOfJob says which of
// them a job reads, so that every history has jobs on all and on two parts.
var towns = &Parts{By: "town", Names: []string{"north", "south"}, Definition: "x"}

// division is how a data set of the histories is divided, and which parts each job reads.
type division struct {
	parts    *Parts
	cohortBy string
	names    []string // one more than any job reads, where new ones may come
	reads    map[string][]string
	// total is that of the institution, and whole are the jobs that protect it: nil for none.
	total dp.Epsilon
	whole []string
}

var divisions = []division{
	{parts: towns, names: towns.Names, reads: map[string][]string{"job1": {"north"}, "job2": {"south"}, "job3": {"north"},
		"job4": {"south"}}},
	{cohortBy: "entry", names: []string{"a", "b", "c", "d"}, reads: map[string][]string{"job1": {"a"}, "job2": {"b"},
		"job3": {"a", "b"}, "job4": {"b", "c"}}},
	{total: 60, whole: []string{"job0", "job1", "job2", "job4"}, names: []string{""}},
}

func (d *division) dataset(name string) Dataset {
	out := Dataset{Name: name, Epsilon: 100, Parts: d.parts, CohortBy: d.cohortBy}
	if d.total > 0 {
		out.Institution = &Institution{Price: dp.Price{Epsilon: d.total}}
	}
	return out
}

// twin is the ledger told naively: one data set, everything in maps.
type twin struct {
	division
	total  dp.Epsilon
	state  map[string]Kind
	price  map[string]dp.Epsilon
	result map[string]string
}

// sum is what jobs in some states cost a row of the worst part.
func (m *twin) sum(parts []string, states ...Kind) (worst dp.Epsilon) {
	for _, part := range parts {
		sum := dp.Epsilon(0)
		for id, k := range m.state {
			if slices.Contains(states, k) && (len(m.reads[id]) == 0 || slices.Contains(m.reads[id], part)) {
				sum += m.price[id]
			}
		}
		worst = max(worst, sum)
	}
	return worst
}

func (m *twin) spent() dp.Epsilon {
	return m.sum(m.names, Began, Committed, Published, Closed)
}

// charged is spent and reserved, as far as it concerns a job on these parts, or without any on all.
func (m *twin) charged(parts ...string) dp.Epsilon {
	if len(parts) == 0 {
		parts = m.names
	}
	return m.sum(parts, Reserved, Began, Committed, Published, Closed)
}

// ofInstitution is what jobs in some states cost the institution, and exposed whether one has begun that does not
// protect it.
func (m *twin) ofInstitution(states ...Kind) (sum dp.Epsilon, exposed bool) {
	for id, k := range m.state {
		switch protects := slices.Contains(m.whole, id); {
		case protects && slices.Contains(states, k):
			sum += m.price[id]
		case !protects && slices.Contains([]Kind{Began, Committed, Published, Closed}, k):
			exposed = true
		}
	}
	return sum, exposed
}

// allows says whether a total allows a price: that of the institution, too, if the job protects it.
func (m *twin) allows(id string, price dp.Epsilon) bool {
	sum, exposed := m.ofInstitution(Reserved, Began, Committed, Published, Closed)
	return m.charged(m.reads[id]...)+price <= m.total && (!slices.Contains(m.whole, id) || !exposed && sum+price <= m.division.total)
}

// do says whether a step is allowed, and takes it if so.
func (m *twin) do(step Kind, id string, price dp.Epsilon, result string) bool {
	now := m.state[id]
	switch step {
	case Reserved:
		if now != "" && now != Refunded || price <= 0 || !m.allows(id, price) {
			return false
		}
		m.price[id] = price
	case Began, Refunded:
		if now != Reserved {
			return false
		}
	case Committed:
		if now == Committed || now == Published {
			return m.result[id] == result // once more is the same as once
		}
		if now != Began {
			return false
		}
		m.result[id] = result
	case Closed:
		if now != Began {
			return false
		}
	case Published:
		if now == Published {
			return true
		}
		if now != Committed {
			return false
		}
	}
	m.state[id] = step
	return true
}

// take is the same step on the ledger.
func take(l *Ledger, of division, d Dataset, step Kind, id string, price dp.Epsilon, result string) error {
	ctx := context.Background()
	req := request(id)
	req.Dataset = d.Name
	if req.Institution = slices.Contains(of.whole, id); req.Institution {
		req.Terms = Terms{}
	}
	if reads := of.reads[id]; len(reads) > 0 && of.parts != nil {
		req.Part, req.PartsBy, req.Definition = reads[0], towns.By, towns.Definition
	} else if len(reads) > 0 {
		req.Cohorts, req.PartsBy, req.Definition = reads, of.cohortBy, "y"
	}
	request, err := identify(l, req)
	if err != nil {
		return err
	}
	j := &Job{l: l, req: req, request: request, price: dp.Price{Epsilon: price}, began: true}
	switch step {
	case Reserved:
		asked, b := bill(price)
		return j.reservePrice(ctx, asked, b)
	case Began:
		return j.beginReading(ctx)
	case Refunded:
		return l.refundJob(ctx, j.name(), j.request)
	case Committed:
		return j.Commit(ctx, []byte(result))
	case Closed:
		return j.Abandon(ctx, "test")
	default:
		return l.notePublished(ctx, j.name(), j.request)
	}
}

// isRefusal holds for errors by which a sound ledger refuses a step.
func isRefusal(err error) bool {
	var exceeded *Exceeded
	var conflict *Conflict
	return errors.As(err, &exceeded) || errors.As(err, &conflict) || errors.As(err, new(*Exposed))
}

var steps = []Kind{Reserved, Reserved, Began, Began, Refunded, Committed, Committed, Closed, Published}

// TestHistoriesAgreeWithTheModel runs random steps, by one hand and by several,
// and compares every answer and every balance with the twin. It also holds what
// no history may do: lower spent, or lower what is charged but by a refund.
func TestHistoriesAgreeWithTheModel(t *testing.T) {
	onBoth(t, func(t *testing.T, fresh func(testing.TB) place) {
		p := fresh(t)
		l := create(t, p)
		other := create(t, p)
		for run := range histories(t) {
			r := rand.New(rand.NewPCG(uint64(run), 4))
			of := divisions[run%len(divisions)]
			d := of.dataset(fmt.Sprintf("run%d", run))
			must(t, l.Declare(context.Background(), d))
			m := &twin{of, d.Epsilon, map[string]Kind{}, map[string]dp.Epsilon{}, map[string]string{}}
			spent, charged := dp.Epsilon(0), dp.Epsilon(0)
			for range 40 {
				id, step := fmt.Sprintf("job%d", r.IntN(5)), steps[r.IntN(len(steps))]
				price, result := dp.Epsilon(r.IntN(45)), fmt.Sprintf("result%d", r.IntN(2))
				if step == Reserved && price == 0 {
					price = 1
				}
				if step == Began {
					price = m.price[id]
				}
				hand := l
				if r.IntN(2) == 0 {
					hand = other
				}
				err := take(hand, of, d, step, id, price, result)
				want := m.do(step, id, price, result)
				if (err == nil) != want || err != nil && !isRefusal(err) {
					t.Fatalf("run %d: %s of %s (%d): %v, the model says %v", run, step, id, price, err, want)
				}
				bs, err := hand.Balances(context.Background(), d.Name)
				must(t, err)
				b := bs[0]
				if b.Spent != m.spent() || b.Reserved != m.charged()-m.spent() || b.Left != d.Epsilon-b.Spent-b.Reserved {
					t.Fatalf("run %d after %s of %s: %+v, the model says spent %d reserved %d", run, step, id, b, m.spent(),
						m.charged()-m.spent())
				}
				if i := b.OfInstitution; i != nil {
					spent, exposed := m.ofInstitution(Began, Committed, Published, Closed)
					charged, _ := m.ofInstitution(Reserved, Began, Committed, Published, Closed)
					if i.Spent.Epsilon != spent || i.Reserved.Epsilon != charged-spent || i.Left.Epsilon != of.total-charged ||
						i.Exposed != exposed {
						t.Fatalf("run %d after %s of %s: %+v, the model says spent %d, charged %d, exposed %t", run, step, id, i, spent,
							charged, exposed)
					}
				}
				for _, p := range b.ByPart {
					if p.Left.Epsilon != d.Epsilon-m.charged(p.Name) {
						t.Fatalf("run %d: part %s has %s left, the model says %s", run, p.Name, p.Left.Epsilon,
							d.Epsilon-m.charged(p.Name))
					}
				}
				if b.Spent < spent || b.Spent+b.Reserved < charged && step != Refunded {
					t.Fatalf("run %d: %s of %s lowered what is spent", run, step, id)
				}
				spent, charged = b.Spent, b.Spent+b.Reserved
			}
		}
		verify(t, l)
	})
}

// TestConcurrentHistoriesAgreeWithTheModel lets several hands work at once. The
// entries are the order in which their steps happened: replayed on the twin,
// each must have been allowed, and there must be exactly one for every step that
// was answered with yes.
func TestConcurrentHistoriesAgreeWithTheModel(t *testing.T) {
	onBoth(t, func(t *testing.T, fresh func(testing.TB) place) {
		p := fresh(t)
		l := create(t, p)
		type key struct {
			step Kind
			id   string
		}
		for run := range histories(t) {
			of := divisions[run%len(divisions)]
			d := of.dataset(fmt.Sprintf("run%d", run))
			must(t, l.Declare(context.Background(), d))
			var mu sync.Mutex
			yes := map[key]int{}
			var wg sync.WaitGroup
			for hand := range 4 {
				wg.Add(1)
				go func() {
					defer wg.Done()
					r := rand.New(rand.NewPCG(uint64(run), uint64(hand)))
					for range 10 {
						id, step := fmt.Sprintf("job%d", r.IntN(3)), steps[r.IntN(len(steps))]
						// One price per ID, for Began repeats the reserved one; one result per hand.
						err := take(l, of, d, step, id, dp.Epsilon(20+15*int(id[3]-'0')), fmt.Sprint(hand))
						if err != nil && !isRefusal(err) {
							t.Errorf("run %d: %s of %s: %v", run, step, id, err)
						}
						if err == nil {
							mu.Lock()
							yes[key{step, id}]++
							mu.Unlock()
						}
					}
				}()
			}
			wg.Wait()
			m := &twin{of, d.Epsilon, map[string]Kind{}, map[string]dp.Epsilon{}, map[string]string{}}
			must(t, l.History(context.Background(), d.Name, func(e Entry) error {
				if e.Kind == Declared || e.Kind == Defined || e.Kind == Bounded {
					return nil
				}
				if !m.do(e.Kind, e.Job, e.Epsilon, "") {
					return fmt.Errorf("run %d: entry %d, %s of %s, is not allowed by the model", run, e.Seq, e.Kind, e.Job)
				}
				k := key{e.Kind, e.Job}
				if yes[k]--; yes[k] < 0 {
					return fmt.Errorf("run %d: entry %d, %s of %s, was answered with no", run, e.Seq, e.Kind, e.Job)
				}
				return nil
			}))
			for k, n := range yes { // committing or publishing again is answered with yes and adds nothing
				if n != 0 && k.step != Committed && k.step != Published {
					t.Fatalf("run %d: %s of %s was answered with yes %d times more than there are entries", run, k.step, k.id, n)
				}
			}
		}
		verify(t, l)
	})
}

// TestRefundNeedsProof: only a job that never began gets its price back, and
// then it cannot begin.
func TestRefundNeedsProof(t *testing.T) {
	onBoth(t, func(t *testing.T, fresh func(testing.TB) place) {
		l := declare(t, fresh(t))
		j := mustJob(t, l, request("one"))
		asked, b := bill(100)
		must(t, j.reservePrice(t.Context(), asked, b))
		if got, err := l.Recover(context.Background(), none); err != nil || len(got) != 1 || got[0].Now != Reserved {
			t.Errorf("a running job was settled: %+v, %v", got, err)
		}
		if got, err := l.Recover(context.Background(), all); err != nil || len(got) != 1 || got[0].Now != Refunded {
			t.Errorf("%+v, %v", got, err)
		}
		if b := balanceOf(t, l); b.Left != dp.Nano {
			t.Errorf("%+v", b)
		}
		if err := j.beginReading(t.Context()); !errors.As(err, new(*Conflict)) {
			t.Error("a refunded job began")
		}
		again := mustJob(t, l, request("one"))
		must(t, charge(t.Context(), again, 200))
		if got, err := l.Recover(context.Background(), all); err != nil || len(got) != 1 || got[0].Now != Closed {
			t.Errorf("%+v, %v", got, err)
		}
		if b := balanceOf(t, l); b.Spent != 200 {
			t.Errorf("a job that began was given back: %+v", b)
		}
		if err := again.Commit(t.Context(), []byte("late")); !errors.As(err, new(*Conflict)) {
			t.Error("a closed job committed")
		}
		if _, err := l.Job(context.Background(), request("one")); err == nil {
			t.Error("a closed job was given out again")
		}
		verify(t, l)
	})
}

// TestRecoverPublishesTheSameBytes, unless another file is there.
func TestRecoverPublishesTheSameBytes(t *testing.T) {
	onBoth(t, func(t *testing.T, fresh func(testing.TB) place) {
		l := declare(t, fresh(t))
		folder := t.TempDir()
		for _, id := range []string{"free", "taken"} {
			req := request(id)
			req.Output = filepath.Join(folder, id)
			j := mustJob(t, l, req)
			must(t, charge(t.Context(), j, 1))
			must(t, j.Commit(t.Context(), []byte("bytes of "+id)))
		}
		must(t, os.WriteFile(filepath.Join(folder, "taken"), []byte("something newer"), 0o600))
		got, err := l.Recover(context.Background(), all)
		if err != nil || len(got) != 2 || got[0].Now != Published || got[1].Now != Committed {
			t.Errorf("%+v, %v", got, err)
		}
		if b, _ := os.ReadFile(filepath.Join(folder, "free")); !bytes.Equal(b, []byte("bytes of free")) {
			t.Errorf("published %q", b)
		}
		if b, _ := os.ReadFile(filepath.Join(folder, "taken")); string(b) != "something newer" {
			t.Errorf("a newer file was replaced by %q", b)
		}
		verify(t, l)
	})
}

// A job that was refunded and runs again is published to the file that it names then, or to none.
func TestRecoverForgetsTheFileOfARefundedRun(t *testing.T) {
	l, _ := inHeap()
	must(t, l.Declare(t.Context(), Dataset{Name: "d", Epsilon: 5}))
	req := request("one")
	req.Output = filepath.Join(t.TempDir(), "m.json")
	price, lines := bill(1)
	must(t, mustJob(t, l, req).reservePrice(t.Context(), price, lines))
	if got, err := l.Recover(t.Context(), all); err != nil || len(got) != 1 || got[0].Now != Refunded {
		t.Fatalf("%+v, %v", got, err)
	}
	first := req.Output
	req.Output = ""
	j := mustJob(t, l, req)
	must(t, charge(t.Context(), j, 1))
	must(t, j.Commit(t.Context(), []byte("bytes")))
	got, err := l.Recover(t.Context(), all)
	if _, missing := os.Stat(first); err != nil || len(got) != 1 || got[0].Now != Committed || !os.IsNotExist(missing) {
		t.Errorf("%+v, %v; the file of the first run: %v", got, err, missing)
	}
}
