// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/discreet-dp/discreet/internal/ground/dp"
)

// books is the state of a ledger inside a transaction. It is computed from the entries, which are read
// once, in order, and checked one by one. Everything that is said about a ledger, and every step,
// comes from books: so what was summed is what was checked, and there is no second copy that could
// differ.
type books struct {
	tx       tx
	head     Head // of the newest entry
	identity string
	format   int    // the version of the tables that the entries need
	latest   string // the latest time of any entry
	names    []string
	datasets map[string]*datasetBooks
	jobs     map[jobName]*past
	results  map[string]committed // by request
	checked  *sync.Map            // see Entry.signer
}

// datasetBooks is the state of one data set.
type datasetBooks struct {
	declared
	name, hash string   // hash of the declaration, part of each job's identity
	definition string   // how cells of the cohort column are read, "" if no job has read them
	division   *divided // if the data set is one side of a table
	dealt      string   // the request under which the division's key is stored
	named      bool     // by a job
	terms      *Terms   // of the first job that began, nil if none did
	used       *account // against the total
	// institution counts against the institution's total, nil if it has none; also are its other data sets.
	institution *account
	also        []string
	exposing    bool // a job that protects single rows alone has begun
	roster      *roster
}

type jobName struct{ dataset, job string }

// past is the state of a job. The zero value is a job without an entry.
type past struct {
	kind    Kind  // of the newest entry
	seq     int64 // likewise
	request string
	part    string
	price   dp.Price
	// institution is set if the price protects the institution as a whole.
	institution bool
	reserved    Entry // the newest reservation
}

// readBooks reads the entries of a ledger and checks them. It calls each, unless it is nil, for every
// entry. Neither what each was told nor the books may be used if there is an error.
func (l *Ledger) readBooks(t tx, each func(*Entry) error) (*books, error) {
	head, version, err := t.head()
	if err != nil {
		return nil, err
	}
	b := &books{tx: t, format: format, datasets: map[string]*datasetBooks{}, jobs: map[jobName]*past{},
		results: map[string]committed{}, checked: &l.checked}
	err = t.entries(func(e Entry) error {
		if err := b.readEntry(&e); err != nil || each == nil {
			return err
		}
		return each(&e)
	})
	switch {
	case err != nil:
		return nil, err
	case b.head != head:
		return nil, &Damaged{head.Seq, "the newest entry is not the one the ledger names as newest"}
	case b.format != version:
		return nil, &Damaged{head.Seq, fmt.Sprintf("its tables are of version %d, its entries of version %d", version, b.format)}
	}
	return b, b.checkPairs()
}

// view runs f on the state of the ledger.
func (l *Ledger) view(ctx context.Context, f func(*books) error) error {
	return l.store.view(ctx, func(t tx) error {
		b, err := l.readBooks(t, nil)
		if err != nil {
			return err
		}
		return f(b)
	})
}

// update runs f on the state of the ledger, while there are no other writers.
func (l *Ledger) update(ctx context.Context, f func(*books) error) error {
	return l.store.update(ctx, func(t tx) error {
		b, err := l.readBooks(t, nil)
		if err != nil {
			return err
		}
		return f(b)
	})
}

// dataset returns the state of a data set.
func (b *books) dataset(name string) (*datasetBooks, error) {
	d := b.datasets[name]
	if d == nil {
		return nil, &Missing{fmt.Sprintf("data set %q", name), dp.Step{Kind: dp.DeclareDataset}}
	}
	return d, nil
}

// job returns the state of a job.
func (b *books) job(dataset, job string) past {
	if p := b.jobs[jobName{dataset, job}]; p != nil {
		return *p
	}
	return past{}
}

// unfinished lists the jobs that have not ended, in the order of their newest entries.
func (b *books) unfinished() (out []jobName) {
	for name, p := range b.jobs {
		if p.kind == Reserved || p.kind == Began || p.kind == Committed {
			out = append(out, name)
		}
	}
	slices.SortFunc(out, func(x, y jobName) int { return cmp.Compare(b.jobs[x].seq, b.jobs[y].seq) })
	return out
}

// result returns a stored result after comparing it with its entry.
func (b *books) result(request, job string) ([]byte, error) {
	result, err := b.tx.result(request)
	if err != nil {
		return nil, err
	}
	if want, ok := b.results[request]; !ok || !want.describes(result) {
		return nil, &Damaged{b.head.Seq, fmt.Sprintf("the stored result of job %q is not the one committed", job)}
	}
	return result, nil
}

// describes reports whether a committed entry is about these bytes.
func (c committed) describes(result []byte) bool {
	return c.SHA256 == hashOf(result) && c.Bytes == int64(len(result))
}

// append stores an entry, after checking it as readBooks does.
func (b *books) append(e Entry) error {
	version := b.format
	if err := b.readEntry(&e); err != nil {
		return err
	}
	if b.format != version {
		if err := b.tx.raiseFormat(b.format); err != nil {
			return err
		}
	}
	return b.tx.append(e)
}

// readEntry checks an entry and adds it to the books.
func (b *books) readEntry(e *Entry) error {
	bad := func(why string) error { return &Damaged{e.Seq, why} }
	switch {
	case e.Seq != b.head.Seq+1:
		return bad(fmt.Sprintf("it follows entry %d", b.head.Seq))
	case e.Prev != b.head.Hash:
		return bad("it does not name the entry before it")
	case e.hashEntry() != e.Hash: // 3.1
		return bad("it is not what its hash says")
	case (e.Kind == Created) != (e.Seq == 1):
		return bad("the first entry, and no other, creates the ledger")
	}
	b.head, b.latest = Head{e.Seq, e.Hash}, max(b.latest, e.At)
	d, known := b.datasets[e.Dataset]
	switch {
	case e.Kind == Created:
		b.identity = e.Hash
		return nil
	case e.Kind == Declared && !known && e.Epsilon > 0:
		return b.readDeclaration(e)
	case e.Kind == Declared || !known:
		return bad("its data set must be declared once, before its jobs")
	case e.Kind == Defined:
		var read defined
		err := e.decode(&read)
		if err == nil && (d.definition != "" || read.Definition == "" || d.CohortBy == "" || e.Job != "" || e.Epsilon != 0 ||
			e.Delta != 0) {
			err = bad("how cohorts are read must be written down once, where there are cohorts")
		}
		d.definition = read.Definition
		return err
	}
	if e.Kind == Divided {
		return b.readDivision(e, d)
	}
	if e.Kind == Bounded {
		return b.readBound(e, d)
	}
	if slices.Contains(ofRoles, e.Kind) {
		if err := d.roster.addEntry(e, b.latest, b.checked); err != nil {
			return bad("it was not for its key to write: " + err.Error())
		}
	}
	if e.Kind == Appointed || e.Kind == Allotted {
		b.format = max(b.format, formatCohorts)
		if e.Job != "" || e.Kind == Appointed && (e.Epsilon != 0 || e.Delta != 0) {
			return bad("a role has no job")
		}
		return nil
	}
	return b.readStep(e, d, bad)
}

func (b *books) readDeclaration(e *Entry) error {
	d := &datasetBooks{name: e.Dataset, hash: e.Hash}
	if err := e.decode(&d.declared); err != nil {
		return err
	}
	if d.CohortBy != "" {
		b.format = max(b.format, formatCohorts)
	}
	d.used = newAccount(&d.declared, dp.Price{Epsilon: e.Epsilon, Delta: e.Delta})
	d.roster = newRoster(&d.declared, d.used.limit)
	b.names, b.datasets[d.name] = append(b.names, d.name), d
	return nil
}

// stepsBefore lists the steps that may precede each step of a job, "" for none.
var stepsBefore = map[Kind][]Kind{Requested: {"", Refunded}, Approved: {Requested}, Refused: {Requested},
	Reserved: {"", Refunded, Approved}, Began: {Reserved}, Refunded: {Reserved}, Committed: {Began}, Closed: {Began},
	Published: {Committed}}

// readStep checks one step of a job against the steps before it.
func (b *books) readStep(e *Entry, d *datasetBooks, bad func(string) error) error {
	d.named = true
	name := jobName{e.Dataset, e.Job}
	p := b.jobs[name]
	if p == nil {
		p = &past{}
		b.jobs[name] = p
	}
	if !slices.Contains(stepsBefore[e.Kind], p.kind) {
		return bad(fmt.Sprintf("job %q cannot go from %s to %s", e.Job, cmp.Or(p.kind, "no step"), e.Kind))
	}
	price := dp.Price{Epsilon: e.Epsilon, Delta: e.Delta}
	if e.Kind == Requested || e.Kind == Reserved && p.kind != Approved {
		p.request, p.part, p.price = e.Request, e.Part, price
	}
	switch {
	case e.Request != p.request || e.Part != p.part:
		return bad(fmt.Sprintf("job %q changed its request", e.Job))
	case e.Kind == Began && e.Part != "" && d.CohortBy != "" && d.definition == "":
		return bad("a job on cohorts began before it was written down how they are read")
	}
	if _, err := d.partsOf(e.Part); err != nil {
		return bad("its part is not one that was declared")
	}
	p.kind, p.seq = e.Kind, e.Seq
	if e.Kind == Reserved {
		p.reserved = *e
	}
	return b.readPrice(e, d, p, bad)
}

// readPrice checks the price of a step, and adds it to what the data set has used.
func (b *books) readPrice(e *Entry, d *datasetBooks, p *past, bad func(string) error) error {
	price := dp.Price{Epsilon: e.Epsilon, Delta: e.Delta}
	back := subtractPrice(dp.Price{}, price)
	switch e.Kind {
	case Requested:
		if price.Epsilon <= 0 || price.Delta < 0 {
			return bad("a request must have a price")
		}
		return nil
	case Reserved, Began, Refunded:
		if price != p.price {
			return bad("its price is not the one asked for")
		}
	default:
		if e.Epsilon != 0 || e.Delta != 0 {
			return bad("this step has no price")
		}
	}
	switch e.Kind {
	case Reserved:
		if err := b.readUnit(e, d, p); err != nil {
			return err
		}
		limit := d.used.limit
		if price.Epsilon <= 0 || price.Epsilon > limit.Epsilon || price.Delta < 0 || price.Delta > limit.Delta ||
			!p.addUse(d, Use{Reserved: price}) {
			return bad("its price exceeds what was left")
		}
	case Began:
		p.addUse(d, Use{Spent: price, Reserved: back}) // 1.1
		if p.institution {
			break
		}
		d.exposing = true // 8.3
		if d.terms == nil {
			var first began
			if err := e.decode(&first); err != nil {
				return err
			}
			d.terms = &first.Terms
		}
	case Refunded:
		p.addUse(d, Use{Reserved: back})
	case Committed:
		var result committed
		if err := e.decode(&result); err != nil {
			return err
		}
		b.results[e.Request] = result
	}
	return nil
}
