// SPDX-License-Identifier: Apache-2.0

package flp

import (
	"testing"

	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
)

// Of vectors of every length every number has its place in one call of the gadget, in no more calls
// than there may be, and a number out of range, the last one too, is refused.
func TestVectorsOfEveryLengthAreProven(t *testing.T) {
	src := replay.Seeded(11, "lengths")
	most := 0
	for _, length := range []int{1, 2, mostCalls - 1, mostCalls, mostCalls + 1, 2*mostCalls - 1, 2 * mostCalls, 2*mostCalls + 1,
		63, 64, 65, 255, 256, 257, 999, 1000, 1001} {
		for _, count := range []uint64{2, base - 1, base, base + 1, base*base + 1} {
			r := NewRanges[Scalar](length, count)
			if most = max(most, r.calls); r.calls > mostCalls || r.group*r.calls < length || r.group*(r.calls-1) >= length {
				t.Errorf("%d numbers in %d calls of %d", length, r.calls, r.group)
			}
			if length > 257 && count != base+1 {
				continue
			}
			s := New[Scalar](r, Consecutive[Scalar, *Scalar]{})
			numbers := make([]uint64, length)
			for i := range numbers {
				numbers[i] = rng.Below(src, count)
			}
			digits := r.Encode(numbers)
			sh := sharings[0]
			if valid, _, _ := sh.decide(src, s, digits, nil); !valid {
				t.Errorf("%d numbers below %d are refused", length, count)
			}
			for _, at := range []int{0, len(digits) / 2, len(digits) - 1} {
				was := digits[at]
				digits[at] = small(uint64(r.digits[at%len(r.digits)].Values))
				if valid, _, _ := sh.decide(src, s, digits, nil); valid {
					t.Errorf("%d numbers below %d: digit %d may be out of range", length, count, at)
				}
				digits[at] = was
			}
		}
	}
	if most != mostCalls {
		t.Errorf("at most %d calls are made, want %d", most, mostCalls)
	}
}
