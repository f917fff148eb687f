// SPDX-License-Identifier: Apache-2.0

package statistic

import (
	"testing"

	"github.com/discreet-dp/discreet/internal/census"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// again is a statistic that was a message.
func again(s *schema.Schema, of engine.Statistic) (engine.Statistic, error) {
	kind, text, err := Encode(of)
	if err != nil {
		return nil, err
	}
	return Decode(s, kind, text)
}

// A message asks at up to so many cuts, is read back with all of them, and is refused with one more.
func TestCutsReachTheirNumber(t *testing.T) {
	s := census.Schema()
	sp, err := feature.NewSpace(s, feature.OneHot, s.Features())
	if err != nil {
		t.Fatal(err)
	}
	coef := make([]float64, sp.Width()+1)
	for n, want := range map[int]bool{0: false, 1: true, 255: true, 256: true, maxCuts - 1: true, maxCuts: true,
		maxCuts + 1: false} {
		got, err := again(s, Right{sp, coef, engine.Cuts{First: -1, Step: 0.5, Count: n}})
		if (err == nil) != want || want && got.(Right).Cuts.Count != n {
			t.Errorf("%d cuts: %v", n, err)
		}
	}
	for n, want := range map[int]bool{-1: false, 0: true, engine.MaxHalvings: true, engine.MaxHalvings + 1: false} {
		got, err := again(s, Losses{Space: sp, Coef: coef, Halvings: n})
		if (err == nil) != want || want && got.(Losses).Halvings != n {
			t.Errorf("%d halvings: %v", n, err)
		}
	}
}
