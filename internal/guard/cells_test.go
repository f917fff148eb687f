// SPDX-License-Identifier: Apache-2.0

package guard

import "testing"

// A row that changes its label where it stands alone moves the distance of a bin by 2: once for each
// side. So of two columns one may rise by 2 while the other falls by 2.
func TestImbalancesByHand(t *testing.T) {
	const one = WeightOne
	before := sumDistances([]int64{one, 0}, []int64{0, 2 * one})
	after := sumDistances([]int64{0, one}, []int64{0, 2 * one})
	if moved := float64(before-after) / one; moved != 2 {
		t.Errorf("a row moves a score by %g, not 2", moved)
	}
}
