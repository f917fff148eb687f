// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard/internal/inside"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Guard answers a learner's questions about one table, within one price. It is safe for concurrent use.
// Its copies are the same guard.
type Guard struct{ *core }

// core is a guard. Everything in it but the purse and the settled rows stays as it was made.
type core struct {
	facts
	terms    Terms
	purse    purse // behind the door
	protects protects
	settled  atomic.Pointer[rows]
}

// facts are what a training inside another takes from it.
type facts struct {
	*door
	schema  inside.Sealed[*schema.Schema] // of which learners get copies
	counted bool
	private bool
	remote  Remote // nil if rows lie here
}

// rows are a table, and what its rows count for.
type rows struct {
	table inside.Sealed[engine.Table] // settled: rows are weighted by persons, or count once
	most  int                         // rows that a unit counts for
	units int64                       // that a whole row counts for in counts of rows: engine.WeightOne if persons are weighed, else 1
}

// reading is a guard with the rows that a question was asked of.
type reading struct {
	*core
	rows
}

func (g *core) read() reading { return reading{g, *g.settled.Load()} }

func newGuard(f facts, t Terms, r rows) (*Guard, error) {
	g := &core{facts: f, protects: protectedBy(t.Scope, f.schema())}
	g.settled.Store(&r)
	return &Guard{g}, g.setPurse(t)
}

// openGuard is the guard of a training that is inside no other, without its context.
func openGuard(t Terms, tab engine.Table, exit *mech.Exit, counted bool, r Remote) (*Guard, error) {
	f := facts{&door{exit: inside.Seal(exit)}, inside.Seal(tab.Schema()), counted, !t.NotPrivate, r}
	return newGuard(f, t, rows{inside.Seal(tab), 1, 1})
}

// Open charges acct for a training on tab by the terms t, and returns its guard. It refuses the
// following before it charges: a scope that is weaker than the schema's, a bill that costs more than
// its price, a δ large enough to publish a row, and a table without rows if their number is public.
//
// The guard's questions end with ctx. Passes over rows call another context, made here: how often they
// call it depends on the rows.
func Open(ctx context.Context, t Terms, tab engine.Table, acct Account, exit *mech.Exit) (*Guard, error) {
	t.Bill = slices.Clone(t.Bill) // the learner may change its own
	g, err := openGuard(t, tab, exit, acct.Counted(), nil)
	if err != nil {
		return nil, err
	}
	if units := g.Units(); units < 1 && (!g.private || g.relation() == dp.ReplaceOne) {
		of := ""
		if g.schema().Person != nil {
			of = " with an identifier of a person"
		}
		return nil, fmt.Errorf("%s: the table must have at least one row%s", t.Op, of)
	} else if err := CheckDelta(t.Op, t.Price.Delta, units); err != nil {
		return nil, err
	}
	if err := acct.Charge(ctx, t.Price, t.Bill); err != nil {
		return nil, fmt.Errorf("%s: %w", t.Op, err)
	}
	g.until(ctx)
	return g, nil
}

// setPurse fills the purse for t, unless t protects less than the schema declares.
func (g *core) setPurse(t Terms) (err error) {
	t.Bill = slices.Clone(t.Bill)
	g.terms = t
	if t.NotPrivate {
		if len(t.Bill) > 0 || t.Price != (dp.Price{}) {
			return &dp.ParamError{Op: t.Op, Param: "price", Want: "must be none without privacy", Got: t.Price}
		}
		g.purse = freePurse{t.Op}
		return nil
	}
	if err := checkScope(t.Op, t.Scope, g.schema()); err != nil {
		return err
	}
	g.purse, err = newPurse(t.Op, t.Price, t.Bill)
	return err
}

// CheckDelta refuses a δ that protects no one: with δ = 1/rows the guarantee allows publishing one
// random row. rows is 0 if the number is unknown or not public.
func CheckDelta(op string, delta dp.Delta, rows int) error {
	if rows > 0 && delta >= (dp.Femto+dp.Delta(rows)-1)/dp.Delta(rows) {
		return &dp.ParamError{Op: op, Param: "delta",
			Want: fmt.Sprintf("must be below 1/rows = 1/%d: at that the guarantee allows publishing a row", rows), Got: delta}
	}
	return nil
}

// Units is the number of rows, or of persons if the schema declares those; 0 if it is private.
func (g *Guard) Units() int { return g.read().Units() }

func (r reading) Units() int { return unitsOf(r.table(), r.relation(), r.private) }

// relation is the schema's as the guard was opened.
func (g *core) relation() dp.Relation { return g.schema().Relation }

// PublicUnits is the number of rows, or of persons if the schema declares those, as far as it is
// public: 0 under add-remove.
func PublicUnits(tab engine.Table) int { return unitsOf(tab, tab.Schema().Relation, true) }

func unitsOf(tab engine.Table, relation dp.Relation, private bool) int {
	p := tab.Persons()
	switch {
	case relation != dp.ReplaceOne && private:
		return 0
	case p != nil:
		return p.Count()
	}
	return tab.Rows()
}

// Terms returns the terms with which the guard was opened.
func (g *Guard) Terms() Terms {
	t := g.terms
	t.Bill = slices.Clone(t.Bill)
	return t
}

// Schema returns a copy of the schema of the table. It declares no persons once each row is a unit.
func (g *Guard) Schema() *schema.Schema {
	s := g.schema().Clone()
	if g.read().table().Persons() == nil {
		s.Person = nil
	}
	return s
}

// Private reports whether measurements have noise.
func (g *Guard) Private() bool { return g.private }

// Counted reports whether the spending of the training is recorded anywhere.
func (g *Guard) Counted() bool { return g.counted }

// Seeded reports whether the results can be reproduced.
func (g *Guard) Seeded() bool { return g.exit().Seeded() }

// Coins returns a source of randomness that does not depend on rows.
func (g *Guard) Coins() Coins { return coins{g.door} }

// Coins is a source of random bits.
type Coins = rng.Source

// Below draws uniformly from 0..n-1, n > 0.
func Below(src Coins, n uint64) uint64 { return rng.Below(src, n) }

// Shuffle permutes n items uniformly by calling swap.
func Shuffle(src Coins, n int, swap func(i, j int)) { rng.Shuffle(src, n, swap) }

// Part returns a guard on the same rows for an inner training, whose price is set aside (2.4).
func (g *Guard) Part(t Terms) (*Guard, error) { return g.part(t, g.read().rows, 1) }

// part returns a guard on r, in which a unit of g's rows is so many units (2.4, 2.5).
func (g *core) part(t Terms, r rows, units int) (*Guard, error) {
	if err := g.refuseRemote("a training inside another"); err != nil {
		return nil, err
	}
	in, err := newGuard(g.facts, t, r)
	if err != nil {
		return nil, err
	}
	if g.protects.label && !in.protects.label || g.protects.all && !in.protects.all || g.private == t.NotPrivate {
		return nil, &dp.ParamError{Op: t.Op, Param: "scope", Want: "must protect what the training around it does",
			Got: string(t.Scope)}
	}
	if t.Price.Delta > 0 && units > 1 {
		return nil, &dp.ParamError{Op: t.Op, Param: "delta", Want: "must be 0 for several rows of a person", Got: t.Price.Delta}
	}
	t.Price.Epsilon *= dp.Epsilon(units)
	if err := g.setAside(t.Op, t.Price); err != nil {
		return nil, err
	}
	return in, nil
}

// Plan is a checked and priced training. Its result is an M, which states its cost.
type Plan[M interface{ Stated() dp.Statement }] interface {
	Terms() Terms
	Fit(ctx context.Context, g *Guard) (M, error)
}

// Train opens a guard on tab for p, and fits p. It refuses an M that states another scope, price or
// bill than was charged, so that a learner cannot misstate its cost.
func Train[M interface{ Stated() dp.Statement }](
	ctx context.Context, p Plan[M], tab engine.Table, acct Account, exit *mech.Exit,
) (none M, err error) {
	g, err := Open(ctx, p.Terms(), tab, acct, exit)
	if err != nil {
		return none, err
	}
	return fit(p, g)
}

// fit fits a plan, and checks the model's statement against the charge. Afterwards the guard asks
// nothing more.
func fit[M interface{ Stated() dp.Statement }](p Plan[M], g *Guard) (none M, err error) {
	defer g.stop()
	handed := *g // to which a learner may assign another guard
	m, err := p.Fit(g.context(), &handed)
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
