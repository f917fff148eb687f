// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"bytes"
	"context"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/net/federated/answer"
	"github.com/discreet-dp/discreet/internal/net/federated/collect"
	"github.com/discreet-dp/discreet/internal/net/federated/wire"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/response"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
)

// ledger is a book in memory that everyone can afford.
type ledger struct {
	entries map[int]answer.Entry
	spent   map[int]dp.Epsilon
}

func (l ledger) Commit(_ context.Context, given []answer.Given) error {
	for i := range given {
		g := &given[i]
		if before, found := l.entries[g.Owner]; found {
			g.Entry = before
			continue
		}
		l.entries[g.Owner] = g.Entry
		l.spent[g.Owner] += g.Cost
	}
	return nil
}

// Whole owners, book and all: every broadcast reaches every owner of its slot,
// twice. The book shows exactly one report of each at exactly ε, and the aggregator
// has counted each owner exactly once.
func TestEveryOwnerSpendsEpsilonOnce(t *testing.T) {
	const count = 200
	tab := synthetic(t, count, 2)
	task, err := collect.Plan(collect.Params{Schema: tab.Schema, Classifier: wire.Stump, Epsilon: dp.Nano, Owners: count,
		Rounds: 2, Nonce: strings.Repeat("12", 16)})
	if err != nil {
		t.Fatal(err)
	}
	agg, err := collect.New(task)
	if err != nil {
		t.Fatal(err)
	}
	book := ledger{map[int]answer.Entry{}, map[int]dp.Epsilon{}}
	terms, owners := ownersOf(t, agg, tab, strconv.Itoa, book)
	exit, counted := mech.NewExit(rng.System()), int64(0)
	for slot := range task.Slots() {
		broadcast, err := agg.Broadcast()
		if err != nil {
			t.Fatal(err)
		}
		round, err := terms.Read(broadcast)
		if err != nil {
			t.Fatal(err)
		}
		var in []int32
		for i := range count {
			if owners.Place(i).Slot == slot {
				in = append(in, int32(i))
			}
		}
		for range 2 {
			given, err := round.Reporter(owners).Report(t.Context(), in, exit)
			if err != nil || len(given) != len(in) {
				t.Fatalf("%d of %d owners answer: %v", len(given), len(in), err)
			}
			for _, g := range given {
				if !bytes.Equal(g.Report, book.entries[g.Owner].Report) {
					t.Fatal("what left is not in the book")
				}
				if err := agg.Receive(g.Report); err != nil {
					t.Fatal(err)
				}
			}
		}
		counted += agg.Received()
		if err := agg.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if counted != count {
		t.Errorf("%d owners, %d reports", count, counted)
	}
	for i := range count {
		if book.spent[i] != task.Epsilon {
			t.Fatalf("owner %d has spent %s, want %s", i, book.spent[i], task.Epsilon)
		}
	}
}

// ownersOf makes each row of a table an owner who takes part in the aggregator's
// task.
func ownersOf(t *testing.T, agg *collect.Aggregator, tab *dataset.Table, name func(int) string,
	book answer.Book) (*answer.Terms, *answer.Owners) {
	t.Helper()
	terms, err := answer.Accept(agg.Task(), answer.Caps{Epsilon: dp.MaxEpsilon})
	if err != nil {
		t.Fatal(err)
	}
	recs, err := terms.Bind(tab)
	if err != nil {
		t.Fatal(err)
	}
	owners, err := answer.NewOwners(recs, tab.Rows, name, book)
	if err != nil {
		t.Fatal(err)
	}
	return terms, owners
}

// A simulation asks no one twice.
func TestMemoryRefusesASecondReport(t *testing.T) {
	m := make(memory, 2)
	one := []answer.Given{{Owner: 1}}
	if err := m.Commit(t.Context(), one); err != nil {
		t.Fatal(err)
	}
	if err := m.Commit(t.Context(), one); err == nil {
		t.Error("an owner gave twice")
	}
}

// G-LOCALBOOST-4: whatever one owner's report says, an estimated share moves by
// at most Reach over the reports.
func TestOneLiarMovesAShareByReach(t *testing.T) {
	const n, cells = 500, 16
	for _, name := range append(response.CellLaws(), response.VectorLaws()...) {
		law := lawOf(t, name, cells)
		exit := mech.NewExit(rng.System())
		honest := response.NewTally(law)
		for i := range n - 1 {
			var r response.Report
			var err error
			switch l := law.(type) {
			case response.CellLaw:
				r, err = exit.PerturbCell("x", l, i%cells, 1)
			case response.VectorLaw:
				v := make([]float64, cells)
				v[i%cells] = 1
				r, err = exit.Perturb("x", l, v)
			}
			if err != nil {
				t.Fatal(err)
			}
			law.Add(&honest, r)
		}
		most := 0.0
		for _, lie := range lies(law) {
			if law.Check(lie) != nil {
				continue
			}
			with := response.NewTally(law)
			with.Merge(honest)
			law.Add(&with, lie)
			silent := law.Sum(honest)
			for c, s := range law.Sum(with) {
				most = math.Max(most, math.Abs(s-silent[c])/n)
			}
		}
		bound := law.Reach() / n
		if !(most <= bound*(1+1e-9)) || !(most >= 0.9*bound) {
			t.Errorf("%s: a liar moves a share by %g, the bound is %g", name, most, bound)
		}
	}
}

func lawOf(t *testing.T, name string, cells int) response.Law {
	if l, err := response.CellLawFor(name, dp.Nano, cells); err == nil {
		return l
	}
	l, err := response.VectorLawFor(name, dp.Nano, cells)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// lies are extreme reports of any law's shape.
func lies(law response.Law) (out []response.Report) {
	for _, w := range []uint32{0, 1, 1<<16 - 1} {
		same := make(response.Report, law.Words())
		for i := range same {
			same[i] = w
		}
		out = append(out, same)
	}
	if l, ok := law.(response.Laplace); ok {
		top := make(response.Report, law.Words())
		for i := range top {
			top[i] = uint32(l.Top())
		}
		out = append(out, top)
	}
	if l, ok := law.(response.Sampled); ok {
		n := uint64(0)
		for _, line := range l.Lines {
			n += line.Cells()
			out = append(out, response.Report{0, uint32(n - 1)})
		}
	}
	return out
}
