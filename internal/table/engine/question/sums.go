// SPDX-License-Identifier: Apache-2.0

package question

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/internal/table/engine"
)

// Sums is an answer: integers, each a sum over rows. Either Plain, as many as the question asks
// for, or counts by key, in the order of the keys. Numbers below zero are in two's complement, so
// that addition is the same.
type Sums struct {
	Plain    []uint64
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

func merge(a, b *Sums) (*Sums, error) {
	if len(a.Plain) != len(b.Plain) || a.Words != b.Words || a.Counters != b.Counters {
		return nil, errors.New("question: answers to one question must be of one shape")
	}
	if a.Words == 0 {
		for i, x := range b.Plain {
			a.Plain[i] += x
		}
		return a, nil
	}
	out := &Sums{Words: a.Words, Counters: a.Counters, Keys: make([]uint64, 0, len(a.Keys)+len(b.Keys)),
		Counts: make([]uint64, 0, len(a.Counts)+len(b.Counts))}
	i, j := 0, 0
	for i < a.Len() || j < b.Len() {
		order := 0
		switch {
		case i == a.Len():
			order = 1
		case j == b.Len():
			order = -1
		default:
			order = slices.Compare(a.keyAt(i), b.keyAt(j))
		}
		if order <= 0 {
			out.Keys, out.Counts = append(out.Keys, a.keyAt(i)...), append(out.Counts, a.countsAt(i)...)
			i++
		} else {
			out.Keys, out.Counts = append(out.Keys, b.keyAt(j)...), append(out.Counts, b.countsAt(j)...)
		}
		if order == 0 {
			last := out.Counts[len(out.Counts)-a.Counters:]
			for c, n := range b.countsAt(j) {
				last[c] += n
			}
		}
		if order >= 0 {
			j++
		}
	}
	return out, nil
}

func (s *Sums) keyAt(i int) []uint64    { return s.Keys[i*s.Words:][:s.Words] }
func (s *Sums) countsAt(i int) []uint64 { return s.Counts[i*s.Counters:][:s.Counters] }

// sumsOfGroups has a key word for each column: a category's code, or a number's bits such that
// they are in the order of the numbers. So keys mean the same in every part of a table.
func sumsOfGroups(g *engine.Groups, cols []int, classes int) *Sums {
	words := max(1, len(cols))
	keys := make([][]uint64, g.Len)
	order := make([]int, g.Len)
	for i := range keys {
		order[i] = i
		key := make([]uint64, words)
		for k, j := range cols {
			key[k] = uint64(g.Cols[j].Codes.At(i))
			if g.Cols[j].Values != nil {
				key[k] = orderedBits(g.Cols[j].MarkedValue(uint32(key[k])))
			}
		}
		keys[i] = key
	}
	slices.SortFunc(order, func(a, b int) int { return slices.Compare(keys[a], keys[b]) })
	out := &Sums{Words: words, Counters: classes}
	for _, i := range order {
		out.Keys = append(out.Keys, keys[i]...)
		for class := range classes {
			out.Counts = append(out.Counts, g.Counts[class][i])
		}
	}
	return out
}

// orderedBits are bits of x, not NaN, that are in the order of the numbers.
func orderedBits(x float64) uint64 {
	b := math.Float64bits(x)
	if b>>63 != 0 {
		return ^b
	}
	return b | 1<<63
}

// fromOrdered is the number of these orderedBits.
func fromOrdered(b uint64) float64 {
	if b>>63 == 0 {
		return math.Float64frombits(^b)
	}
	return math.Float64frombits(b &^ (1 << 63))
}

// Encode writes an answer: the version, four lengths and the numbers, each as a variable-length
// integer. Keys are written as what they differ by in their first word.
func (s *Sums) Encode() []byte {
	out := binary.AppendUvarint(nil, Version)
	for _, n := range []int{len(s.Plain), s.Words, s.Counters, s.Len()} {
		out = binary.AppendUvarint(out, uint64(n))
	}
	for _, x := range s.Plain {
		out = binary.AppendVarint(out, int64(x))
	}
	before := uint64(0)
	for i := range s.Len() {
		key := s.keyAt(i)
		out = binary.AppendUvarint(out, key[0]-before)
		before = key[0]
		for _, word := range key[1:] {
			out = binary.AppendUvarint(out, word)
		}
		for _, n := range s.countsAt(i) {
			out = binary.AppendUvarint(out, n)
		}
	}
	return out
}

var errAnswer = errors.New("question: malformed answer")

// DecodeSums reads what Encode wrote.
func DecodeSums(b []byte) (*Sums, error) {
	next := func() (x uint64, err error) {
		x, n := binary.Uvarint(b)
		if n <= 0 {
			return 0, errAnswer
		}
		b = b[n:]
		return x, nil
	}
	version, err := next()
	if err != nil {
		return nil, err
	}
	if version != Version {
		return nil, fmt.Errorf("question: answer of version %d, this is version %d", version, Version)
	}
	var sizes [4]int // plain, words, counters, keys
	for i := range sizes {
		n, err := next()
		if err != nil || n > math.MaxInt32 {
			return nil, errAnswer
		}
		sizes[i] = int(n)
	}
	s := &Sums{Words: sizes[1], Counters: sizes[2]}
	keys := sizes[3]
	// Each number takes a byte at least; the width of keys says nothing if there are none.
	if sizes[0] > len(b) || (s.Words == 0) != (s.Counters == 0) || s.Words == 0 && keys > 0 ||
		s.Words > 0 && sizes[0] > 0 ||
		keys > 0 && keys > len(b)/(s.Words+s.Counters) {
		return nil, errAnswer
	}
	for range sizes[0] {
		x, n := binary.Varint(b)
		if n <= 0 {
			return nil, errAnswer
		}
		b = b[n:]
		s.Plain = append(s.Plain, uint64(x))
	}
	before := uint64(0)
	for i := range keys {
		for w := range s.Words + s.Counters {
			x, err := next()
			if err != nil {
				return nil, err
			}
			switch {
			case w == 0:
				if before += x; before < x {
					return nil, errAnswer
				}
				s.Keys = append(s.Keys, before)
			case w < s.Words:
				s.Keys = append(s.Keys, x)
			default:
				s.Counts = append(s.Counts, x)
			}
		}
		if i > 0 && slices.Compare(s.keyAt(i-1), s.keyAt(i)) >= 0 {
			return nil, errAnswer
		}
	}
	if len(b) != 0 {
		return nil, errAnswer
	}
	return s, nil
}
