// SPDX-License-Identifier: Apache-2.0

package helper

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/discreet-dp/discreet/internal/ground/anchor"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ground/sqldb"
	"github.com/discreet-dp/discreet/internal/net/service/problem"
	"github.com/discreet-dp/discreet/internal/net/service/secretsum"
)

// Store durably stores a helper's state. It is safe for concurrent use.
type Store struct {
	db     *sqldb.DB
	memory secretsum.Memory
	full   atomic.Bool // storing shares failed, and has not succeeded since
}

// Options are the options for opening a store's database.
var Options = sqldb.Options{Op: "helper", Create: true, WAL: true}

// At opens the store at path, or creates it, for the helper with that name. The store of another
// helper is refused.
//
// It is checked against its anchor in a folder, unless that is "".
func At(ctx context.Context, path, name string, anchors anchor.Folder) (*Store, error) {
	if sqldb.IsPostgres(path) {
		return nil, dp.Refuse("helper", "store", "must be a file of the helper's own", path)
	}
	o := Options
	o.Anchors = anchors
	db, err := sqldb.Open(ctx, path, o)
	if err != nil {
		return nil, err
	}
	return On(ctx, db, name)
}

// On opens the store in a database. Close also closes the database.
func On(ctx context.Context, db *sqldb.DB, name string) (*Store, error) {
	s := &Store{db: db}
	err := db.Make(ctx,
		`CREATE TABLE IF NOT EXISTS discreet_helper (one INTEGER PRIMARY KEY CHECK (one = 1), name BLOB NOT NULL, memory `+
			`BLOB NOT NULL CHECK (length(memory) = 16)) STRICT`,
		`CREATE TABLE IF NOT EXISTS discreet_sums (id BLOB PRIMARY KEY, collector TEXT NOT NULL, bytes BLOB, ends INTEGER `+
			`NOT NULL, state INTEGER NOT NULL, held BLOB, asked BLOB, answer BLOB) STRICT`,
		`CREATE TABLE IF NOT EXISTS discreet_shares (sum BLOB NOT NULL, participant INTEGER NOT NULL, digest BLOB NOT `+
			`NULL, proof BLOB NOT NULL, signature BLOB NOT NULL, body BLOB, PRIMARY KEY (sum, participant)) STRICT`,
		`CREATE TABLE IF NOT EXISTS discreet_faults (sum BLOB NOT NULL, participant INTEGER NOT NULL, signature BLOB NOT `+
			`NULL, body BLOB, PRIMARY KEY (sum, participant)) STRICT`,
		sqldb.Twice("discreet_sums", "state"), sqldb.ProbeTable,
	)
	if err == nil {
		var n int
		if _, err = db.Find(ctx, []any{&n}, `SELECT (SELECT COUNT(collector) FROM discreet_sums) + (SELECT COUNT(proof) `+
			`FROM discreet_shares)`); err != nil {
			err = fmt.Errorf("helper: the store is none of this version: begin with a new one: %w", err)
		}
	}
	if err == nil {
		err = db.Update(ctx, func(tx *sqldb.Tx) error {
			var fresh secretsum.Memory
			rand.Read(fresh[:])
			if _, err := tx.Exec(`INSERT INTO discreet_helper (one, name, memory) VALUES (1, ?, ?) ON CONFLICT (one) DO NOTHING`,
				[]byte(name), fresh[:]); err != nil {
				return err
			}
			var whose, memory []byte
			if _, err := tx.Find([]any{&whose, &memory}, `SELECT name, memory FROM discreet_helper`); err != nil {
				return err
			}
			s.memory = secretsum.Memory(memory)
			if string(whose) != name {
				return &dp.ParamError{Op: "helper", Param: "store", Want: "must be that of helper " + name, Got: string(whose),
					Hint: "two helpers with one memory are one"}
			}
			return nil
		})
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return s, nil
}

// Close closes the store.
func (s *Store) Close() error { return s.db.Close() }

// state is the state of a sum.
type state int

const (
	open   state = 1 + iota // accepts shares
	closed                  // accepts no more shares
	opened                  // one request was answered
	over                    // everything but its name is deleted
)

// room is the free space in bytes that a ready store must have: enough for a request's shares, except
// large ones.
const room = 256 << 10

// probeStore fails if the store could not store shares now.
func (s *Store) probeStore(ctx context.Context) error { return s.db.Probe(ctx, room) }

// checkWritable fails if storing shares has failed and still does, so that a caller who counts shares
// does not mistake the failure for a lack of shares.
func (s *Store) checkWritable(ctx context.Context) error {
	if !s.full.Load() {
		return nil
	}
	err := s.probeStore(ctx)
	s.full.CompareAndSwap(true, err != nil)
	return err
}

// beginSum stores a collector's sum. Storing the same sum again has no effect. A collector may have at
// most most sums that are not opened, and at most bytes bytes in all its sums that are not deleted. A
// new sum never replaces another.
func (s *Store) beginSum(ctx context.Context, id secretsum.ID, collector string, text []byte, ends time.Time,
	most, size int) error {
	return s.db.Take(ctx, len(text), func(tx *sqldb.Tx) error {
		switch now, err := stateOf(tx, id); {
		case err != nil:
			return err
		case now == over:
			return problem.New(problem.TaskClosed, "")
		case now != 0:
			return nil
		}
		var live, bytes int
		if _, err := tx.Find([]any{&live, &bytes},
			`SELECT COALESCE(SUM(state <> ?), 0), COALESCE(SUM(LENGTH(bytes) + COALESCE(LENGTH(answer), 0) + `+
				`COALESCE(LENGTH(held), 0)), 0) FROM discreet_sums WHERE collector = ? AND state <> ?`, opened, collector,
			over); err != nil {
			return err
		}
		if live >= most || bytes+len(text) > size {
			return problem.New(problem.Overloaded, "%d sums of %s are under way, %d bytes of its sums are kept", live,
				collector, bytes)
		}
		return tx.One(`INSERT INTO discreet_sums (id, collector, bytes, ends, state) VALUES (?, ?, ?, ?, ?)`, id[:],
			collector, text, ends.Unix(), open)
	})
}

// stateOf returns 0 if the sum does not exist.
func stateOf(tx *sqldb.Tx, id secretsum.ID) (now state, err error) {
	_, err = tx.Find([]any{&now}, `SELECT state FROM discreet_sums WHERE id = ?`, id[:])
	return now, err
}

// sumText returns the bytes of a sum that is not over, nil if it does not exist.
func (s *Store) sumText(ctx context.Context, id secretsum.ID) (text []byte, err error) {
	err = s.db.View(ctx, func(tx *sqldb.Tx) error {
		now, err := stateOf(tx, id)
		if err == nil && now == over {
			return problem.New(problem.TaskClosed, "")
		}
		if err == nil {
			_, err = tx.Find([]any{&text}, `SELECT bytes FROM discreet_sums WHERE id = ?`, id[:])
		}
		return err
	})
	return text, err
}

// share is one participant's share, as it was sent.
type share struct {
	participant int
	proof       []byte // the part that all helpers receive
	body        []byte // of the message
	signature   []byte // of its proof
	kept        []byte // size of the message once it is verified
}

// storeFault stores a share that contradicts its own proof; its participant is excluded. It stores one
// per participant. Per sum it stores the bytes of at most most of them, and at most maxFault bytes.
func (s *Store) storeFault(ctx context.Context, id secretsum.ID, sh share, most int) error {
	return s.db.Take(ctx, len(sh.body), func(tx *sqldb.Tx) error {
		switch now, err := stateOf(tx, id); {
		case err != nil:
			return err
		case now != open: // what is held has been said
			return nil
		}
		var kept, size int
		if _, err := tx.Find([]any{&kept, &size}, `SELECT COUNT(*), COALESCE(SUM(LENGTH(body)), 0) FROM discreet_faults `+
			`WHERE sum = ? AND body IS NOT NULL`, id[:]); err != nil {
			return err
		}
		body := sh.body
		if kept >= most || size+len(body) > maxFault {
			body = nil
		}
		_, err := tx.Exec(`INSERT INTO discreet_faults (sum, participant, signature, body) VALUES (?, ?, ?, ?) ON `+
			`CONFLICT (sum, participant) DO NOTHING`, id[:], sh.participant, sh.signature, body)
		return err
	})
}

// storedFaults returns the stored shares that contradict their own proofs.
func (s *Store) storedFaults(ctx context.Context, id secretsum.ID) (out []share, err error) {
	err = s.db.View(ctx, func(tx *sqldb.Tx) error {
		out = nil
		return tx.Each(func(r *sql.Rows) error {
			var sh share
			err := r.Scan(&sh.participant, &sh.signature, &sh.body)
			out = append(out, sh)
			return err
		}, `SELECT participant, signature, body FROM discreet_faults WHERE sum = ? AND body IS NOT NULL ORDER BY participant`,
			id[:])
	})
	return out, err
}

// proofsOf returns the participants' proofs and signatures in order, up to a number of bytes. It stops
// before a participant without a stored share.
func (s *Store) proofsOf(ctx context.Context, id secretsum.ID, participants []uint32,
	size int) (out []share, err error) {
	err = s.db.View(ctx, func(tx *sqldb.Tx) error {
		out = nil
		for bytes, i := 0, 0; bytes < size && i < len(participants); i++ {
			one := share{participant: int(participants[i])}
			found, err := tx.Find([]any{&one.proof, &one.signature},
				`SELECT proof, signature FROM discreet_shares WHERE sum = ? AND participant = ?`, id[:], one.participant)
			if err != nil || !found {
				return err
			}
			out = append(out, one)
			bytes += len(one.proof) + len(one.signature)
		}
		return nil
	})
	return out, err
}

// knowsSender reports whether a participant's share, or a share that convicts it, is stored. If so, no
// other share of that participant will be stored.
func (s *Store) knowsSender(ctx context.Context, id secretsum.ID, participant int) (known bool, err error) {
	var n int
	_, err = s.db.Find(ctx, []any{&n}, `SELECT (SELECT COUNT(*) FROM discreet_shares WHERE sum = ? AND participant = ?) `+
		`+ (SELECT COUNT(*) FROM discreet_faults WHERE sum = ? AND participant = ?)`, id[:], participant, id[:], participant)
	return n > 0, err
}

// acceptShares stores shares in one transaction, and returns which are refused. When it returns
// without an error, all others are on disk.
func (s *Store) acceptShares(ctx context.Context, id secretsum.ID,
	shares []share) (refused map[int]problem.Kind, fresh int, err error) {
	size := 0
	for _, sh := range shares {
		size += len(sh.body)
	}
	err = s.db.Take(ctx, size, func(tx *sqldb.Tx) error {
		refused, fresh = map[int]problem.Kind{}, 0
		now, err := stateOf(tx, id)
		if err != nil {
			return err
		}
		for i, sh := range shares {
			d := sha256.Sum256(sh.body)
			var convicted int
			if _, err := tx.Find([]any{&convicted}, `SELECT COUNT(*) FROM discreet_faults WHERE sum = ? AND participant = ?`,
				id[:], sh.participant); err != nil {
				return err
			}
			if convicted > 0 {
				refused[i] = problem.Inconsistent
				continue
			}
			if now == open {
				n, err := tx.Exec(`INSERT INTO discreet_shares (sum, participant, digest, proof, signature, body) VALUES (?, `+
					`?, ?, ?, ?, ?) ON CONFLICT (sum, participant) DO NOTHING`, id[:], sh.participant, d[:], sh.proof, sh.signature,
					sh.kept)
				if err != nil {
					return err
				}
				if n == 1 {
					fresh++
					continue
				}
			}
			var before []byte
			found, err := tx.Find([]any{&before}, `SELECT digest FROM discreet_shares WHERE sum = ? AND participant = ?`, id[:],
				sh.participant)
			switch {
			case err != nil:
				return err
			case now == over:
				refused[i] = problem.TaskClosed
			case found && bytes.Equal(before, d[:]):
			case found:
				refused[i] = problem.Replayed
			default:
				refused[i] = problem.Late
			}
		}
		return nil
	})
	s.full.Store(err != nil)
	return refused, fresh, err
}

// countShares returns the number of shares, and whether the sum accepts no more.
func (s *Store) countShares(ctx context.Context, id secretsum.ID) (stored int, ended bool, err error) {
	err = s.db.View(ctx, func(tx *sqldb.Tx) error {
		now, err := stateOf(tx, id)
		if err != nil {
			return err
		}
		ended = now != open
		_, err = tx.Find([]any{&stored}, `SELECT COUNT(*) FROM discreet_shares WHERE sum = ?`, id[:])
		return err
	})
	return stored, ended, err
}

// endSum makes a sum accept no more shares. It may be called again.
func (s *Store) endSum(ctx context.Context, id secretsum.ID) error {
	return s.db.Exec(ctx, `UPDATE discreet_sums SET state = ? WHERE id = ? AND state = ?`, closed, id[:], open)
}

// eachShare calls f for every share of a closed sum, in order, except those of convicted participants.
// An opened sum has no shares. f must not retain body.
func (s *Store) eachShare(ctx context.Context, id secretsum.ID, f func(participant int, body []byte) error) error {
	return s.db.View(ctx, func(tx *sqldb.Tx) error {
		return tx.Each(func(r *sql.Rows) error {
			var participant int
			var body sql.RawBytes
			if err := r.Scan(&participant, &body); err != nil {
				return err
			}
			return f(participant, body)
		}, `SELECT participant, body FROM discreet_shares WHERE sum = ? AND body IS NOT NULL AND participant NOT IN `+
			`(SELECT participant FROM discreet_faults WHERE sum = ?) ORDER BY participant`, id[:], id[:])
	})
}

// shownHeld returns the reported set of held shares, nil if none was reported; show stores it first.
func (s *Store) shownHeld(ctx context.Context, id secretsum.ID) (held []byte, err error) {
	_, err = s.db.Find(ctx, []any{&held}, `SELECT held FROM discreet_sums WHERE id = ?`, id[:])
	return held, err
}

func (s *Store) keepHeld(ctx context.Context, id secretsum.ID, held []byte) error {
	return s.db.Exec(ctx, `UPDATE discreet_sums SET held = ? WHERE id = ? AND state = ?`, held, id[:], closed)
}

// answeredRequest returns the answered request and the answer, nil if there is none.
func (s *Store) answeredRequest(ctx context.Context, id secretsum.ID) (asked, answer []byte, err error) {
	_, err = s.db.Find(ctx, []any{&asked, &answer}, `SELECT asked, answer FROM discreet_sums WHERE id = ?`, id[:])
	return asked, answer, err
}

// keepAnswer stores the answer to a request and deletes the shares, unless a request was answered
// before. It returns the request that was answered for good, and its answer.
func (s *Store) keepAnswer(ctx context.Context, id secretsum.ID, request, sum []byte) (asked, answer []byte,
	err error) {
	err = s.db.Update(ctx, func(tx *sqldb.Tx) error {
		n, err := tx.Exec(`UPDATE discreet_sums SET state = ?, asked = ?, answer = ? WHERE id = ? `+
			`AND state = ? AND asked IS NULL`, opened, request, sum, id[:], closed)
		if err != nil {
			return err
		}
		if n == 1 {
			if _, err := tx.Exec(`UPDATE discreet_shares SET body = NULL WHERE sum = ?`, id[:]); err != nil {
				return err
			}
		}
		_, err = tx.Find([]any{&asked, &answer}, `SELECT asked, answer FROM discreet_sums WHERE id = ?`, id[:])
		return err
	})
	return asked, answer, err
}

// forgetSums deletes everything but the names of sums that ended before a time.
func (s *Store) forgetSums(ctx context.Context, before time.Time) (n int64, err error) {
	err = s.db.Update(ctx, func(tx *sqldb.Tx) error {
		if _, err := tx.Exec(`DELETE FROM discreet_shares WHERE sum IN (SELECT id FROM discreet_sums WHERE ends < ? AND `+
			`state <> ?)`, before.Unix(), over); err != nil {
			return err
		}
		if _, err := tx.Exec(`DELETE FROM discreet_faults WHERE sum IN (SELECT id FROM discreet_sums WHERE ends < ? AND `+
			`state <> ?)`, before.Unix(), over); err != nil {
			return err
		}
		n, err = tx.Exec(`UPDATE discreet_sums SET state = ?, bytes = NULL, held = NULL, asked = NULL, answer = NULL `+
			`WHERE ends < ? AND state <> ?`, over, before.Unix(), over)
		return err
	})
	return n, err
}
