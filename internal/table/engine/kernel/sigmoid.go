// SPDX-License-Identifier: Apache-2.0

package kernel

import "math"

// writeSigmoids writes 1/(1+exp(-z)) for every score z, with a relative error of about 1e-13. Unlike
// calls of math.Exp, it consists of independent instructions that the processor overlaps.
//
// exp(-z) is 2^(n/256) times exp(r), where n is the whole number nearest to -z·256/ln 2: a table and
// an exponent for the first, three terms for the second, as |r| ≤ ln 2/512.
func writeSigmoids(prob, score []float64) {
	const (
		steps   = -256 / math.Ln2
		rounder = 3 << 51 // added to a number, leaves its whole part in the lowest bits
		most    = 700     // exp does neither overflow nor underflow
	)
	zero := math.Float64bits(rounder)
	prob = prob[:len(score)]
	for i, z := range score {
		if !(math.Abs(z) < most) {
			prob[i] = 1 / (1 + math.Exp(-z)) // 0 if exp overflows, as it should be
			continue
		}
		whole := z*steps + rounder
		n := int64(math.Float64bits(whole) - zero)
		r := -z - (whole-rounder)*(math.Ln2/256)
		tail := r * (1 + r*(1./2+r*(1./6)))
		power := math.Float64frombits(powers[n&255] + uint64(n>>8)<<52)
		prob[i] = 1 / (1 + power + power*tail)
	}
}

// powers are the bits of 2^(n/256).
var powers = func() (p [256]uint64) {
	for n := range p {
		p[n] = math.Float64bits(math.Exp2(float64(n) / 256))
	}
	return p
}()
