// SPDX-License-Identifier: Apache-2.0

package store

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/internal/ground/sqldb"
)

// Report is one owner's message for a task.
type Report struct {
	Task  ID
	Round int
	Owner [32]byte // its key
	Body  []byte
	// Via is the certificate that sent it. Most is the number of owners that this certificate may
	// bring to the task, over all rounds; 0: no limit.
	Via  string
	Most int
}

// Outcome is the result of storing a report.
type Outcome int

// The outcomes of Accept.
const (
	Stored   Outcome = 1 + iota // now on disk
	Again                       // already on disk, with the same bytes
	Replayed                    // another report of the owner is on disk
	Early                       // the round has not been opened, or there is no such task
	Late                        // the round was already sealed
	Crowded                     // the certificate has brought its maximum number of owners
)

// chunk is the number of reports per statement.
const chunk = 200

// viaTable counts the owners that each certificate has brought to a task.
const viaTable = `CREATE TABLE IF NOT EXISTS discreet_via (task BLOB NOT NULL, via BLOB NOT NULL, owners INTEGER ` +
	`NOT NULL, PRIMARY KEY (task, via)) STRICT`

// group is the reports that are stored together: those of one round and certificate.
type group struct {
	task  ID
	round int
	via   string
	most  int
}

func (g group) compareGroup(o group) int {
	return cmp.Or(bytes.Compare(g.task[:], o.task[:]), cmp.Compare(g.round, o.round), cmp.Compare(g.via, o.via),
		cmp.Compare(g.most, o.most))
}

// Accept stores reports in one transaction, and returns an outcome for each. When it returns without
// an error, reports with the outcome Stored or Again are on disk. The caller must check that an owner
// belongs to the round.
func (s *Store) Accept(ctx context.Context, reports []Report) ([]Outcome, error) {
	out := make([]Outcome, len(reports))
	groups := map[group][]int{}
	for i, r := range reports {
		g := group{task: r.Task, round: r.Round}
		if r.Most > 0 {
			g.via, g.most = r.Via, r.Most
		}
		groups[g] = append(groups[g], i)
	}
	// Others lock in the same order.
	order := slices.SortedFunc(maps.Keys(groups), group.compareGroup)
	size := 0
	for _, r := range reports {
		size += len(r.Body)
	}
	err := s.db.Take(ctx, size, func(tx *sqldb.Tx) error {
		for _, g := range order {
			state, err := roundState(tx, g.task, g.round, tx.Share())
			if err != nil {
				return err
			}
			room := math.MaxInt
			if g.most > 0 && state == Open {
				if room, err = g.roomLeft(tx); err != nil {
					return err
				}
			}
			before := room
			for some := range slices.Chunk(groups[g], chunk) {
				if err := acceptReports(tx, reports, some, out, state, &room); err != nil {
					return err
				}
			}
			if g.most > 0 && room != before {
				if err := tx.One(`UPDATE discreet_via SET owners = owners + ? WHERE task = ? AND via = ?`, before-room, g.task[:],
					[]byte(g.via)); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// roomLeft returns the number of further owners that the certificate may bring. No one else can change
// it before the transaction ends.
func (g group) roomLeft(tx *sqldb.Tx) (int, error) {
	if _, err := tx.Exec(`INSERT INTO discreet_via (task, via, owners) VALUES (?, ?, 0) ON CONFLICT (task, via) `+
		`DO NOTHING`, g.task[:], []byte(g.via)); err != nil {
		return 0, err
	}
	var owners int
	_, err := tx.Find([]any{&owners}, `SELECT owners FROM discreet_via WHERE task = ? AND via = ?`+tx.Lock(), g.task[:],
		[]byte(g.via))
	return max(0, g.most-owners), err
}

// acceptReports handles the reports at the given indices, all of one round, and subtracts those it
// stores from room.
func acceptReports(tx *sqldb.Tx, reports []Report, at []int, out []Outcome, state State, room *int) error {
	added := map[[32]byte]bool{}
	if state == Open && *room > 0 {
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
			delete(added, r.Owner) // the same owner once more in this batch is a repetition
			if *room > 0 {
				*room--
				out[i] = Stored
				continue
			}
			if err := tx.One(`DELETE FROM discreet_reports WHERE task = ? AND round = ? AND owner = ?`, r.Task[:], r.Round,
				r.Owner[:]); err != nil {
				return err
			}
		}
		var digest []byte
		found, err := tx.Find([]any{&digest},
			`SELECT digest FROM discreet_reports WHERE task = ? AND round = ? AND owner = ?`, r.Task[:], r.Round, r.Owner[:])
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
		case state == Open:
			out[i] = Crowded
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

// Count returns the number of stored reports of a round.
func (s *Store) Count(ctx context.Context, id ID, round int) (n int, err error) {
	err = s.db.View(ctx, func(tx *sqldb.Tx) error {
		n, err = countReports(tx, id, round)
		return err
	})
	return n, err
}

func countReports(tx *sqldb.Tx, id ID, round int) (n int, err error) {
	_, err = tx.Find([]any{&n}, `SELECT COUNT(*) FROM discreet_reports WHERE task = ? AND round = ?`, id[:], round)
	return n, err
}

// Reports calls f for every report of a sealed round of an open task, in the order of owners' keys. f
// must not retain body.
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
