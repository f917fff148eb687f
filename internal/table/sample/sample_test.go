// SPDX-License-Identifier: Apache-2.0

package sample

import (
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

func TestBalanceAndHoldOut(t *testing.T) {
	tab := &dataset.Table{Schema: &schema.Schema{Label: schema.Label{Levels: make([]schema.Level, 2)}}, Rows: 100,
		Labels: make([]uint8, 100)}
	for i := range 23 {
		tab.Labels[4*i] = 1
	}
	seen := map[int]bool{}
	for seed := range uint64(40) {
		rows := Balance(tab, replay.Seeded(seed, "balance"))
		count := map[uint8]int{}
		for _, r := range rows {
			count[tab.Labels[r]]++
			seen[r] = true
		}
		sorted := slices.Sorted(slices.Values(rows))
		if count[0] != 23 || count[1] != 23 || len(slices.Compact(sorted)) != 46 {
			t.Fatalf("%d and %d rows, %d distinct", count[0], count[1], len(slices.Compact(sorted)))
		}
		train, test := HoldOut(rows, 0.1, replay.Seeded(seed, "hold out"))
		both := slices.Sorted(slices.Values(slices.Concat(train, test)))
		if len(test) != 4 || !slices.Equal(both, slices.Sorted(slices.Values(rows))) {
			t.Fatalf("held out %d of %d", len(test), len(both))
		}
	}
	if len(seen) != 100 { // a row is left out 40 times with probability (54/77)^40 < 1e-6
		t.Errorf("only %d rows were ever drawn", len(seen))
	}
}

// Nobody has rows on both sides, and the share is one of persons.
func TestHoldOutUnitsKeepsPersonsTogether(t *testing.T) {
	tab := &dataset.Table{Rows: 400}
	for i := range tab.Rows {
		tab.Persons = append(tab.Persons, uint32(i*i%101)) // 0 is no one
	}
	train, test := HoldOutUnits(tab, 0.25, replay.Seeded(1, "units"))
	side := map[uint32]int{}
	for k, rows := range [][]int{train, test} {
		for _, i := range rows {
			side[tab.Persons[i]] |= 1 << k
		}
	}
	judging, all := 0, 0
	for p, on := range side {
		if on == 3 || p == dataset.Nobody && on != 1 {
			t.Errorf("person %d has rows on both sides, or is nobody and judges", p)
		}
		if p != dataset.Nobody {
			all++
			judging += on >> 1
		}
	}
	if judging != all/4 || len(train)+len(test) != tab.Rows {
		t.Errorf("%d of %d persons judge, %d and %d rows", judging, all, len(train), len(test))
	}
}
