// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"bytes"
	"errors"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/federated/answer"
	"github.com/discreet-dp/discreet/internal/federated/collect"
	"github.com/discreet-dp/discreet/internal/federated/wire"
	"github.com/discreet-dp/discreet/internal/privacy/dp"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/response"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
)

// pages is a book in memory.
type pages struct {
	entry *answer.Entry
	spent dp.Epsilon
}

func (p *pages) Reported(wire.Digest) (*answer.Entry, error) { return p.entry, nil }

func (p *pages) Commit(_ wire.Digest, eps dp.Epsilon, e answer.Entry) error {
	if p.entry != nil {
		return errors.New("reported already")
	}
	p.entry, p.spent = &e, p.spent+eps
	return nil
}

// Whole owners, books and all: every broadcast reaches every owner, twice. Each
// owner's book shows exactly one report at exactly ε, and the aggregator has
// counted each owner exactly once.
func TestEveryOwnerSpendsEpsilonOnce(t *testing.T) {
	const owners = 200
	tab := synthetic(t, owners, 2)
	task, err := collect.Plan(collect.Params{Schema: tab.Schema, Classifier: wire.Stump, Epsilon: dp.Nano, Owners: owners, Rounds: 2, Nonce: strings.Repeat("12", 16)})
	if err != nil {
		t.Fatal(err)
	}
	agg, err := collect.New(task)
	if err != nil {
		t.Fatal(err)
	}
	terms, err := answer.Accept(agg.Task(), answer.Caps{Epsilon: dp.Nano})
	if err != nil {
		t.Fatal(err)
	}
	books, people := make([]pages, owners), make([]*answer.Owner, owners)
	for i := range people {
		mine := tab.Subset([]int{i})
		recs, err := terms.Bind(mine)
		if err != nil {
			t.Fatal(err)
		}
		if people[i], err = answer.New(strconv.Itoa(i), terms, recs, &books[i], mech.NewExit(rng.System())); err != nil {
			t.Fatal(err)
		}
	}
	counted := int64(0)
	for range task.Slots() {
		broadcast, err := agg.Broadcast()
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range people {
			first, err := o.Answer(broadcast)
			if err != nil {
				t.Fatal(err)
			}
			again, err := o.Answer(broadcast)
			if err != nil || !bytes.Equal(first, again) {
				t.Fatal("an owner changed its mind")
			}
			for range 2 {
				if first == nil {
					continue
				}
				if err := agg.Receive(first); err != nil {
					t.Fatal(err)
				}
			}
		}
		counted += agg.Received()
		if err := agg.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if counted != owners {
		t.Errorf("%d owners, %d reports", owners, counted)
	}
	for i := range books {
		if books[i].entry == nil || books[i].spent != task.Epsilon {
			t.Fatalf("owner %d has spent %s, want %s", i, books[i].spent, task.Epsilon)
		}
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
