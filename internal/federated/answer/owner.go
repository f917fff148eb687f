// SPDX-License-Identifier: Apache-2.0

package answer

import (
	"bytes"
	"crypto/sha256"
	"fmt"

	"github.com/discreet-dp/discreet/internal/federated/wire"
	"github.com/discreet-dp/discreet/internal/privacy/dp"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
)

// Book is an owner's memory of what it has reported. It must survive whatever
// the owner's machine does.
type Book interface {
	// Reported returns what was committed for a task, nil where nothing was.
	Reported(task wire.Digest) (*Entry, error)
	// Commit charges eps and keeps the entry, both or neither, for good. It fails
	// where the task has an entry already or eps does not fit what is left.
	Commit(task wire.Digest, eps dp.Epsilon, e Entry) error
}

// Entry is one report and which broadcast it answered.
type Entry struct {
	Round  [32]byte // SHA-256 of the broadcast
	Report []byte
}

// Owner takes part in one task: broadcasts in, at most one report out.
type Owner struct {
	name  string
	terms *Terms
	recs  *Records
	book  Book
	exit  *mech.Exit
}

// New is an owner of the records that takes part under its name.
func New(name string, terms *Terms, recs *Records, book Book, exit *mech.Exit) (*Owner, error) {
	switch err := wire.CheckOwner(name); {
	case err != nil:
		return nil, err
	case recs.terms != terms:
		return nil, fmt.Errorf("owner: the records must be bound to the task's terms")
	case recs.tab.Rows < 1:
		return nil, fmt.Errorf("owner: there must be a record")
	}
	return &Owner{name, terms, recs, book, exit}, nil
}

// Place is the one slot in which the owner answers.
func (o *Owner) Place() wire.Place { return o.terms.Place(o.name) }

// Answer answers a broadcast. It returns nil where the broadcast is for others.
// One that is for this owner is answered once: the same broadcast again gets the
// same bytes, another one for the same slot is refused. Nothing leaves before
// the book has it.
//
// Claim G-LOCALBOOST-2. All that an owner sends for a task, whatever is
// broadcast, is one (ε, 0)-DP report.
func (o *Owner) Answer(broadcast []byte) ([]byte, error) {
	r, err := o.terms.Read(broadcast)
	if err != nil {
		return nil, err
	}
	place := o.Place()
	if r.Slot() != place.Slot {
		return nil, nil
	}
	digest := sha256.Sum256(broadcast)
	switch e, err := o.book.Reported(o.terms.digest); {
	case err != nil:
		return nil, fmt.Errorf("owner: %w", err)
	case e != nil && e.Round != digest:
		return nil, fmt.Errorf("owner: a different broadcast for slot %d has been answered already", place.Slot)
	case e != nil:
		return bytes.Clone(e.Report), nil
	}
	row := int(rng.Below(o.exit.Public(), uint64(o.recs.tab.Rows)))
	rep, err := r.Reporter(o.recs).Report(o.name, place.Ticket, row, o.exit)
	if err != nil {
		return nil, err
	}
	out := rep.Append(nil)
	if err := o.book.Commit(o.terms.digest, o.terms.task.Epsilon, Entry{digest, out}); err != nil {
		return nil, fmt.Errorf("owner: %w", err)
	}
	return bytes.Clone(out), nil
}
