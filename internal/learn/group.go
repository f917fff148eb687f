// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"context"
	"fmt"
	"slices"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// maxGroup is the largest number of rows drawn per person.
const maxGroup = 64

// groupPlan is a plan for rows that trains on several rows of each person. Neighbours differ in as
// many rows of the drawn table, each of which is protected at its part of the price (G-PERSONS-4).
type groupPlan struct {
	rows  Plan // plan for one row, at one row's part of the price
	of    *schema.Schema
	count int
}

// PlanGroup plans for a schema in which several rows of a person are used, with a learner that
// protects rows. planRows makes its plan for a schema without persons, given a price and a number of
// rows. units is the number of persons if it is public, otherwise 0.
func PlanGroup(op string, s *schema.Schema, price dp.Price, units int,
	planRows func(s *schema.Schema, eps dp.Epsilon, rows int) (Plan, error)) (Plan, error) {
	count := s.Person.Rows
	bad := func(param, want string, got any) (Plan, error) {
		return nil, &dp.ParamError{Op: op, Param: param, Want: want, Got: got,
			Hint: "learner additive bounds the weight of a person's rows instead"}
	}
	part := price.Epsilon / dp.Epsilon(count)
	switch {
	case count > maxGroup:
		return bad("person rows", fmt.Sprintf("must be at most %d, since this learner draws so many rows of each person",
			maxGroup), count)
	case price.Delta > 0:
		return bad("person rows", "must be 1 with a delta, which would grow with e to the epsilon for each further row",
			count)
	case price.Epsilon > 0 && part < 1:
		return bad("epsilon", "must leave 1e-9 for each row of a person", price.Epsilon)
	}
	one := *s
	one.Person = nil
	pl, err := planRows(&one, part, units*count)
	if err != nil {
		return nil, err
	}
	return &groupPlan{pl, s, count}, nil
}

// Terms returns the terms for one row, with every line repeated count times (4.1).
func (g *groupPlan) Terms() guard.Terms {
	t := g.rows.Terms()
	t.Bill = slices.Clone(t.Bill)
	for i := range t.Bill {
		t.Bill[i].Epsilon *= dp.Epsilon(g.count) // 4.1
	}
	t.Price = dp.Pure(t.Bill)
	return t
}

// Facts begins with the unit that the learner's own facts refer to.
func (g *groupPlan) Facts() []Fact {
	bill := g.Terms().Bill
	return append([]Fact{{Key: "person_rows", Value: g.count, Text: fmt.Sprintf("draws %d rows of each person, with "+
		"repeats if there are fewer, so the target is a mean over persons; a person pays %d times the price of a row, "+
		"epsilon %s in total, and what follows is about rows", g.count, g.count, dp.Pure(bill).Epsilon)}}, g.rows.Facts()...)
}

// Fit draws the rows and trains on them.
func (g *groupPlan) Fit(ctx context.Context, all *guard.Guard) (*model.Model, error) {
	rows, err := all.DrawGroup(g.count, g.rows.Terms()) // 4.2
	if err != nil {
		return nil, err
	}
	m, err := g.rows.Fit(ctx, rows)
	if err != nil {
		return nil, err
	}
	g.restate(&m.Privacy, g.Terms().Bill)
	return m, nil
}

// restate changes a statement about a row to one about a person.
func (g *groupPlan) restate(p *model.Privacy, bill []dp.Event) {
	if p.Scope == dp.Nothing {
		return
	}
	one := *g.of
	one.Person = nil
	counts := UnprotectedCounts(&one, p.Scope)
	p.Unprotected = slices.DeleteFunc(p.Unprotected, func(line string) bool { return slices.Contains(counts, line) })
	p.Unprotected = append(UnprotectedCounts(g.of, p.Scope), p.Unprotected...)
	p.Epsilon, p.Bill, p.Claim = dp.Pure(bill).Epsilon, bill, p.Claim+model.PersonClaim
	p.Statement = describeGuarantee(p.Scope, g.of, dp.Price{Epsilon: p.Epsilon})
}
