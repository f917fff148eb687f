// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"
	"fmt"

	"github.com/discreet-dp/discreet/internal/ground/sqldb"
)

// Secret is the state of a round's secret sum: the sealed reports name its participants.
type Secret struct {
	Broadcast              []byte
	Sum                    []byte // as the aggregator signed it
	Certificate, Signature []byte
	Held                   []byte // determines the owners in the opened sum; nil until decided
	Total                  []byte // nil until it is opened
	Participants           int    // number in Total
}

const secretTable = `CREATE TABLE IF NOT EXISTS discreet_secrets (task BLOB NOT NULL, round INTEGER NOT NULL, ` +
	`broadcast BLOB NOT NULL, sum BLOB NOT NULL, certificate BLOB NOT NULL, signature BLOB NOT NULL, held BLOB, total ` +
	`BLOB, participants INTEGER NOT NULL, PRIMARY KEY (task, round)) STRICT`

// Secret returns the state of a round's secret sum, nil if it has not been assembled.
func (s *Store) Secret(ctx context.Context, id ID, round int) (x *Secret, err error) {
	err = s.db.View(ctx, func(tx *sqldb.Tx) error {
		x, err = readSecret(tx, id, round)
		return err
	})
	return x, err
}

func readSecret(tx *sqldb.Tx, id ID, round int) (*Secret, error) {
	x := new(Secret)
	found, err := tx.Find([]any{&x.Broadcast, &x.Sum, &x.Certificate, &x.Signature, &x.Held, &x.Total, &x.Participants},
		`SELECT broadcast, sum, certificate, signature, held, total, participants FROM discreet_secrets WHERE task = ? `+
			`AND round = ?`, id[:], round)
	if err != nil || !found {
		return nil, err
	}
	return x, nil
}

// whenSealed runs f if the round is sealed and its task open, and returns the state afterwards.
func (s *Store) whenSealed(ctx context.Context, id ID, round int, f func(*sqldb.Tx) error) (x *Secret, err error) {
	err = s.db.Update(ctx, func(tx *sqldb.Tx) error {
		state, err := roundState(tx, id, round, tx.Lock())
		if err != nil {
			return err
		}
		var task State
		if _, err := tx.Find([]any{&task}, `SELECT state FROM discreet_tasks WHERE id = ?`, id[:]); err != nil {
			return err
		}
		if state != Sealed || task != Open {
			return ErrMoved
		}
		if err := f(tx); err != nil {
			return err
		}
		x, err = readSecret(tx, id, round)
		return err
	})
	return x, err
}

// Assemble stores the secret sum of a sealed round, unless one is stored, and returns the stored one:
// owners must not see two.
func (s *Store) Assemble(ctx context.Context, id ID, round int, x Secret) (*Secret, error) {
	return s.whenSealed(ctx, id, round, func(tx *sqldb.Tx) error {
		_, err := tx.Exec(`INSERT INTO discreet_secrets (task, round, broadcast, sum, certificate, signature, `+
			`participants) VALUES (?, ?, ?, ?, ?, ?, 0) ON CONFLICT (task, round) DO NOTHING`,
			id[:], round, x.Broadcast, x.Sum, x.Certificate, x.Signature)
		return err
	})
}

// Hold stores the decision on the owners in the sum, unless one is stored, and returns the stored one.
func (s *Store) Hold(ctx context.Context, id ID, round int, held []byte) ([]byte, error) {
	x, err := s.whenSealed(ctx, id, round, func(tx *sqldb.Tx) error {
		_, err := tx.Exec(`UPDATE discreet_secrets SET held = ? WHERE task = ? AND round = ? AND held IS NULL`, held,
			id[:], round)
		return err
	})
	if err == nil && x == nil {
		err = fmt.Errorf("store: round %d of task %x has no secret sum", round, id)
	}
	if err != nil {
		return nil, err
	}
	return x.Held, nil
}

// Total stores the opened sum, unless one is stored.
func (s *Store) Total(ctx context.Context, id ID, round int, total []byte, participants int) error {
	_, err := s.whenSealed(ctx, id, round, func(tx *sqldb.Tx) error {
		_, err := tx.Exec(`UPDATE discreet_secrets SET total = ?, participants = ? WHERE task = ? AND round = ? AND `+
			`total IS NULL`, total, participants, id[:], round)
		return err
	})
	return err
}

// GiveUp ends a task with a sealed round whose sum cannot be opened. It returns ErrMoved if the sum
// has been opened meanwhile.
func (s *Store) GiveUp(ctx context.Context, id ID, round int) error {
	_, err := s.whenSealed(ctx, id, round, func(tx *sqldb.Tx) error {
		if x, err := readSecret(tx, id, round); err != nil {
			return err
		} else if x != nil && x.Total != nil {
			return ErrMoved
		}
		return s.finishTask(tx, id, Ended, nil)
	})
	return err
}
