// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"crypto/sha256"
	"encoding/binary"
	"math/bits"
)

// Place is an owner's place in a task: the only slot in which it answers, and the ticket that selects
// its question there.
type Place struct {
	Slot   int
	Ticket uint64
}

// Placing computes places.
type Placing struct {
	digest Digest
	upTo   []uint64 // cumulative shares of the slots
}

// Placing prepares the places of a task.
func (t *Task) Placing() (*Placing, error) {
	d, err := t.Digest()
	p := &Placing{digest: d}
	sum := uint64(0)
	for s := range t.Slots() {
		sum += uint64(t.slotShare(s))
		p.upTo = append(p.upTo, sum)
	}
	return p, err
}

// Part returns a slot's share of all places: the probability that a random owner is in it.
func (p *Placing) Part(slot int) float64 {
	before := uint64(0)
	if slot > 0 {
		before = p.upTo[slot-1]
	}
	return float64(p.upTo[slot]-before) / float64(p.upTo[len(p.upTo)-1])
}

// Of returns the place of an owner, as a function of the task's bytes, which include its nonce, and of
// the owner's name (1.2). Any name has exactly one place.
func (p *Placing) Of(owner string) Place {
	const salt = "discreet local place 1\x00"
	buf := make([]byte, 0, len(salt)+len(p.digest)+MaxOwner)
	h := sha256.Sum256(append(append(append(buf, salt...), p.digest[:]...), owner...))
	at, _ := bits.Mul64(binary.LittleEndian.Uint64(h[:]), p.upTo[len(p.upTo)-1])
	slot := 0
	for p.upTo[slot] <= at {
		slot++
	}
	return Place{slot, binary.LittleEndian.Uint64(h[8:])}
}
