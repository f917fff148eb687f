// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/discreet-dp/discreet/internal/ground/dp"
)

// A data set may have a second total, of the institution whose rows it holds. A job at the unit
// institution protects all rows of the institution together. It is charged to both totals, since a change
// of one row is one of the changes that it protects. A job that protects single rows, or persons, says
// nothing about all of them together: from the moment it begins, the institution is not protected (claim
// G-LEDGER-8).

// Institution is the total of an institution.
type Institution struct {
	dp.Price
	// Also are other data sets that hold rows of the institution. The other side of a table that was split
	// is one without being named.
	Also []string
}

// bounded is the content of Detail. The total is the entry's ε and δ.
type bounded struct {
	Also []string `json:"also,omitempty"`
}

// Bound gives the institution of a data set a total. It refuses one that has a total already, because
// totals never change, and one above the total of the rows, to which each job is charged, too.
func (l *Ledger) Bound(ctx context.Context, dataset string, of Institution) error {
	return l.runStep(ctx, "bound", func(b *books) error { return l.bound(b, dataset, of) })
}

func (l *Ledger) bound(b *books, dataset string, of Institution) error {
	bad := dp.RefuseFor("ledger")
	d, err := b.dataset(dataset)
	switch {
	case err != nil:
		return err
	case d.institution != nil:
		return &Exists{dataset + ", its institution"}
	case d.roster.owner != "":
		return bad("institution", "must get its total before the data set gets an owner", dataset)
	case of.Epsilon <= 0 || of.Epsilon > d.used.limit.Epsilon || of.Delta < 0 || of.Delta > d.used.limit.Delta:
		return bad("institution", "must have a total > 0 and at most that of the rows, "+d.used.limit.String(), of.Price)
	}
	return l.addEntry(b, Entry{Kind: Bounded, Dataset: dataset, Epsilon: of.Epsilon, Delta: of.Delta,
		Detail: encodeDetail(bounded{of.Also})})
}

// readBound checks an entry that gives an institution a total.
func (b *books) readBound(e *Entry, d *datasetBooks) error {
	var is bounded
	if err := e.decode(&is); err != nil {
		return err
	}
	limit := dp.Price{Epsilon: e.Epsilon, Delta: e.Delta}
	if d.institution != nil || d.roster.owner != "" || e.Job != "" || e.Part != "" || limit.Epsilon <= 0 || limit.Delta < 0 ||
		limit.Epsilon > d.used.limit.Epsilon || limit.Delta > d.used.limit.Delta {
		return &Damaged{e.Seq, "an institution must get one total, within that of its rows and before there is an owner"}
	}
	d.institution, d.also, b.format = newAccount(new(declared), limit), is.Also, max(b.format, formatBounded)
	return nil
}

// exposed reports whether a job has begun that protects single rows of the institution alone.
func (b *books) exposed(d *datasetBooks) bool {
	names := append([]string{d.name}, d.also...)
	if d.division != nil {
		names = append(names, d.division.Other)
	}
	return slices.ContainsFunc(names, func(name string) bool { return b.datasets[name] != nil && b.datasets[name].exposing })
}

// readUnit reads at which unit a job was charged, and refuses an institution's job that must not have been (8.2).
func (b *books) readUnit(e *Entry, d *datasetBooks, p *past) error {
	var r reserved
	if err := e.decode(&r); err != nil {
		return err
	}
	switch p.institution = r.Institution; {
	case !r.Institution:
		return nil
	case d.institution == nil || e.Part != "":
		return &Damaged{e.Seq, "a job of an institution needs its total, and reads all rows"}
	case !r.Exposed && b.exposed(d):
		return &Damaged{e.Seq, "a job of an institution was charged after the institution was not protected any more"}
	}
	return nil
}

// addUse adds to what the job's units have used: of the rows and, where the job protects it, of the
// institution (8.1). It reports whether both limits allow the new sums.
func (p *past) addUse(d *datasetBooks, u Use) bool {
	fits := d.used.addUse(p.part, u)
	if p.institution && d.institution != nil {
		fits = d.institution.addUse("", u) && fits
	}
	return fits
}

// checkInstitution refuses a job of an institution that its total does not allow, and one after which the
// institution is not protected, unless the request says that it need not be.
func (j *Job) checkInstitution(b *books, d *datasetBooks, price dp.Price) error { // 8.2
	switch {
	case !j.req.Institution:
		return nil
	case d.institution == nil:
		return dp.Refuse("ledger", "institution", "must have a total of its own", d.name)
	case !j.req.Exposed && b.exposed(d):
		return &Exposed{d.name}
	}
	limit, used := d.institution.limit, d.institution.charged()
	if price.Epsilon > limit.Epsilon-used.Epsilon || price.Delta > limit.Delta-used.Delta {
		return &Exceeded{Dataset: d.name, Institution: true, Spent: used.Epsilon, Asked: price.Epsilon, Limit: limit.Epsilon,
			SpentDelta: used.Delta, AskedDelta: price.Delta, LimitDelta: limit.Delta}
	}
	return nil
}

// Exposed refuses a job that would be charged to an institution which is not protected any more. Nothing
// was charged.
type Exposed struct{ Dataset string }

func (e *Exposed) Error() string {
	return fmt.Sprintf("ledger: data set %q: the institution must be protected as a whole, and a job that protects its single "+
		"rows has begun; nothing was charged", e.Dataset)
}

// InstitutionBalance is the use of an institution's total.
type InstitutionBalance struct {
	Total, Spent, Reserved, Left dp.Price
	// Exposed is set if the institution is not protected: the total bounds its own jobs, and nothing bounds
	// what others tell.
	Exposed bool
}

// institutionBalance returns the balance of the institution; nil if it has no total.
func (b *books) institutionBalance(d *datasetBooks) *InstitutionBalance {
	a := d.institution
	if a == nil {
		return nil
	}
	spent, charged := a.total(Use.spentPrice), a.charged()
	return &InstitutionBalance{a.limit, spent, subtractPrice(charged, spent), subtractPrice(a.limit, charged), b.exposed(d)}
}

// HasResult reports whether a result of these bytes, as their SHA-256, is committed in the data set by a job that
// protects its rows. What follows from such a result costs them nothing more.
func (l *Ledger) HasResult(ctx context.Context, dataset string, digest [sha256.Size]byte) (has bool, err error) {
	_, entries, err := l.readEntries(ctx, dataset)
	for _, e := range entries {
		if e.Kind != Committed {
			continue
		}
		var c committed
		if err := e.decode(&c); err != nil {
			return false, err
		}
		has = has || c.SHA256 == hex.EncodeToString(digest[:])
	}
	return has, err
}
