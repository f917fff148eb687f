// SPDX-License-Identifier: Apache-2.0

package answer

import (
	"math/rand/v2"
	"testing"

	"github.com/discreet-dp/discreet/internal/net/federated/wire"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/response"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
)

// rotated is people with every owner holding the record of another.
func rotated(t testing.TB, by int) *dataset.Table {
	tab := people(t)
	rows := make([]int, tab.Rows)
	for i := range rows {
		rows[i] = (i + by) % tab.Rows
	}
	return tab.Subset(rows)
}

// Silence is an answer, too: whatever an owner's record is and however little it weighs,
// down to nothing at all, the owner answers the broadcasts of its slot, with as many
// words, at the same price.
func TestNobodyIsSilent(t *testing.T) {
	r := rand.New(rand.NewPCG(14, 4))
	lightest, answers := 1.0, 0
	for _, c := range []wire.Classifier{wire.Stump, wire.Centroid} {
		for _, mechanism := range []string{"", "oue", "grr", "piecewise", "duchi", "laplace"} {
			task := testTask(t, c, mechanism)
			if _, err := task.Text(); err != nil {
				continue // the law is not for so many cells
			}
			terms, _ := accept(t, task)
			for slot := range task.Slots() {
				members := []wire.Member{randomMember(r, task, 2), randomMember(r, task, 2)}[:(slot+1)/2]
				for i := range members {
					for _, s := range members[i].Shapes {
						for _, leaf := range s.Leaves {
							for k := range leaf {
								leaf[k] = min(max(1000*leaf[k], -15), 15) // so sure that those who are right weigh nothing
							}
						}
					}
				}
				round, err := terms.Read(broadcast(t, task, slot, members...))
				if err != nil {
					t.Fatal(err)
				}
				sizes := map[int]int{} // words, by ask
				for by := range people(t).Rows {
					recs, err := terms.Bind(rotated(t, by))
					if err != nil {
						t.Fatal(err)
					}
					book := newMemory()
					all := owners(t, recs, book)
					var in []int32
					for i := range all.count {
						if all.Place(i).Slot == slot {
							in = append(in, int32(i))
						}
					}
					reporter := round.Reporter(all)
					given, err := reporter.Report(t.Context(), in, mech.NewExit(rng.System()))
					if err != nil || len(given) != len(in) {
						t.Fatalf("%s %q, slot %d: %d of %d owners answer: %v",
							c, mechanism, slot, len(given), len(in), err)
					}
					for _, g := range given {
						answers++
						report, err := wire.ParseReport(g.Report)
						if err != nil {
							t.Fatal(err)
						}
						n, known := sizes[report.Ask]
						if known && n != len(report.Words) || g.Cost != task.Epsilon {
							t.Fatalf("%s %q, slot %d: a report of %d words at ε = %s, others of %d at %s",
								c, mechanism, slot, len(report.Words), g.Cost, n, task.Epsilon)
						}
						sizes[report.Ask] = len(report.Words)
						lightest = min(lightest, reporter.weigh.weight(g.Owner))
					}
				}
			}
		}
	}
	if !(lightest < 0x1p-62) || answers < 1000 { // no coin shows so small a probability
		t.Errorf("%d answers, the lightest of %g", answers, lightest)
	}
}

// In mode aggregate, too: every owner gives shares of an addend of all numbers.
func TestNobodyIsSilentInASecretSum(t *testing.T) {
	task := testTask(t, wire.Stump, "")
	task.Mode, task.Mechanism = wire.Aggregate, ""
	terms, recs := accept(t, task)
	all := owners(t, recs, newMemory())
	r := rand.New(rand.NewPCG(14, 5))
	member := randomMember(r, task, 2)
	for _, s := range member.Shapes {
		for _, leaf := range s.Leaves {
			for k := range leaf {
				leaf[k] = min(max(1000*leaf[k], -15), 15)
			}
		}
	}
	law, err := response.CellAddendFor(task.Epsilon, 9, 1, 40, 30)
	if err != nil {
		t.Fatal(err)
	}
	gave := 0
	for slot := range task.Slots() {
		asks := &wire.Round{Slot: slot, Asks: []wire.Ask{{Question: 0}}, Members: []wire.Member{member}}
		round := &Round{terms: terms, round: asks, starts: []int{0}, addend: law}
		var in []int32
		for i := range all.count {
			if all.Place(i).Slot == slot {
				in = append(in, int32(i))
			}
		}
		split := func(_ int, addend []uint64) ([]byte, error) {
			if len(addend) != law.Dim() {
				t.Errorf("an addend of %d numbers, not %d", len(addend), law.Dim())
			}
			gave++
			return []byte{1}, nil
		}
		given, err := round.Reporter(all).Share(t.Context(), [32]byte{1}, in, mech.NewExit(rng.System()), split)
		if err != nil || len(given) != len(in) {
			t.Fatalf("slot %d: %d of %d owners give shares: %v", slot, len(given), len(in), err)
		}
	}
	if gave != all.count {
		t.Errorf("%d of %d owners gave shares", gave, all.count)
	}
}
