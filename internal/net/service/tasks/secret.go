// SPDX-License-Identifier: Apache-2.0

package tasks

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"time"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/net/federated/wire"
	"github.com/discreet-dp/discreet/internal/net/service/secretsum"
)

// SecretSum returns the secret sum that belongs to a broadcast of a task in mode aggregate. Everyone
// computes the same one, except for the roster, the helpers' stores and its end, which owners check
// against the announcement by CheckSum.
func SecretSum(a *Announcement, broadcast []byte, roster []secretsum.Key, helpers []secretsum.Helper,
	ends time.Time) (*secretsum.Sum, error) {
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
		Length: addend.Dim(), Range: addend.Top() + 1, AtLeast: round.Crowd.AtLeast, Ends: ends.Truncate(time.Second),
		Proofs: a.Proofs, Roster: roster,
	}, nil
}

// CheckRoster refuses a list of owners other than the announcement's, or one with which no sum of the
// task can keep its promise.
func (a *Announcement) CheckRoster(r Roster) error {
	fault := dp.RefuseFor("announcement")
	switch {
	case r.Digest() != a.Roster:
		return fmt.Errorf("announcement: the list of owners is another than the operator has signed")
	case a.Task.Mode != wire.Aggregate:
		return nil
	case a.Honest > r.Len() || a.Leaned(a.Minimum, r.Len()) < 1:
		least := r.Len() - wire.AtLeastOf(a.Minimum) + 1
		return fault("honest",
			fmt.Sprintf("must be %d to %d of the %d owners on the roster: the fewest whose sum is opened, %d, must not all "+
				"be dishonest", least, r.Len(), r.Len(), wire.AtLeastOf(a.Minimum)), a.Honest)
	}
	return nil
}

// Leaned returns the number of owners whose shares of noise are sufficient in a sum of at most owners
// of a list with the given length. Whichever owners the aggregator admits, at least that many of those
// in the opened sum are honest.
func (a *Announcement) Leaned(owners, listed int) int {
	return wire.AtLeastOf(owners) - (listed - a.Honest)
}

// CheckSum refuses a sum that does not belong to a broadcast, or with owners who are not on the list.
// An owner gives no share to such a sum. The list must have passed CheckRoster.
func (a *Announcement) CheckSum(s *secretsum.Sum, broadcast []byte, list Roster, now time.Time) error {
	round, err := wire.ParseRound(a.Task, broadcast)
	if err != nil {
		return err
	}
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
	for i, k := range s.Roster {
		if !list.Has(k) {
			return fmt.Errorf("sum: participant %d is not on the task's list of owners", i)
		}
	}
	switch {
	case len(s.Roster) < a.Minimum:
		return fmt.Errorf("sum: its roster must have at least the announced %d owners (got %d)", a.Minimum, len(s.Roster))
	case !s.Ordered():
		return fmt.Errorf("sum: its owners must ascend by their keys")
	case !slices.Equal(names, announced):
		return fmt.Errorf("sum: its helpers must be the announced ones")
	case secretsum.Present(s.Helpers) < len(s.Helpers)-len(s.Helpers)/3:
		return fmt.Errorf("sum: too few of its helpers are there to open it: %d of %d", secretsum.Present(s.Helpers),
			len(s.Helpers))
	case round.Crowd.Honest != a.Leaned(len(s.Roster), list.Len()):
		return fmt.Errorf("sum: its noise must be sized for %d honest owners (got %d)", a.Leaned(len(s.Roster), list.Len()),
			round.Crowd.Honest)
	case s.Ends.After(secretsum.Latest(now, a.Slot)):
		return fmt.Errorf("sum: it must end by %s (got %s)", secretsum.Latest(now, a.Slot).UTC().Format(time.RFC3339),
			s.Ends.UTC().Format(time.RFC3339))
	case s.Round != want.Round, s.Topic != want.Topic, s.Length != want.Length, s.Range != want.Range,
		s.AtLeast != want.AtLeast, s.Proofs != want.Proofs:
		return fmt.Errorf("sum: it must be the one that the broadcast asks for")
	}
	return nil
}

// MostOwners returns the largest number of owners in one secret sum of the task.
func MostOwners(t *wire.Task) int {
	K := t.Schema.Classes()
	cells := K
	for q := range t.Questions {
		cells += t.Cells(q)
	}
	return max(2, min(secretsum.MaxRoster, secretsum.MaxNumbers/(cells*K)))
}

// largestProof bounds the number of bytes that prove the range of a share's numbers in sums of up to
// owners owners. The more questions a slot has, the more numbers there are; and the fewer questions,
// the finer their grid may be.
func (a *Announcement) largestProof(owners int) (most int, err error) {
	asks := make([]wire.Ask, len(a.Task.Questions))
	for q := range asks {
		asks[q].Question = q
	}
	slices.SortFunc(asks, func(x, y wire.Ask) int { return a.Task.Cells(y.Question) - a.Task.Cells(x.Question) })
	for n := range len(asks) + 1 {
		slot := wire.Round{Crowd: &wire.Crowd{Owners: owners, Honest: 1}, Asks: asks[:n]}
		if n == 0 {
			slot.Slot = 1 // that measures errors
		}
		addend, err := slot.Addend(a.Task)
		if err != nil {
			return 0, err
		}
		sum := secretsum.Sum{Helpers: make([]secretsum.Helper, len(a.Helpers)), Length: addend.Dim(), Range: addend.Top() + 1}
		most = max(most, sum.ProofBytes())
	}
	return most, nil
}
