// SPDX-License-Identifier: Apache-2.0

package statistic

import (
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/size"
)

// Every margin there is, on both sides.
func TestWeightsByTableAreTheEnginesToTheBit(t *testing.T) {
	step := size.Of[int32](7, 1)
	inDoubt, tables := 0, weightTables()
	margins, out := make([]int32, 0, 1<<12), make([]uint32, 1<<12)
	check := func() {
		weightTables().writeWeights(margins, out)
		for i, m := range margins {
			if want := uint32(Weight(int64(m>>1)))<<1 | uint32(m&1); out[i] != want {
				t.Fatalf("a margin of %d units, side %d, weighs %d, want %d", m>>1, m&1, out[i], want)
			}
		}
		margins = margins[:0]
	}
	for m := int32(-100_000); m < weightless+100_000; m += step {
		if margins = append(margins, m<<1|m>>3&1); len(margins) == cap(margins) {
			check()
		}
		if m >= 0 && m < weightless {
			p := uint64(tables.high[m>>lowBits])*uint64(tables.low[m%(1<<lowBits)]) + 1<<(unitBits-1)
			if p%(1<<unitBits) < doubt || p%(1<<unitBits) > 1<<unitBits-doubt {
				inDoubt++
			}
		}
	}
	if inDoubt < 10 {
		t.Errorf("of all margins %d are in doubt", inDoubt)
	}
	margins = append(margins, -longest*2<<20, longest*2<<20-1, -1, -2)
	check()
}
