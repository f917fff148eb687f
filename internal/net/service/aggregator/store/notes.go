// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"
)

// Note stores a task's public results once a round's reports are counted. The first note of a round is
// final.
func (s *Store) Note(ctx context.Context, id ID, round int, note []byte) error {
	return s.db.Exec(ctx, `INSERT INTO discreet_notes (task, round, note) VALUES (?, ?, ?) ON CONFLICT (task, round) `+
		`DO NOTHING`, id[:], round, note)
}

// Noted returns the note of the newest round of a task that has one; nil if none has.
func (s *Store) Noted(ctx context.Context, id ID) (note []byte, err error) {
	_, err = s.db.Find(ctx, []any{&note}, `SELECT note FROM discreet_notes WHERE task = ? ORDER BY round DESC LIMIT 1`,
		id[:])
	return note, err
}
