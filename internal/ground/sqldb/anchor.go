// SPDX-License-Identifier: Apache-2.0

package sqldb

import (
	"context"
	"crypto/rand"
	"encoding/hex"

	"github.com/discreet-dp/discreet/internal/ground/anchor"
)

// headsTable numbers the states of a database: each Update that writes adds one, with a random token,
// since two histories of one database have the same numbers. Number 0 identifies the database.
const headsTable = `CREATE TABLE IF NOT EXISTS discreet_heads (seq INTEGER PRIMARY KEY, token BLOB NOT NULL CHECK ` +
	`(length(token) = 16)) STRICT`

// anchor makes the database store its newest state in a folder outside of it. It refuses a database
// that was never in a state stored there. A database without a stored state is trusted.
func (d *DB) anchor(ctx context.Context, folder anchor.Folder) error {
	if err := d.Make(ctx, headsTable); err != nil {
		return err
	}
	var name, newest []byte
	var seq int64
	if err := d.Update(ctx, func(tx *Tx) error {
		if _, err := tx.Exec(`INSERT INTO discreet_heads (seq, token) VALUES (0, ?) ON CONFLICT (seq) DO NOTHING`,
			drawToken()); err != nil {
			return err
		}
		if _, err := tx.Find([]any{&name}, `SELECT token FROM discreet_heads WHERE seq = 0`); err != nil {
			return err
		}
		_, err := tx.Find([]any{&seq, &newest}, `SELECT seq, token FROM discreet_heads ORDER BY seq DESC LIMIT 1`)
		return err
	}); err != nil {
		return err
	}
	d.identity = hex.EncodeToString(name)
	if err := folder.Check(d.op+": the state", d.identity, func(h anchor.Head) (is bool, err error) {
		err = d.View(ctx, func(tx *Tx) error {
			var token []byte
			found, err := tx.Find([]any{&token}, `SELECT token FROM discreet_heads WHERE seq = ?`, h.Seq)
			is = found && hex.EncodeToString(token) == h.Hash
			return err
		})
		return is, err
	}); err != nil {
		return err
	}
	d.anchors = folder
	return folder.Note(d.identity, anchor.Head{Seq: seq, Hash: hex.EncodeToString(newest)})
}

// Close closes the database. It fails if an anchor could not be stored.
func (d *DB) Close() error {
	err := d.DB.Close()
	if unnoted := d.unnoted.Load(); err == nil && unnoted != nil {
		err = *unnoted
	}
	return err
}

// addHead numbers the state that this transaction makes. It is the last statement of the transaction,
// so that others wait for it no longer than a commit takes.
func (t *Tx) addHead() (h anchor.Head, err error) {
	var last int64
	if _, err := t.Find([]any{&last}, `SELECT seq FROM discreet_heads WHERE seq = 0`+t.Lock()); err != nil {
		return h, err
	}
	if _, err := t.Find([]any{&last}, `SELECT seq FROM discreet_heads ORDER BY seq DESC LIMIT 1`); err != nil {
		return h, err
	}
	token := drawToken()
	return anchor.Head{Seq: last + 1, Hash: hex.EncodeToString(token)},
		t.One(`INSERT INTO discreet_heads (seq, token) VALUES (?, ?)`, last+1, token)
}

func drawToken() []byte {
	token := make([]byte, 16)
	rand.Read(token) // it never fails
	return token
}
