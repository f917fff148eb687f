// SPDX-License-Identifier: Apache-2.0

package experiment

import (
	"testing"
)

// No figure's checks all hold where every classifier throws a coin: then its
// verdict could not fail.
func TestNoVerdictHoldsForCoins(t *testing.T) {
	for _, f := range All() {
		for _, n := range f.JudgeNull(nil) {
			if n.IsBorneOut() {
				t.Errorf("%s: %d of %d draws of %s pass every check", f.Name, n.Reproduced, n.Draws, n.Name)
			}
		}
	}
}
