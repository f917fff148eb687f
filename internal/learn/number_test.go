// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"math"
	"testing"
)

func TestDigitsHaveNoExponent(t *testing.T) {
	for _, c := range []struct {
		x    float64
		n    int
		want string
	}{{130.4, 2, "130"}, {26570.3, 4, "26570"}, {0.0000123, 2, "0.000012"}, {7.25, 2, "7.2"}, {26.574, 4, "26.57"}, {0, 3, "0"},
		{999.6, 3, "1000"}, {math.Inf(1), 2, "+Inf"}} {
		if got := Digits(c.x, c.n); got != c.want {
			t.Errorf("%g in %d digits is %q, want %q", c.x, c.n, got, c.want)
		}
	}
}
