// SPDX-License-Identifier: Apache-2.0

package response

import (
	"testing"

	"github.com/discreet-dp/discreet/internal/privacy/dp"
)

// The mean of a cell's estimate over all of GRR's answers is the truth: its law is symmetric among
// the other cells, so there is no bias to take off.
func TestGRRHasNoBias(t *testing.T) {
	l, err := GRRFor(dp.Nano, 5)
	if err != nil {
		t.Fatal(err)
	}
	if l.Bias() != 0 {
		t.Errorf("a bias of %g", l.Bias())
	}
}
