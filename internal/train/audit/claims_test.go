// SPDX-License-Identifier: Apache-2.0

package audit

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/size"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/learn/additive"
	"github.com/discreet-dp/discreet/internal/learn/auto"
	"github.com/discreet-dp/discreet/internal/learn/brc"
	"github.com/discreet-dp/discreet/internal/learn/erm"
	"github.com/discreet-dp/discreet/internal/learn/grids"
	"github.com/discreet-dp/discreet/internal/learn/labeldp"
	"github.com/discreet-dp/discreet/internal/net/federated/sites"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
	"github.com/discreet-dp/discreet/internal/table/engine/memory"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// related is a schema of so many private numbers under a relation.
func related(t testing.TB, columns int, relation dp.Relation) *schema.Schema {
	s := wide(t, columns)
	s.Relation = relation
	return s
}

// publicColumns is a schema of which the label alone is protected.
func publicColumns(t testing.TB) *schema.Schema {
	s := wide(t, 1)
	for j := range s.Columns {
		s.Columns[j].Role = schema.Public
	}
	return s
}

// odd is the pair of againstTheRest under any relation: under add-remove the row is there or not.
func odd(s *schema.Schema, rows int) Neighbours {
	n := againstTheRest(s, rows)
	if s.Relation == dp.AddRemove {
		n.Tables[1] = n.Tables[0].Subset(upFrom(1, rows))
		n.Name = "one row of the other label at one end, there or not, all others in the middle"
	}
	return n
}

// labelled is a row of either label among rows of both.
func labelled(s *schema.Schema, rows int) Neighbours {
	n := Neighbours{Name: "one row of either label, at the upper ends, among rows of both"}
	for side := range n.Tables {
		t := equalRows(s, rows, highestCode)
		t.Labels[0] = uint8(side)
		n.Tables[side] = t
	}
	if s.Relation == dp.AddRemove {
		n.Tables[1] = n.Tables[0].Subset(upFrom(1, rows))
		n.Name = "one row, there or not, among rows of both labels"
	}
	return n
}

// A claim of 1 on 30 to 300 rows, for each learner, relation and delta that it takes: no audit of all that
// left refutes it, and where the pair allows half of it is shown (evidence/benchmarks/audit.md has the
// figures, and why some show less).
func TestAuditsOfClaimOne(t *testing.T) {
	const one, delta = dp.Nano, dp.Femto / 50
	for _, c := range []struct {
		name  string
		s     *schema.Schema
		rows  int
		delta dp.Delta
		pair  func(s *schema.Schema, rows int) Neighbours
		runs  int
		least float64
		quick bool
		plan  func(s *schema.Schema, n int, d dp.Delta) (learn.Plan, error)
	}{
		{"additive, replace-one", related(t, 1, dp.ReplaceOne), 30, 0, labelled, 6_000, 0.5, false, additively},
		{"additive, add-remove", related(t, 1, dp.AddRemove), 30, 0, labelled, 6_000, 0.5, false, additively},
		{"auto, replace-one", related(t, 2, dp.ReplaceOne), 30, 0, labelled, 6_000, 0.5, false, automatically},
		{"auto, add-remove", related(t, 2, dp.AddRemove), 30, 0, labelled, 6_000, 0.5, false, automatically},
		{"grids, replace-one, 1 round", related(t, 2, dp.ReplaceOne), 30, 0, odd, 20_000, 0.2, false, gridly},
		{"grids, add-remove, 1 round", related(t, 2, dp.AddRemove), 30, 0, odd, 20_000, 0.4, false, gridly},
		{"labeldp, laplace", publicColumns(t), 30, 0, labelled, 10_000, 0.5, false, labelly(labeldp.Laplace)},
		{"labeldp, gaussian", publicColumns(t), 30, delta, labelled, 30_000, 0.5, false, labelly(labeldp.Gaussian)},
		{"brc, replace-one", related(t, 1, dp.ReplaceOne), 30, 0, labelled, 20_000, 0.5, true, boosted},
		{"brc, add-remove", related(t, 1, dp.AddRemove), 30, 0, labelled, 20_000, 0.5, false, boosted},
		{"erm, output, gamma", related(t, 1, dp.ReplaceOne), 300, 0, odd, 60_000, 0.5, false,
			func(s *schema.Schema, n int, _ dp.Delta) (learn.Plan, error) {
				p := erm.Defaults()
				p.Epsilon, p.Method, p.Noise, p.Mode, p.Encoding = one, erm.Output, erm.Gamma, erm.Tight, feature.Ordinal
				p.Threshold, p.Reg = erm.NoThreshold, 1./float64(n)
				return p.Plan(s, n)
			}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if !c.quick {
				size.OnlyLong(t, "the figures of the page; brc is audited in each run")
			}
			n := c.rows
			if c.s.Relation == dp.AddRemove {
				n = 0
			}
			pl, err := c.plan(c.s, n, c.delta)
			if err != nil {
				t.Fatal(err)
			}
			gaussian := slices.ContainsFunc(pl.Terms().Bill, func(e dp.Event) bool { return e.Rho > 0 })
			if gaussian != (c.delta > 0) {
				t.Fatalf("noise is Gaussian: %v, of delta %s", gaussian, c.delta)
			}
			sub, err := releasesOf(c.name, pl, []Neighbours{c.pair(c.s, c.rows)})
			if err != nil {
				t.Fatal(err)
			}
			judge(t, audited(t, sub, one, c.delta.Float(), size.Of(2_000, c.runs)), c.least)
		})
	}
}

// judge fails a report that refutes, or at full size shows too little.
func judge(t *testing.T, r *Report, least float64) {
	t.Helper()
	if r.Verdict != NotRefuted {
		t.Errorf("a correct claim is refuted: ε ≥ %g", r.LowerBound)
	}
	if size.Long() && r.LowerBound < least {
		t.Errorf("shows ε ≥ %g, want %g at least", r.LowerBound, least)
	}
}

func additively(s *schema.Schema, n int, d dp.Delta) (learn.Plan, error) {
	return additive.Params{Epsilon: dp.Nano, Delta: d, Rows: 30}.Plan(s, n)
}

func automatically(s *schema.Schema, n int, d dp.Delta) (learn.Plan, error) {
	return auto.Params{Epsilon: dp.Nano, Delta: d, Rows: 30}.Plan(s, n)
}

func gridly(s *schema.Schema, n int, d dp.Delta) (learn.Plan, error) {
	return grids.Params{Epsilon: dp.Nano, Delta: d, Rows: 30, Rounds: 1}.Plan(s, n)
}

func labelly(noise labeldp.Noise) func(*schema.Schema, int, dp.Delta) (learn.Plan, error) {
	return func(s *schema.Schema, n int, d dp.Delta) (learn.Plan, error) {
		p := labeldp.Defaults()
		p.Epsilon, p.Delta, p.Noise = dp.Nano, d, noise
		return p.Plan(s, n)
	}
}

func boosted(s *schema.Schema, n int, _ dp.Delta) (learn.Plan, error) {
	p := brc.Defaults()
	p.Epsilon, p.Rounds = dp.Nano, 1
	return p.Plan(s, n)
}

// A whole training across two sites, of which both are honest, as its coordinator sees it: every total.
// The audited row is at the first.
func TestAuditsOfTrainingsAcrossSites(t *testing.T) {
	for _, relation := range []dp.Relation{dp.AddRemove, dp.ReplaceOne} {
		t.Run(string(relation), func(t *testing.T) {
			size.OnlyLong(t, "TestAuditOfSites audits one measurement in each run")
			const rows = 30
			s := related(t, 1, relation)
			n := labelled(s, rows)
			other, err := memory.New(equalRows(s, rows, highestCode))
			if err != nil {
				t.Fatal(err)
			}
			var tabs [2]*memory.Table
			for side := range tabs {
				if tabs[side], err = memory.New(n.Tables[side]); err != nil {
					t.Fatal(err)
				}
			}
			declared := 0
			if relation == dp.ReplaceOne {
				declared = 2 * rows
			}
			pl, err := additive.Params{Epsilon: dp.Nano, Rows: rows}.Plan(s, declared)
			if err != nil {
				t.Fatal(err)
			}
			terms := pl.Terms()
			about := &sites.Training{Scope: terms.Scope, Epsilon: terms.Price.Epsilon, Bill: terms.Bill, Honest: 2,
				Sites: make([]sites.Member, 2)}
			train := func(ctx context.Context, side int, src rng.Source) (all []float64, err error) {
				var at []*sites.Responder
				for _, tab := range []*memory.Table{tabs[side], other} {
					g, err := guard.Open(ctx, about.Terms(), tab, guard.Uncounted{}, mech.NewExit(src))
					if err != nil {
						return nil, err
					}
					at = append(at, &sites.Responder{Guard: g, Honest: 2, Values: 1000})
				}
				remote := sites.NewRemote(about, "training", func(text []byte, _ guard.Answers) (sums []mech.Whole, from int, err error) {
					var ask sites.Ask
					if err := json.Unmarshal(text, &ask); err != nil {
						return nil, 0, err
					}
					for _, r := range at {
						own, err := r.Contribute(ctx, &ask)
						if err == nil {
							sums, err = sites.AddUp(sums, sites.Encode(own))
						}
						if err != nil {
							return nil, 0, err
						}
					}
					for _, w := range sums {
						all = append(all, float64(int64(w.High))+float64(w.Low)/(1<<64))
					}
					return sums, len(at), nil
				})
				_, err = guard.TrainAcross(ctx, pl, remote.Table(s, declared), remote)
				return all, err
			}
			first, err := train(t.Context(), 0, replay.Seeded(1, "first"))
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for i := range first {
				names = append(names, fmt.Sprintf("total %d", i))
			}
			sub := Subject{Name: "a training across sites", Pairs: []Pair{{Name: n.Name, Outputs: names, Batch: 64,
				Draw: Each(len(names), func(ctx context.Context, side int, src rng.Source, out []float64) error {
					all, err := train(ctx, side, src)
					copy(out, all)
					return err
				})}}}
			judge(t, audited(t, sub, dp.Nano, 0, 6_000), 0.5)
		})
	}
}
