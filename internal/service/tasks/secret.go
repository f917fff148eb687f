// SPDX-License-Identifier: Apache-2.0

package tasks

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"time"

	"github.com/discreet-dp/discreet/internal/federated/wire"
	"github.com/discreet-dp/discreet/internal/service/secretsum"
)

// SecretSum is the secret sum that a broadcast of a task in mode aggregate asks its
// owners for. It is the same to whoever works it out, but for the roster, the
// helpers' memories and its end; owners hold these against the announcement by
// CheckSum.
func SecretSum(a *Announcement, broadcast []byte, roster []secretsum.Key, helpers []secretsum.Helper, ends time.Time) (*secretsum.Sum, error) {
	round, err := wire.ParseRound(a.Task, broadcast)
	if err != nil {
		return nil, err
	}
	if round.Crowd == nil || round.Crowd.Owners != len(roster) {
		return nil, fmt.Errorf("sum: the broadcast must be for the %d owners of the roster", len(roster))
	}
	addend, err := round.Addend(a.Task)
	if err != nil {
		return nil, err
	}
	return &secretsum.Sum{
		Round: fmt.Sprintf("%s slot %d", round.Task, round.Slot), Topic: sha256.Sum256(broadcast), Helpers: helpers,
		Length: addend.Dim(), Range: addend.Top() + 1, AtLeast: round.Crowd.AtLeast, Ends: ends.Truncate(time.Second), Roster: roster,
	}, nil
}

// CheckSum refuses a sum that is not the one a broadcast asks for: an owner gives
// no share to it.
func (a *Announcement) CheckSum(s *secretsum.Sum, broadcast []byte) error {
	want, err := SecretSum(a, broadcast, s.Roster, s.Helpers, s.Ends)
	if err != nil {
		return err
	}
	names := make([]string, len(s.Helpers))
	for i, h := range s.Helpers {
		names[i] = h.Name
	}
	announced := make([]string, len(a.Helpers))
	for i, h := range a.Helpers {
		announced[i] = h.Name
	}
	switch {
	case len(s.Roster) < a.Minimum:
		return fmt.Errorf("sum: its roster must have at least the announced %d owners (got %d)", a.Minimum, len(s.Roster))
	case !slices.Equal(names, announced):
		return fmt.Errorf("sum: its helpers must be the announced ones")
	case s.Round != want.Round, s.Topic != want.Topic, s.Length != want.Length, s.Range != want.Range, s.AtLeast != want.AtLeast:
		return fmt.Errorf("sum: it must be the one that the broadcast asks for")
	}
	return nil
}

// MostOwners is how many owners fit into one secret sum of the task.
func MostOwners(t *wire.Task) int {
	K := t.Schema.Classes()
	cells := K
	for q := range t.Questions {
		cells += t.Cells(q)
	}
	return max(2, min(secretsum.MaxRoster, secretsum.MaxNumbers/(cells*K)))
}
