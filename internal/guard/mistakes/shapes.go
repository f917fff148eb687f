// SPDX-License-Identifier: Apache-2.0

package mistakes

import (
	"fmt"

	"github.com/discreet-dp/discreet/internal/table/engine"
)

// Shape is a vote of some of the listed classifiers: it answers positive if Bias plus their votes,
// each multiplied by 1 or −1 for the answer, is larger than 0.
type Shape struct {
	First int   // index of the first voting classifier
	Votes []int // of that classifier and the following ones
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

// answerPatterns converts mistakes of listed classifiers into mistakes of shapes, both with the label
// last. As for any list, a row's mistakes are a function of its own cells and of coins.
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
