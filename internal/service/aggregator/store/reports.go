// SPDX-License-Identifier: Apache-2.0

package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"strings"

	"github.com/discreet-dp/discreet/internal/sqldb"
)

// Report is what one owner sent for a task.
type Report struct {
	Task  ID
	Round int
	Owner [32]byte // its key
	Body  []byte
}

// Outcome is what became of a report.
type Outcome int

// The outcomes of Accept.
const (
	Stored   Outcome = 1 + iota // on disk, now
	Again                       // on disk already, the same bytes
	Replayed                    // the owner's other report is on disk
	Early                       // the round has not been opened, or there is no such task
	Late                        // the round was sealed before
)

// chunk is how many reports one statement stores.
const chunk = 200

// Accept stores reports, all in one transaction, and says what became of each.
// When it returns without an error, what it calls Stored or Again is on disk. An
// owner belongs to one round of a task: that is the caller's to check.
func (s *Store) Accept(ctx context.Context, reports []Report) ([]Outcome, error) {
	out := make([]Outcome, len(reports))
	err := s.db.Update(ctx, func(tx *sqldb.Tx) error {
		type key struct {
			task  ID
			round int
		}
		rounds := map[key][]int{}
		var order []key
		for i, r := range reports {
			k := key{r.Task, r.Round}
			if rounds[k] == nil {
				order = append(order, k)
			}
			rounds[k] = append(rounds[k], i)
		}
		for _, k := range order {
			state, err := roundState(tx, k.task, k.round, tx.Share())
			if err != nil {
				return err
			}
			for at := rounds[k]; len(at) > 0; {
				n := min(len(at), chunk)
				if err := accept(tx, reports, at[:n], out, state); err != nil {
					return err
				}
				at = at[n:]
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// accept handles the reports at the given places, all of one round.
func accept(tx *sqldb.Tx, reports []Report, at []int, out []Outcome, state State) error {
	added := map[[32]byte]bool{}
	if state == Open {
		args := make([]any, 0, 5*len(at))
		for _, i := range at {
			r := &reports[i]
			d := sha256.Sum256(r.Body)
			args = append(args, r.Task[:], r.Round, r.Owner[:], d[:], r.Body)
		}
		q := `INSERT INTO discreet_reports (task, round, owner, digest, body) VALUES (?, ?, ?, ?, ?)` +
			strings.Repeat(`, (?, ?, ?, ?, ?)`, len(at)-1) + ` ON CONFLICT (task, round, owner) DO NOTHING RETURNING owner`
		if err := tx.Each(func(r *sql.Rows) error {
			owner, err := scanOwner(r)
			added[owner] = true
			return err
		}, q, args...); err != nil {
			return err
		}
	}
	for _, i := range at {
		r := &reports[i]
		if added[r.Owner] {
			out[i] = Stored
			delete(added, r.Owner) // the same owner once more in this batch is a repetition
			continue
		}
		var digest []byte
		found, err := tx.Find([]any{&digest}, `SELECT digest FROM discreet_reports WHERE task = ? AND round = ? AND owner = ?`, r.Task[:], r.Round, r.Owner[:])
		if err != nil {
			return err
		}
		d := sha256.Sum256(r.Body)
		switch {
		case found && bytes.Equal(digest, d[:]):
			out[i] = Again
		case found:
			out[i] = Replayed
		case state == 0:
			out[i] = Early
		default:
			out[i] = Late
		}
	}
	return nil
}

func scanOwner(r *sql.Rows) (owner [32]byte, err error) {
	var raw sql.RawBytes
	err = r.Scan(&raw)
	copy(owner[:], raw)
	return owner, err
}

// Count returns how many reports of a round are stored.
func (s *Store) Count(ctx context.Context, id ID, round int) (n int, err error) {
	err = s.db.View(ctx, func(tx *sqldb.Tx) error {
		n, err = count(tx, id, round)
		return err
	})
	return n, err
}

func count(tx *sqldb.Tx, id ID, round int) (n int, err error) {
	_, err = tx.Find([]any{&n}, `SELECT COUNT(*) FROM discreet_reports WHERE task = ? AND round = ?`, id[:], round)
	return n, err
}

// Reports calls f for every report of a round that takes no more, in the order of
// owners' keys, while the task is open. f must not keep body.
func (s *Store) Reports(ctx context.Context, id ID, round int, f func(owner [32]byte, body []byte) error) error {
	return s.db.View(ctx, func(tx *sqldb.Tx) error {
		state, err := roundState(tx, id, round, "")
		if err != nil {
			return err
		}
		if state != Sealed && state != Done {
			return ErrMoved
		}
		return tx.Each(func(r *sql.Rows) error {
			var key, body sql.RawBytes
			if err := r.Scan(&key, &body); err != nil {
				return err
			}
			var owner [32]byte
			copy(owner[:], key)
			return f(owner, body)
		}, `SELECT owner, body FROM discreet_reports WHERE task = ? AND round = ? ORDER BY owner`, id[:], round)
	})
}
