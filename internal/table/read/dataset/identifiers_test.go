// SPDX-License-Identifier: Apache-2.0

package dataset

import (
	"fmt"
	"testing"
)

// However many persons there are, each has one number and no two have the same: someone with two
// would be protected for half of their rows.
func TestIdentifiersKeepTheirNumbers(t *testing.T) {
	const persons = 70_000
	ids := newIdentifiers()
	whose := map[uint32]int{}
	for round := range 2 {
		for i := range persons {
			n := ids.numberOf(fmt.Append(nil, "person ", i))
			if before, ok := whose[n]; n == Nobody || ok != (round == 1) || ok && before != i {
				t.Fatalf("round %d: person %d is number %d, which is that of %d", round, i, n, before)
			}
			whose[n] = i
		}
	}
	if ids.numberOf(nil) != Nobody {
		t.Error("an empty identifier is somebody")
	}
}
