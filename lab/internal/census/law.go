// SPDX-License-Identifier: Apache-2.0

package census

import (
	"encoding/binary"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
)

// law is a distribution over 0..len-1 from which outcomes are drawn in constant time (Walker's alias
// method, built in Vose's order).
type law []aliased

type aliased struct {
	cut   uint32 // this outcome is kept for a fraction below cut·2^-32
	other uint16 // the outcome otherwise
}

// newLaw builds the distribution with the given relative weights, in whole numbers so that it is the
// same on every machine. There are at most 2^16 weights, each below 2^31, with a positive sum below
// 2^47.
func newLaw(weights []uint64) law {
	n := uint64(len(weights))
	var sum uint64
	for _, w := range weights {
		sum += w
	}
	if sum == 0 {
		panic("census: a law needs a positive weight")
	}
	l := make(law, n)
	rest := make([]uint64, n)
	var small, large []int
	for i, w := range weights {
		rest[i] = w * n
		if rest[i] < sum {
			small = append(small, i)
		} else {
			large = append(large, i)
		}
	}
	for len(small) > 0 && len(large) > 0 {
		s, g := small[len(small)-1], large[len(large)-1]
		small = small[:len(small)-1]
		// rest[s] < sum, so the quotient fits 32 bits.
		hi, lo := bits.Mul64(rest[s], 1<<32)
		cut, _ := bits.Div64(hi, lo, sum)
		l[s] = aliased{uint32(cut), uint16(g)}
		rest[g] -= sum - rest[s]
		if rest[g] < sum {
			large = large[:len(large)-1]
			small = append(small, g)
		}
	}
	for _, i := range append(small, large...) {
		l[i] = aliased{0, uint16(i)}
	}
	return l
}

// softLaw builds the distribution with probabilities proportional to exp(logits); a logit of never
// means probability 0. Weights are rounded to whole numbers, so that differences in the last digits of
// exp between machines have no effect.
func softLaw(logits []float64) law {
	w := make([]uint64, len(logits))
	top := slices.Max(logits)
	for k, x := range logits {
		w[k] = uint64(math.Round(1e8 * math.Exp(x-top)))
	}
	return newLaw(w)
}

const never = -1000

// drawOutcome converts 32 uniform bits to an outcome.
func (l law) drawOutcome(word uint32) int {
	at := uint64(word) * uint64(len(l))
	i := at >> 32
	if e := l[i]; uint32(at) >= e.cut {
		return int(e.other)
	}
	return int(i)
}

// stream is the randomness of one block, in words of 32 bits.
type stream struct {
	src  rand.ChaCha8
	word uint64
	half bool
}

// openBlock starts the stream of one block. Different (seed, block) give different keys.
func (s *stream) openBlock(seed, block uint64) {
	key := [32]byte([]byte("................discreet: census"))
	binary.LittleEndian.PutUint64(key[0:], seed)
	binary.LittleEndian.PutUint64(key[8:], block)
	s.src.Seed(key)
	s.half = false
}

func (s *stream) nextWord() uint32 {
	if s.half {
		s.half = false
		return uint32(s.word >> 32)
	}
	s.word = s.src.Uint64()
	s.half = true
	return uint32(s.word)
}

// drawBelow draws from 0..n-1 with a bias of at most n·2^-32, which is not visible in any table.
func (s *stream) drawBelow(n int) int {
	return int(uint64(s.nextWord()) * uint64(n) >> 32)
}
