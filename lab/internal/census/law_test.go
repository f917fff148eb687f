// SPDX-License-Identifier: Apache-2.0

package census

import (
	"math"
	"slices"
	"testing"
)

// TestLawIsExact adds up the probability each outcome really has, without
// sampling.
func TestLawIsExact(t *testing.T) {
	for name, weights := range map[string][]uint64{
		"one":       {3},
		"even":      {5, 5, 5, 5},
		"zero":      {0, 1, 0},
		"skewed":    {1, 1e9, 3, 0, 70_000, 12},
		"thousands": weightsOf(5000),
	} {
		t.Run(name, func(t *testing.T) {
			var sum float64
			for _, w := range weights {
				sum += float64(w)
			}
			l := newLaw(weights)
			got := make([]float64, len(l))
			for i, e := range l {
				keep := float64(e.cut) / (1 << 32)
				got[i] += keep / float64(len(l))
				got[e.other] += (1 - keep) / float64(len(l))
			}
			for i, w := range weights {
				if want := float64(w) / sum; math.Abs(got[i]-want) > 1e-9 || w == 0 && got[i] != 0 {
					t.Errorf("outcome %d has probability %g, want %g", i, got[i], want)
				}
			}
		})
	}
}

func weightsOf(n int) []uint64 {
	w := make([]uint64, n)
	for i := range w {
		w[i] = uint64(i*i%977 + 1)
	}
	return w
}

// TestDrawUsesTheWholeWord runs through evenly spaced words: each outcome comes
// up as often as its weight says, to within one word per cell and cut.
func TestDrawUsesTheWholeWord(t *testing.T) {
	l := newLaw([]uint64{1, 2, 3, 10})
	const steps = 1 << 20
	var got [4]int
	for i := range steps {
		got[l.drawOutcome(uint32(i<<12|i&0xfff))]++
	}
	for k, w := range []int{1, 2, 3, 10} {
		if want := steps * w / 16; got[k] < want-8 || got[k] > want+8 {
			t.Errorf("outcome %d came up %d times in %d, want %d", k, got[k], steps, want)
		}
	}
}

func TestStreamHalvesWords(t *testing.T) {
	var a stream
	a.openBlock(1, 2)
	first := []uint32{a.nextWord(), a.nextWord(), a.nextWord()}
	a.openBlock(1, 2) // after an odd number of draws: the spare half must be dropped
	if again := []uint32{a.nextWord(), a.nextWord(), a.nextWord()}; !slices.Equal(first, again) {
		t.Errorf("reopened stream gives %v, want %v", again, first)
	}
}
