// SPDX-License-Identifier: Apache-2.0

package rng

import "math/bits"

// Below draws uniformly from 0..n-1, exactly (Lemire's multiply-and-reject). It panics if n is 0.
func Below(src Source, n uint64) uint64 {
	if n == 0 {
		panic("rng: Below needs n > 0")
	}
	hi, lo := bits.Mul64(src.Uint64(), n)
	if lo < n {
		for floor := -n % n; lo < floor; {
			hi, lo = bits.Mul64(src.Uint64(), n)
		}
	}
	return hi
}

// Shuffle permutes n items uniformly (Fisher-Yates) by calling swap.
func Shuffle(src Source, n int, swap func(i, j int)) {
	for i := n - 1; i > 0; i-- {
		swap(i, int(Below(src, uint64(i)+1)))
	}
}
