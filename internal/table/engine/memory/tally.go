// SPDX-License-Identifier: Apache-2.0

package memory

import "slices"

// tally counts keys of a fixed number of words, with several counters each: an open-addressing hash
// table without deletion. A slot is one run of words (tag, key, counters), so that a look-up touches
// one place in memory. The tag is the key's hash, made odd; 0 marks a free slot.
//
// If keys are small numbers, the table has a slot for each, without hashing.
type tally struct {
	words, counters int
	direct          bool // the slot of key k is the k-th; its tag is 1
	slots           []uint64
	mask            int    // number of slots − 1, which is a power of two minus one
	len             int    // slots in use
	touched         uint64 // keeps the compiler from removing the prefetch
}

// newTally returns a table for keys of keyBits bits, for at most rows rows.
func newTally(keyBits, counters, rows int) *tally {
	t := &tally{words: (keyBits + 63) / 64, counters: counters}
	if t.direct = keyBits <= directBits && 1<<keyBits <= 4*rows; t.direct {
		t.allocSlots(1 << keyBits)
	} else {
		t.allocSlots(1 << 10)
	}
	return t
}

// directBits bounds the memory of a table with a slot for each key.
const directBits = 18

func (t *tally) allocSlots(slots int) {
	t.slots = make([]uint64, slots*t.slotStride())
	t.mask = slots - 1
}

func (t *tally) slotStride() int { return 1 + t.words + t.counters }

// addKeys counts every key once. keys holds words words per row, and counter the index of each row's
// counter (nil: 0).
func (t *tally) addKeys(keys []uint64, counter []uint8) {
	rows := len(keys) / t.words
	if t.direct {
		t.addDirect(keys, counter)
		return
	}
	var tags [ahead]uint64
	for from := 0; from < rows; from += ahead {
		m := min(ahead, rows-from)
		t.makeRoom(m)
		// Hash a few rows ahead and touch their slots, so that the memory's
		// answers to all of them are waited for at once.
		touched := uint64(0)
		for i := range m {
			tags[i] = t.hashTag(keys[(from+i)*t.words:][:t.words])
			touched |= t.slots[t.homeSlot(tags[i])*t.slotStride()]
		}
		t.touched = touched
		for i := range m {
			at := t.homeSlot(tags[i]) * t.slotStride()
			// Most rows find their key at home.
			if key := keys[(from+i)*t.words:][:t.words]; t.words > 1 || t.slots[at] != tags[i] || t.slots[at+1] != key[0] {
				at = t.findSlot(tags[i], key)
			}
			at += 1 + t.words
			if counter != nil {
				at += int(counter[from+i])
			}
			t.slots[at]++
		}
	}
}

func (t *tally) addDirect(keys []uint64, counter []uint8) {
	stride := t.slotStride()
	first := 2 // of the slot's counters
	for i, key := range keys {
		at := int(key) * stride
		if t.slots[at] == 0 {
			t.slots[at], t.slots[at+1] = 1, key
			t.len++
		}
		if counter != nil {
			first = 2 + int(counter[i])
		}
		t.slots[at+first]++
	}
}

// addWeighed adds the weight of each row to its counter of its key.
func (t *tally) addWeighed(keys []uint64, counter []uint8, weights []uint32) {
	for i, w := range weights {
		key := keys[i*t.words:][:t.words]
		at := 0
		if t.direct {
			if at = int(key[0]) * t.slotStride(); t.slots[at] == 0 {
				t.slots[at], t.slots[at+1] = 1, key[0]
				t.len++
			}
		} else {
			t.makeRoom(1)
			at = t.findSlot(t.hashTag(key), key)
		}
		t.slots[at+1+t.words+int(counter[i])] += uint64(w)
	}
}

// The number of bits of a word of a key, and of a key that is sorted together with its position in one
// word.
const wordBits, shortBits = 64, 32

// ahead is the number of rows that add prefetches.
const ahead = 32

// keyAt and count read the slot at this offset.
func (t *tally) keyAt(at int) []uint64    { return t.slots[at+1:][:t.words] }
func (t *tally) countsAt(at int) []uint64 { return t.slots[at+1+t.words:][:t.counters] }

// hashTag is the key's hash, made odd.
func (t *tally) hashTag(key []uint64) uint64 {
	h := uint64(0)
	for _, w := range key {
		h = (h ^ w) * 0x9e3779b97f4a7c15
		h ^= h >> 29
	}
	return h | 1
}

// homeSlot returns the first slot in which a key with this tag may be.
func (t *tally) homeSlot(tag uint64) int { return int(tag>>20) & t.mask }

// findSlot returns the offset of the key's slot, a new one if necessary; there must be space.
func (t *tally) findSlot(tag uint64, key []uint64) int {
	stride := t.slotStride()
	for s := t.homeSlot(tag); ; s = (s + 1) & t.mask {
		at := s * stride
		switch t.slots[at] {
		case 0:
			t.slots[at] = tag
			copy(t.keyAt(at), key)
			t.len++
			return at
		case tag:
			if slices.Equal(t.keyAt(at), key) {
				return at
			}
		}
	}
}

// makeRoom grows the table so that keys more keys fit with at most half of the slots in use.
func (t *tally) makeRoom(keys int) {
	for !t.direct && 2*(t.len+keys) > t.mask {
		old := *t
		t.allocSlots(4 * (old.mask + 1))
		stride := t.slotStride()
		for _, at := range old.usedSlots() {
			s := t.homeSlot(old.slots[at])
			for t.slots[s*stride] != 0 {
				s = (s + 1) & t.mask
			}
			copy(t.slots[s*stride:], old.slots[at:][:stride])
		}
	}
}

// mergeCounts adds every count of o, which must be of the same kind.
func (t *tally) mergeCounts(o *tally) {
	for _, at := range o.usedSlots() {
		t.makeRoom(1)
		into := at
		if t.direct {
			if t.slots[at] == 0 {
				t.slots[at], t.slots[at+1] = 1, o.slots[at+1]
				t.len++
			}
		} else {
			into = t.findSlot(o.slots[at], o.keyAt(at))
		}
		counts := t.countsAt(into)
		for c, n := range o.countsAt(at) {
			counts[c] += n
		}
	}
}

// usedSlots returns the offsets of the slots in use.
func (t *tally) usedSlots() []int {
	places := make([]int, 0, t.len)
	for at := 0; at < len(t.slots); at += t.slotStride() {
		if t.slots[at] != 0 {
			places = append(places, at)
		}
	}
	return places
}

// sortedSlots returns the slots in use in the order of their keys, so that an answer does not reveal
// the order of the rows.
func (t *tally) sortedSlots() []int {
	places := t.usedSlots()
	if t.direct {
		return places
	}
	places = t.byFirstWord(places)
	if t.words == 1 {
		return places
	}
	for from := 0; from < len(places); {
		to := from + 1
		for to < len(places) && t.slots[places[to]+1] == t.slots[places[from]+1] {
			to++
		}
		slices.SortFunc(places[from:to], func(a, b int) int { return slices.Compare(t.keyAt(a), t.keyAt(b)) })
		from = to
	}
	return places
}

// byFirstWord sorts offsets by the first words of their keys, by a radix sort from the lowest digit.
func (t *tally) byFirstWord(places []int) []int {
	all, some := ^uint64(0), uint64(0)
	words := make([]uint64, len(places))
	for i, at := range places {
		words[i] = t.slots[at+1]
		all, some = all&words[i], some|words[i]
	}
	sorted, sortedWords := make([]int, len(places)), make([]uint64, len(places))
	for shift := 0; shift < wordBits; shift += digit {
		if (all^some)>>shift&(1<<digit-1) == 0 {
			continue // the same in all keys
		}
		var place [1 << digit]int // where the next key with this digit goes
		for _, w := range words {
			place[w>>shift&(1<<digit-1)]++
		}
		next := 0
		for d, n := range place {
			place[d] = next
			next += n
		}
		for i, w := range words {
			d := w >> shift & (1<<digit - 1)
			sorted[place[d]], sortedWords[place[d]] = places[i], w
			place[d]++
		}
		places, sorted, words, sortedWords = sorted, places, sortedWords, words
	}
	return places
}

// digit is the number of bits that byFirstWord sorts by at once.
const digit = 11
