// SPDX-License-Identifier: Apache-2.0

package mech

import (
	"math/bits"

	"github.com/discreet-dp/discreet/internal/privacy/response"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
)

// drawDuchi draws uniform signs, and then flips all of them together if necessary: with probability
// Inner/(Inner+Outer) the majority agrees with the owner's values, rounded to signs. Each pair of
// opposite vectors has the weight Inner+Outer. A pair in which exactly half agree should have the
// weight 2·Outer, so it is accepted with a smaller probability and otherwise drawn again.
func drawDuchi(src rng.Source, l response.Duchi, values []float64) response.Report {
	signs := make(response.Report, l.Words()) // the owner's, rounded
	for j, v := range values {
		if roundToPoint(src, v, 0) == 1 {
			signs[j/32] |= 1 << (j % 32)
		}
	}
	r := make(response.Report, l.Words())
	for {
		agree := 0
		for i := range r {
			r[i] = uint32(src.Uint64()) & usedBits(l.Dim(), i)
			agree += bits.OnesCount32(^(r[i] ^ signs[i]) & usedBits(l.Dim(), i))
		}
		switch {
		case 2*agree != l.Dim():
			if (2*agree > l.Dim()) != (rng.Below(src, l.Inner+l.Outer) < l.Inner) { // 3.1
				for i := range r {
					r[i] ^= usedBits(l.Dim(), i)
				}
			}
			return r
		case rng.Below(src, l.Inner+l.Outer) < 2*l.Outer: // 3.2
			return r
		}
	}
}

// usedBits returns the bits that a report of n bits uses in its i-th word.
func usedBits(n, i int) uint32 {
	if left := n - 32*i; left < 32 {
		return 1<<left - 1
	}
	return ^uint32(0)
}
