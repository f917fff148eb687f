// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"fmt"

	"github.com/discreet-dp/discreet/internal/guard/internal/inside"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/table/engine"
)

// WeighPersons weights a person's rows so that they count as at most most rows, if the schema declares
// persons (G-PERSONS-1). The sensitivity of every later Sum is multiplied by most.
func (g *Guard) WeighPersons(most int) error {
	return g.settle(func(r rows, _ *mech.Exit) (rows, error) {
		p := r.table().Persons()
		if p == nil {
			return r, nil
		}
		if most < 1 || most > MostOfPerson || r.weighed() {
			return r, fmt.Errorf("guard: persons must be weighed once, by 1 to %d rows", MostOfPerson)
		}
		return rows{inside.Seal(p.Weigh(most)), most, engine.WeightOne}, nil
	})
}

// weighed reports whether rows are weighted by persons.
func (r *rows) weighed() bool { return r.units != 1 }

// MostOfPerson bounds what a person may count for: n·most·engine.WeightOne stays below 2^62, and so does a
// person's price for so many rows.
const MostOfPerson = 1 << 16

// DrawRows keeps one random row of each person, if the schema declares persons. Protecting a row of
// that table protects all rows of a person (G-PERSONS-2).
func (g *Guard) DrawRows() {
	_ = g.settle(func(r rows, exit *mech.Exit) (rows, error) { // it never fails
		if p := r.table().Persons(); p != nil {
			return drawn(p, 1, false, exit), nil
		}
		return r, nil
	})
}

// DrawGroup returns a guard on the given number of random rows of each person, with repetition if a
// person has fewer, for a training that protects rows. A person pays that many times its price
// (G-PERSONS-4).
func (g *Guard) DrawGroup(count int, t Terms) (*Guard, error) {
	var group rows
	if err := g.settle(func(r rows, exit *mech.Exit) (rows, error) {
		p := r.table().Persons()
		if p == nil || count < 1 || count > MostOfPerson {
			return r, fmt.Errorf("guard: only a table of persons has rows of each, 1 to %d", MostOfPerson)
		}
		group = drawn(p, count, true, exit)
		return r, nil
	}); err != nil {
		return nil, err
	}
	return g.part(t, group, count)
}

// drawn are rows that count once each. Whether persons were weighed before does not matter.
func drawn(p engine.Persons, count int, fill bool, exit *mech.Exit) rows {
	tab := p.Draw(count, fill, func(n uint64) uint64 { return rng.Below(exit.Public(), n) })
	return rows{inside.Seal(tab), 1, 1}
}

// Table returns the table itself, in which every row counts once, for a learner without privacy.
func (g *Guard) Table() (engine.Table, error) {
	if g.private {
		return nil, fmt.Errorf("guard: rows can be seen without privacy only")
	}
	err := g.settle(func(r rows, _ *mech.Exit) (rows, error) {
		if p := r.table().Persons(); p != nil {
			return rows{inside.Seal(p.Ignore()), 1, 1}, nil
		}
		return r, nil
	})
	return g.read().table(), err
}
