// SPDX-License-Identifier: Apache-2.0

package audit

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/learn/additive"
	"github.com/discreet-dp/discreet/internal/learn/brc"
	"github.com/discreet-dp/discreet/internal/learn/erm"
	"github.com/discreet-dp/discreet/internal/learn/grids"
	"github.com/discreet-dp/discreet/internal/learn/labeldp"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// loud is an ε at which half of a claim is within reach of some thousands of runs: a
// bound is at most the logarithm of their number, and the ratio of k rounds only comes
// near its end as often as all k of them do, which is seldom if each says little.
const loud dp.Epsilon = 8 * dp.Nano

// wide is a schema of so many private numbers.
func wide(t testing.TB, columns int) *schema.Schema {
	t.Helper()
	text := "name: wide\nunit: one person\nrelation: replace-one\n" +
		"file: {delimiter: \",\", quote: '\"', header: true}\ncolumns:\n"
	for j := range columns {
		text += fmt.Sprintf("  - {name: x%d, role: private, number: {lower: -1, upper: 1, default: 0}}\n", j)
	}
	text += "  - {name: y, role: private, label: {levels: [n, p], positive: p, default: n}}\n"
	s, err := schema.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// againstTheRest is the pair that output perturbation is sized for: all rows are in the
// middle and of one label, so that nothing bends the loss but along the intercept; one has
// the other label, far on the wrong side, and lies at one end of all columns or the other.
func againstTheRest(s *schema.Schema, rows int) Neighbours {
	n := Neighbours{Name: "one row of the other label at either end, all others in the middle"}
	for side := range n.Tables {
		t := equalRows(s, rows, func(int) uint32 { return 1 })
		for i := range t.Labels {
			t.Labels[i] = 1
		}
		t.Labels[0] = 0
		for j := range t.Cols {
			if t.Cols[j].Values != nil {
				t.Cols[j].Codes.U8[0] = uint8(2 - 2*side)
			}
		}
		n.Tables[side] = t
	}
	return n
}

// Every learner on its loudest pair of a search, seen with all its releases: never above
// the claim, and a long test shows half of it at least, of grids three tenths: in a round a
// row's cells move by 1.5 of the 2 that noise is sized for, since a row's slope is one half
// as long as nothing is known of it, and only where the grid that chance draws parts the two
// rows; and the choice of the grid, a seventh of the price, is moved by half of its spread.
func TestAuditsOfReleases(t *testing.T) {
	needsManyRuns(t)
	private, counted := small(t, dp.ReplaceOne, schema.Private), small(t, dp.AddRemove, schema.Private)
	features := small(t, dp.ReplaceOne, schema.Public)
	features.Columns[1].Role = schema.Public
	labels := small(t, dp.ReplaceOne, schema.Private)
	for j := range labels.Columns {
		labels.Columns[j].Role = schema.Public
	}
	for _, c := range []struct {
		name  string
		s     *schema.Schema
		rows  int
		runs  int     // of a long test
		least float64 // share of the claim that a long test must show; 0 for a half
		plan  func(s *schema.Schema, rows int) (learn.Plan, error)
	}{
		{"additive, whole rows", private, 2, 6_000, 0, func(s *schema.Schema, n int) (learn.Plan, error) {
			return additive.Params{Epsilon: loud}.Plan(s, n)
		}},
		{"additive, add or remove", counted, 2, 6_000, 0, func(s *schema.Schema, n int) (learn.Plan, error) {
			return additive.Params{Epsilon: loud, Rows: n}.Plan(s, 0)
		}},
		{"additive, private column", features, 2, 6_000, 0, func(s *schema.Schema, n int) (learn.Plan, error) {
			return additive.Params{Epsilon: loud}.Plan(s, n)
		}},
		{"grids, 1 round", wide(t, 8), 4, 24_000, 0.3, func(s *schema.Schema, n int) (learn.Plan, error) {
			return grids.Params{Epsilon: loud, Rounds: 1}.Plan(s, n)
		}},
		{"grids, 2 rounds", wide(t, 8), 4, 24_000, 0.3, func(s *schema.Schema, n int) (learn.Plan, error) {
			return grids.Params{Epsilon: loud, Rounds: 2}.Plan(s, n)
		}},
		{"brc, 4 rounds", private, 4, 24_000, 0, func(s *schema.Schema, n int) (learn.Plan, error) {
			p := brc.Defaults()
			p.Epsilon, p.Rounds = loud, 4
			return p.Plan(s, n)
		}},
		{"brc, stumps, 2 rounds", private, 4, 24_000, 0, func(s *schema.Schema, n int) (learn.Plan, error) {
			p := brc.Defaults()
			p.Epsilon, p.Rounds, p.Subroutine = loud, 2, brc.Stump
			return p.Plan(s, n)
		}},
		{"erm, output, gamma", wide(t, 3), 300, 24_000, 0, func(s *schema.Schema, n int) (learn.Plan, error) {
			p := erm.Defaults()
			p.Epsilon, p.Method, p.Noise, p.Mode, p.Encoding = loud, erm.Output, erm.Gamma, erm.Tight, feature.Ordinal
			p.Threshold, p.Reg = erm.NoThreshold, 1./float64(n)
			return p.Plan(s, n)
		}},
		{"labeldp, laplace", labels, 4, 24_000, 0, func(s *schema.Schema, n int) (learn.Plan, error) {
			p := labeldp.Defaults()
			p.Epsilon, p.Noise = loud, labeldp.Laplace
			return p.Plan(s, n)
		}},
		{"labeldp, gamma", labels, 4, 24_000, 0, func(s *schema.Schema, n int) (learn.Plan, error) {
			p := labeldp.Defaults()
			p.Epsilon, p.Noise = loud, labeldp.Gamma
			return p.Plan(s, n)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			rows := c.rows
			pl, err := c.plan(c.s, rows)
			if err != nil {
				t.Fatal(err)
			}
			scope := Scope(c.s)
			if c.s == labels {
				scope = dp.LabelOnly
			}
			n := againstTheRest(c.s, rows)
			if !strings.HasPrefix(c.name, "erm") {
				n, err = loudestNeighbours(context.Background(), pl, c.s, rows, runs(4, 60), scope,
					replay.Seeded(1, "pairs"))
			}
			if err != nil {
				t.Fatal(err)
			}
			sub, err := releasesOf(c.name, pl, []Neighbours{n})
			if err != nil {
				t.Fatal(err)
			}
			r := replayed(t, sub, loud, runs(max(MinRuns, c.runs/150), c.runs))
			if r.Verdict != NotRefuted {
				t.Errorf("a correct learner is refuted: ε ≥ %g", r.LowerBound)
			}
			if long && r.LowerBound < cmp.Or(c.least, 0.5)*loud.Float() {
				t.Errorf("shows ε ≥ %g of %s only", r.LowerBound, loud)
			}
		})
	}
}

// With a δ, all of additive's cells leave with Gaussian noise. The audit never shows more than the
// claim, and it shows a fifth of it. It can hardly show more: without the few runs that δ forgives,
// so many Gaussian numbers together seldom add up to half of the claim.
func TestAuditsOfGaussianReleases(t *testing.T) {
	if !long {
		t.Skip("set DISCREET_AUDIT (make audit): fewer runs show nothing of a δ")
	}
	const rows = 4
	const delta dp.Delta = dp.Femto / 2000
	for _, c := range []struct {
		relation      dp.Relation
		columns, rows int
	}{{dp.ReplaceOne, 4, rows}, {dp.AddRemove, 8, 0}} {
		t.Run(string(c.relation), func(t *testing.T) {
			s := wide(t, c.columns)
			s.Relation = c.relation
			// So many rows and columns that the rules take all in turn, with Gaussian noise.
			pl, err := additive.Params{Epsilon: loud, Delta: delta, Rows: 1000}.Plan(s, c.rows)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.ContainsFunc(pl.Terms().Bill, func(e dp.Event) bool { return e.Rho > 0 }) {
				t.Fatal("no noise is Gaussian: another path is audited")
			}
			n, err := loudestNeighbours(context.Background(), pl, s, rows, 20, Scope(s), replay.Seeded(1, "pairs"))
			if err != nil {
				t.Fatal(err)
			}
			sub, err := releasesOf("additive, a δ, "+string(c.relation), pl, []Neighbours{n})
			if err != nil {
				t.Fatal(err)
			}
			r := audited(t, sub, loud, delta.Float(), 3000)
			if r.Verdict != NotRefuted {
				t.Errorf("a correct learner is refuted: ε ≥ %g", r.LowerBound)
			}
			if r.LowerBound < 0.2*loud.Float() {
				t.Errorf("shows ε ≥ %g of %s only", r.LowerBound, loud)
			}
		})
	}
}

// The audit of releases has teeth: a price of 8 under a claim of 2 is refuted. Where a
// release stays secret it refuses to say anything.
func TestAuditsOfReleasesHaveTeeth(t *testing.T) {
	needsManyRuns(t)
	labels := small(t, dp.ReplaceOne, schema.Private)
	for j := range labels.Columns {
		labels.Columns[j].Role = schema.Public
	}
	p := labeldp.Defaults()
	p.Epsilon, p.Noise = loud, labeldp.Laplace
	pl, err := p.Plan(labels, 4)
	if err != nil {
		t.Fatal(err)
	}
	n, err := loudestNeighbours(context.Background(), pl, labels, 4, 20, dp.LabelOnly, replay.Seeded(1, "pairs"))
	if err != nil {
		t.Fatal(err)
	}
	sub, err := releasesOf("labeldp", pl, []Neighbours{n})
	if err != nil {
		t.Fatal(err)
	}
	if r := replayed(t, sub, loud/4, 1000); r.Verdict != Refuted {
		t.Errorf("a price of %s under a claim of %s is %s: ε ≥ %g", loud, loud/4, r.Verdict, r.LowerBound)
	}
	s := wide(t, 1)
	hidden := ermPlan(t, s, 20, func(p *erm.Params) { p.Method = erm.Objective })
	if sub, err = releasesOf("erm", hidden, []Neighbours{againstTheRest(s, 20)}); err != nil {
		t.Fatal(err)
	}
	err = sub.Pairs[0].Draw(context.Background(), 0, replay.Seeded(1, "run"), make([]float64, 1))
	if err == nil || !strings.Contains(err.Error(), "not shown") {
		t.Errorf("objective perturbation: %v", err)
	}
}

// Chances of choices add up to 1 and, of two candidates, are permute-and-flip's closed
// form: the better one 1 − q/2, the other q/2.
func TestLogChance(t *testing.T) {
	scores := []mech.Ratio{{Num: 3, Den: 1}, {Num: 1, Den: 1}, {Num: 2, Den: 1}}
	flip := mech.Sized(mech.PermuteAndFlipFor(dp.Nano, 2))
	for _, m := range []mech.Selector{flip, mech.Sized(mech.ExponentialFor(dp.Nano, 2))} {
		sum := 0.0
		for at := range scores {
			sum += math.Exp(logChance(m, scores, at))
		}
		if math.Abs(sum-1) > 1e-3 {
			t.Errorf("%s: chances add up to %g", m.Name(), sum)
		}
	}
	if got, want := math.Exp(logChance(flip, scores[:2], 1)), math.Exp(-1)/2; math.Abs(got-want) > 1e-9 {
		t.Errorf("the worse of two: %g, want %g", got, want)
	}
}
