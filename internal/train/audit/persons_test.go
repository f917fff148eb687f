// SPDX-License-Identifier: Apache-2.0

package audit

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/learntest"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/learn/additive"
	"github.com/discreet-dp/discreet/internal/learn/brc"
	"github.com/discreet-dp/discreet/internal/learn/labeldp"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/response"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// ofPersons is s for persons who count for so many rows each.
func ofPersons(s *schema.Schema, most int) *schema.Schema {
	out := *s
	out.Columns = append(slices.Clone(s.Columns), schema.Column{Name: "who", Role: schema.Ignored})
	out.Person = &schema.Person{Column: "who", Rows: most}
	return &out
}

// Neighbours differ in the rows of one person, who has more than count.
func TestNeighboursMoveWholePersons(t *testing.T) {
	const persons = 5
	for _, relation := range []dp.Relation{dp.ReplaceOne, dp.AddRemove} {
		fewer := false
		for _, scope := range []dp.Scope{dp.WholeRow, dp.PrivateFeatures} {
			s := ofPersons(small(t, relation, schema.Private), 2)
			for _, n := range AllNeighbours(s, persons, scope, replay.Seeded(2, "neighbours")) {
				var rows [2][]uint32
				for side, tab := range n.Tables {
					if _, err := tab.Schema.YAML(); err != nil || len(tab.Persons) != tab.Rows {
						t.Fatalf("%s: %d persons of %d rows, %v", n.Name, len(tab.Persons), tab.Rows, err)
					}
					counts, known := tab.CountPersons()
					rows[side] = counts[1:]
					if want := persons - side; relation == dp.AddRemove && known != want ||
						relation == dp.ReplaceOne && known != persons {
						t.Errorf("%s: side %d has %d persons", n.Name, side, known)
					}
				}
				if rows[0][0] <= uint32(s.Person.Rows) || !slices.Equal(rows[0][1:], rows[1][1:]) {
					t.Errorf("%s: rows by person %v and %v", n.Name, rows[0], rows[1])
				}
				fewer = fewer || scope == dp.PrivateFeatures && rows[1][0] != rows[0][0] && relation == dp.ReplaceOne
				a, b := n.Tables[0], n.Tables[1]
				for i := range persons - 1 {
					x, y := a.Rows-1-i, b.Rows-1-i
					for j := range a.Cols[:2] {
						if a.Cols[j].Codes.At(x) != b.Cols[j].Codes.At(y) || a.Labels[x] != b.Labels[y] {
							t.Errorf("%s: another person's row differs", n.Name)
						}
					}
				}
			}
		}
		if fewer {
			t.Error("rows keep public cells, yet their number differs")
		}
	}
}

// byRows is a table by which each row weighs one, whatever its person may: the twin with the wrong
// unit.
type byRows struct{ engine.Table }

func (b byRows) Persons() engine.Persons { return allAlike{b.Table.Persons()} }

type allAlike struct{ engine.Persons }

func (a allAlike) Weigh(int) engine.Table { return a.Persons.Weigh(schema.MaxPersonRows) }

// metNoise is one release: what was to leave, and by which mechanism.
type metNoise struct {
	mechanism mech.Mechanism
	values    []mech.Ratio
}

// keepingTape lets zeros leave, and choices of the first, and keeps what was to.
type keepingTape struct{ seen []metNoise }

func (k *keepingTape) Numbers(_ string, m mech.Mechanism, values []mech.Ratio) []float64 {
	k.seen = append(k.seen, metNoise{m, slices.Clone(values)})
	return make([]float64, len(values))
}

func (k *keepingTape) Choice(string, mech.Selector, []mech.Ratio) int { return 0 }

func (k *keepingTape) Report(string, response.Priced, []mech.Ratio) response.Report { return nil }

// loudestRelease is the release that moves by most noise scales between the sides of all pairs, as
// a pair of its own: the mechanism on the two vectors.
func loudestRelease(t *testing.T, pl learn.Plan, pairs []Neighbours, wrap func(engine.Table) engine.Table) (Pair,
	dp.Epsilon) {
	t.Helper()
	var loudest [2]metNoise
	most := 0.0
	for _, n := range pairs {
		var seen [2][]metNoise
		for side, tab := range n.Tables {
			tape := &keepingTape{}
			exit := mech.NewTapedExit(replay.Seeded(1, "coins"), tape)
			if _, err := guard.Train(t.Context(), pl, wrap(learntest.Engine(t, tab)), guard.Uncounted{}, exit); err != nil {
				t.Fatal(err)
			}
			seen[side] = tape.seen
		}
		for i, a := range seen[0] {
			var differ [2]metNoise // equal numbers tell nothing: each has noise of its own
			moved := 0.0
			for k, x := range a.values {
				y := seen[1][i].values[k]
				if d := math.Abs(x.Float() - y.Float()); d > 0 {
					moved += d / a.mechanism.(mech.Laplace).Scale()
					differ[0].values, differ[1].values = append(differ[0].values, x), append(differ[1].values, y)
				}
			}
			if moved > most {
				differ[0].mechanism = a.mechanism
				most, loudest = moved, differ
			}
		}
	}
	claim := loudest[0].mechanism.Loss()
	return Pair{
		Name: "the release that moves furthest", Outputs: []string{"log-likelihood ratio"}, Maximum: claim.Float(),
		Draw: Each(1, func(_ context.Context, side int, src rng.Source, out []float64) error {
			m := loudest[0].mechanism
			x := mech.NewExit(src).Release("x", m, loudest[side].values...)
			out[0] = logDensity(m, x, loudest[0].values) - logDensity(m, x, loudest[1].values)
			return nil
		}),
	}, claim
}

// Claims about persons, release by release on pairs that move whole persons: the release that
// moves furthest shows nine tenths of its price, and no more than all. A twin that counts rows is
// refuted.
func TestAuditsOfPersons(t *testing.T) {
	needsManyRuns(t)
	for _, c := range []struct {
		name     string
		relation dp.Relation
		label    schema.Role
		most     int
	}{
		{"one row counts", dp.ReplaceOne, schema.Public, 1},
		{"three rows count", dp.ReplaceOne, schema.Public, 3},
		{"whole rows", dp.ReplaceOne, schema.Private, 1},
		{"whole rows, three count", dp.ReplaceOne, schema.Private, 3},
		{"add or remove", dp.AddRemove, schema.Private, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := ofPersons(small(t, c.relation, c.label), c.most)
			s.Columns[1].Role = schema.Ignored // one round
			const persons = 2
			p := additive.Params{Epsilon: 5 * dp.Nano / 2, Rows: persons}
			pl, err := p.Plan(s, persons)
			if err != nil {
				t.Fatal(err)
			}
			pairs := AllNeighbours(s, persons, Scope(s), replay.Seeded(1, "pairs"))
			pair, claim := loudestRelease(t, pl, pairs, func(tab engine.Table) engine.Table { return tab })
			r := replayed(t, Subject{Name: c.name, Pairs: []Pair{pair}}, claim, runs(120_000, 600_000))
			if r.Verdict != NotRefuted || r.LowerBound < 0.9*r.Claim {
				t.Errorf("%s: shows ε ≥ %g of %g", r.Verdict, r.LowerBound, r.Claim)
			}
			pair, claim = loudestRelease(t, pl, pairs, func(tab engine.Table) engine.Table { return byRows{tab} })
			if r = replayed(t, Subject{Name: "rows count", Pairs: []Pair{pair}}, claim, 10_000); r.Verdict != Refuted {
				t.Errorf("a learner that counts rows is not refuted: ε ≥ %g of %g", r.LowerBound, r.Claim)
			}
		})
	}
}

// Learners that draw one row of each person, from outside: not refuted.
func TestAuditsOfDrawnRows(t *testing.T) {
	needsManyRuns(t)
	s := ofPersons(small(t, dp.ReplaceOne, schema.Private), 1)
	labels := ofPersons(small(t, dp.ReplaceOne, schema.Private), 1)
	for j := range labels.Columns[:2] {
		labels.Columns[j].Role = schema.Public
	}
	l := labeldp.Defaults()
	l.Epsilon, l.Noise = 2*dp.Nano, labeldp.Laplace
	const persons = 8
	for name, c := range map[string]struct {
		s    *schema.Schema
		plan func() (learn.Plan, error)
	}{
		"brc":     {s, func() (learn.Plan, error) { return plan(t, s, 2*dp.Nano, func(p *brc.Params) {}), nil }},
		"labeldp": {labels, func() (learn.Plan, error) { return l.Plan(labels, persons) }},
	} {
		pl, err := c.plan()
		if err != nil {
			t.Fatal(err)
		}
		sub, err := Learner(context.Background(), name, pl, c.s, persons, replay.Seeded(1, "pairs"))
		if err != nil {
			t.Fatal(err)
		}
		if r := replayed(t, sub, 2*dp.Nano, runs(600, 60_000)); r.Verdict != NotRefuted {
			t.Errorf("%s: a correct learner is refuted: ε ≥ %g", name, r.LowerBound)
		}
	}
}
