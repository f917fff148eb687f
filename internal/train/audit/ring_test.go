// SPDX-License-Identifier: Apache-2.0

package audit

import (
	"testing"

	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
)

// ring is the secure sum that Wang and Chang describe (section 3.3): a first
// pass around adds each owner's value and mask, a second takes the masks off.
// It returns what each owner receives, by pass.
func ring(values, masks []uint64) (received [2][]uint64, sum uint64) {
	running := uint64(0)
	for pass := range received {
		for i := range values {
			received[pass] = append(received[pass], running)
			if pass == 0 {
				running += values[i] + masks[i]
			} else {
				running -= masks[i]
			}
		}
	}
	return received, running
}

// Two neighbours recover the value of the owner between them: each learns, on
// both passes, what that owner was given or gave.
func TestTwoNeighboursBreakTheRing(t *testing.T) {
	src := replay.Seeded(1, "ring")
	const owners = 9
	values, masks := make([]uint64, owners), make([]uint64, owners)
	for i := range values {
		values[i], masks[i] = rng.Below(src, 1000), src.Uint64()
	}
	received, sum := ring(values, masks)
	plain := uint64(0)
	for _, v := range values {
		plain += v
	}
	if sum != plain {
		t.Fatalf("the ring adds up to %d, not %d", sum, plain)
	}
	for victim := 1; victim < owners-1; victim++ {
		before, after := victim-1, victim+1
		// What the neighbour before passed on it knows from its own input.
		given := received[0][before] + values[before] + masks[before]
		cleared := received[1][before] - masks[before]
		gave, keeps := received[0][after]-given, received[1][after]-cleared
		if got := gave + keeps; got != values[victim] { // value + mask - mask
			t.Errorf("owner %d holds %d, its neighbours find %d", victim, values[victim], got)
		}
	}
}
