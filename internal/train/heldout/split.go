// SPDX-License-Identifier: Apache-2.0

package heldout

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Split determines how a table's files are divided into training rows and held-out rows. No side depends
// on what is protected.
//
// Claim G-EVALUATION-2. Trainings on one side and evaluations on the other cost the more expensive of
// the two.
type Split struct {
	HeldOut float64 // share that is held out, in [0.01, 0.99]
	// Seed determines the sides where ByCoin is false. It is not secret.
	Seed uint64
	// Key determines the sides where ByCoin is true. It must be secret, and random for each pair of sides.
	Key [32]byte
}

// ByCoin reports whether each unit of a table is dealt by a coin of a secret key. Otherwise the number of
// rows is public and neighbouring tables differ in one row at its place, so that places can be dealt
// openly.
func ByCoin(s *schema.Schema) bool { return s.Relation != dp.ReplaceOne || s.Person != nil }

// Spelling describes what of a schema, beside the name of the column, decides the text of an identifier, and
// so whose coin is tossed.
func Spelling(s *schema.Schema) string {
	if s.Person == nil {
		return ""
	}
	place := s.PersonColumn()
	if s.Dialect.Header {
		place = -1
	}
	missing := slices.Sorted(slices.Values(s.Dialect.Missing))
	words := fmt.Sprintf("column %d, trim %t, quote %q, missing %q", place, s.Dialect.Trim, s.Dialect.Quote, missing)
	if s.Person.Whole {
		words += ", whole numbers"
	}
	if of := s.Dialect.Spelling(); of != "" {
		words += ", " + of
	}
	return words
}

// Check refuses a share out of range.
func (s *Split) Check() error {
	if !(s.HeldOut >= 0.01 && s.HeldOut <= 0.99) {
		return &dp.ParamError{Op: "split", Param: "held-out", Want: "must be a share from 0.01 to 0.99", Got: s.HeldOut}
	}
	return nil
}

// coinSides is the number of sides of a coin.
const coinSides = 1 << 53

// isHeld tosses a coin, which holds out the share HeldOut.
func (s *Split) isHeld(src rng.Source) bool { // 2.1
	return rng.Below(src, coinSides) < uint64(s.HeldOut*coinSides)
}

// dealRows tosses one coin for each row, in order.
func (s *Split) dealRows(rows int, src rng.Source) []bool { // 2.2
	held := make([]bool, rows)
	for i := range held {
		held[i] = s.isHeld(src)
	}
	return held
}

// coins are those of a person, by the keyed hash of the identifier, or of all rows (nil).
func (s *Split) coins(subject []byte) rng.Source { return rng.Keyed(s.Key[:], "split", subject) }

// dealPersons tosses one coin for each person, which the key and the person's identifier determine. hashes
// are the keyed hashes of the identifiers, by the number of the person. Rows of nobody, which are never
// used, are not held out.
func (s *Split) dealPersons(persons []uint32, hashes [][16]byte) []bool { // 2.3
	of := make([]bool, len(hashes))
	for p, hash := range hashes {
		of[p] = p != dataset.Nobody && s.isHeld(s.coins(hash[:]))
	}
	held := make([]bool, len(persons))
	for i, p := range persons {
		held[i] = of[p]
	}
	return held
}

// dealPlaces holds out the share of the rows, rounded, at places that follow from the seed and the number
// of rows alone.
func (s *Split) dealPlaces(rows int) []bool { // 2.4
	places := make([]int, rows)
	for i := range places {
		places[i] = i
	}
	rng.Shuffle(replay.Seeded(s.Seed, "split"), rows, func(i, j int) { places[i], places[j] = places[j], places[i] })
	held := make([]bool, rows)
	for _, i := range places[:int(s.HeldOut*float64(rows)+0.5)] {
		held[i] = true
	}
	return held
}

// deal reports for each row of the files whether it is held out.
func (s *Split) deal(ctx context.Context, sch *schema.Schema, opts dataset.Options, paths ...string) ([]bool, error) {
	keys := dataset.NewPersonKeys(s.Key)
	opts.Persons = keys
	t, err := dataset.Read(ctx, sch, opts, paths...)
	switch {
	case err != nil:
		return nil, err
	case sch.Person != nil:
		return s.dealPersons(t.Persons, keys.ByNumber()), nil
	case ByCoin(sch):
		return s.dealRows(t.Rows, s.coins(nil)), nil
	}
	return s.dealPlaces(t.Rows), nil
}

// Write copies the rows of the files, as dataset.CopyRows does: held-out rows to judge, the others to
// train.
func (s *Split) Write(ctx context.Context, sch *schema.Schema, opts dataset.Options, train, judge io.Writer,
	formats [2]dataset.Format, paths ...string) error {
	if err := dataset.CheckReadTwice(ctx, paths...); err != nil {
		return err
	}
	held, err := s.deal(ctx, sch, opts, paths...)
	if err != nil {
		return err
	}
	for k, w := range []io.Writer{train, judge} {
		keep := func(row int) bool { return row < len(held) && held[row] == (k == 1) }
		if err := dataset.CopyRows(ctx, sch, opts, w, formats[k], nil, keep, paths...); err != nil {
			return err
		}
	}
	again, err := s.deal(ctx, sch, opts, paths...)
	if err == nil && !slices.Equal(again, held) { // a unit may be on both sides
		err = &dp.ParamError{Op: "split", Param: "data", Want: "must not change while it is divided", Got: paths,
			Hint: "divide a copy that nobody writes to"}
	}
	return err
}
