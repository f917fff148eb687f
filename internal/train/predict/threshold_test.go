// SPDX-License-Identifier: Apache-2.0

package predict

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/discreet-dp/discreet/internal/model"
)

func TestThresholds(t *testing.T) {
	scores := []float64{0.1, 0.9, 0.4, 0.4, 0.6}
	for text, want := range map[string]float64{
		"": 0.5, "0": 0, "0.25": 0.25, "1": 1, "costs=1:3": 0.25, "costs=9:1": 0.9,
		"rate=0": math.Inf(1), "rate=0.2": 0.9, "rate=0.4": 0.6, "rate=0.6": 0.6, "rate=0.8": 0.4, "rate=1": 0,
	} {
		p, err := ParseThreshold(text)
		if err != nil || p.At(&model.Model{}, scores) != want {
			t.Errorf("%q: got %g, error %v, want %g", text, p.At(&model.Model{}, scores), err, want)
		}
	}
	for _, text := range []string{"-0.1", "1.1", "NaN", "x", "rate=", "rate=2", "rate=NaN", "costs=1", "costs=0:1",
		"costs=1:NaN", "costs=Inf:1", "costs=1e308:1e308", "share=0.1", "=", "0.5="} {
		if _, err := ParseThreshold(text); err == nil {
			t.Errorf("%q must be refused", text)
		}
	}
}

// A rate is never exceeded, and one row more of the next score would exceed it.
func TestRateIsHeldAndReached(t *testing.T) {
	src := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		scores := make([]float64, 1+src.IntN(40))
		for i := range scores {
			scores[i] = float64(src.IntN(8)) / 8
		}
		p := Threshold{"rate", src.Float64()}
		at, most := p.At(&model.Model{}, scores), int(p.value*float64(len(scores)))
		count := func(from float64) (n int) {
			for _, s := range scores {
				if s >= from {
					n++
				}
			}
			return n
		}
		next := math.Inf(-1) // the highest score that is not predicted
		for _, s := range scores {
			if s < at {
				next = max(next, s)
			}
		}
		if count(at) > most || !math.IsInf(next, -1) && count(next) <= most {
			t.Fatalf("rate %g of %v: %d rows at %g", p.value, scores, count(at), at)
		}
	}
}
