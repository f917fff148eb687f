// SPDX-License-Identifier: Apache-2.0

package learn_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/censustest"
	"github.com/discreet-dp/discreet/internal/check/testkit/learntest"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/learn/brc"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// noted is an account that keeps what it was charged.
type noted struct{ prices []dp.Price }

func (a *noted) Charge(_ context.Context, price dp.Price, bill []dp.Event) error {
	if price != dp.Pure(bill) {
		return errors.New("the price is not the bill's")
	}
	a.prices = append(a.prices, price)
	return nil
}

func (*noted) Counted() bool { return true }

// groupOf plans brc for persons of so many rows.
func groupOf(s *schema.Schema, price dp.Price) (learn.Plan, error) {
	return learn.PlanGroup("brc", s, price, 0, func(one *schema.Schema, eps dp.Epsilon, rows int) (learn.Plan, error) {
		p := brc.Defaults()
		p.Epsilon, p.Rounds = eps, 2
		return p.Plan(one, rows)
	})
}

// A person pays for each row that counts, once, and the model says what a person paid and that all
// of a person's rows are protected.
func TestPersonsPayForEachRow(t *testing.T) {
	tab := learntest.WithPersons(censustest.Table(3, 300), replay.Seeded(1, "persons"), 3)
	pl, err := groupOf(tab.Schema, dp.Price{Epsilon: 3 * dp.Nano})
	if err != nil {
		t.Fatal(err)
	}
	acct := new(noted)
	m, err := guard.Train(t.Context(), pl, learntest.Engine(t, tab), acct, mech.NewExit(replay.Seeded(2, "noise")))
	if err != nil {
		t.Fatal(err)
	}
	if len(acct.prices) != 1 || acct.prices[0].Epsilon != 3*dp.Nano {
		t.Errorf("charged %v, want 3 once", acct.prices)
	}
	p := m.Privacy
	if p.Epsilon != 3*dp.Nano || dp.Pure(p.Bill).Epsilon != 3*dp.Nano || !p.ProtectsPersons() || !p.Counted {
		t.Errorf("stated: epsilon %s, bill %s, claim %q", p.Epsilon, dp.Pure(p.Bill), p.Claim)
	}
	for _, line := range append(p.Unprotected, p.Statement) {
		if strings.Contains(line, "a person with k rows") || strings.Contains(line, "of one row") {
			t.Errorf("stated of rows: %q", line)
		}
	}
}

func TestPlanGroupRefuses(t *testing.T) {
	s := *censustest.Table(3, 3).Schema
	for _, c := range []struct {
		param string
		rows  int
		price dp.Price
	}{
		{"person rows", 65, dp.Price{Epsilon: dp.Nano}},
		{"person rows", 2, dp.Price{Epsilon: dp.Nano, Delta: 1}},
		{"epsilon", 3, dp.Price{Epsilon: 2}},
	} {
		s.Person = &schema.Person{Column: "pid", Rows: c.rows}
		var p *dp.ParamError
		if _, err := groupOf(&s, c.price); !errors.As(err, &p) || p.Param != c.param {
			t.Errorf("%d rows at %v: %v", c.rows, c.price, err)
		}
	}
}

// counting is a plan for rows that notes how many it was given.
type counting struct{ rows *int }

func (counting) Facts() []learn.Fact { return nil }
func (counting) Terms() guard.Terms {
	price := dp.Price{Epsilon: dp.Nano / 4}
	return guard.Terms{Op: "count", Scope: dp.WholeRow, Price: price,
		Bill: []dp.Event{{Release: "none", Mechanism: "laplace", Epsilon: price.Epsilon}}}
}

func (c counting) Fit(_ context.Context, g *guard.Guard) (*model.Model, error) {
	*c.rows = g.Units()
	return &model.Model{Privacy: learn.State(g, "none")}, nil
}

// How many rows someone has does not show in the number of rows that are trained on, which
// learners take for public under replace-one.
func TestEverybodyHasAsManyRows(t *testing.T) {
	tab := learntest.WithPersons(censustest.Table(3, 300), replay.Seeded(1, "persons"), 4)
	whole, rows := learntest.Engine(t, tab), 0
	persons := whole.Persons().Count()
	pl, err := learn.PlanGroup("count", tab.Schema, dp.Price{Epsilon: dp.Nano}, persons,
		func(_ *schema.Schema, eps dp.Epsilon, declared int) (learn.Plan, error) {
			if eps != dp.Nano/4 || declared != 4*persons {
				t.Errorf("planned at %s for %d rows of %d persons", eps, declared, persons)
			}
			return counting{&rows}, nil
		})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := guard.Train(t.Context(), pl, whole, guard.Uncounted{}, mech.NewExit(replay.Seeded(2, "draw"))); err != nil {
		t.Fatal(err)
	}
	if rows != 4*persons {
		t.Errorf("%d rows of %d persons are trained on, want 4 of each", rows, persons)
	}
}
