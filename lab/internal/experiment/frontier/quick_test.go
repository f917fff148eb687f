// SPDX-License-Identifier: Apache-2.0

package frontier

import (
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/size"
	"github.com/discreet-dp/discreet/lab/internal/experiment/frame"
)

// No drawn table is behind the same rows with everything private, by more than .001 of AUC or of log loss
// in the mean of three ε and 8 repeats. While public columns were fitted bin by bin with a ridge, four of
// the six were, by up to .006 of either. Seeds are fixed, so it never fails by chance.
func TestPublicColumnsCostNoAccuracy(t *testing.T) {
	size.OnlyLong(t, "288 fits")
	for _, of := range quickTables() {
		if !strings.HasPrefix(of.name, "drawn") || of.trains > 0 { // the others are TestFloor's
			continue
		}
		const repeats = 8
		ahead, loss := 0.0, 0.0
		var cells []Fit
		for i := range 6 * repeats {
			cells = append(cells, Fit{Table: of.name, Scope: []string{"partly", "everything"}[i%2], Epsilon: float64(2 + i/2%3), Repeat: i / 6})
		}
		err := measureCells(t.Context(), of.open, &frame.World{}, "additive", cells, func(f Fit) error {
			sign := 1.0 / (3 * repeats)
			if f.Scope == "everything" {
				sign = -sign
			}
			ahead, loss = ahead+sign*f.AUC, loss+sign*f.LogLoss
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: AUC %+.4f, log loss %+.4f", of.name, ahead, loss)
		if ahead < -0.001 || loss > 0.001 {
			t.Errorf("%s: partly less everything private: AUC %+.4f, log loss %+.4f", of.name, ahead, loss)
		}
	}
}
