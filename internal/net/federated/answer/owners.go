// SPDX-License-Identifier: Apache-2.0

package answer

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/net/federated/wire"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
)

// Book records what each owner has given for which task. It must be durable.
type Book interface {
	// Commit charges and stores what different owners are about to give for one task: everything is
	// durable once Commit returns nil. If an owner has already given something for the task, given is
	// changed to that, and nothing is charged. If an owner cannot afford the cost, its Refused is set.
	Commit(ctx context.Context, given []Given) error
}

// Given is one owner's contribution to a task.
type Given struct {
	Owner int // its number
	Task  wire.Digest
	Cost  dp.Epsilon
	Entry
	// Refused is the reason why a book did not accept this one, which must not be released. The others
	// are not affected.
	Refused error
}

// Entry is one release of an owner and its purpose.
type Entry struct {
	Round  [32]byte // SHA-256 of the broadcast that was answered; in mode aggregate, the ID of the secret sum
	Report []byte   // in mode aggregate, all shares of one addend
}

// Owners take part in one task, each under its own name. They share the rows of one table evenly, in
// order. If the schema declares persons, each owner is one person with that person's rows. An owner
// with several records reports about one that it draws. Owners are safe for concurrent use.
type Owners struct {
	recs  *Records
	count int
	rows  [][]int // by owner, if the schema declares persons; otherwise nil
	name  func(owner int) string
	book  Book
	coins Coins
}

// Coins is an owner's randomness for one answer: a function of the owner's secret and of everything
// that the answer depends on. An owner whose book was copied or restored therefore gives the same
// bytes again for the same cells, and new random bytes for others.
type Coins func(owner int, subject []byte) rng.Source

// DrawBy makes owners draw from coins instead of from the exit that Report and Share are given.
//
// Claim G-LOCAL-7.
func (o *Owners) DrawBy(coins Coins) { o.coins = coins }

// NewOwners makes count owners of some records, at least 1 and at most one per row. If the schema
// declares persons, count must be the number of persons. Owner i has the name name(i), which must pass
// wire.CheckOwner.
func NewOwners(recs *Records, count int, name func(owner int) string, book Book) (*Owners, error) {
	o := &Owners{recs: recs, count: count, name: name, book: book}
	if recs.tab.Schema.Person != nil {
		if o.rows = listPersons(recs.tab); len(o.rows) == 0 || len(o.rows) != count {
			return nil, dp.Refuse("owner", "owners", "must be the number of persons in the rows: the schema says whose a row "+
				"is (person:), and each person is one owner", count)
		}
		return o, nil
	}
	if count < 1 || count > recs.tab.Rows {
		return nil, dp.Refuse("owner", "owners", "must be at least 1 and at most the number of rows", count)
	}
	return o, nil
}

// listPersons lists the rows of each person, in the order of their first rows. Rows without a person
// belong to no owner.
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

// Place returns the one slot in which an owner answers, and its ticket there.
func (o *Owners) Place(owner int) wire.Place { return o.recs.terms.Place(o.name(owner)) }

// rowsOf returns the rows of an owner: owner i has the rows from i·rows/count to the next owner's
// first.
func (o *Owners) rowsOf(owner int) (from, to int) {
	return owner * o.recs.tab.Rows / o.count, (owner + 1) * o.recs.tab.Rows / o.count
}

// subjectOf returns everything that an owner's answer depends on, except its coins: the task, the
// broadcast, in mode aggregate the sum, and the owner's cells, by value.
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

// drawRow draws the record that an owner reports about. For a person, it is any of the person's
// records (2.4).
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

// Report lets owners of the round's slot answer its broadcast, in mode local. It returns what may be
// released. Owners who have answered the same broadcast before give the same bytes again. Owners who
// have answered another one, or cannot afford the price, give nothing.
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

// Share lets owners of the round's slot give shares to the secret sum with that ID, in mode aggregate;
// split makes the shares of an owner's addend. It returns what may be released, as Report does.
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

// commit draws what owners are about to give, writes it to their book, and returns what the book
// allows to release.
//
// Claim G-LOCALBOOST-2. Everything that an owner gives for a task, for any broadcasts, is one (ε,
// 0)-DP report, or the shares of one addend.
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
