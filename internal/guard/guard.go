// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"context"
	"fmt"
	"slices"

	"github.com/discreet-dp/discreet/internal/guard/internal/inside"
	"github.com/discreet-dp/discreet/internal/privacy/dp"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Guard answers a learner's questions about one table, within one price. It is not for several
// goroutines at once.
type Guard struct {
	terms    Terms
	table    inside.Sealed[engine.Table] // settled: rows weigh what their persons allow, or count once
	exit     inside.Sealed[*mech.Exit]
	purse    purse
	protects protects
	counted  bool
	private  bool
	relation dp.Relation // the schema's when the guard was made: who holds the schema may write to it
	most     int         // rows that a unit counts for
	units    int64       // that a whole row counts for in counts of rows: engine.WeightOne if persons are weighed, else 1
	remote   Remote      // nil if rows lie here
}

func newGuard(t Terms, tab engine.Table, exit inside.Sealed[*mech.Exit]) *Guard {
	s := tab.Schema()
	return &Guard{table: inside.Seal(tab), exit: exit, protects: protectedBy(t.Scope, s), relation: s.Relation, most: 1, units: 1}
}

// Open charges acct for a training on tab by terms t, and returns its guard. It refuses before it
// charges: a scope that is weaker than the schema's, a bill that costs more than its price, a δ at
// which a row may be published, and a table without a row if their number is public.
func Open(ctx context.Context, t Terms, tab engine.Table, acct Account, exit *mech.Exit) (*Guard, error) {
	g := newGuard(t, tab, inside.Seal(exit))
	if err := g.setPurse(t); err != nil {
		return nil, err
	}
	if units := g.Units(); units < 1 && (!g.private || g.relation == dp.ReplaceOne) {
		return nil, fmt.Errorf("%s: the table must have at least one row", t.Op)
	} else if err := CheckDelta(t.Op, t.Price.Delta, units); err != nil {
		return nil, err
	}
	if err := acct.Charge(ctx, t.Price, t.Bill); err != nil {
		return nil, fmt.Errorf("%s: %w", t.Op, err)
	}
	g.counted = acct.Counted()
	return g, nil
}

// setPurse fills the purse as t says, unless that protects less than the schema declares.
func (g *Guard) setPurse(t Terms) (err error) {
	t.Bill = slices.Clone(t.Bill) // the learner may change its own
	g.terms = t
	if t.NotPrivate {
		if len(t.Bill) > 0 || t.Price != (dp.Price{}) {
			return &dp.ParamError{Op: t.Op, Param: "price", Want: "must be none without privacy", Got: t.Price}
		}
		g.purse = freePurse{t.Op}
		return nil
	}
	if err := checkScope(t.Op, t.Scope, g.Schema()); err != nil {
		return err
	}
	g.private = true
	g.purse, err = newPurse(t.Op, t.Price, t.Bill)
	return err
}

// CheckDelta refuses a δ that protects no one: at δ = 1/rows the guarantee allows publishing one row
// drawn at random. rows is 0 if their number is not known or not public.
func CheckDelta(op string, delta dp.Delta, rows int) error {
	if rows > 0 && delta >= (dp.Femto+dp.Delta(rows)-1)/dp.Delta(rows) {
		return &dp.ParamError{Op: op, Param: "delta",
			Want: fmt.Sprintf("must be below 1/rows = 1/%d: at that the guarantee allows publishing a row", rows), Got: delta}
	}
	return nil
}

// Units is the number of rows, or of persons if the schema declares those, as far as it is public; without
// privacy the number of rows, if it declares no persons.
func (g *Guard) Units() int { return unitsOf(g.table(), g.relation, g.private) }

// PublicUnits is the number of rows, or of persons if the schema declares those, as far as it is
// public: 0 under add-remove.
func PublicUnits(tab engine.Table) int { return unitsOf(tab, tab.Schema().Relation, true) }

func unitsOf(tab engine.Table, relation dp.Relation, private bool) int {
	p := tab.Persons()
	switch {
	case relation != dp.ReplaceOne && (private || p != nil):
		return 0
	case p != nil:
		return p.Count()
	}
	return tab.Rows()
}

// Terms are those that the guard was opened by.
func (g *Guard) Terms() Terms {
	t := g.terms
	t.Bill = slices.Clone(t.Bill)
	return t
}

// Schema is that of the table.
func (g *Guard) Schema() *schema.Schema { return g.table().Schema() }

// Private reports whether measurements have noise.
func (g *Guard) Private() bool { return g.private }

// Counted reports whether what the training spends is recorded anywhere.
func (g *Guard) Counted() bool { return g.counted }

// Seeded reports whether what leaves can be reproduced.
func (g *Guard) Seeded() bool { return g.exit().Seeded() }

// Coins is the source of coin flips that do not depend on rows.
func (g *Guard) Coins() Coins { return g.exit().Public() }

// Coins is a source of random bits.
type Coins = rng.Source

// Below draws uniformly from 0..n-1, n > 0.
func Below(src Coins, n uint64) uint64 { return rng.Below(src, n) }

// Shuffle permutes n items uniformly by calling swap.
func Shuffle(src Coins, n int, swap func(i, j int)) { rng.Shuffle(src, n, swap) }

// Part is a guard on the same table for a training inside this one, whose price is set aside (2.4).
func (g *Guard) Part(t Terms) (*Guard, error) { return g.part(t, g.table(), 1) }

// part is a guard on tab, in which a unit of g's table has so many rows (2.4, 2.5).
func (g *Guard) part(t Terms, tab engine.Table, rows int) (*Guard, error) {
	if err := g.refuseRemote("a training inside another"); err != nil {
		return nil, err
	}
	in := newGuard(t, tab, g.exit)
	in.counted = g.counted
	if g.protects.label && !in.protects.label || g.protects.all && !in.protects.all || g.private == t.NotPrivate || g.most != 1 {
		return nil, &dp.ParamError{Op: t.Op, Param: "scope", Want: "must protect what the training around it does",
			Got: string(t.Scope)}
	}
	if err := in.setPurse(t); err != nil {
		return nil, err
	}
	if t.Price.Delta > 0 && rows > 1 {
		return nil, &dp.ParamError{Op: t.Op, Param: "delta", Want: "must be 0 for several rows of a person", Got: t.Price.Delta}
	}
	t.Price.Epsilon *= dp.Epsilon(rows)
	return in, g.purse.part(t.Op, t.Price)
}

// Plan is a checked and priced training that returns an M, which states its cost.
type Plan[M interface{ Stated() dp.Statement }] interface {
	Terms() Terms
	Fit(ctx context.Context, g *Guard) (M, error)
}

// Train opens a guard on tab for p, and fits it. It refuses an M that states another scope, price or
// bill than was charged: a learner that is wrong about its own cost trains nothing.
func Train[M interface{ Stated() dp.Statement }](
	ctx context.Context, p Plan[M], tab engine.Table, acct Account, exit *mech.Exit,
) (none M, err error) {
	g, err := Open(ctx, p.Terms(), tab, acct, exit)
	if err != nil {
		return none, err
	}
	return fit(ctx, p, g)
}

// fit fits a plan, and holds what the model states against what was charged.
func fit[M interface{ Stated() dp.Statement }](ctx context.Context, p Plan[M], g *Guard) (none M, err error) {
	m, err := p.Fit(ctx, g)
	if err != nil {
		return none, err
	}
	t, said := g.Terms(), m.Stated()
	if t.NotPrivate {
		t.Scope = dp.Nothing
	}
	if said.Scope != t.Scope || said.Price != t.Price || said.Counted != g.counted || said.Seeded != g.Seeded() ||
		!slices.Equal(said.Bill, t.Bill) {
		return none, fmt.Errorf("%s: the model must state what was charged", t.Op)
	}
	return m, nil
}
