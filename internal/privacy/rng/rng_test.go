// SPDX-License-Identifier: Apache-2.0

package rng

import (
	"crypto/rand"
	"encoding/binary"
	"math"
	"math/bits"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/stattest"
	"github.com/discreet-dp/discreet/internal/ground/stats"
)

// words are so many words of one source, over many fillings of its buffer.
func words(src Source, n int) []uint64 {
	out := make([]uint64, n)
	for i := range out {
		out[i] = src.Uint64()
	}
	return out
}

// checkUniform holds words to what independent uniform words are like, wherever in the
// buffer they stood: none comes twice, each place of the buffer and each bit is fair, and
// words of one distance agree in half of their bits.
func checkUniform(t stattest.T, w []uint64) {
	t.Helper()
	seen := map[uint64]bool{}
	for i, x := range w {
		if seen[x] { // of 2^16 words with a probability of 2^-33
			t.Errorf("word %d comes twice", i)
			return
		}
		seen[x] = true
	}
	const eighths = 8
	for part := range eighths {
		ones, n := 0, 0
		for i, x := range w {
			if i%(bufferBytes/8)/(bufferBytes/8/eighths) == part {
				ones, n = ones+bits.OnesCount64(x), n+64
			}
		}
		stattest.Binomial(t, stattest.Claim{FalsePositive: 1e-9 / eighths,
			Detects: "a part of the buffer that is not filled"}, ones, n, 0.5)
	}
	for bit := range 64 {
		ones := 0
		for _, x := range w {
			ones += int(x >> bit & 1)
		}
		stattest.Binomial(t, stattest.Claim{FalsePositive: 1e-9 / 64, Detects: "a bit that leans"}, ones, len(w), 0.5)
	}
	lags := []int{1, 2, 3, 4, 7, 8, 16, 64, 255, 256, 511, 512, 513, 1024}
	for _, lag := range lags {
		agree := 0
		for i := lag; i < len(w); i++ {
			agree += bits.OnesCount64(^(w[i] ^ w[i-lag]))
		}
		stattest.Binomial(t, stattest.Claim{FalsePositive: 1e-9 / 14, Detects: "a word that is made of an earlier one"},
			agree, 64*(len(w)-lag), 0.5)
	}
}

func TestSystemIsUniform(t *testing.T) {
	const n = 1 << 15 // 64 fillings
	checkUniform(t, words(System(), n))
	for name, spoil := range map[string]func(w []uint64){
		"half of each filling is empty": func(w []uint64) {
			for i := range w {
				if i/256%2 == 1 {
					w[i] = uint64(i) // no word twice, to be seen by its bits
				}
			}
		},
		"half of each filling is the other half turned over": func(w []uint64) {
			for i := range w {
				if i/256%2 == 1 {
					w[i] = ^w[i-256]
				}
			}
		},
		"a bit is never set": func(w []uint64) {
			for i := range w {
				w[i] &^= 1 << 17
			}
		},
		"a word comes twice": func(w []uint64) { w[n-1] = w[5] },
	} {
		t.Run(name, func(t *testing.T) {
			w := words(System(), n)
			spoil(w)
			stattest.Rejects(t, func(t stattest.T) { checkUniform(t, w) })
		})
	}
}

// Two sources have nothing in common, and a source that was used forgets.
func TestSourcesDiffer(t *testing.T) {
	seen := map[uint64]bool{}
	for range 64 {
		s := newSystem(func(b []byte) { rand.Read(b) })
		for range 64 {
			w := s.Uint64()
			if seen[w] {
				t.Fatal("two sources yield one word")
			}
			seen[w] = true
			if binary.LittleEndian.Uint64(s.buf[s.next-8:]) != 0 {
				t.Fatal("a word that was used is kept")
			}
		}
	}
}

// A sound generator fails the adaptive proportion test as rarely as its comment says.
func TestWindowBound(t *testing.T) {
	if _, tail := stats.Tails(mostInWindow, windowBytes-1, 1.0/256); !(tail < 0x1p-68) {
		t.Errorf("%d of %d bytes equal one with probability 2^%.1f", mostInWindow, windowBytes-1, math.Log2(tail))
	}
}

// The health tests refuse generators that are broken in the ways they are about, at the
// start or later, and go on refusing.
func TestHealthTests(t *testing.T) {
	fillings, healed := 0, false
	var first []byte
	late := func(spoil func(b []byte)) func(b []byte) {
		return func(b []byte) {
			rand.Read(b)
			if fillings++; fillings > 2 && !healed {
				spoil(b)
			}
		}
	}
	for name, spoil := range map[string]func(b []byte){
		"nothing":       func(b []byte) { clear(b) },
		"half a buffer": func(b []byte) { clear(b[bufferBytes/2:]) },
		"two words":     func(b []byte) { copy(b[8:16], b[:8]) },
		"the last two":  func(b []byte) { copy(b[bufferBytes-8:bufferBytes], b[bufferBytes-16:]) },
		"few bytes": func(b []byte) {
			for i := range b {
				b[i] &= 7
			}
		},
		"the same again": func(b []byte) {
			if first == nil {
				first = append(first, b...)
			}
			copy(b, first)
		},
	} {
		t.Run(name, func(t *testing.T) {
			fillings, healed, first = 0, false, nil
			s := newSystem(late(spoil))
			panics := func() (said any) {
				defer func() { said = recover() }()
				for range 4 * bufferBytes / 8 {
					s.Uint64()
				}
				return nil
			}
			if panics() == nil {
				t.Error("nobody noticed")
			}
			healed = true
			if panics() == nil {
				t.Error("it goes on")
			}
		})
	}
}

func TestBelowRefusesNothing(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a number below 0 was drawn")
		}
	}()
	Below(System(), 0)
}
