// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/discreet-dp/discreet/internal/ground/anchor"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ground/plaintext"
	"github.com/discreet-dp/discreet/internal/ground/sqldb"
)

// Ledger is an open ledger. Its methods may be called concurrently.
type Ledger struct {
	address  string
	store    store
	now      func() time.Time
	files    files
	anchors  anchor.Folder // "" for none
	identity string        // hash of the first entry, under which anchors are stored; "" until there is one
	checked  sync.Map      // see Entry.signer
	noting   sync.Mutex
	unnoted  error // why an anchor could not be stored
	// pass is called at every point between two effects; tests use it to stop there.
	pass func(point string) error
}

// Open opens the ledger at address: a file, or postgres://user@host/database. If the ledger does not
// exist, the error is *Missing.
func Open(ctx context.Context, address string) (*Ledger, error) {
	return openAddress(ctx, address, false)
}

// Create opens the ledger at address, and creates it if it does not exist.
func Create(ctx context.Context, address string) (*Ledger, error) {
	return openAddress(ctx, address, true)
}

func openAddress(ctx context.Context, address string, create bool) (*Ledger, error) {
	c, err := newConnector(address, create)
	if err != nil {
		return nil, err
	}
	w := waitsOf(ctx, address)
	defer w.begin()()
	l, err := connectLedger(ctx, c, sqldb.IsPostgres(address), create)
	if unreadable, ok := errors.AsType[*Unreadable](err); ok && !sqldb.IsPostgres(address) {
		unreadable.File = address
	}
	if err != nil {
		return nil, err
	}
	l.address, l.store = address, &noticedStore{l.store, w}
	return l, nil
}

// databaseOptions are the options that keep a ledger in a single file at all times, if it is a file.
func databaseOptions(create bool) sqldb.Options { return sqldb.Options{Op: "ledger", Create: create} }

func newConnector(address string, create bool) (driver.Connector, error) {
	c, err := sqldb.Connector(address, databaseOptions(create))
	if errors.Is(err, fs.ErrNotExist) && !create {
		return nil, &Missing{fmt.Sprintf("file %s", address), dp.Step{Kind: dp.CreateLedger}}
	}
	return c, err
}

// connectLedger makes a ledger on a database.
func connectLedger(ctx context.Context, c driver.Connector, postgres, create bool) (*Ledger, error) {
	db, err := sqldb.Connect(ctx, c, postgres, databaseOptions(create))
	if err != nil {
		return nil, &Unreadable{Err: err}
	}
	l := &Ledger{store: &sqlStore{db}, now: time.Now, files: disk{}, pass: func(string) error { return nil }}
	if err := l.findTables(ctx, create); err != nil {
		return nil, errors.Join(&Unreadable{Err: err}, db.Close())
	}
	return l, nil
}

// findTables finds the tables, or creates them.
func (l *Ledger) findTables(ctx context.Context, create bool) error {
	look := func() error {
		return l.store.view(ctx, func(t tx) error { _, _, err := t.head(); return err })
	}
	err := look()
	if err == nil {
		return nil
	}
	if !create {
		return err
	}
	if made := l.store.create(ctx); made != nil && look() != nil { // someone else may have made them meanwhile
		return made
	}
	return nil
}

// Close releases the files or connections. It fails if an anchor could not be stored.
func (l *Ledger) Close() error {
	l.noting.Lock()
	defer l.noting.Unlock()
	return errors.Join(l.store.close(), l.unnoted)
}

// Anchor makes the ledger store its newest head in a folder outside of it. If the folder holds a head
// that the ledger does not contain, it returns *anchor.Behind: the ledger was restored to an earlier
// state, and would grant spent budget again. A ledger without a stored head is trusted. Anchor must be
// called once, before anything else.
func (l *Ledger) Anchor(ctx context.Context, folder anchor.Folder) error {
	var h Head
	if err := l.view(ctx, func(b *books) error { l.identity, h = b.identity, b.head; return nil }); err != nil {
		return err
	}
	l.anchors = folder
	if l.identity == "" {
		return nil
	}
	var states map[anchor.Head]bool // read once, after the anchors
	if err := folder.Check("ledger: the ledger", l.identity, func(kept anchor.Head) (is bool, err error) {
		if states == nil {
			states, err = l.readStates(ctx)
		}
		return states[kept], err
	}); err != nil {
		return err
	}
	return folder.Note(l.identity, anchor.Head(h))
}

// readStates returns the heads that the ledger has had.
func (l *Ledger) readStates(ctx context.Context) (out map[anchor.Head]bool, err error) {
	err = l.store.view(ctx, func(t tx) error {
		out = map[anchor.Head]bool{}
		_, err := l.readBooks(t, func(e *Entry) error { out[anchor.Head{Seq: e.Seq, Hash: e.Hash}] = true; return nil })
		return err
	})
	return out, err
}

// noteHead stores the head of a step that is on disk. If that fails, the anchor stays behind, and
// Close returns the reason.
func (l *Ledger) noteHead(first string, h Head) {
	if l.anchors == "" || h.Seq == 0 {
		return
	}
	l.noting.Lock()
	defer l.noting.Unlock()
	l.identity = first
	l.unnoted = errors.Join(l.unnoted, l.anchors.Note(first, anchor.Head(h)))
}

// Dataset is an owner's declaration of a data set.
type Dataset struct {
	Name    string
	Epsilon dp.Epsilon // the total that all jobs together may spend; > 0
	Delta   dp.Delta   // likewise; 0 for pure budgets
	Unit    string     // what one row describes; "" lets the first job decide
	Parts   *Parts     // nil if the data set has none
	// CohortBy is the public column whose values are the data set's cohorts; "" if it has none.
	CohortBy string
	Note     string // the owner's note
	// Institution is a second total, of the institution as a whole; nil for none.
	Institution *Institution
	// Owner is the key of the data set's owner. Without one, everyone who can write to the ledger may
	// charge the data set.
	Owner ed25519.PrivateKey
}

// Declare adds a data set with its total. It refuses a data set that exists already, because totals
// never change.
func (l *Ledger) Declare(ctx context.Context, d Dataset) error {
	switch {
	case !isWord(d.Name):
		return dp.Refuse("ledger", "dataset", "must be 1 to 128 letters, digits, dots, hyphens and underscores",
			fmt.Sprintf("%.200q", d.Name))
	case !(d.Epsilon > 0 && d.Epsilon <= dp.MaxEpsilon):
		return dp.Refuse("ledger", "epsilon", fmt.Sprintf("must be > 0 and at most %s", dp.MaxEpsilon), d.Epsilon.String())
	case !(d.Delta >= 0 && d.Delta < dp.Femto):
		return dp.Refuse("ledger", "delta", "must be at least 0 and below 1", d.Delta.String())
	case !isPlain(d.CohortBy) || d.CohortBy != "" && d.Parts != nil:
		return dp.Refuse("ledger", "cohort-by", "must name one column, and no parts with it", fmt.Sprintf("%.200q",
			d.CohortBy))
	case !isPlain(d.Unit) || !isPlain(d.Note):
		return dp.Refuse("ledger", "note", "must be one line of at most 1000 characters without control characters", nil)
	}
	if err := d.Parts.checkParts(); err != nil {
		return err
	}
	return l.runStep(ctx, "declare", func(b *books) error {
		if b.datasets[d.Name] != nil {
			return &Exists{d.Name}
		}
		err := l.addEntry(b, Entry{Kind: Declared, Dataset: d.Name, Epsilon: d.Epsilon, Delta: d.Delta,
			Detail: encodeDetail(declared{Note: d.Note, Unit: d.Unit, Parts: d.Parts, CohortBy: d.CohortBy})})
		if err == nil && d.Institution != nil {
			err = l.bound(b, d.Name, *d.Institution)
		}
		if err != nil || d.Owner == nil {
			return err
		}
		return l.appoint(b, d.Owner, Appointment{Dataset: d.Name, Role: Owner, Name: "owner",
			Key: d.Owner.Public().(ed25519.PublicKey)})
	})
}

// Balance is a data set and the use of its total: Spent + Reserved + Left. Parts do not add up: only
// the part with the largest spending counts, separately for ε and δ.
type Balance struct {
	Dataset
	Spent, Reserved, Left                dp.Epsilon
	SpentDelta, ReservedDelta, LeftDelta dp.Delta
	// ByPart lists the spending and reservations of each part, in the order of Dataset.Parts, and what
	// is left for a job on it. For cohorts, it lists each cohort that a job has named, in the order of
	// names.
	ByPart []PartBalance
	// ForNew is what is left for a job on a cohort that no job has named yet.
	ForNew dp.Price
	// OfInstitution is the use of the institution's total; nil if it has none.
	OfInstitution *InstitutionBalance
}

// PartBalance is the balance of one part or cohort.
type PartBalance struct {
	Name string
	Use
	Left dp.Price
}

// Retired reports whether no job on the part is possible any more, because every job has a price in ε.
func (p *PartBalance) Retired() bool { return p.Left.Epsilon == 0 }

// LeftFor returns the largest price of a job on the named part, on all of the named cohorts, or on all
// of the data set if no name is given.
func (b *Balance) LeftFor(names ...string) (dp.Price, error) {
	if len(names) == 0 {
		return dp.Price{Epsilon: b.Left, Delta: b.LeftDelta}, nil
	}
	left := b.ForNew
	for _, name := range names {
		i := slices.IndexFunc(b.ByPart, func(p PartBalance) bool { return p.Name == name })
		switch {
		case i >= 0:
			left = dp.Price{Epsilon: min(left.Epsilon, b.ByPart[i].Left.Epsilon), Delta: min(left.Delta, b.ByPart[i].Left.Delta)}
		case b.CohortBy == "":
			return dp.Price{}, dp.Refuse("ledger", "part", fmt.Sprintf("must be one that data set %q was declared with",
				b.Name), fmt.Sprintf("%.200q", name))
		}
	}
	return left, nil
}

// Balances returns the balances of the named data sets, or of all in the order of their declaration.
func (l *Ledger) Balances(ctx context.Context, names ...string) (out []Balance, err error) {
	err = l.view(ctx, func(b *books) error {
		if len(names) == 0 {
			names = b.names
		}
		out = nil
		for _, name := range names {
			d, err := b.dataset(name)
			if err != nil {
				return err
			}
			out = append(out, b.balance(d))
		}
		return nil
	})
	return out, err
}

// balance computes the balance of a data set.
func (all *books) balance(d *datasetBooks) Balance {
	limit, spent, charged := d.used.limit, d.used.total(Use.spentPrice), d.used.charged()
	left := subtractPrice(limit, charged)
	b := Balance{Dataset: Dataset{Name: d.name, Epsilon: limit.Epsilon, Delta: limit.Delta, Unit: d.Unit, Note: d.Note,
		Parts: d.Parts, CohortBy: d.CohortBy}, Spent: spent.Epsilon, SpentDelta: spent.Delta,
		Left: left.Epsilon, LeftDelta: left.Delta, Reserved: charged.Epsilon - spent.Epsilon,
		ReservedDelta: charged.Delta - spent.Delta, ForNew: subtractPrice(limit, d.used.uses[""].chargedPrice()), OfInstitution: all.institutionBalance(d)}
	names := slices.Sorted(maps.Keys(d.used.uses))
	if d.Parts != nil {
		names = d.Parts.Names
	}
	for _, name := range names {
		if name != "" {
			u := d.used.uses[name]
			b.ByPart = append(b.ByPart, PartBalance{name, u, subtractPrice(b.ForNew, u.chargedPrice())})
		}
	}
	return b
}

// largerPrice returns the maximum of two prices, separately for ε and δ.
func largerPrice(p, q dp.Price) dp.Price {
	return dp.Price{Epsilon: max(p.Epsilon, q.Epsilon), Delta: max(p.Delta, q.Delta)}
}

func addPrices(p, q dp.Price) dp.Price {
	return dp.Price{Epsilon: p.Epsilon + q.Epsilon, Delta: p.Delta + q.Delta}
}

func subtractPrice(p, q dp.Price) dp.Price {
	return dp.Price{Epsilon: p.Epsilon - q.Epsilon, Delta: p.Delta - q.Delta}
}

// History calls f for every entry of a data set, or of the whole ledger for "", oldest first.
func (l *Ledger) History(ctx context.Context, dataset string, f func(Entry) error) error {
	_, entries, err := l.readEntries(ctx, dataset)
	for i := 0; err == nil && i < len(entries); i++ {
		err = f(entries[i])
	}
	return err
}

// readEntries returns the entries of a data set, or of the whole ledger for "", after all were checked.
func (l *Ledger) readEntries(ctx context.Context, dataset string) (b *books, entries []Entry, err error) {
	err = l.store.view(ctx, func(t tx) (err error) {
		entries = nil
		b, err = l.readBooks(t, func(e *Entry) error {
			if dataset == "" || e.Dataset == dataset {
				entries = append(entries, *e)
			}
			return nil
		})
		if err == nil && dataset != "" {
			_, err = b.dataset(dataset)
		}
		return err
	})
	return b, entries, err
}

// runStep runs one step: either everything that f adds is stored, or nothing is.
func (l *Ledger) runStep(ctx context.Context, step string, f func(*books) error) error {
	if err := l.pass(step + ": before"); err != nil {
		return err
	}
	var head Head
	var identity string
	err := l.update(ctx, func(b *books) error {
		if err := f(b); err != nil {
			return err
		}
		head, identity = b.head, b.identity
		return l.pass(step + ": before it is stored")
	})
	if err != nil {
		return err
	}
	if err := l.pass(step + ": stored"); err != nil {
		return err
	}
	l.noteHead(identity, head) // never before it is stored
	return nil
}

// addEntry chains e to the newest entry.
func (l *Ledger) addEntry(b *books, e Entry) error { return l.addSigned(b, e, nil) }

// addSigned is addEntry with the signature of a key, nil for none. It adds nothing that readBooks would
// refuse.
func (l *Ledger) addSigned(b *books, e Entry, key ed25519.PrivateKey) error {
	if b.head.Seq == 0 {
		first := l.chainEntry(b.head, Entry{Kind: Created, Detail: encodeDetail(created{format, rand.Text()})}, nil)
		if err := b.append(first); err != nil {
			return err
		}
	}
	return b.append(l.chainEntry(b.head, e, key))
}

// chainEntry completes an entry that follows the head.
func (l *Ledger) chainEntry(h Head, e Entry, key ed25519.PrivateKey) Entry {
	e.Seq, e.Prev = h.Seq+1, h.Hash
	if e.At == "" {
		e.At = l.now().UTC().Format(time.RFC3339)
	}
	if e.Detail == nil {
		e.Detail = json.RawMessage("{}")
	}
	if key != nil {
		e.sign(key)
	}
	e.Hash = e.hashEntry()
	return e
}

// Maximum lengths of names and other texts, in bytes.
const (
	maxWord  = 128
	maxPlain = 1000
)

// isWord accepts names that people can type and that shells do not interpret.
func isWord(s string) bool {
	for _, c := range s {
		if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '.' || c == '-' || c == '_') {
			return false
		}
	}
	return 0 < len(s) && len(s) <= maxWord
}

// isPlain accepts text that prints as it reads, on one line.
func isPlain(s string) bool {
	return plaintext.Is(s) && len(s) <= maxPlain
}
