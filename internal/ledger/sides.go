// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"context"
	"crypto/rand"
	"fmt"
	"strconv"

	"github.com/discreet-dp/discreet/internal/ground/dp"
)

// Two data sets may hold the two sides of one table: its training rows and its held-out rows. Each has a
// total of its own, which needs that a unit of privacy is on one side for good (claim G-EVALUATION-2).
// So the ledger keeps how the units were dealt.

// Sides are two data sets that hold the two sides of one table, and how its units are dealt to them.
type Sides struct {
	Train, HeldOut string // names of the data sets
	// Share is the chance of a unit to be held out.
	Share float64
	// Person is the column whose cells identify the persons who are dealt; "" if each row is dealt.
	Person string
	// Spelling describes what of a file decides the text of an identifier.
	Spelling string
}

// divided is the content of Detail. There is one entry for each of the two data sets.
type divided struct {
	Other    string `json:"other"`    // the data set of the other side
	HeldOut  bool   `json:"held_out"` // the data set has the held-out rows
	Share    string `json:"share"`    // of the units that is held out
	Person   string `json:"person,omitempty"`
	Spelling string `json:"spelling,omitempty"`
	// Key is the hash of the secret key by which persons are dealt. The key is stored as a result is, since
	// entries are shown. That of rows is not stored: they are dealt once.
	Key string `json:"key_sha256,omitempty"`
}

// keyBytes is the length of the key that decides sides.
const keyBytes = 32

// Deal is a way to deal the units of a table. Nothing that Key decides may be used before Keep has
// returned nil.
type Deal struct {
	Key   [keyBytes]byte // secret: decides the side of each unit
	l     *Ledger
	sides Sides
	kept  bool
}

// Deal returns the way to deal a table to two data sets. For a new pair of data sets it draws a key.
// Persons are dealt again by the pair's own key, so that everyone keeps their side. Rows cannot be told
// apart from others in a table that has changed, so that they are never dealt again.
func (l *Ledger) Deal(ctx context.Context, s Sides) (*Deal, error) {
	d := &Deal{l: l, sides: s}
	return d, l.view(ctx, d.find)
}

// Keep stores a new pair. It refuses a pair that was dealt in the meantime.
func (d *Deal) Keep(ctx context.Context) error {
	if d.kept {
		return nil
	}
	err := d.l.runStep(context.WithoutCancel(ctx), "deal", func(b *books) error {
		again := &Deal{l: d.l, sides: d.sides}
		if err := again.find(b); err != nil {
			return err
		}
		if again.kept {
			return d.refuse("must be dealt again: another process has just dealt them", d.sides.Train)
		}
		return d.store(b)
	})
	d.kept = err == nil
	return err
}

func (d *Deal) refuse(want string, got any) error {
	return &dp.ParamError{Op: "ledger", Param: "sides", Want: want, Got: got,
		Hint: "declare two new data sets for another division; what is spent on the same rows there adds up to what is " +
			"spent here"}
}

// find looks for the pair. If it is new, find draws its key.
func (d *Deal) find(b *books) error { // 7.2
	if d.sides.Train == d.sides.HeldOut {
		return d.refuse("must be two data sets", d.sides.Train)
	}
	old := 0
	for _, held := range []bool{false, true} {
		name, want := d.sides.detail(held)
		set, err := b.dataset(name)
		if err != nil {
			return err
		}
		is := set.division
		if is == nil {
			if set.named { // it may have read the whole table
				return d.refuse("must be new: no job may have named them", name)
			}
			continue
		}
		want.Key = is.Key
		switch {
		case is.Person == "":
			return d.refuse("must be new where rows are dealt: a second deal would move rows to the other side", name)
		case *is != want:
			return d.refuse(fmt.Sprintf("must be the two of the first deal, with its share (%s) and its column of persons "+
				"(%s), read with the same quotes, trimming and missing cells", is.Share, is.Person), name)
		}
		key, err := b.tx.result(set.dealt)
		if err != nil {
			return err
		}
		if len(key) != keyBytes || hashOf(key) != is.Key {
			return &Damaged{b.head.Seq, "the key by which persons were dealt is not the one the entry names"}
		}
		d.Key = [keyBytes]byte(key)
		old++
	}
	if old == 1 {
		return d.refuse("must be the two of the first deal", nil)
	}
	if d.kept = old == 2; !d.kept {
		rand.Read(d.Key[:]) // it never fails
	}
	return nil
}

// detail returns the name of a side's data set and the content of its entry, without the key.
func (s *Sides) detail(held bool) (name string, d divided) {
	d = divided{Other: s.HeldOut, HeldOut: held, Share: strconv.FormatFloat(s.Share, 'g', -1, 64), Person: s.Person,
		Spelling: s.Spelling}
	if held {
		d.Other = s.Train
		return s.HeldOut, d
	}
	return s.Train, d
}

// store adds the two entries and, for persons, the key.
func (d *Deal) store(b *books) error { // 7.1
	request := ""
	if d.sides.Person != "" {
		request = hashOf(append([]byte("discreet sides 1"), d.Key[:]...))
		if err := b.tx.putResult(request, d.Key[:]); err != nil {
			return err
		}
	}
	for _, held := range []bool{false, true} {
		name, detail := d.sides.detail(held)
		if d.sides.Person != "" {
			detail.Key = hashOf(d.Key[:])
		}
		if err := d.l.addEntry(b, Entry{Kind: Divided, Dataset: name, Request: request, Detail: encodeDetail(detail)}); err != nil {
			return err
		}
	}
	return nil
}

// checkSides refuses a job on a side if its unit is not the one that was dealt.
func checkSides(d *divided, req *Request) error { // 7.3
	if d != nil && d.Person != req.Terms.Person {
		return &dp.ParamError{Op: "ledger", Param: "person", Want: fmt.Sprintf("must be %q, as when the table was split", d.Person),
			Got: req.Terms.Person, Hint: "a person with rows on both sides would be charged for one of them"}
	}
	return nil
}

// readDivision checks an entry that divides a table.
func (b *books) readDivision(e *Entry, d *datasetBooks) error {
	var is divided
	if err := e.decode(&is); err != nil {
		return err
	}
	switch {
	case d.division != nil || d.named || e.Job != "" || e.Part != "" || e.Epsilon != 0 || e.Delta != 0:
		return &Damaged{e.Seq, "a table must be divided once, before any job"}
	case (is.Person == "") != (is.Key == "") || (is.Key == "") != (e.Request == ""):
		return &Damaged{e.Seq, "persons, and no rows, are dealt by a key that is kept"}
	}
	d.division, d.dealt, b.format = &is, e.Request, max(b.format, formatSides)
	if is.Key != "" {
		b.results[e.Request] = committed{keyBytes, is.Key}
	}
	return nil
}

// checkPairs refuses a side whose other side is missing or dealt in another way.
func (b *books) checkPairs() error {
	for _, name := range b.names {
		is := b.datasets[name].division
		if is == nil {
			continue
		}
		want := *is
		want.Other, want.HeldOut = name, !is.HeldOut
		if other := b.datasets[is.Other]; other == nil || other.division == nil || *other.division != want {
			return &Damaged{b.head.Seq, fmt.Sprintf("data set %q is one side of a table, and the other side is missing", name)}
		}
	}
	return nil
}
