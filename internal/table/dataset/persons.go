// SPDX-License-Identifier: Apache-2.0

package dataset

import (
	"crypto/rand"
	"crypto/sha256"
	"slices"

	"github.com/discreet-dp/discreet/internal/privacy/dp"
)

// Nobody is the person of rows without an identifier, which count for nothing: taken for one person
// they would be several, and each for one of its own someone with many of them would be many.
const Nobody = 0

// identifiers numbers persons from 1 on. It holds no identifier, only what a keyed hash makes of
// it, and the key is drawn again for each reading: the table can be asked which rows are one
// person's and never whose they are.
type identifiers struct {
	key     [32]byte
	numbers map[[16]byte]uint32
	missing []string // cells that are no identifier
	text    []byte
}

func newIdentifiers(missing []string) *identifiers {
	ids := &identifiers{numbers: map[[16]byte]uint32{}, missing: missing}
	rand.Read(ids.key[:]) // it never fails
	return ids
}

// numberOf is the person with this identifier.
func (ids *identifiers) numberOf(cell []byte) uint32 {
	if len(cell) == 0 || slices.Contains(ids.missing, string(cell)) {
		return Nobody
	}
	ids.text = append(append(ids.text[:0], ids.key[:]...), cell...)
	sum := sha256.Sum256(ids.text)
	key := [16]byte(sum[:16])
	return ids.numberKey(key)
}

// numberKey is the person of whose identifier the hash makes key.
func (ids *identifiers) numberKey(key [16]byte) uint32 {
	number, ok := ids.numbers[key]
	if !ok {
		number = uint32(len(ids.numbers) + 1)
		ids.numbers[key] = number
	}
	return number
}

// fork returns identifiers for some of the rows: the same key, and numbers of their own.
func (ids *identifiers) fork() *identifiers {
	return &identifiers{key: ids.key, numbers: map[[16]byte]uint32{}, missing: ids.missing}
}

// byNumber is what the hash makes of identifiers, by the number of the person; Nobody's is 0.
func (ids *identifiers) byNumber() [][16]byte {
	keys := make([][16]byte, len(ids.numbers)+1)
	for key, number := range ids.numbers {
		keys[number] = key
	}
	return keys
}

// renumber turns numbers that part, a fork, has given into those of ids: persons whom ids does not
// know are numbered in part's order.
func (ids *identifiers) renumber(part *identifiers, persons []uint32) {
	keys := part.byNumber()
	to := make([]uint32, len(keys)) // Nobody stays
	for number, key := range keys[1:] {
		to[number+1] = ids.numberKey(key)
	}
	for i, p := range persons {
		persons[i] = to[p]
	}
}

// PersonKeys numbers persons where parts of a table are read in several processes: those that are
// given the same secret tell the same persons apart.
type PersonKeys struct{ ids *identifiers }

// NewPersonKeys numbers no one yet.
func NewPersonKeys(secret [32]byte) *PersonKeys {
	return &PersonKeys{&identifiers{key: secret, numbers: map[[16]byte]uint32{}}}
}

// ByNumber is what a hash with the secret makes of the identifiers that were read, by the number of
// the person in tables; Nobody's is 0.
func (p *PersonKeys) ByNumber() [][16]byte { return p.ids.byNumber() }

// CountPersons counts the rows of each person that t knows of, by number, and the persons who have
// rows in t. t must know whose its rows are.
func (t *Table) CountPersons() (rows []uint32, persons int) {
	for _, p := range t.Persons {
		if int(p) >= len(rows) {
			rows = append(rows, make([]uint32, int(p)+1-len(rows))...)
		}
		if rows[p]++; rows[p] == 1 && p != Nobody {
			persons++
		}
	}
	return rows, persons
}

// PublicUnits is the number of rows, or persons if the schema declares those, t has, as far as that
// is public: 0 under add-remove.
func (t *Table) PublicUnits() int {
	if t.Schema.Relation != dp.ReplaceOne {
		return 0
	}
	if t.Schema.Person == nil {
		return t.Rows
	}
	_, persons := t.CountPersons()
	return persons
}
