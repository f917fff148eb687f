// SPDX-License-Identifier: Apache-2.0

package dataset

import (
	"crypto/rand"
	"crypto/sha256"

	"github.com/discreet-dp/discreet/internal/ground/dp"
)

// Nobody is the person of rows without an identifier, which are not used. They could not be treated as
// one person, because they may belong to several, nor as one person each, because one person could
// then have many of them.
const Nobody = 0

// identifiers numbers persons from 1. It stores only keyed hashes of identifiers, with a new key for
// each reading. The table therefore shows which rows belong to the same person, but not to whom.
type identifiers struct {
	key     [32]byte
	numbers map[[16]byte]uint32
	text    []byte
}

func newIdentifiers() *identifiers {
	ids := &identifiers{numbers: map[[16]byte]uint32{}}
	rand.Read(ids.key[:]) // it never fails
	return ids
}

// numberOf returns the person with an identifier of this form (coding.NewIdentifier).
func (ids *identifiers) numberOf(form []byte) uint32 {
	if len(form) == 0 {
		return Nobody
	}
	ids.text = append(append(ids.text[:0], ids.key[:]...), form...)
	sum := sha256.Sum256(ids.text)
	key := [16]byte(sum[:16])
	return ids.numberKey(key)
}

// numberKey returns the person whose identifier has the hash key.
func (ids *identifiers) numberKey(key [16]byte) uint32 {
	number, ok := ids.numbers[key]
	if !ok {
		number = uint32(len(ids.numbers) + 1)
		ids.numbers[key] = number
	}
	return number
}

// fork returns identifiers for some of the rows, with the same key and separate numbers.
func (ids *identifiers) fork() *identifiers {
	return &identifiers{key: ids.key, numbers: map[[16]byte]uint32{}}
}

// byNumber returns the hashes of identifiers by the number of the person; Nobody's is 0.
func (ids *identifiers) byNumber() [][16]byte {
	keys := make([][16]byte, len(ids.numbers)+1)
	for key, number := range ids.numbers {
		keys[number] = key
	}
	return keys
}

// renumber converts numbers that part, a fork, has assigned into those of ids. Persons unknown to ids
// are numbered in part's order.
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

// PersonKeys numbers persons if parts of a table are read in several processes: with the same secret,
// they identify the same persons.
type PersonKeys struct{ ids *identifiers }

// NewPersonKeys returns a numbering without persons.
func NewPersonKeys(secret [32]byte) *PersonKeys {
	return &PersonKeys{&identifiers{key: secret, numbers: map[[16]byte]uint32{}}}
}

// ByNumber returns the keyed hashes of the identifiers that were read, by the number of the person in
// tables; Nobody's is 0.
func (p *PersonKeys) ByNumber() [][16]byte { return p.ids.byNumber() }

// CountPersons counts the rows of each known person, by number, and the persons who have rows in t. t
// must have persons.
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

// PublicUnits returns the number of rows of t, or of persons if the schema declares them, if that is
// public; under add-remove it returns 0.
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
