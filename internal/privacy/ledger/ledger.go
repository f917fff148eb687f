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

	"github.com/discreet-dp/discreet/internal/anchor"
	"github.com/discreet-dp/discreet/internal/plaintext"
	"github.com/discreet-dp/discreet/internal/privacy/dp"
	"github.com/discreet-dp/discreet/internal/sqldb"
)

// Ledger is an open ledger. Its methods may be called concurrently.
type Ledger struct {
	address  string
	store    store
	now      func() time.Time
	files    files
	anchors  anchor.Folder // "" for none
	identity string        // hash of the first entry, under which anchors are stored; "" until there is one
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
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &Missing{fmt.Sprintf("file %s", address), "discreet budget init creates it"}
	}
	return c, err
}

// connectLedger makes a ledger on a database.
func connectLedger(ctx context.Context, c driver.Connector, postgres, create bool) (*Ledger, error) {
	db, err := sqldb.Connect(ctx, c, postgres, databaseOptions(create))
	if err != nil {
		return nil, &Unreadable{err}
	}
	l := &Ledger{store: &sqlStore{db}, now: time.Now, files: disk{}, pass: func(string) error { return nil }}
	if err := l.findTables(ctx, create); err != nil {
		return nil, errors.Join(&Unreadable{err}, db.Close())
	}
	return l, nil
}

// findTables finds the tables, or creates them.
func (l *Ledger) findTables(ctx context.Context, create bool) error {
	look := func() error {
		return l.store.view(ctx, func(t tx) error { _, err := t.head(); return err })
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
	look := func() error {
		return l.store.view(ctx, func(t tx) error {
			first, found, err := t.entryAt(1)
			if err != nil || !found {
				return err
			}
			l.identity = first.Hash
			h, err = t.head()
			return err
		})
	}
	if err := look(); err != nil {
		return err
	}
	l.anchors = folder
	if l.identity == "" {
		return nil
	}
	if err := folder.Check("ledger: the ledger", l.identity, func(kept anchor.Head) (is bool, err error) {
		err = l.store.view(ctx, func(t tx) error {
			e, found, err := t.entryAt(kept.Seq)
			is = found && e.Hash == kept.Hash && e.hashEntry() == kept.Hash
			return err
		})
		return is, err
	}); err != nil {
		return err
	}
	return folder.Note(l.identity, anchor.Head(h))
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
	return l.runStep(ctx, "declare", func(t tx) error {
		_, found, err := t.first(d.Name, Declared)
		if err != nil {
			return err
		}
		if found {
			return &Exists{d.Name}
		}
		if d.CohortBy != "" {
			if err := t.raiseFormat(formatCohorts); err != nil {
				return err
			}
		}
		err = l.addEntry(t, Entry{Kind: Declared, Dataset: d.Name, Epsilon: d.Epsilon, Delta: d.Delta,
			Detail: encodeDetail(declared{Note: d.Note, Unit: d.Unit, Parts: d.Parts, CohortBy: d.CohortBy})})
		if err != nil || d.Owner == nil {
			return err
		}
		return l.appoint(t, d.Owner, Appointment{Dataset: d.Name, Role: Owner, Name: "owner",
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
	err = l.store.view(ctx, func(t tx) error {
		if len(names) == 0 {
			if names, err = t.datasets(); err != nil {
				return err
			}
		}
		out = nil
		for _, name := range names {
			b, err := readBalance(t, name)
			if err != nil {
				return err
			}
			out = append(out, b)
		}
		return nil
	})
	return out, err
}

// readBalance adds up a data set. Sums that contradict each other are reported as damage.
func readBalance(t tx, name string) (b Balance, err error) {
	e, found, err := t.first(name, Declared)
	if err != nil {
		return b, err
	}
	if !found {
		return b, &Missing{fmt.Sprintf("data set %q", name), "discreet budget init declares it"}
	}
	var d declared
	if err := e.decode(&d); err != nil {
		return b, err
	}
	s, err := t.sums(name)
	if err != nil {
		return b, err
	}
	b.Dataset = Dataset{Name: name, Epsilon: e.Epsilon, Delta: e.Delta, Unit: d.Unit, Note: d.Note, Parts: d.Parts,
		CohortBy: d.CohortBy}
	if !b.addSums(s, &d) {
		return b, &Damaged{e.Seq, fmt.Sprintf("the entries of data set %q do not add up", name)}
	}
	return b, nil
}

// addSums computes the balance from s: what was charged on all of the data set, and the largest sum of
// any part or cohort (4.3). It reports whether the sums are possible.
func (b *Balance) addSums(s sums, d *declared) bool {
	all, sound := s.useOfPart("")
	uses, ok := s.usesByPart(d)
	sound = sound && ok
	names := slices.Sorted(maps.Keys(uses))
	if d.Parts != nil {
		names = d.Parts.Names
	}
	left := func(charged dp.Price) dp.Price {
		return dp.Price{Epsilon: b.Epsilon - all.chargedPrice().Epsilon - charged.Epsilon,
			Delta: b.Delta - all.chargedPrice().Delta - charged.Delta}
	}
	var spent, charged dp.Price // the most of any part
	for _, name := range names {
		u := uses[name]
		spent, charged = largerPrice(spent, u.Spent), largerPrice(charged, u.chargedPrice())
		b.ByPart = append(b.ByPart, PartBalance{name, u, left(u.chargedPrice())})
	}
	b.ForNew = left(dp.Price{})
	b.Spent, b.SpentDelta = all.Spent.Epsilon+spent.Epsilon, all.Spent.Delta+spent.Delta
	b.Left, b.LeftDelta = left(charged).Epsilon, left(charged).Delta
	b.Reserved, b.ReservedDelta = b.Epsilon-b.Spent-b.Left, b.Delta-b.SpentDelta-b.LeftDelta
	return sound && b.Left >= 0 && b.LeftDelta >= 0
}

// largerPrice returns the maximum of two prices, separately for ε and δ.
func largerPrice(p, q dp.Price) dp.Price {
	return dp.Price{Epsilon: max(p.Epsilon, q.Epsilon), Delta: max(p.Delta, q.Delta)}
}

// History calls f for every entry of a data set, or of the whole ledger for "", oldest first.
func (l *Ledger) History(ctx context.Context, dataset string, f func(Entry) error) error {
	return l.store.view(ctx, func(t tx) error {
		if dataset != "" {
			if _, err := readBalance(t, dataset); err != nil {
				return err
			}
		}
		return t.entries(dataset, "", f)
	})
}

// runStep runs one step: either everything that f adds is stored, or nothing is.
func (l *Ledger) runStep(ctx context.Context, step string, f func(tx) error) error {
	if err := l.pass(step + ": before"); err != nil {
		return err
	}
	var head Head
	var first Entry
	err := l.store.update(ctx, func(t tx) (err error) {
		if err := f(t); err != nil {
			return err
		}
		if l.anchors != "" {
			if head, err = t.head(); err != nil {
				return err
			}
			if first, _, err = t.entryAt(1); err != nil {
				return err
			}
		}
		return l.pass(step + ": before it is stored")
	})
	if err != nil {
		return err
	}
	if err := l.pass(step + ": stored"); err != nil {
		return err
	}
	l.noteHead(first.Hash, head) // never before it is stored
	return nil
}

// addEntry chains e to the newest entry, which must match the head.
func (l *Ledger) addEntry(t tx, e Entry) error { return l.addSigned(t, e, nil) }

// addSigned is addEntry with the signature of a key, nil for none.
func (l *Ledger) addSigned(t tx, e Entry, key ed25519.PrivateKey) error {
	h, err := t.head()
	if err != nil {
		return err
	}
	last, found, err := t.last()
	switch {
	case err != nil:
		return err
	case !found && h.Seq == 0:
		first := Entry{Kind: Created, Detail: encodeDetail(created{format, rand.Text()})}
		if h, err = l.chainEntry(t, h, first, nil); err != nil {
			return err
		}
	case !found || last.Seq != h.Seq || last.Hash != h.Hash || last.hashEntry() != h.Hash:
		return &Damaged{h.Seq, "the newest entry is not the one the ledger names as newest"}
	}
	_, err = l.chainEntry(t, h, e, key)
	return err
}

func (l *Ledger) chainEntry(t tx, h Head, e Entry, key ed25519.PrivateKey) (Head, error) {
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
	return Head{e.Seq, e.Hash}, t.append(e)
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
