// SPDX-License-Identifier: Apache-2.0

package stattest

import (
	"math/bits"
	"math/rand/v2"
	"slices"
)

// derivations is how many derivations Streams makes for each input. A derivation from 16 bits alone
// repeats among so many but with a probability of e^-32.
const derivations = 2048

// Streams checks words that are derived from inputs: masks, coins, keys, places. Inputs of the lengths
// of like, one of them changed at a time, give words of 64 bits of which none repeats, within a stream
// or between two; streams do not correlate; and every byte of every input counts. The rate of a claim
// must leave room for words that repeat by chance, some 1e-10.
func Streams(t T, c Claim, derive func(in [][]byte) []uint64, like ...[]byte) {
	t.Helper()
	c.begin(t)
	r := rand.New(rand.NewPCG(9, uint64(len(like)))) // which inputs are tried is no part of the sample
	s := &streams{seen: map[uint64]bool{}, inputs: map[string]bool{}}
	base := make([][]byte, len(like))
	for k := range like {
		base[k] = slices.Clone(like[k])
		for i := range base[k] {
			base[k][i] = byte(r.Uint32())
		}
	}
	s.add(t, derive, base, "the inputs")
	for k := range base {
		in := slices.Clone(base)
		for range derivations {
			in[k] = make([]byte, len(base[k]))
			for i := range in[k] {
				in[k][i] = byte(r.Uint32())
			}
			s.add(t, derive, in, "input %d", k)
		}
		for i := range base[k] {
			in[k] = slices.Clone(base[k])
			in[k][i] ^= 1 << r.IntN(8)
			s.add(t, derive, in, "byte %d of input %d", i, k)
		}
	}
	if s.repeated {
		return
	}
	part := Claim{FalsePositive: c.FalsePositive / 4, Detects: c.Detects}
	if _, sabotaged := t.(*recorder); !sabotaged {
		declared.Lock()
		declared.sum -= 3 * part.FalsePositive // which the checks below declare
		declared.Unlock()
	}
	Binomial(t, part, s.ones, s.bits, 0.5)
	Binomial(t, part, s.across, s.bits-64*s.width, 0.5)
	if s.width > 1 {
		Binomial(t, part, s.within, s.bits/s.width*(s.width-1), 0.5)
	}
}

// streams are words that have been seen.
type streams struct {
	seen                       map[uint64]bool
	inputs                     map[string]bool
	last                       []uint64
	width                      int // of a stream, in words
	bits, ones, across, within int // bits of all streams, and of the differences of words beside each other
	repeated                   bool
}

func (s *streams) add(t T, derive func([][]byte) []uint64, in [][]byte, what string, args ...any) {
	t.Helper()
	name := string(slices.Concat(in...))
	if s.inputs[name] || s.repeated {
		return
	}
	s.inputs[name] = true
	words := derive(in)
	s.width = len(words)
	for i, w := range words {
		if s.seen[w] {
			s.repeated = true
			t.Errorf("word %d repeats one that was there before, after a change of "+what, append([]any{i}, args...)...)
			return
		}
		s.seen[w] = true
		s.bits += 64
		s.ones += bits.OnesCount64(w)
		if s.last != nil {
			s.across += bits.OnesCount64(w ^ s.last[i])
		}
		if i > 0 {
			s.within += bits.OnesCount64(w ^ words[i-1])
		}
	}
	s.last = words
}
