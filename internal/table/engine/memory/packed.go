// SPDX-License-Identifier: Apache-2.0

package memory

import "slices"

// packed counts keys below 2^packedBits of at most 2^32-1 rows. It is an open-addressing hash table
// without deletion whose slots are single words: the key plus 1 in the upper half and its count in the
// lower; 0 is a free slot. It needs a third of tally's memory, and is faster.
type packed struct {
	slots   []uint64
	mask    int    // number of slots − 1, which is a power of two minus one
	len     int    // slots in use
	touched uint64 // keeps the compiler from removing the prefetch
}

const packedBits = 31

func newPacked() *packed { return &packed{slots: make([]uint64, 1<<10), mask: 1<<10 - 1} }

// addKeys counts every key once.
func (p *packed) addKeys(keys []uint64) {
	for batch := range slices.Chunk(keys, ahead) {
		p.makeRoom(len(batch))
		// Touch the slots of all before the first is used, so that the memory's
		// answers are waited for at once.
		touched := uint64(0)
		for _, key := range batch {
			touched |= p.slots[p.homeSlot(key)]
		}
		p.touched = touched
		for _, key := range batch {
			p.addCount(key, 1)
		}
	}
}

// addCount adds n to the count of key; there must be room.
func (p *packed) addCount(key, n uint64) {
	for s := p.homeSlot(key); ; s = (s + 1) & p.mask {
		switch slot := p.slots[s]; {
		case slot>>32 == key+1:
			p.slots[s] = slot + n
			return
		case slot == 0:
			p.slots[s] = (key+1)<<32 | n
			p.len++
			return
		}
	}
}

// homeSlot returns the first slot in which key may be.
func (p *packed) homeSlot(key uint64) int { return int(key*0x9e3779b97f4a7c15>>32) & p.mask }

// makeRoom grows the table so that keys more keys fit with at most half of the slots in use.
func (p *packed) makeRoom(keys int) {
	for 2*(p.len+keys) > p.mask {
		old := p.slots
		p.mask = 4*len(old) - 1
		p.slots, p.len = make([]uint64, 4*len(old)), 0
		for _, slot := range old {
			if slot != 0 {
				p.addCount(slot>>32-1, slot&(1<<32-1))
			}
		}
	}
}

// mergeCounts adds every count of o.
func (p *packed) mergeCounts(o *packed) {
	for _, slot := range o.slots {
		if slot != 0 {
			p.makeRoom(1)
			p.addCount(slot>>32-1, slot&(1<<32-1))
		}
	}
}

// sortedCounts returns the keys in order, and their counts, so that an answer does not reveal the
// order of the rows.
func (p *packed) sortedCounts() (keys, counts []uint64) {
	used := make([]uint64, 0, p.len)
	for _, slot := range p.slots {
		if slot != 0 {
			used = append(used, slot)
		}
	}
	used = byDigits(used, 32)
	keys, counts = used, make([]uint64, len(used))
	for i, slot := range used {
		keys[i], counts[i] = slot>>32-1, slot&(1<<32-1)
	}
	return keys, counts
}

// byDigits sorts words by their bits from the low-th on, by a radix sort from the lowest digit.
func byDigits(words []uint64, low int) []uint64 {
	all, some := ^uint64(0), uint64(0)
	for _, w := range words {
		all, some = all&w, some|w
	}
	sorted := make([]uint64, len(words))
	for shift := low; shift < wordBits; shift += digit {
		if (all^some)>>shift == 0 {
			break // the same in all words from here on
		}
		var place [1 << digit]int // where the next word with this digit goes
		for _, w := range words {
			place[w>>shift%(1<<digit)]++
		}
		next := 0
		for d, n := range place {
			place[d] = next
			next += n
		}
		for _, w := range words {
			d := w >> shift % (1 << digit)
			sorted[place[d]] = w
			place[d]++
		}
		words, sorted = sorted, words
	}
	return words
}
