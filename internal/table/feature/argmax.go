// SPDX-License-Identifier: Apache-2.0

package feature

// ArgMax returns the index of the largest element of z, the first if several are equal. All
// classifiers select a class in this way. It is 0 if z is empty.
func ArgMax(z []float64) int {
	at := 0
	for k, x := range z {
		if x > z[at] {
			at = k
		}
	}
	return at
}
