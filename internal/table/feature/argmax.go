// SPDX-License-Identifier: Apache-2.0

package feature

// ArgMax is the index of the largest of z, the first of several: how every
// classifier here answers with one of its classes. It is 0 if z is empty.
func ArgMax(z []float64) int {
	at := 0
	for k, x := range z {
		if x > z[at] {
			at = k
		}
	}
	return at
}
