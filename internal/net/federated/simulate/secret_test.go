// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/net/federated/collect"
	"github.com/discreet-dp/discreet/internal/net/federated/secsum"
	"github.com/discreet-dp/discreet/internal/net/federated/wire"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
)

// Sums with shared noise tell far more than reports of the same ε.
func TestAggregateLearns(t *testing.T) {
	tab := synthetic(t, 20_000, 2)
	for _, c := range []wire.Classifier{wire.Stump, wire.Logistic, wire.Centroid} {
		res, err := Run(context.Background(), tab, Params{Mode: wire.Aggregate, Classifier: c, Epsilon: dp.Nano,
			Source: seeded(3)})
		if err != nil {
			t.Fatal(err)
		}
		if r := evaluate(t, res.Model, tab); !(*r.AUC > 0.85) {
			t.Errorf("%s: AUC %.3f, want above .85", c, *r.AUC)
		}
		if p := res.Model.Privacy; p.Scope != dp.Party || p.Epsilon != dp.Nano || p.Delta != 1 ||
			!strings.HasSuffix(p.Claim, "-5") || !strings.Contains(p.Statement, "aggregate") {
			t.Errorf("%s: the statement says %+v", c, p)
		}
		if _, err := model.Marshal(res.Model); err != nil {
			t.Errorf("%s: %v", c, err)
		}
	}
}

// One slot of a task through the real protocol of secret sums, with an owner and
// a holder who drop out: the aggregator gets the sum of the others' addends, and
// of nothing less.
func TestAggregateThroughShares(t *testing.T) {
	const owners, holders = 12, 5
	tab := synthetic(t, owners, 2)
	task, err := collect.Plan(collect.Params{Schema: tab.Schema, Mode: wire.Aggregate, Classifier: wire.Centroid,
		Epsilon: 8 * dp.Nano, Owners: owners, Nonce: strings.Repeat("00", 16)})
	if err != nil {
		t.Fatal(err)
	}
	agg, err := collect.New(task)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := agg.Broadcast(); b != nil || err != nil {
		t.Fatal("a broadcast before anybody is there")
	}
	if err := agg.Assemble(owners, owners/2); err != nil {
		t.Fatal(err)
	}
	broadcast, err := agg.Broadcast()
	if err != nil {
		t.Fatal(err)
	}
	placing, err := task.Placing()
	if err != nil {
		t.Fatal(err)
	}
	var names []string // of owners who are all in the first slot
	for i := 0; len(names) < owners; i++ {
		if name := strconv.Itoa(i); placing.Of(name).Slot == 0 {
			names = append(names, name)
		}
	}
	terms, people := ownersOf(t, agg, tab, func(i int) string { return names[i] }, make(memory, owners))
	round, err := terms.Read(broadcast)
	if err != nil {
		t.Fatal(err)
	}
	seen, err := wire.ParseRound(task, broadcast)
	if err != nil {
		t.Fatal(err)
	}
	addend, err := seen.Addend(task)
	if err != nil {
		t.Fatal(err)
	}
	p, err := secsum.Shamir(secsum.Task{Round: "test", Owners: owners, AtLeast: seen.Crowd.AtLeast, Holders: holders,
		Length: addend.Dim(), Range: addend.Top() + 1})
	if err != nil {
		t.Fatal(err)
	}
	var held []*secsum.Holder
	for i := range holders - 1 { // the last is away
		h, err := p.NewHolder(i)
		if err != nil {
			t.Fatal(err)
		}
		held = append(held, h)
	}
	collector := p.NewCollector()
	var deliver func([]secsum.Message)
	deliver = func(ms []secsum.Message) {
		for _, m := range ms {
			handle := collector.Handle
			if m.To == holders-1 {
				continue
			} else if m.To != secsum.ToCollector {
				handle = held[m.To].Handle
			}
			next, err := handle(m)
			if err != nil {
				t.Fatal(err)
			}
			deliver(next)
		}
	}
	want := make([]uint64, addend.Dim())
	exit := mech.NewExit(rng.System())
	reporter := round.Reporter(people)
	for i := range int32(owners - 1) { // the last owner drops out
		if _, err := reporter.Share(t.Context(), [32]byte{1}, []int32{i}, exit,
			func(owner int, addend []uint64) ([]byte, error) {
				for j, x := range addend {
					want[j] += x
				}
				shares, err := p.Split(rng.System(), owner, addend)
				deliver(shares)
				return nil, err
			}); err != nil {
			t.Fatal(err)
		}
	}
	for _, h := range held {
		deliver(h.Close())
	}
	ms, err := collector.Close()
	if err != nil {
		t.Fatal(err)
	}
	deliver(ms)
	sum, of, ok, err := collector.Sum()
	if !ok || err != nil || len(of) != owners-1 || !slices.Equal(sum, want) {
		t.Fatalf("the sum of %d owners came out wrong: %v %v", len(of), ok, err)
	}
	if err := agg.ReceiveSum(sum, 3); err == nil {
		t.Error("a sum of too few owners was taken")
	}
	if err := agg.ReceiveSum(sum, len(of)); err != nil {
		t.Fatal(err)
	}
	if err := agg.ReceiveSum(sum, len(of)); err == nil {
		t.Error("a second sum was taken")
	}
	if err := agg.Receive([]byte("x")); err == nil {
		t.Error("a report was taken in mode aggregate")
	}
	if _, err := reporter.Report(t.Context(), []int32{owners - 1}, exit); err == nil {
		t.Error("an owner sent a report in mode aggregate")
	}
	if err := agg.Close(); err != nil {
		t.Fatal(err)
	}
}
