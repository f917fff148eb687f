// SPDX-License-Identifier: Apache-2.0

package memory

import (
	"maps"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
)

// Keys from all of the range, some often, in two tables that are merged, against
// a map.
func TestPackedCountsLikeAMap(t *testing.T) {
	src := replay.Seeded(3, "packed")
	for _, distinct := range []int{0, 1, 40, 5_000, 60_000} {
		want := map[uint64]uint64{}
		tables := []*packed{newPacked(), newPacked()}
		for _, p := range tables {
			var keys []uint64
			for i := range distinct {
				key := rng.Below(src, 1<<packedBits)
				switch i {
				case 0:
					key = 0
				case 1:
					key = 1<<packedBits - 1
				}
				for range 1 + i%3 {
					keys = append(keys, key)
					want[key]++
				}
			}
			p.addKeys(keys)
		}
		tables[0].mergeCounts(tables[1])
		keys, counts := tables[0].sortedCounts()
		got := map[uint64]uint64{}
		for i, key := range keys {
			got[key] = counts[i]
		}
		if !slices.IsSorted(keys) || len(keys) != len(want) || !maps.Equal(got, want) {
			t.Errorf("%d keys: %d are counted, sorted %v, want %d", distinct, len(keys), slices.IsSorted(keys), len(want))
		}
	}
}
