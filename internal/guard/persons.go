// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"fmt"

	"github.com/discreet-dp/discreet/internal/guard/internal/inside"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/table/engine"
)

// WeighPersons lets a person's rows count for at most most rows, if the schema declares persons
// (G-PERSONS-1). Every Sum after it moves most times as far.
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

// PersonsAbove scores bounds by how many persons have more rows than that, negated. All rows of one
// person change each by at most 1, up or down (G-PERSONS-3).
func (g *Guard) PersonsAbove(bounds []int) *Scores {
	var negated []int64
	for _, above := range g.table().Persons().CountAbove(bounds) {
		negated = append(negated, -int64(above))
	}
	return g.scores(ratios(negated, 1), 2)
}

// DrawRows leaves one row of each person, drawn by fresh coins, if the schema declares persons: what
// protects a row of that table protects all rows of a person (G-PERSONS-2).
func (g *Guard) DrawRows() {
	if p := g.table().Persons(); p != nil {
		g.table = inside.Seal(g.draw(p, 1, false))
	}
}

// DrawGroup is a guard on so many rows of each person, drawn by fresh coins and again if a person has
// fewer, for a training that protects rows: it pays as many times for a person (G-PERSONS-4).
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

// Table is the table itself, in which every row counts once, for a learner without privacy.
func (g *Guard) Table() (engine.Table, error) {
	if g.private {
		return nil, fmt.Errorf("guard: rows can be seen without privacy only")
	}
	if p := g.table().Persons(); p != nil {
		g.table = inside.Seal(p.Ignore())
	}
	return g.table(), nil
}
