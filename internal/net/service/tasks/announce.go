// SPDX-License-Identifier: Apache-2.0

// Package tasks defines the signed announcement of a task by an operator: the questions to owners and
// the timetable.
package tasks

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/net/federated/wire"
	"github.com/discreet-dp/discreet/internal/net/service/identity"
)

// Announcement is a task and its timetable.
type Announcement struct {
	Task *wire.Task
	// Minimum is the minimum number of reports per slot or, in mode aggregate, of participating
	// owners. A slot with fewer at its deadline ends the task. Few reports teach little, and an
	// aggregator that may ask a handful of owners could single them out.
	Minimum int
	// Slot is the longest time that a slot waits for its owners. In mode aggregate it waits that long
	// for participants, and again for their shares.
	Slot time.Duration
	// Quiet closes a slot early, once it has the minimum and no report has arrived for this time; 0
	// never.
	Quiet time.Duration
	// Ends is when the task ends, with or without a model. Whole seconds.
	Ends time.Time
	// Helpers hold the shares of a task in mode aggregate, in order; other tasks have none.
	Helpers []Helper
	// Roster identifies the list of owners who may report; zero: any owner with a key, which mode
	// aggregate does not allow.
	Roster RosterDigest
	// Honest is, in mode aggregate, the number of owners on the roster that must be honest for the
	// noise of every sum to be complete; 0 in other modes. All other owners may be in the same sum.
	// The noise is scaled for the minimum number of owners in an opened sum, minus the dishonest ones
	// (Leaned).
	Honest int
	// Proofs makes owners in mode aggregate always prove the range of their numbers. Without it they
	// do so only if a proof takes at most secretsum.FreeProof bytes per share.
	Proofs bool
}

// The limits of a timetable.
const (
	minBatch = 2
	minSlot  = time.Second
	maxSlot  = 90 * 24 * time.Hour
)

// Check refuses an invalid announcement.
func (a *Announcement) Check() error {
	fault := dp.RefuseFor("announcement")
	switch {
	case a.Task == nil:
		return fault("task", "must be given", nil)
	case a.Minimum < minBatch:
		return fault("minimum", fmt.Sprintf("must be at least %d reports", minBatch), a.Minimum)
	case a.Slot < minSlot || a.Slot > maxSlot || a.Slot%time.Millisecond != 0:
		return fault("slot", fmt.Sprintf("must last %s to %s, in whole milliseconds", minSlot, maxSlot), a.Slot)
	case a.Quiet < 0 || a.Quiet > a.Slot || a.Quiet%time.Millisecond != 0:
		return fault("quiet", "must be at least 0 and at most a slot, in whole milliseconds", a.Quiet)
	case a.Ends.Nanosecond() != 0 || a.Ends.Unix() <= 0:
		return fault("ends", "must be a time in whole seconds", a.Ends)
	}
	if a.Task.Mode == wire.Aggregate {
		if err := checkHelpers(a.Helpers); err != nil {
			return err
		}
		if !a.Roster.Named() {
			return fault("roster",
				"must be given in mode aggregate: with keys of its own an aggregator could be all owners of a sum but one", nil)
		}
		if a.Honest < 1 {
			return fault("honest", "must be at least 1 in mode aggregate: how many of the owners on the roster must be honest",
				a.Honest)
		}
	} else if len(a.Helpers) > 0 {
		return fault("helpers", "must not be given outside mode aggregate", len(a.Helpers))
	} else if a.Honest != 0 {
		return fault("honest", "must not be given outside mode aggregate", a.Honest)
	} else if a.Proofs {
		return fault("proofs", "must not be demanded outside mode aggregate", a.Proofs)
	}
	return a.Task.Check()
}

// body is an announcement's text.
type body struct {
	Discreet string          `json:"discreet"` // "announcement"
	Version  int             `json:"version"`
	Minimum  int             `json:"minimum"`
	Slot     int64           `json:"slot_ms"`
	Quiet    int64           `json:"quiet_ms"`
	Ends     int64           `json:"ends_unix"`
	Roster   *RosterDigest   `json:"roster,omitempty"`
	Honest   int             `json:"honest,omitempty"`
	Proofs   bool            `json:"proofs,omitempty"`
	Helpers  []Helper        `json:"helpers,omitempty"`
	Task     json.RawMessage `json:"task"` // package wire's text, without its line break
}

const (
	title   = "announcement"
	version = 1
)

// Text returns the announcement's bytes. It fails for an announcement that Check refuses.
func (a *Announcement) Text() ([]byte, error) {
	if err := a.Check(); err != nil {
		return nil, err
	}
	task, err := a.Task.Text()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	var roster *RosterDigest
	if a.Roster.Named() {
		roster = &a.Roster
	}
	err = e.Encode(body{title, version, a.Minimum, a.Slot.Milliseconds(), a.Quiet.Milliseconds(), a.Ends.Unix(), roster,
		a.Honest, a.Proofs, a.Helpers, bytes.TrimSuffix(task, []byte("\n"))})
	return b.Bytes(), err
}

// Parse accepts exactly what Text writes.
func Parse(text []byte) (*Announcement, error) {
	if len(text) > wire.MaxText {
		return nil, fmt.Errorf("announcement: must have at most %d bytes (got %d)", wire.MaxText, len(text))
	}
	var b body
	if err := wire.Bounds(text).Decode(text, &b); err != nil {
		return nil, fmt.Errorf("announcement: %w", err)
	}
	if b.Discreet != title || b.Version != version {
		return nil, fmt.Errorf("announcement: must be of version %d (got %.40q, version %d)", version, b.Discreet, b.Version)
	}
	const most = int64(maxSlot / time.Millisecond)
	if b.Slot > most || b.Quiet > most || b.Slot < 0 || b.Quiet < 0 {
		return nil, fmt.Errorf("announcement: slot and quiet must be at most %d milliseconds", most)
	}
	task, err := wire.ParseTask(append(b.Task, '\n'))
	if err != nil {
		return nil, err
	}
	a := &Announcement{
		Task: task, Minimum: b.Minimum, Slot: time.Duration(b.Slot) * time.Millisecond,
		Quiet: time.Duration(b.Quiet) * time.Millisecond, Ends: time.Unix(b.Ends, 0), Helpers: b.Helpers, Honest: b.Honest,
		Proofs: b.Proofs,
	}
	if b.Roster != nil {
		a.Roster = *b.Roster
	}
	again, err := a.Text()
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(again, text) {
		return nil, fmt.Errorf("announcement: must be in canonical form")
	}
	return a, nil
}

// Purpose separates signatures of announcements from others.
const Purpose = "discreet announcement 1"

// Signed is an announcement's bytes under an operator's signature.
type Signed struct {
	Text      []byte
	Signature identity.Signature
}

// Sign signs an announcement.
func (a *Announcement) Sign(operator *identity.Identity) (Signed, error) {
	text, err := a.Text()
	if err != nil {
		return Signed{}, err
	}
	s, err := operator.Sign(Purpose, text)
	return Signed{text, s}, err
}

// Open verifies a signed announcement and returns it. It refuses one that is not signed by an
// operator, or that has ended at the time at.
func (s Signed) Open(reader *identity.Identity, at time.Time) (*Announcement, error) {
	who, err := reader.Verify(s.Signature, Purpose, s.Text, at)
	if err != nil {
		return nil, fmt.Errorf("announcement: %w", err)
	}
	if who.Role != identity.Operator {
		return nil, fmt.Errorf("announcement: signed by %s, want an operator", who)
	}
	a, err := Parse(s.Text)
	if err != nil {
		return nil, err
	}
	if !at.Before(a.Ends) {
		return nil, fmt.Errorf("announcement: the task ended at %s", a.Ends.UTC().Format(time.RFC3339))
	}
	return a, nil
}
