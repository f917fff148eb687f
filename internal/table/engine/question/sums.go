// SPDX-License-Identifier: Apache-2.0

package question

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
)

// Sums is an answer: integers, each a sum over rows. Either Plain, as many as the question asks
// for, or counts by key, in the order of the keys.
type Sums struct {
	Plain    []int64
	Words    int      // of a key; 0 if sums are plain
	Counters int      // of a key
	Keys     []uint64 // Words for each key; ascending, the first word first, none twice
	Counts   []uint64 // Counters for each key
}

// Len is the number of keys.
func (s *Sums) Len() int {
	if s.Words == 0 {
		return 0
	}
	return len(s.Keys) / s.Words
}

// Adder adds up answers to one question. The sum does not depend on their order. The zero Adder
// is ready to use.
type Adder struct{ parts []*Sums }

// Add adds an answer, which it may change.
func (a *Adder) Add(s *Sums) error {
	a.parts = append(a.parts, s)
	// Only parts of like size are added up, so that a key is looked at a few times in all.
	for n := len(a.parts); n > 1 && (s.Words == 0 || a.parts[n-2].Len() <= 2*a.parts[n-1].Len()); n = len(a.parts) {
		if err := a.mergeLast(); err != nil {
			return err
		}
	}
	return nil
}

// Sum is the sum of what was added, nil of nothing. The Adder is not to be used afterwards.
func (a *Adder) Sum() (*Sums, error) {
	for len(a.parts) > 1 {
		if err := a.mergeLast(); err != nil {
			return nil, err
		}
	}
	if len(a.parts) == 0 {
		return nil, nil
	}
	return a.parts[0], nil
}

func (a *Adder) mergeLast() error {
	n := len(a.parts)
	sum, err := merge(a.parts[n-2], a.parts[n-1])
	a.parts[n-2] = sum
	a.parts = a.parts[:n-1]
	return err
}

// merge adds up answers, which it uses up.
func merge(a, b *Sums) (*Sums, error) {
	if len(a.Plain) != len(b.Plain) || a.Words != b.Words || a.Counters != b.Counters {
		return nil, errors.New("question: answers to one question must be of one shape")
	}
	for i, x := range b.Plain {
		a.Plain[i] += x
	}
	return mergeKeys(a, b), nil
}

// Encode writes an answer: the version, four lengths and the numbers, each as a variable-length
// integer. Keys are written as what they differ by in their first word.
func (s *Sums) Encode() (out []byte) {
	for _, n := range []int{Version, len(s.Plain), s.Words, s.Counters, s.Len()} {
		out = binary.AppendUvarint(out, uint64(n))
	}
	for _, x := range s.Plain {
		out = binary.AppendVarint(out, x)
	}
	before := uint64(0)
	for i := range s.Len() {
		key := s.keyAt(i)
		out = binary.AppendUvarint(out, key[0]-before)
		before = key[0]
		for _, numbers := range [][]uint64{key[1:], s.countsAt(i)} {
			for _, n := range numbers {
				out = binary.AppendUvarint(out, n)
			}
		}
	}
	return out
}

var errAnswer = errors.New("question: malformed answer")

// DecodeSums reads what Encode wrote.
func DecodeSums(b []byte) (*Sums, error) {
	var all []uint64
	for len(b) > 0 {
		x, n := binary.Uvarint(b)
		if n <= 0 {
			return nil, errAnswer
		}
		if all, b = append(all, x), b[n:]; all[0] != Version {
			return nil, fmt.Errorf("question: answer of version %d, this is version %d", all[0], Version)
		}
	}
	var head [5]uint64
	if copy(head[:], all) < len(head) || slices.Max(head[:]) > math.MaxInt32 {
		return nil, errAnswer
	}
	plain, words, counters, keys, all := head[1], head[2], head[3], head[4], all[len(head):]
	if (words == 0) != (counters == 0) || words == 0 && keys > 0 || words > 0 && plain > 0 ||
		uint64(len(all)) != plain+keys*(words+counters) {
		return nil, errAnswer
	}
	s := &Sums{Words: int(words), Counters: int(counters)}
	for _, x := range all[:plain] {
		s.Plain = append(s.Plain, int64(x>>1)^-int64(x&1))
	}
	before := uint64(0)
	for all = all[plain:]; len(all) > 0; all = all[words+counters:] {
		if all[0] += before; all[0] < before {
			return nil, errAnswer
		}
		before = all[0]
		s.Keys, s.Counts = append(s.Keys, all[:words]...), append(s.Counts, all[words:][:counters]...)
		if n := s.Len(); n > 1 && slices.Compare(s.keyAt(n-2), s.keyAt(n-1)) >= 0 {
			return nil, errAnswer
		}
	}
	return s, nil
}
