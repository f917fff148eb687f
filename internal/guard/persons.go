// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"fmt"

	"github.com/discreet-dp/discreet/internal/guard/internal/inside"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/table/engine"
)

// WeighPersons weights a person's rows so that they count as at most most rows, if the schema declares
// persons (G-PERSONS-1). The sensitivity of every later Sum is multiplied by most.
func (g *Guard) WeighPersons(most int) error {
	p := g.table().Persons()
	if p == nil {
		return nil
	}
	if most < 1 || most > MostOfPerson || g.most != 1 {
		return fmt.Errorf("guard: persons must be weighed once, by 1 to %d rows", MostOfPerson)
	}
	g.table, g.most, g.units = inside.Seal(p.Weigh(most)), most, engine.WeightOne
	return nil
}

// MostOfPerson bounds what a person may count for: n·most·engine.WeightOne stays below 2^62.
const MostOfPerson = 1 << 16

// DrawRows keeps one random row of each person, if the schema declares persons. Protecting a row of
// that table protects all rows of a person (G-PERSONS-2).
func (g *Guard) DrawRows() {
	if p := g.table().Persons(); p != nil {
		g.table = inside.Seal(g.draw(p, 1, false))
	}
}

// DrawGroup returns a guard on the given number of random rows of each person, with repetition if a
// person has fewer, for a training that protects rows. A person pays that many times its price
// (G-PERSONS-4).
func (g *Guard) DrawGroup(rows int, t Terms) (*Guard, error) {
	p := g.table().Persons()
	if p == nil || rows < 1 {
		return nil, fmt.Errorf("guard: only a table of persons has so many rows of each")
	}
	return g.part(t, g.draw(p, rows, true), rows)
}

func (g *Guard) draw(p engine.Persons, rows int, fill bool) engine.Table {
	return p.Draw(rows, fill, func(n uint64) uint64 { return rng.Below(g.exit().Public(), n) })
}

// Table returns the table itself, in which every row counts once, for a learner without privacy.
func (g *Guard) Table() (engine.Table, error) {
	if g.private {
		return nil, fmt.Errorf("guard: rows can be seen without privacy only")
	}
	if p := g.table().Persons(); p != nil {
		g.table = inside.Seal(p.Ignore())
	}
	return g.table(), nil
}
