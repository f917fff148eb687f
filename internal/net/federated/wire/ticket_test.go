// SPDX-License-Identifier: Apache-2.0

package wire

import "testing"

// Tickets pick every ask equally often: over a whole number of turns exactly so (tag 1.2).
func TestTicketsPickAsksEvenly(t *testing.T) {
	for _, asks := range []int{1, 2, 3, 7} {
		r := &Round{Asks: make([]Ask, asks)}
		picked := make([]int, asks)
		const turns = 5
		for ticket := range uint64(turns * asks) {
			picked[r.Ask(1<<40*uint64(asks)+ticket)]++
		}
		for a, n := range picked {
			if n != turns {
				t.Errorf("of %d asks, the %dth is picked %d times in %d turns", asks, a+1, n, turns)
			}
		}
	}
}
