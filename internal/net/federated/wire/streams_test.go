// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/stattest"
)

// Tickets are of every byte of the task's digest and the owner's name; so are slots.
func TestTicketsAreNeverRepeated(t *testing.T) {
	c := stattest.Claim{FalsePositive: 4e-9, Detects: "places from two bytes of a digest or a name"}
	const slots = 1 << 12
	var upTo []uint64
	for s := range slots {
		upTo = append(upTo, uint64(s+1))
	}
	for _, of := range []func(Place) uint64{
		func(p Place) uint64 { return p.Ticket },
		func(p Place) uint64 { return uint64(p.Slot)<<52 | p.Ticket>>12 },
	} {
		stattest.Streams(t, c, func(in [][]byte) []uint64 {
			return []uint64{of((&Placing{digest: Digest(in[0]), upTo: upTo}).Of(string(in[1])))}
		}, make([]byte, 32), make([]byte, 12))
	}
}
