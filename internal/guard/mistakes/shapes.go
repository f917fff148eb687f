// SPDX-License-Identifier: Apache-2.0

package mistakes

import (
	"fmt"

	"github.com/discreet-dp/discreet/internal/table/engine"
)

// Shape is a vote of some of the listed classifiers: it answers positive if Bias and their votes,
// each times 1 or −1 by the answer, add up to more than 0.
type Shape struct {
	First int   // the first of the listed classifiers that vote
	Votes []int // of those and the next ones
	Bias  int
}

func checkShapes(shapes []Shape, listed int) error {
	for _, h := range shapes {
		if h.First < 0 || h.First+len(h.Votes) > listed {
			return fmt.Errorf("mistakes: a shape must be made of the %d listed classifiers", listed)
		}
	}
	return nil
}

// answerPatterns turns mistakes of listed classifiers, with the label last, into mistakes of shapes,
// with the label last. A row's mistakes are a function of its own cells and of coins, as those of
// any list.
func answerPatterns(p *engine.Patterns, shapes []Shape, label int) *engine.Patterns {
	out := &engine.Patterns{Words: len(shapes)/64 + 1, Count: p.Count}
	out.Bits = make([]uint64, out.Words*len(p.Count))
	for i := range p.Count {
		has := func(k int) bool { return p.Bits[i*p.Words+k/64]>>(k%64)&1 == 1 }
		negative := has(label)
		set := func(k int, wrong bool) {
			if wrong {
				out.Bits[i*out.Words+k/64] |= 1 << (k % 64)
			}
		}
		for t := range shapes {
			h := &shapes[t]
			twice := h.Bias
			for c, v := range h.Votes {
				if has(h.First+c) == negative { // it answers positive
					twice += v
				} else {
					twice -= v
				}
			}
			set(t, (twice > 0) == negative)
		}
		set(len(shapes), negative)
	}
	return out
}
