// SPDX-License-Identifier: Apache-2.0

package mech

import (
	"github.com/discreet-dp/discreet/internal/privacy/response"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
)

// drawOUE draws the bits of optimised unary encoding.
func drawOUE(src rng.Source, l response.OUE, cell int) response.Report {
	r := make(response.Report, l.Words())
	for i := 0; i < len(r); i += 2 { // 64 bits at a time
		lies := flipCoins(src, l.Lie) // 5.2
		r[i] = uint32(lies) & usedBits(l.Dim(), i)
		if i+1 < len(r) {
			r[i+1] = uint32(lies>>32) & usedBits(l.Dim(), i+1)
		}
	}
	half := uint32(src.Uint64() & 1)
	if cell != None {
		at := cell % 32
		r[cell/32] = r[cell/32]&^(1<<at) | half<<at // 5.3
	}
	return r
}

// flipCoins draws 64 Bernoulli variables at once, each true with probability p/2^62. Bit i of every
// random word belongs to the binary fraction of coin i, which is compared with that of p from the
// highest bit down until all 64 are decided. It uses about eight words.
func flipCoins(src rng.Source, p uint64) (set uint64) {
	open := ^uint64(0) // coins whose fraction equals p's so far
	for place := 61; place >= 0 && open != 0; place-- {
		if w := src.Uint64(); p>>place&1 == 1 {
			set |= open &^ w
			open &= w
		} else {
			open &^= w
		}
	}
	return set
}
