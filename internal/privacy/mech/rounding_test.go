// SPDX-License-Identifier: Apache-2.0

package mech

import (
	"math"
	"math/big"
	"testing"

	"github.com/discreet-dp/discreet/internal/ground/dp"
)

// most is how many steps of the grid two values are apart at most, after rounding, that
// lie a number of eighths of a step apart, wherever the first lies.
func mostSteps(g grid, eighths int64) (most int64) {
	at := func(eighths int64) *big.Int { return g.roundToGrid(Ratio{eighths, 1 << uint(3-g.exp)}) }
	for from := range int64(8) {
		most = max(most, new(big.Int).Sub(at(from+eighths), at(from)).Int64())
	}
	return most
}

// In whole steps, after rounding, neighbours lie no further apart than ε times the scale:
// rounding is paid for. The moves are no whole numbers of steps, and every place on the
// grid is tried.
func TestRoundingIsPaidFor(t *testing.T) {
	const eps, length = dp.Nano, 4
	for _, quarter := range []int64{2, 4, 6} { // eighths beyond whole steps
		// A sensitivity between 1/2 and 1 has steps of 2^-40.
		each := int64(3)<<38/length + quarter
		l1 := math.Ldexp(float64(length*each), -43)
		for l1 < 0.5 {
			each, l1 = 2*each&^7|quarter, math.Ldexp(float64(length*(2*each&^7|quarter)), -43)
		}
		if m := Sized(LaplaceFor(eps, l1, length)); m.grid.exp != -gridBits {
			t.Fatalf("laplace: steps of 2^%d", m.grid.exp)
		} else if moved := length * mostSteps(m.grid, each); uint64(moved) > m.grid.scale {
			t.Errorf("laplace: neighbours lie %d steps apart, the scale is %d", moved, m.grid.scale)
		}
		// Of two scores one goes up and the other down, by half the spread each.
		half := each * length / 2
		spread := math.Ldexp(float64(2*half), -43)
		if c := Sized(choiceFor("choice", eps, spread)); c.grid.exp != -gridBits {
			t.Fatalf("choice: steps of 2^%d", c.grid.exp)
		} else if moved := 2 * mostSteps(c.grid, half); uint64(moved) > c.grid.scale {
			t.Errorf("choice: scores move %d steps apart, the scale is %d", moved, c.grid.scale)
		}
	}
}
