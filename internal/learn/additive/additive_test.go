// SPDX-License-Identifier: Apache-2.0

package additive

import (
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/censustest"
	"github.com/discreet-dp/discreet/internal/check/testkit/learntest"
	"github.com/discreet-dp/discreet/internal/check/testkit/mechtest"
	"github.com/discreet-dp/discreet/internal/check/testkit/size"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// setting is one way to be private.
type setting struct {
	set     func(p *Params, s *schema.Schema)
	reckons int // rows the plan is told of: more of them make other rules
}

// settings are the scopes, each under rules that pick, that take columns in
// turn, and that boost.
func settings() map[string]setting {
	partly := func(*Params, *schema.Schema) {}
	label := func(_ *Params, s *schema.Schema) { s.Label.Role, s.Label.Default = schema.Private, 0 }
	everything := func(p *Params, s *schema.Schema) {
		label(p, s)
		hide(s)
	}
	alone := func(p *Params, s *schema.Schema) {
		label(p, s)
		for j := range s.Columns {
			s.Columns[j].Role = schema.Public
		}
	}
	addRemove := func(_ *Params, s *schema.Schema) { s.Relation = dp.AddRemove }
	delta := func(set func(*Params, *schema.Schema)) func(*Params, *schema.Schema) {
		return func(p *Params, s *schema.Schema) {
			p.Delta = 1e-6 * dp.Femto
			set(p, s)
		}
	}
	return map[string]setting{
		"partly private, gaussian": {delta(partly), 100_000},
		"private label, gaussian":  {delta(label), 5_000},
		"add-remove, gaussian":     {delta(addRemove), 20_000},
		"delta spared":             {delta(partly), 400},
		"partly private":           {partly, 400},
		"partly private, picks":    {partly, 1_200},
		"partly private, in turn":  {partly, 5_000},
		"partly private, boosted":  {partly, 100_000},
		"no public column":         {func(_ *Params, s *schema.Schema) { hide(s) }, 600},
		"private label":            {label, 600},
		"private label, boosted":   {label, 20_000},
		"private label, in turn":   {label, 3_000},
		"everything private":       {everything, 600},
		"everything, boosted":      {everything, 20_000},
		"everything, gaussian":     {delta(everything), 5_000},
		"gaussian, picks":          {delta(everything), 2_300},
		"everything, bins paid":    {asked(everything), 20_000},
		"everything, pairs":        {paired(everything), 20_000},
		"shares alone":             {everything, 60},
		"shares alone, pairs":      {paired(asked(addRemove)), 30},
		"label alone":              {alone, 30_000},
		"label alone, picks":       {alone, 2_500},
		"label alone, gaussian":    {delta(alone), 5_000},
		"label alone, pairs":       {paired(alone), 20_000},
		"label alone, bins asked":  {asked(alone), 20_000},
		"add-remove":               {addRemove, 600},
		"add-remove, in turn":      {addRemove, 5_000},
		"add-remove, boosted":      {addRemove, 20_000},
		"one private column":       {func(_ *Params, s *schema.Schema) { keepOne(s) }, 400},
		"partly private, bins paid": {asked(func(_ *Params, s *schema.Schema) {
			named(s, "capital_income").Quantiles = true // of 4,096 cells
		}), 5_000},
		"private label, bins paid":  {asked(label), 20_000},
		"add-remove, bins paid":     {asked(addRemove), 20_000},
		"gaussian, bins paid":       {delta(asked(everything)), 20_000},
		"partly private, pairs":     {paired(partly), 100_000},
		"private label, pairs":      {paired(label), 20_000},
		"add-remove, pairs in turn": {paired(addRemove), 5_000},
		"gaussian, pairs":           {delta(paired(everything)), 30_000},
		"pairs wait":                {paired(partly), 400},
		"pairs of groups":           {paired(asked(addRemove)), 20_000},
		"eps inf, pairs":            {paired(func(p *Params, _ *schema.Schema) { p.Epsilon, p.NotPrivate = 0, true }), 400},
		"eps inf, bins counted":     {asked(func(p *Params, _ *schema.Schema) { p.Epsilon, p.NotPrivate = 0, true }), 400},
		"eps inf":                   {func(p *Params, _ *schema.Schema) { p.Epsilon, p.NotPrivate = 0, true }, 400},
		"eps inf, everything private": {func(p *Params, s *schema.Schema) {
			label(p, s)
			p.Epsilon, p.NotPrivate = 0, true
		}, 400},
	}
}

// asked asks for bins beyond those of bounds and levels, if it can.
func asked(set func(*Params, *schema.Schema)) func(*Params, *schema.Schema) {
	return func(p *Params, s *schema.Schema) {
		for _, name := range []string{"age", "weekly_hours", "years_in_job", "household_size"} {
			named(s, name).Quantiles = true
		}
		named(s, "education").Groups = []schema.Group{{Name: "school", Levels: []int{3, 1, 2}},
			{Name: "more", Levels: []int{5, 6, 7, 8}}}
		named(s, "region").Groups = []schema.Group{{Name: "wet", Levels: []int{0, 6, 7}}}
		set(p, s)
	}
}

// paired declares a pair of a number and a category, of two numbers, of a public
// and a private column, and of two public ones.
func paired(set func(*Params, *schema.Schema)) func(*Params, *schema.Schema) {
	return func(p *Params, s *schema.Schema) {
		at := func(name string) int {
			return slices.IndexFunc(s.Columns, func(c schema.Column) bool { return c.Name == name })
		}
		s.Pairs = [][2]int{{at("education"), at("age")}, {at("weekly_hours"), at("age")},
			{at("marital_status"), at("sex")}, {at("sex"), at("region")}}
		set(p, s)
	}
}

func named(s *schema.Schema, name string) *schema.Column {
	return &s.Columns[slices.IndexFunc(s.Columns, func(c schema.Column) bool { return c.Name == name })]
}

// hide makes every column private.
func hide(s *schema.Schema) {
	for j := range s.Columns {
		c := &s.Columns[j]
		c.Role = schema.Private
		if lower := c.Lower; c.Kind == schema.Number {
			c.Default = &lower
		}
	}
}

// keepOne leaves one private column.
func keepOne(s *schema.Schema) {
	seen := false
	for j := range s.Columns {
		if s.Columns[j].Role == schema.Private {
			if seen {
				s.Columns[j].Role = schema.Ignored
			}
			seen = true
		}
	}
}

// with returns the census table of the given size and plans for one setting.
func with(c setting, rows int) (*dataset.Table, func() (learn.Plan, error)) {
	tab := censustest.Table(1, rows)
	s := *tab.Schema
	s.Columns = append([]schema.Column(nil), s.Columns...)
	tab.Schema = &s
	p := Params{Epsilon: dp.Nano}
	c.set(&p, &s)
	return tab, func() (learn.Plan, error) { return p.Plan(&s, c.reckons) }
}

func TestConformance(t *testing.T) {
	for name, c := range size.Some(settings(), 12) {
		t.Run(name, func(t *testing.T) {
			tab, plan := with(c, 400)
			learntest.Run(t, learntest.Case{Plan: plan, Table: tab, OrderFree: true, Algebra: spendsBill})
		})
	}
}

// spendsBill checks what leaves against the bill: all that is not of rounds line by line, and the
// rounds together, since how many are made follows from the classes.
func spendsBill(t *testing.T, bill []dp.Event, releases []mechtest.Passage) {
	t.Helper()
	ofRound := func(label string) bool { return strings.Contains(label, "of round") }
	var billed, spent dp.Epsilon
	var billedRho, spentRho dp.Rho
	var rest []dp.Event
	for _, e := range bill {
		if ofRound(e.Release) && e.Rho == 0 {
			billed += e.Epsilon
		} else if ofRound(e.Release) {
			billedRho += e.Rho
		} else {
			rest = append(rest, e)
		}
	}
	pure := dp.Epsilon(0)
	for _, p := range releases {
		if pure += p.Loss; p.Rho > 0 {
			pure = dp.Infinite
			break
		}
	}
	if billedRho > 0 && pure < dp.Infinite && len(releases) > 0 { // all that follows the classes has the rest of ε
		if pure > dp.Nano {
			t.Errorf("pure releases cost %s in place of a rho", pure)
		}
		return
	}
	for _, p := range releases {
		e := dp.Event{Release: p.Label, Mechanism: p.Name, Epsilon: p.Loss, Rho: p.Rho}
		if ofRound(p.Label) && p.Rho == 0 {
			spent += p.Loss
			continue
		} else if ofRound(p.Label) {
			spentRho += p.Rho
			continue
		}
		if len(rest) == 0 || e != rest[0] {
			t.Fatalf("%q by %s for %s, rho %s, is not the next line of %v", p.Label, p.Name, p.Loss, p.Rho, rest)
		}
		rest = rest[1:]
	}
	if len(rest) > 0 || spent != billed || spentRho != billedRho {
		t.Errorf("lines without a release: %v; rounds are billed as %s, rho %s, and cost %s, rho %s",
			rest, billed, billedRho, spent, spentRho)
	}
}

// Where a class is rare, fewer rounds are made, and they cost what the bill's rounds do.
func TestRareClassesHaveFewerRounds(t *testing.T) {
	_, plan := with(settings()["partly private, picks"], 400)
	anyPlan, err := plan()
	if err != nil {
		t.Fatal(err)
	}
	pl := anyPlan.(*Plan)
	total := func(pl *Plan) (all dp.Epsilon) {
		for t := range pl.prices.cells {
			all += pl.prices.cells[t].Epsilon
			if pl.rules.picks {
				all += pl.prices.picks[t].Epsilon
			}
		}
		return all
	}
	last := pl.rules.rounds + 1
	for _, rare := range []float64{400, 250, 100, 20, 0} {
		got := pl.forClasses(rare, 1000-rare)
		if got.rules.rounds > last || total(got) != total(pl) || got.rules.bins != pl.rules.bins {
			t.Errorf("%g rows of 1000: %d rounds for %s in all, after %d for %s",
				rare, got.rules.rounds, total(got), last, total(pl))
		}
		last = got.rules.rounds
	}
	if last != 1 || pl.forClasses(400, 600).rules.rounds != pl.rules.rounds {
		t.Errorf("%d rounds without a row of one class", last)
	}
}
