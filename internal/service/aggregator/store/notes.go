// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"

	"github.com/discreet-dp/discreet/internal/sqldb"
)

// Note stores a task's public results once a round's reports are counted. The first note of a round is
// final.
func (s *Store) Note(ctx context.Context, id ID, round int, note []byte) error {
	return s.db.Update(ctx, func(tx *sqldb.Tx) error {
		_, err := tx.Exec(`INSERT INTO discreet_notes (task, round, note) VALUES (?, ?, ?) ON CONFLICT (task, round) `+
			`DO NOTHING`, id[:], round, note)
		return err
	})
}

// Noted returns the note of the newest round of a task that has one; nil if none has.
func (s *Store) Noted(ctx context.Context, id ID) (note []byte, err error) {
	err = s.db.View(ctx, func(tx *sqldb.Tx) error {
		_, err := tx.Find([]any{&note}, `SELECT note FROM discreet_notes WHERE task = ? ORDER BY round DESC LIMIT 1`, id[:])
		return err
	})
	return note, err
}
