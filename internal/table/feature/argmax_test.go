// SPDX-License-Identifier: Apache-2.0

package feature

import "testing"

func TestArgMax(t *testing.T) {
	for _, c := range []struct {
		z    []float64
		want int
	}{{nil, 0}, {[]float64{-1}, 0}, {[]float64{1, 3, 2}, 1}, {[]float64{0, 2, 2}, 1}, {[]float64{5, 5}, 0}} {
		if got := ArgMax(c.z); got != c.want {
			t.Errorf("%v: %d, want %d", c.z, got, c.want)
		}
	}
}
