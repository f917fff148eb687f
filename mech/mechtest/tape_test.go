// SPDX-License-Identifier: Apache-2.0

package mechtest

import (
	"testing"

	"github.com/discreet-dp/discreet/mech"
)

func TestMovedMeasuresWhatTheBoundIsAbout(t *testing.T) {
	at := func(norm mech.Norm, choice bool, v ...int64) Passage {
		p := Passage{Norm: norm, Choice: choice}
		for _, x := range v {
			p.Values = append(p.Values, mech.Ratio{Num: x, Den: 2})
		}
		return p
	}
	for _, c := range []struct {
		norm   mech.Norm
		choice bool
		want   float64
	}{{mech.L1, false, 7}, {mech.L2, false, 5}, {mech.Certified, false, 0}, {"", true, 7}} {
		p, q := at(c.norm, c.choice, 2, 2), at(c.norm, c.choice, 8, -6)
		if got := p.Moved(q); got != c.want {
			t.Errorf("%q (choice %v): moved %g, want %g", c.norm, c.choice, got, c.want)
		}
	}
}
