// SPDX-License-Identifier: Apache-2.0

package memory

import "slices"

// tally counts keys of a fixed number of words, with several counters each: an
// open-addressing hash table without deletion.
type tally struct {
	words, counters int
	keys            []uint64 // slot·words
	counts          []uint64 // slot·counters
	used            []bool
	len             int
}

func newTally(words, counters int) *tally {
	t := &tally{words: words, counters: counters}
	t.alloc(1 << 10)
	return t
}

func (t *tally) alloc(slots int) {
	t.keys = make([]uint64, slots*t.words)
	t.counts = make([]uint64, slots*t.counters)
	t.used = make([]bool, slots)
}

// add counts n more of key under one counter.
func (t *tally) add(key []uint64, counter int, n uint64) {
	s := t.slot(key)
	t.counts[s*t.counters+counter] += n
}

func (t *tally) slot(key []uint64) int {
	if t.len*2 >= len(t.used) {
		t.grow()
	}
	h := uint64(0)
	for _, w := range key {
		h = (h ^ w) * 0x9e3779b97f4a7c15
		h ^= h >> 29
	}
	mask := len(t.used) - 1
	for s := int(h>>20) & mask; ; s = (s + 1) & mask {
		if !t.used[s] {
			t.used[s] = true
			copy(t.keys[s*t.words:], key)
			t.len++
			return s
		}
		if slices.Equal(t.keys[s*t.words:][:t.words], key) {
			return s
		}
	}
}

func (t *tally) grow() {
	old := *t
	t.len = 0
	t.alloc(2 * len(old.used))
	t.merge(&old)
}

// merge adds every count of o.
func (t *tally) merge(o *tally) {
	for s, used := range o.used {
		if used {
			at := t.slot(o.keys[s*o.words:][:o.words]) * t.counters
			for c, n := range o.counts[s*o.counters:][:o.counters] {
				t.counts[at+c] += n
			}
		}
	}
}

// sorted returns the slots in use in the order of their keys, so that an
// answer does not show in which order rows were read.
func (t *tally) sorted() []int {
	slots := make([]int, 0, t.len)
	for s, used := range t.used {
		if used {
			slots = append(slots, s)
		}
	}
	slices.SortFunc(slots, func(a, b int) int {
		return slices.Compare(t.keys[a*t.words:][:t.words], t.keys[b*t.words:][:t.words])
	})
	return slots
}
