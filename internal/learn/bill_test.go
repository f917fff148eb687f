// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"errors"
	"testing"

	"github.com/discreet-dp/discreet/internal/ground/dp"
)

func TestDivideAddsUpExactly(t *testing.T) {
	for _, eps := range []dp.Epsilon{3, 7, dp.Nano, dp.MaxEpsilon} {
		out, err := dividePrice("test", eps, []Release{{Share: 0.3}, {Share: 1}, {Share: 0.1}, {Share: 2}})
		if eps < 20 {
			var p *dp.ParamError
			if !errors.As(err, &p) {
				t.Errorf("ε of %d units was divided into %v", eps, out)
			}
			continue
		}
		sum := dp.Epsilon(0)
		for _, e := range out {
			sum += e
		}
		if err != nil || sum != eps {
			t.Errorf("%d units: %v, %v", eps, out, err)
		}
	}
}
