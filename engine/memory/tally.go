// SPDX-License-Identifier: Apache-2.0

package memory

import "slices"

// tally counts keys of a fixed number of words, with several counters each: an
// open-addressing hash table without deletion. A slot is one run of words (tag,
// key, counters), so that a look-up touches one place in memory. The tag is the
// key's hash, made odd; 0 marks a free slot.
type tally struct {
	words, counters int
	slots           []uint64
	mask            int    // number of slots − 1; a power of two less one
	len             int    // slots in use
	touched         uint64 // keeps the compiler from dropping the look ahead
}

func newTally(words, counters int) *tally {
	t := &tally{words: words, counters: counters}
	t.alloc(1 << 10)
	return t
}

func (t *tally) alloc(slots int) {
	t.slots = make([]uint64, slots*t.stride())
	t.mask = slots - 1
}

func (t *tally) stride() int { return 1 + t.words + t.counters }

// add counts every key once: keys holds words words a row, counter says which
// of the counters each row is for (nil: the first).
func (t *tally) add(keys []uint64, counter []uint8) {
	rows := len(keys) / t.words
	var tags [ahead]uint64
	for from := 0; from < rows; from += ahead {
		m := min(ahead, rows-from)
		t.makeRoom(m)
		// Hash a few rows ahead and touch their slots, so that the memory's
		// answers to all of them are waited for at once.
		touched := uint64(0)
		for i := range m {
			tags[i] = t.tag(keys[(from+i)*t.words:][:t.words])
			touched |= t.slots[t.home(tags[i])*t.stride()]
		}
		t.touched = touched
		for i := range m {
			at := t.slot(tags[i], keys[(from+i)*t.words:][:t.words]) + 1 + t.words
			if counter != nil {
				at += int(counter[from+i])
			}
			t.slots[at]++
		}
	}
}

// ahead is how many rows add looks ahead.
const ahead = 32

// key and count read the slot that starts at this place.
func (t *tally) key(at int) []uint64    { return t.slots[at+1:][:t.words] }
func (t *tally) counts(at int) []uint64 { return t.slots[at+1+t.words:][:t.counters] }

// tag is the key's hash, made odd.
func (t *tally) tag(key []uint64) uint64 {
	h := uint64(0)
	for _, w := range key {
		h = (h ^ w) * 0x9e3779b97f4a7c15
		h ^= h >> 29
	}
	return h | 1
}

// home is the slot a key with this tag is looked for first.
func (t *tally) home(tag uint64) int { return int(tag>>20) & t.mask }

// slot returns the place of the key's slot, a new one where needed; there must
// be room.
func (t *tally) slot(tag uint64, key []uint64) int {
	stride := t.stride()
	for s := t.home(tag); ; s = (s + 1) & t.mask {
		at := s * stride
		switch t.slots[at] {
		case 0:
			t.slots[at] = tag
			copy(t.key(at), key)
			t.len++
			return at
		case tag:
			if slices.Equal(t.key(at), key) {
				return at
			}
		}
	}
}

// makeRoom lets keys more be added and at most half of the slots be in use.
func (t *tally) makeRoom(keys int) {
	for 2*(t.len+keys) > t.mask {
		old := *t
		t.len = 0
		t.alloc(2 * (old.mask + 1))
		t.merge(&old)
	}
}

// merge adds every count of o.
func (t *tally) merge(o *tally) {
	for _, at := range o.used() {
		t.makeRoom(1)
		into := t.counts(t.slot(o.slots[at], o.key(at)))
		for c, n := range o.counts(at) {
			into[c] += n
		}
	}
}

// used returns the places of the slots in use.
func (t *tally) used() []int {
	places := make([]int, 0, t.len)
	for at := 0; at < len(t.slots); at += t.stride() {
		if t.slots[at] != 0 {
			places = append(places, at)
		}
	}
	return places
}

// sorted returns the slots in use in the order of their keys, so that an
// answer does not show in which order rows were read.
func (t *tally) sorted() []int {
	places := t.used()
	slices.SortFunc(places, func(a, b int) int { return slices.Compare(t.key(a), t.key(b)) })
	return places
}
