// SPDX-License-Identifier: Apache-2.0

package answer

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"testing"

	"github.com/discreet-dp/discreet/internal/net/federated/wire"
	"github.com/discreet-dp/discreet/internal/privacy/response"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
)

// byKeys are coins of owners whose keys are their numbers.
func byKeys(owner int, subject []byte) rng.Source {
	key := make([]byte, 32)
	binary.LittleEndian.PutUint64(key, uint64(owner))
	return rng.Keyed(key, "answer", subject)
}

// answers are what a table's owners give for a slot when their books hold nothing, by owner.
func answers(t *testing.T, terms *Terms, tab *dataset.Table, count int, slot int, text []byte) map[int][]byte {
	t.Helper()
	recs, err := terms.Bind(tab)
	if err != nil {
		t.Fatal(err)
	}
	all, err := NewOwners(recs, count, func(i int) string { return string(rune('a' + i)) }, newMemory())
	if err != nil {
		t.Fatal(err)
	}
	all.DrawBy(byKeys)
	var in []int32
	for i := range int32(count) {
		if all.Place(int(i)).Slot == slot {
			in = append(in, i)
		}
	}
	round, err := terms.Read(text)
	if err != nil {
		t.Fatal(err)
	}
	given, err := round.Reporter(all).Report(t.Context(), in, nil)
	if err != nil || len(given) != len(in) || len(in) == 0 {
		t.Fatalf("%d of %d answer: %v", len(given), len(in), err)
	}
	out := map[int][]byte{}
	for _, g := range given {
		out[g.Owner] = g.Report
	}
	return out
}

// TestCopiedBooksGiveTheSame lets owners whose books were copied, or put back, answer twice: about
// the same cells with the same bytes. If any of an owner's cells has changed in between, it draws
// again: about as many bits of its report turn as do of two owners' reports, so that the two
// together show no more than two reports do. Another broadcast, which only a dishonest aggregator
// sends, and another task have coins of their own, too.
func TestCopiedBooksGiveTheSame(t *testing.T) {
	for _, count := range []int{45, 15} { // one row each, and three
		task := testTask(t, wire.Stump, "oue")
		task.Questions[0].Edges = nil
		for x := 1.0; x <= 100; x++ { // many bits
			task.Questions[0].Edges = append(task.Questions[0].Edges, x)
		}
		terms, _ := accept(t, task)
		text, err := (&wire.Round{Task: terms.digest.String(), Asks: []wire.Ask{{Question: 0}}}).Text(task)
		if err != nil {
			t.Fatal(err)
		}
		first := answers(t, terms, people(t), count, 0, text)
		for owner, report := range answers(t, terms, people(t), count, 0, text) {
			if !bytes.Equal(report, first[owner]) {
				t.Fatalf("owner %d gives two reports about the same cells", owner)
			}
		}
		for cell, change := range map[string]func(*dataset.Table, int){
			"a number":   func(tab *dataset.Table, i int) { tab.Cols[0].Values[tab.Cols[0].Codes.At(i)] += 0.5 },
			"a category": func(tab *dataset.Table, i int) { tab.Cols[1].Codes.U8[i] = (tab.Cols[1].Codes.U8[i] + 1) % 3 },
			"a label":    func(tab *dataset.Table, i int) { tab.Labels[i] = (tab.Labels[i] + 1) % 3 },
		} {
			turned, pairs := 0, 0
			for owner := range first {
				for row := owner * 45 / count; row < (owner+1)*45/count; row++ {
					changed := people(t)
					change(changed, row)
					turned, pairs = turned+distance(first[owner], answers(t, terms, changed, count, 0, text)[owner]), pairs+1
				}
			}
			// Of 303 bits each is set in one report alone with probability 2p(1 - p), p = 1/(1 + e): 119.
			if mean := float64(turned) / float64(pairs); mean < 60 {
				t.Errorf("%d owners, %s changes: %.1f bits turn, want about 119, as in two draws", count, cell, mean)
			}
		}
		other, err := (&wire.Round{Task: terms.digest.String(), Asks: []wire.Ask{{Question: 0}, {Question: 1}}}).Text(task)
		if err != nil {
			t.Fatal(err)
		}
		for owner, report := range answers(t, terms, people(t), count, 0, other) {
			if bytes.Equal(report, first[owner]) {
				t.Errorf("owner %d answers another broadcast with the same words", owner)
			}
		}
	}
}

// distance is in how many bits two reports differ.
func distance(a, b []byte) (n int) {
	for i := range min(len(a), len(b)) {
		n += bits.OnesCount8(a[i] ^ b[i])
	}
	return n
}

// TestCopiedBooksAddTheSame is the same of addends, by sum.
func TestCopiedBooksAddTheSame(t *testing.T) {
	task := testTask(t, wire.Stump, "")
	task.Mode, task.Mechanism = wire.Aggregate, ""
	terms, recs := accept(t, task)
	const ann = 3
	add := func(sum byte, change func(*dataset.Table)) []byte {
		recs.tab = people(t)
		if change != nil {
			change(recs.tab)
		}
		all := owners(t, recs, newMemory())
		all.DrawBy(byKeys)
		round := &Round{terms: terms, round: &wire.Round{Slot: all.Place(ann).Slot, Asks: []wire.Ask{{Question: 0}}},
			starts: []int{0}}
		var err error
		if round.addend, err = response.CellAddendFor(task.Epsilon, 9, 1, 40, 30); err != nil {
			t.Fatal(err)
		}
		given, err := round.Reporter(all).Share(t.Context(), [32]byte{sum}, []int32{ann}, nil,
			func(_ int, addend []uint64) (out []byte, err error) {
				for _, x := range addend {
					out = binary.LittleEndian.AppendUint64(out, x)
				}
				return out, nil
			})
		if err != nil || len(given) != 1 {
			t.Fatal(given, err)
		}
		return given[0].Report
	}
	first := add(1, nil)
	if !bytes.Equal(first, add(1, nil)) {
		t.Error("two addends for one sum")
	}
	for what, other := range map[string][]byte{"another sum": add(2, nil),
		"another label": add(1, func(tab *dataset.Table) { tab.Labels[ann] = (tab.Labels[ann] + 1) % 3 })} {
		same := 0
		for at := 0; at < len(first); at += 8 {
			if bytes.Equal(first[at:at+8], other[at:at+8]) {
				same++
			}
		}
		if same > 6 { // a number's part of the noise is often 0
			t.Errorf("%s: %d of 9 numbers are the same", what, same)
		}
	}
}
