// SPDX-License-Identifier: Apache-2.0

package shen

import (
	"math"
	"testing"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
)

// The twin counts the mistakes of every classifier row by row.
func TestFewestMistakesAgreesWithNaiveTwin(t *testing.T) {
	src := replay.Seeded(1, "toy")
	for range 5 {
		labels := toyLabels(src)
		best := fewestMistakes(labels, src)
		of := func(at int) (mistakes int) {
			for i, plus := range labels {
				if plus != (i >= at) {
					mistakes++
				}
			}
			return mistakes
		}
		for at := range toyRows + 1 {
			if of(at) < of(best) {
				t.Fatalf("classifier at %d makes %d mistakes, the one at %d only %d", best, of(best), at, of(at))
			}
		}
	}
}

// Labels all "-", all "+" and alternating: the classifier at the end, at 0, and
// any at an even position.
func TestFewestMistakesAtTheEnds(t *testing.T) {
	src := replay.Seeded(2, "toy")
	all := make([]bool, toyRows)
	if at := fewestMistakes(all, src); at != toyRows {
		t.Errorf("no plus: %d", at)
	}
	for i := range all {
		all[i] = true
	}
	if at := fewestMistakes(all, src); at != 0 {
		t.Errorf("all plus: %d", at)
	}
	for i := range all {
		all[i] = i%2 == 0
	}
	seen := map[int]bool{}
	for range 100 { // 1,001 equally good positions: a repeat of one is rare
		at := fewestMistakes(all, src)
		if at%2 != 0 {
			t.Fatalf("alternating: %d", at)
		}
		seen[at] = true
	}
	if len(seen) < 50 {
		t.Errorf("ties fall on %d of 1,001 positions in 100 draws", len(seen))
	}
}

// Two rounds of the classifier at 1,400: it is wrong about a share 0.2 of the
// rows, whose weights then grow by e^0.3. The noise has scale 4e-5.
func TestToyBoostByHand(t *testing.T) {
	votes, err := toyBoost([]int{1400, 1400}, 100*dp.Nano, true, replay.Seeded(3, "toy"))
	if err != nil {
		t.Fatal(err)
	}
	grown := 0.2 * math.Exp(0.3)
	for i, want := range []float64{0.3, 0.5 - grown/(grown+0.8)} {
		if !(math.Abs(votes[i].vote-want) < 1e-3) {
			t.Errorf("vote %d is %g, want %g", i+1, votes[i].vote, want)
		}
	}
	if acc := toyAccuracy(votes); acc != 0.8 {
		t.Errorf("accuracy %g, want 0.8", acc)
	}
}

// Weights stop at c2 = 2: the classifier at 1,500 is wrong about a quarter, whose
// weights grow by the vote it gets until the next step would pass 2.
func TestToyWeightsAreClipped(t *testing.T) {
	at := make([]int, 12)
	for i := range at {
		at[i] = 1500
	}
	votes, err := toyBoost(at, 1000*dp.Nano, true, replay.Seeded(4, "toy"))
	if err != nil {
		t.Fatal(err)
	}
	w := 1.0
	for i, v := range votes {
		want := 0.5 - 0.25*w/(0.25*w+0.75)
		if !(math.Abs(v.vote-want) < 1e-3) {
			t.Fatalf("vote %d is %g, want %g", i+1, v.vote, want)
		}
		if next := w * math.Exp(v.vote); next <= 2 {
			w = next
		}
	}
	if last, before := votes[11].vote, votes[10].vote; !(math.Abs(last-before) < 1e-3) || !(last > 0.05) {
		t.Errorf("votes go on falling: %g, %g", before, last)
	}
}

func TestToyBuckets(t *testing.T) {
	for at, want := range map[int]int{0: 0, 199: 0, 200: 1, 1999: 9, 2000: 9} {
		if got := toyBucket(at, 200); got != want {
			t.Errorf("%d is in bucket %d, want %d", at, got, want)
		}
	}
	for at, want := range map[int]float64{0: 0.5, 1000: 1, 1500: 0.75, 2000: 0.5} {
		if got := aloneAt(at); got != want {
			t.Errorf("accuracy of the classifier at %d is %g, want %g", at, got, want)
		}
	}
}
