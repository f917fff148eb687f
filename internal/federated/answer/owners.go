// SPDX-License-Identifier: Apache-2.0

package answer

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/internal/federated/wire"
	"github.com/discreet-dp/discreet/internal/privacy/dp"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/table/dataset"
)

// Book is the memory of owners: what each has given for which task. It must
// survive whatever their machine does.
type Book interface {
	// Commit charges what different owners are about to give for one task and keeps
	// it: all of it is safe when Commit returns nil. What an owner has given for the
	// task already stays: given is changed to it, and nothing is charged. Where the
	// cost does not fit what an owner has left, its Refused is set.
	Commit(ctx context.Context, given []Given) error
}

// Given is one owner's contribution to a task.
type Given struct {
	Owner int // its number
	Task  wire.Digest
	Cost  dp.Epsilon
	Entry
	// Refused says why a book has not taken this one: it must not leave. The others
	// are not affected.
	Refused error
}

// Entry is one release of an owner and its purpose.
type Entry struct {
	Round  [32]byte // SHA-256 of the broadcast that was answered; in mode aggregate the secret sum's
	Report []byte   // in mode aggregate all shares of one addend
}

// Owners take part in one task, each under a name of its own. They share the rows
// of one table evenly, in order; where the schema declares persons, each is one of
// those, with that person's rows. An owner of several reports about one that it
// draws. Goroutines may share them.
type Owners struct {
	recs  *Records
	count int
	rows  [][]int // by owner, if the schema declares persons; else nil
	name  func(owner int) string
	book  Book
	coins Coins
}

// Coins are an owner's own randomness for one answer: a function of a secret of the
// owner and of all that the answer depends on, so that an owner whose book was copied or
// put back gives the same bytes again about the same cells, and about others draws
// again.
type Coins func(owner int, subject []byte) rng.Source

// DrawBy has owners draw by coins instead of the exit that Report and Share are given.
//
// Claim G-LOCAL-7.
func (o *Owners) DrawBy(coins Coins) { o.coins = coins }

// NewOwners makes count owners of some records, at least 1 and at most one for
// each row; where the schema declares persons, exactly one for each of those. Owner
// i is called name(i), which must pass wire.CheckOwner.
func NewOwners(recs *Records, count int, name func(owner int) string, book Book) (*Owners, error) {
	o := &Owners{recs: recs, count: count, name: name, book: book}
	if recs.tab.Schema.Person != nil {
		if o.rows = listPersons(recs.tab); len(o.rows) == 0 || len(o.rows) != count {
			return nil, &dp.ParamError{Op: "owner", Param: "owners", Want: "must be the number of persons in the rows: the " +
				"schema says whose a row is (person:), and each person is one owner", Got: count}
		}
		return o, nil
	}
	if count < 1 || count > recs.tab.Rows {
		return nil, &dp.ParamError{Op: "owner", Param: "owners", Want: "must be at least 1 and at most the number of rows",
			Got: count}
	}
	return o, nil
}

// listPersons lists the rows of each person, in the order of their first rows. Rows of no one are
// no owner's.
func listPersons(tab *dataset.Table) (rows [][]int) {
	place := map[uint32]int{}
	for i, person := range tab.Persons {
		if person == dataset.Nobody {
			continue
		}
		at, found := place[person]
		if !found {
			at, rows = len(rows), append(rows, nil)
			place[person] = at
		}
		rows[at] = append(rows[at], i)
	}
	return rows
}

// Place is the one slot in which an owner answers, and its ticket there.
func (o *Owners) Place(owner int) wire.Place { return o.recs.terms.Place(o.name(owner)) }

// rowsOf is the rows of an owner: owner i has those from i·rows/count to the next owner's first.
func (o *Owners) rowsOf(owner int) (from, to int) {
	return owner * o.recs.tab.Rows / o.count, (owner + 1) * o.recs.tab.Rows / o.count
}

// subjectOf is all that an owner's answer follows from but its coins: task, broadcast, in mode
// aggregate the sum, and the owner's cells, by value.
func (p *Reporter) subjectOf(owner int, round [32]byte) []byte {
	out := slices.Concat(p.terms.digest[:], p.digest[:], round[:])
	add := func(row int) {
		for q, c := range p.terms.cols {
			col, code := &p.recs.tab.Cols[c], p.recs.codeAt(q, row)
			if col.Values != nil {
				out = binary.LittleEndian.AppendUint64(out, math.Float64bits(col.Values[code]))
			} else {
				out = binary.LittleEndian.AppendUint64(out, uint64(code))
			}
		}
		out = binary.LittleEndian.AppendUint64(out, uint64(p.recs.tab.Labels[row]))
	}
	if p.owners.rows != nil {
		for _, row := range p.owners.rows[owner] {
			add(row)
		}
		return out
	}
	for row, to := p.owners.rowsOf(owner); row < to; row++ {
		add(row)
	}
	return out
}

// drawRow draws the record that an owner reports about: a person's is any of that person's (2.4).
func (o *Owners) drawRow(owner int, coins rng.Source) int {
	if o.rows != nil {
		rows := o.rows[owner]
		return rows[rng.Below(coins, uint64(len(rows)))] // 2.4
	}
	from, to := o.rowsOf(owner)
	if to-from > 1 {
		return from + int(rng.Below(coins, uint64(to-from)))
	}
	return from
}

// Report lets owners of the round's slot answer its broadcast, in mode local. It
// returns what may leave: owners who have answered the same broadcast before give
// the same bytes again; those who have answered another one, or cannot afford it,
// give nothing.
func (p *Reporter) Report(ctx context.Context, owners []int32, exit *mech.Exit) ([]Given, error) {
	return p.commit(ctx, p.digest, owners, exit, func(owner int, ticket uint64, row int, exit *mech.Exit) ([]byte, error) {
		name := p.owners.name(owner)
		if err := wire.CheckOwner(name); err != nil {
			return nil, err
		}
		report, err := p.perturbReport(name, ticket, row, exit)
		if err != nil {
			return nil, err
		}
		return report.Append(nil), nil
	})
}

// Share lets owners of the round's slot give shares to the secret sum of that ID,
// in mode aggregate; split makes the shares of an owner's addend. It returns what
// may leave, as Report does.
func (p *Reporter) Share(ctx context.Context, sum [32]byte, owners []int32, exit *mech.Exit,
	split func(owner int, addend []uint64) ([]byte, error)) ([]Given, error) {
	return p.commit(ctx, sum, owners, exit, func(owner int, _ uint64, row int, exit *mech.Exit) ([]byte, error) {
		addend, err := p.perturbAddend(row, exit)
		if err != nil {
			return nil, err
		}
		return split(owner, addend)
	})
}

// commit draws what owners are about to give, writes it into their book, and
// returns what the book lets out.
//
// Claim G-LOCALBOOST-2. All that an owner gives for a task, whatever is broadcast,
// is one (ε, 0)-DP report, or the shares of one addend.
func (p *Reporter) commit(ctx context.Context, round [32]byte, owners []int32, exit *mech.Exit,
	draw func(owner int, ticket uint64, row int, exit *mech.Exit) ([]byte, error)) ([]Given, error) {
	if p.recs.terms != p.terms {
		return nil, errors.New("owner: the records must be bound to the round's task")
	}
	given := make([]Given, len(owners))
	for i, number := range owners {
		owner := int(number)
		place := p.owners.Place(owner)
		if place.Slot != p.Slot() { // 2.1
			return nil, fmt.Errorf("owner: owner %d answers in slot %d, the broadcast is for slot %d", owner, place.Slot,
				p.Slot())
		}
		exit, coins := exit, rng.Source(nil)
		if p.owners.coins != nil { // 7.1
			coins = p.owners.coins(owner, p.subjectOf(owner, round))
			exit = mech.NewExit(coins)
		} else {
			coins = exit.Public()
		}
		report, err := draw(owner, place.Ticket, p.owners.drawRow(owner, coins), exit)
		if err != nil {
			return nil, err
		}
		given[i] = Given{Owner: owner, Task: p.terms.digest, Cost: p.terms.task.Epsilon, Entry: Entry{round, report}}
	}
	if err := p.owners.book.Commit(ctx, given); err != nil { // 2.2: nothing leaves before
		return nil, err
	}
	return slices.DeleteFunc(given, func(g Given) bool { return g.Refused != nil || g.Round != round }), nil // 2.2
}
