// SPDX-License-Identifier: Apache-2.0

package sample

import (
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
	"github.com/discreet-dp/discreet/internal/table/dataset"
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
