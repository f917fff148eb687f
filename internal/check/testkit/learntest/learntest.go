// SPDX-License-Identifier: Apache-2.0

// Package learntest is the conformance test suite for learners: it checks what every learner, private
// or not, must do.
package learntest

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/mechtest"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/privacy/accounting"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/engine/memory"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
)

// Case is one learner with one set of parameters on one table.
type Case struct {
	Plan  func() (learn.Plan, error)
	Table *dataset.Table
	// OrderFree states that the bytes of a model must not depend on the order of the rows if its
	// randomness is replayed.
	OrderFree bool
	// Algebra replaces the check that the bill lists the releases, for learners that select among
	// releases, so that the price is not their sum.
	Algebra func(t *testing.T, bill []dp.Event, releases []mechtest.Passage)
}

// Run checks the whole contract.
func Run(t *testing.T, c Case) {
	t.Helper()
	t.Run("bill equals releases", func(t *testing.T) {
		pl := c.makePlan(t)
		tape := &mechtest.Recorder{}
		m := Fit(t, pl, c.Table, tape, 1)
		if m.Privacy.NotPrivate {
			t.Skip("not private: releases are free and say so")
		}
		bill := pl.Terms().Bill
		if c.Algebra != nil {
			c.Algebra(t, bill, tape.Passages)
		} else {
			wantBilled(t, bill, tape.Passages)
		}
		stated := dp.Price{Epsilon: m.Privacy.Epsilon, Delta: m.Privacy.Delta}
		acct := &account{}
		if _, err := guard.Train(context.Background(), pl, c.makeEngine(t), acct,
			mech.NewExit(replay.Seeded(1, "learntest"))); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(m.Privacy.Bill, bill) || !slices.Equal(acct.bill, bill) {
			t.Error("the plan, the charge and the model differ about the bill")
		}
		if acct.price != stated || stated.Delta == 0 && stated != dp.Pure(bill) {
			t.Errorf("the model states %s, charged is %s, the bill adds up to %s", stated, acct.price, dp.Total(bill))
		}
		if enough, err := accounting.Within(bill, stated); !enough || err != nil {
			t.Errorf("the releases cost more than the stated %s (%v)", stated, err)
		}
	})
	t.Run("charges before it reads", func(t *testing.T) {
		pl := c.makePlan(t)
		acct := &account{}
		spy := spyOn(c.makeEngine(t), acct)
		if _, err := guard.Train(context.Background(), pl, spy, acct, mech.NewExit(replay.Seeded(1, "learntest"))); err != nil {
			t.Fatal(err)
		}
		if spy.early {
			t.Error("the table was asked before the account was charged")
		}
		if acct.charges != 1 {
			t.Errorf("the account was charged %d times", acct.charges)
		}
	})
	t.Run("a refusal reads nothing", func(t *testing.T) {
		pl := c.makePlan(t)
		if len(pl.Terms().Bill) == 0 {
			t.Skip("nothing is billed")
		}
		refusal := errors.New("the budget is gone")
		acct := &account{refuse: refusal}
		spy := spyOn(c.makeEngine(t), acct)
		tape := &mechtest.Recorder{}
		m, err := guard.Train(context.Background(), pl, spy, acct, mech.NewTapedExit(replay.Seeded(1, "learntest"), tape))
		if m != nil || !errors.Is(err, refusal) || spy.asked || len(tape.Passages) > 0 {
			t.Errorf("after a refusal: model %v, error %v, table asked %v, %d releases", m != nil, err, spy.asked,
				len(tape.Passages))
		}
	})
	t.Run("replayed randomness gives the same bytes", func(t *testing.T) {
		a := Bytes(t, Fit(t, c.makePlan(t), c.Table, nil, 7))
		if b := Bytes(t, Fit(t, c.makePlan(t), c.Table, nil, 7)); !bytes.Equal(a, b) {
			t.Error("two fits with the same randomness differ")
		}
		if c.OrderFree {
			if b := Bytes(t, Fit(t, c.makePlan(t), reverseRows(c.Table), nil, 7)); !bytes.Equal(a, b) {
				t.Error("the order of the rows shows in the model")
			}
		}
	})
	t.Run("fresh randomness gives other bytes", func(t *testing.T) {
		pl := c.makePlan(t)
		if len(pl.Terms().Bill) == 0 {
			t.Skip("nothing is drawn")
		}
		fit := func() []byte {
			m, err := guard.Train(context.Background(), pl, c.makeEngine(t), guard.Uncounted{}, mech.NewExit(rng.System()))
			if err != nil {
				t.Fatal(err)
			}
			if m.Privacy.Seeded {
				t.Error("a model with fresh randomness is marked seeded")
			}
			return Bytes(t, m)
		}
		if bytes.Equal(fit(), fit()) {
			t.Error("two fits with fresh randomness are equal: the noise is not fresh")
		}
	})
	t.Run("degenerate tables train", func(t *testing.T) {
		alike := make([]int, 40)
		tables := [][]int{{0}, alike, {0, 1}}
		if c.Table.Schema.Relation == dp.AddRemove {
			tables = append(tables, nil) // a neighbour of {0}: no rows train like any
		}
		for _, rows := range tables {
			tab := c.Table.Subset(rows)
			m := Fit(t, c.makePlan(t), tab, nil, 3)
			if _, err := m.Scores(tab.Cols, tab.Rows); err != nil {
				t.Errorf("%d rows: %v", len(rows), err)
			}
		}
	})
	t.Run("the model survives its file", func(t *testing.T) {
		m := Fit(t, c.makePlan(t), c.Table, nil, 5)
		if !m.Privacy.Seeded {
			t.Error("a model with replayed randomness is not marked seeded")
		}
		file := Bytes(t, m)
		back, err := model.Unmarshal(file)
		if err != nil {
			t.Fatal(err)
		}
		want, err1 := m.Scores(c.Table.Cols, c.Table.Rows)
		got, err2 := back.Scores(c.Table.Cols, c.Table.Rows)
		if err1 != nil || err2 != nil || !slices.Equal(want, got) {
			t.Errorf("scores change through the file: %v, %v", err1, err2)
		}
		if !bytes.Equal(Bytes(t, back), file) {
			t.Error("a model read from a file writes another one")
		}
	})
	t.Run("a cancelled context stops it", func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if _, err := guard.Train(ctx, c.makePlan(t), c.makeEngine(t), guard.Uncounted{},
			mech.NewExit(replay.Seeded(1, "learntest"))); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
	})
}

// wantBilled requires one event for each release, in order.
func wantBilled(t *testing.T, bill []dp.Event, releases []mechtest.Passage) {
	t.Helper()
	if len(bill) != len(releases) {
		t.Fatalf("%d events billed, %d releases made", len(bill), len(releases))
	}
	for i, p := range releases {
		if bill[i] != (dp.Event{Release: p.Label, Mechanism: p.Name, Epsilon: p.Loss, Rho: p.Rho}) {
			t.Errorf("event %d is billed as %+v and leaves as %q by %s for %s, rho %s", i, bill[i], p.Label, p.Name,
				p.Loss, p.Rho)
		}
	}
}

func (c Case) makePlan(t *testing.T) learn.Plan {
	t.Helper()
	pl, err := c.Plan()
	if err != nil {
		t.Fatal(err)
	}
	return pl
}

func (c Case) makeEngine(t *testing.T) engine.Table {
	t.Helper()
	return Engine(t, c.Table)
}

// Engine answers from tab in memory.
func Engine(t testing.TB, tab *dataset.Table) engine.Table {
	t.Helper()
	m, err := memory.New(tab)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Fit trains with replayed randomness and an optional tape.
func Fit(t testing.TB, pl learn.Plan, tab *dataset.Table, tape *mechtest.Recorder, seed uint64) *model.Model {
	t.Helper()
	return FitFrom(t, pl, Engine(t, tab), tape, seed)
}

// FitFrom is Fit with the answers of another engine.
func FitFrom(t testing.TB, pl learn.Plan, tab engine.Table, tape *mechtest.Recorder, seed uint64) *model.Model {
	t.Helper()
	exit := mech.NewExit(replay.Seeded(seed, "learntest"))
	if tape != nil {
		exit = mech.NewTapedExit(replay.Seeded(seed, "learntest"), tape)
	}
	m, err := guard.Train(context.Background(), pl, tab, guard.Uncounted{}, exit)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Bytes returns the bytes of the model's file.
func Bytes(t testing.TB, m *model.Model) []byte {
	t.Helper()
	file, err := model.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func reverseRows(tab *dataset.Table) *dataset.Table {
	rows := make([]int, tab.Rows)
	for i := range rows {
		rows[i] = tab.Rows - 1 - i
	}
	return tab.Subset(rows)
}

// account counts charges, stores the last one and refuses on demand.
type account struct {
	charges int
	price   dp.Price
	bill    []dp.Event
	refuse  error
}

func (a *account) Charge(_ context.Context, price dp.Price, bill []dp.Event) error {
	if a.refuse != nil {
		return a.refuse
	}
	a.charges++
	a.price, a.bill = price, bill
	return nil
}

func (a *account) Counted() bool { return false }

// spy is a table that records questions asked before the charge, also of its views.
type spy struct {
	engine.Table
	*notes
}

type notes struct {
	acct         *account
	asked, early bool
}

func spyOn(tab engine.Table, acct *account) *spy { return &spy{tab, &notes{acct: acct}} }

func (s *spy) Against(class int) engine.Table { return &spy{s.Table.Against(class), s.notes} }

// Persons returns nil if the table's is nil, and not an interface around nil.
func (s *spy) Persons() engine.Persons {
	if p := s.Table.Persons(); p != nil {
		return &personSpy{p, s.notes}
	}
	return nil
}

// personSpy records questions about persons, and returns tables that are watched too. The number of
// persons may be asked for if it is public.
type personSpy struct {
	engine.Persons
	*notes
}

func (p *personSpy) Weigh(most int) engine.Table { return &spy{p.Persons.Weigh(most), p.notes} }

func (p *personSpy) Draw(most int, fill bool, below func(uint64) uint64) engine.Table {
	p.noteQuestion()
	return &spy{p.Persons.Draw(most, fill, below), p.notes}
}

func (p *personSpy) Ignore() engine.Table { return &spy{p.Persons.Ignore(), p.notes} }

func (s *notes) noteQuestion() {
	s.asked = true
	s.early = s.early || s.acct.charges == 0
}

func (s *spy) Mistakes(ctx context.Context, sp *feature.Space, cs []feature.Threshold) (*engine.Patterns, error) {
	s.noteQuestion()
	return s.Table.Mistakes(ctx, sp, cs)
}

func (s *spy) Groups(ctx context.Context, cols []int) (*engine.Groups, error) {
	s.noteQuestion()
	return s.Table.Groups(ctx, cols)
}

func (s *spy) Sum(ctx context.Context, of engine.Statistic) ([]int64, error) {
	s.noteQuestion()
	return s.Table.Sum(ctx, of)
}

func (s *spy) Margins(ctx context.Context, sp *feature.Space, r engine.Rows) (engine.Margins, error) {
	s.noteQuestion()
	return s.Table.Margins(ctx, sp, r)
}

// RefuseCharge returns an account that must not be charged.
func RefuseCharge(t testing.TB) guard.Account { return uncharged{t} }

type uncharged struct{ t testing.TB }

func (u uncharged) Charge(context.Context, dp.Price, []dp.Event) error {
	u.t.Error("charged")
	return errors.New("charged")
}

func (uncharged) Counted() bool { return false }

// Open returns the guard of pl on tab, uncounted.
func Open(t testing.TB, pl learn.Plan, tab engine.Table, exit *mech.Exit) *guard.Guard {
	t.Helper()
	g, err := guard.Open(context.Background(), pl.Terms(), tab, guard.Uncounted{}, exit)
	if err != nil {
		t.Fatal(err)
	}
	return g
}
