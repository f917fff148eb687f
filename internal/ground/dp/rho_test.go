// SPDX-License-Identifier: Apache-2.0

package dp

import (
	"encoding/json"
	"testing"
)

// A bill with one release that has no finite ε has none either, wherever the
// release stands and whatever follows: nothing wraps round to a small number.
func TestTotalStaysInfinite(t *testing.T) {
	for _, bill := range [][]Event{
		{{Epsilon: Infinite, Rho: 1}},
		{{Epsilon: Nano}, {Epsilon: Infinite, Rho: 1}, {Epsilon: Nano}},
		{{Epsilon: Infinite, Rho: 1}, {Epsilon: Infinite, Rho: 1}},
		{{Epsilon: Infinite - 1}, {Epsilon: 1}, {Epsilon: 1}},
	} {
		if got := Total(bill); got != Infinite {
			t.Errorf("Total(%v) = %d", bill, got)
		}
	}
	if got := Total([]Event{{Epsilon: 2}, {Epsilon: 3}}); got != 5 {
		t.Error(got)
	}
	if got := Infinite.String(); got != "+Inf" {
		t.Errorf("Infinite is shown as %s", got)
	}
}

// Bills of pure releases keep the bytes they always had.
func TestPureEventsDoNotMentionRho(t *testing.T) {
	got, err := json.Marshal(Event{Release: "x", Mechanism: "laplace", Epsilon: 7})
	if err != nil || string(got) != `{"release":"x","mechanism":"laplace","epsilon_nano":7}` {
		t.Error(string(got), err)
	}
	if got := (Rho(Pico) / 2).String(); got != "0.5" {
		t.Error(got)
	}
}
