// SPDX-License-Identifier: Apache-2.0

package memory

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"slices"

	"github.com/discreet-dp/discreet/internal/table/read/dataset"
)

// Lots is a key that gives every row a pseudorandom number, its lot, by its position in the table. A
// person keeps the rows with the smallest lots. These can be found without having all rows at once, or
// more rows per person than a person keeps.
type Lots [32]byte

// NewLots draws a key; below draws from 0..n-1.
func NewLots(below func(n uint64) uint64) (l Lots) {
	for i := 0; i < len(l); i += 4 {
		binary.LittleEndian.PutUint32(l[i:], uint32(below(1<<32)))
	}
	return l
}

// between returns the lots of the rows in a range: 8 bytes for each from AES-256 in counter mode.
func (l *Lots) between(from, to int) []uint64 {
	block, err := aes.NewCipher(l[:])
	if err != nil {
		panic(err) // a key of 32 bytes is one
	}
	const pair = aes.BlockSize / 8
	var counter [aes.BlockSize]byte
	binary.BigEndian.PutUint64(counter[8:], uint64(from/pair))
	stream := make([]byte, 8*(to-from/pair*pair))
	cipher.NewCTR(block, counter[:]).XORKeyStream(stream, stream)
	out := make([]uint64, to-from)
	for i := range out {
		out[i] = binary.LittleEndian.Uint64(stream[8*(from%pair+i):])
	}
	return out
}

// Drawing draws at most most rows of each person, those with the smallest lots. With fill it draws
// exactly most: a person with fewer rows gets them repeatedly, in the order of their lots. Memory is 8
// bytes per person and 24 per drawn row.
type Drawing struct {
	most  int
	fill  bool
	first []uint32 // by person: index in kept, plus 1, of the row with the largest lot
	count []uint32 // by person
	kept  []Drawn
}

// Drawn is a row that may be drawn.
type Drawn struct {
	Lot  uint64
	Row  int
	next uint32 // the same person's row with the next smaller lot, plus 1
}

// NewDrawing returns a drawing without rows.
func NewDrawing(most int, fill bool) *Drawing { return &Drawing{most: most, fill: fill} }

// after reports whether other takes precedence over d. Two lots are equal with a probability of 2^-64.
func (d *Drawn) after(other *Drawn) bool {
	return d.Lot > other.Lot || d.Lot == other.Lot && d.Row > other.Row
}

// Add draws among the rows of the table from row first on; of holds their persons.
func (d *Drawing) Add(l *Lots, first int, of []uint32) {
	const chunk = 1 << 12
	for from := 0; from < len(of); from += chunk {
		to := min(from+chunk, len(of))
		for i, lot := range l.between(first+from, first+to) {
			if person := of[from+i]; person != dataset.Nobody {
				d.Offer(person, Drawn{Lot: lot, Row: first + from + i})
			}
		}
	}
}

// Offer draws among one more row of a person.
func (d *Drawing) Offer(person uint32, row Drawn) {
	if n := int(person) + 1 - len(d.first); n > 0 {
		d.first = append(d.first, make([]uint32, n)...)
		d.count = append(d.count, make([]uint32, n)...)
	}
	place := d.first[person]
	if int(d.count[person]) < d.most {
		d.count[person]++
		d.kept = append(d.kept, row)
		place = uint32(len(d.kept))
	} else if greatest := &d.kept[place-1]; greatest.after(&row) {
		d.first[person] = greatest.next
		*greatest = row
	} else {
		return
	}
	at := &d.first[person]
	for *at != 0 && d.kept[*at-1].after(&row) {
		at = &d.kept[*at-1].next
	}
	d.kept[place-1].next = *at
	*at = place
}

// Of appends the rows drawn so far of a person to out, those with the smallest lots first.
func (d *Drawing) Of(person uint32, out []Drawn) []Drawn {
	begin := len(out)
	if int(person) >= len(d.first) {
		return out
	}
	for at := d.first[person]; at != 0; at = d.kept[at-1].next {
		out = append(out, d.kept[at-1])
	}
	slices.Reverse(out[begin:])
	return out
}

// Times returns how often row i, from 0, of a person's n drawn rows counts.
func (d *Drawing) Times(i, n int) int {
	if !d.fill {
		return 1
	}
	return (d.most-1-i)/n + 1
}

// Rows returns the drawn rows, ascending.
func (d *Drawing) Rows() (rows []int) {
	var of []Drawn
	for person := range d.first {
		of = d.Of(uint32(person), of[:0])
		for i := range of {
			for range d.Times(i, len(of)) {
				rows = append(rows, of[i].Row)
			}
		}
	}
	slices.Sort(rows)
	return rows
}
