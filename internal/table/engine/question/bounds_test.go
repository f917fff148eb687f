// SPDX-License-Identifier: Apache-2.0

package question

import (
	"testing"

	"github.com/discreet-dp/discreet/internal/census"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/feature"
)

// A question asks at up to so many cuts, is read back with all of them, and is refused with one more.
func TestCutsReachTheirNumber(t *testing.T) {
	s := census.Schema()
	sp, err := feature.NewSpace(s, feature.OneHot, s.Features())
	if err != nil {
		t.Fatal(err)
	}
	for n, want := range map[int]bool{0: false, 1: true, 255: true, 256: true, maxCuts - 1: true, maxCuts: true,
		maxCuts + 1: false} {
		text, err := Encode(&Question{Kind: Right, Against: engine.WholeLabel, Space: sp, Cuts: engine.Cuts{First: -1, Step: 0.5,
			Count: n}, Losses: &engine.LossQuestion{Space: sp, Coef: make([]float64, sp.Width()+1)}})
		if err != nil {
			t.Fatal(err)
		}
		q, err := Decode(s, text)
		if (err == nil) != want || want && q.Cuts.Count != n {
			t.Errorf("%d cuts: %v", n, err)
		}
	}
	for n, want := range map[int]bool{-1: false, 0: true, engine.MaxHalvings: true, engine.MaxHalvings + 1: false} {
		text, err := Encode(&Question{Kind: Losses, Against: engine.WholeLabel, Space: sp,
			Losses: &engine.LossQuestion{Space: sp, Coef: make([]float64, sp.Width()+1), Halvings: n}})
		if err != nil {
			t.Fatal(err)
		}
		if q, err := Decode(s, text); (err == nil) != want || want && q.Losses.Halvings != n {
			t.Errorf("%d halvings: %v", n, err)
		}
	}
}
