// SPDX-License-Identifier: Apache-2.0

package adaboost

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/learntest"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/learn/nonprivate"
	"github.com/discreet-dp/discreet/internal/learn/random"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
	"github.com/discreet-dp/discreet/lab/internal/census"
)

func params(base Base) Params {
	return Params{Rounds: 12, Base: base, Encoding: feature.OneHot, Columns: nonprivate.All, NotPrivate: true}
}

func mustPlan(t testing.TB, p Params, s *schema.Schema) learn.Plan {
	t.Helper()
	pl, err := p.Plan(s, 0)
	if err != nil {
		t.Fatal(err)
	}
	return pl
}

func TestConformance(t *testing.T) {
	for _, base := range []Base{Logistic, Stump, Random} {
		t.Run(string(base), func(t *testing.T) {
			learntest.Run(t, learntest.Case{
				Plan:      func() (learn.Plan, error) { return params(base).Plan(census.Schema(), 0) },
				Table:     census.Generate(1, 400),
				OrderFree: true,
			})
		})
	}
}

func TestPlanRefuses(t *testing.T) {
	three, weighted := *census.Schema(), *census.Schema()
	three.Label.Levels = make([]schema.Level, 3)
	weighted.Label.Weights = []float64{1, 2}
	tests := []struct {
		name   string
		s      *schema.Schema
		change func(*Params)
		param  string
	}{
		{"private columns", census.Schema(), func(p *Params) { p.NotPrivate = false }, "not-private"},
		{"unknown columns", census.Schema(), func(p *Params) { p.Columns = "" }, "columns"},
		{"unknown encoding", census.Schema(), func(p *Params) { p.Encoding = "" }, "encoding"},
		{"unknown base", census.Schema(), func(p *Params) { p.Base = "" }, "base"},
		{"three levels over logistic", &three, func(*Params) {}, "base"},
		{"three levels over random", &three, func(p *Params) { p.Base = Random }, "base"},
		{"weights over random", &weighted, func(p *Params) { p.Base = Random }, "base"},
		{"no rounds", census.Schema(), func(p *Params) { p.Rounds = 0 }, "rounds"},
		{"too many rounds", census.Schema(), func(p *Params) { p.Rounds = maxRounds + 1 }, "rounds"},
		{"reg not a number", census.Schema(), func(p *Params) { p.Reg = math.NaN() }, "reg"},
		{"negative reg", census.Schema(), func(p *Params) { p.Reg = -1 }, "reg"},
		{"ridge over stumps", census.Schema(), func(p *Params) { p.Base, p.Reg = Stump, 1 }, "reg"},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			p := params(Logistic)
			c.change(&p)
			pl, err := p.Plan(c.s, 0)
			var refused *dp.ParamError
			if pl != nil || !errors.As(err, &refused) || refused.Param != c.param {
				t.Errorf("Plan = %v, %v, want a refusal of %s", pl, err, c.param)
			}
		})
	}
}

// Six rows, x = 0..5, labels + + - - - +. By hand, with weights before scaling:
//
//	round 1: 1 1 1 1 1 1, best x ≤ 1.5, wrong about row 5: 1/6, vote log 5
//	round 2: 1 1 1 1 1 5, best x ≥ 4.5, wrong about rows 0, 1: 2/10, vote log 4
//	round 3: 4 4 1 1 1 5, best "always", wrong about rows 2-4: 3/16, vote log 13/3
//
// and the vote is right about every row.
func TestSixRowsByHand(t *testing.T) {
	s := &schema.Schema{
		Name: "six", Unit: "one row", Relation: dp.ReplaceOne,
		Columns: []schema.Column{{Name: "x", Role: schema.Public, Kind: schema.Number, Lower: 0, Upper: 5}},
		Label: schema.Label{Name: "y", Role: schema.Public, Levels: []schema.Level{{Value: "+"}, {Value: "-"}},
			Default: -1},
	}
	tab := &dataset.Table{
		Schema: s, Rows: 6, Labels: []uint8{0, 0, 1, 1, 1, 0},
		Cols: []column.Column{{Codes: column.Codes{U8: []uint8{0, 1, 2, 3, 4, 5}}, Values: []float64{0, 1, 2, 3, 4, 5}}},
	}
	p := Params{Rounds: 3, Base: Stump, Encoding: feature.Ordinal, Columns: nonprivate.Public}
	m := learntest.Fit(t, mustPlan(t, p, s), tab, nil, 1)
	for i, want := range []struct{ vote, coef, cut float64 }{
		{math.Log(5), -1, 1.5},
		{math.Log(4), 1, 4.5},
		{math.Log(13. / 3), 0, 0},
	} {
		got := m.Classifier.(*model.Votes).Members[i]
		bias := 1.0
		if want.coef != 0 {
			bias = -want.coef * (2*want.cut/5 - 1)
		}
		if math.Abs(got.Vote-want.vote) > 1e-12 || got.Coef[0] != want.coef || math.Abs(got.Bias-bias) > 1e-8 {
			t.Errorf("round %d: %+v, want vote %g, coefficient %g, bias %g", i+1, got, want.vote, want.coef, bias)
		}
	}
	scores, err := m.Scores(tab.Cols, tab.Rows)
	if err != nil {
		t.Fatal(err)
	}
	for i, label := range tab.Labels {
		if (scores[i] >= 0.5) != (label == 0) {
			t.Errorf("row %d: score %g, label %d", i, scores[i], label)
		}
	}
}

// The twin reads Algorithm 1 row by row with un-scaled weights, given the
// classifiers of the model.
func TestVotesEqualTheNaiveTwin(t *testing.T) {
	tab := census.Generate(2, 700)
	cols := tab.Schema.Features()
	for _, base := range []Base{Logistic, Stump, Random} {
		t.Run(string(base), func(t *testing.T) {
			p := params(base)
			p.Rounds = 70 // more than one word of mistakes
			m := learntest.Fit(t, mustPlan(t, p, tab.Schema), tab, nil, 1)
			sp, err := feature.NewSpace(tab.Schema, p.Encoding, cols)
			if err != nil {
				t.Fatal(err)
			}
			w := slices.Repeat([]float64{1}, tab.Rows)
			for round, member := range m.Classifier.(*model.Votes).Members {
				answers := make([]uint64, tab.Rows)
				feature.NewScorer(sp, []feature.Threshold{member.Threshold}).Bind(tab.Cols).Answers(0, answers)
				lost, all := 0.0, 0.0
				for i, a := range answers {
					all += w[i]
					if (a == 1) != (int(tab.Labels[i]) == tab.Schema.Label.Positive) {
						lost += w[i]
					}
				}
				vote := math.Log((1 - lost/all) / (lost / all))
				if !(math.Abs(vote-member.Vote) < 1e-9) {
					t.Fatalf("round %d: vote %.12g, twin's %.12g", round+1, member.Vote, vote)
				}
				for i, a := range answers {
					if (a == 1) != (int(tab.Labels[i]) == tab.Schema.Label.Positive) {
						w[i] *= math.Exp(vote)
					}
				}
			}
		})
	}
}

// One boosted weak learner must use its weights: a learner that ignores them
// repeats itself and votes zero from the second round on.
func TestLearnersUseTheirWeights(t *testing.T) {
	tab := census.Generate(2, 700)
	for _, base := range []Base{Logistic, Stump} {
		members := learntest.Fit(t, mustPlan(t, params(base), tab.Schema), tab, nil, 1).Classifier.(*model.Votes).Members
		if !(members[1].Vote > 0.01) || slices.Equal(members[0].Coef, members[1].Coef) && members[0].Bias == members[1].Bias {
			t.Errorf("%s: the second round repeats the first: vote %g", base, members[1].Vote)
		}
	}
}

func TestRandomBaseIsTheDrawsOfItsSource(t *testing.T) {
	tab := census.Generate(2, 200)
	m := learntest.Fit(t, mustPlan(t, params(Random), tab.Schema), tab, nil, 9)
	sp, _ := feature.NewSpace(tab.Schema, feature.OneHot, tab.Schema.Features())
	src := replay.Seeded(9, "learntest")
	for i, member := range m.Classifier.(*model.Votes).Members {
		if want := random.Threshold(src, sp, true); !slices.Equal(member.Coef, want.Coef) || member.Bias != want.Bias {
			t.Fatalf("member %d is not draw %d", i, i)
		}
	}
}

func TestVoteIsCapped(t *testing.T) {
	for _, c := range []struct{ werr, vote float64 }{
		{0, maxVote}, {1, -maxVote}, {0.5, 0}, {0.2, math.Log(4)}, {0.8, -math.Log(4)}, {5e-324, maxVote}, {0x1p-60, maxVote},
	} {
		if got := voteFor(c.werr, 2); math.Abs(got-c.vote) > 1e-12 {
			t.Errorf("vote for error %g is %g, want %g", c.werr, got, c.vote)
		}
	}
}

// A round multiplies the sum of un-scaled weights by 2(1-err): 1.5 or so for these
// stumps, so that they pass 1e308 after some 1,600 of 2,500 rounds.
func TestManyRoundsStayFinite(t *testing.T) {
	tab := census.Generate(4, 30)
	p := params(Stump)
	p.Rounds = maxRounds / 4
	for i, member := range learntest.Fit(t, mustPlan(t, p, tab.Schema), tab, nil, 1).Classifier.(*model.Votes).Members {
		if !(math.Abs(member.Vote) <= maxVote) {
			t.Fatalf("vote %d is %g", i, member.Vote)
		}
	}
}

func BenchmarkFit(b *testing.B) {
	tab := census.Generate(1, 20_000)
	for _, base := range []Base{Logistic, Stump, Random} {
		p := params(base)
		p.Rounds, p.Encoding = 25, feature.Ordinal
		pl := mustPlan(b, p, tab.Schema)
		b.Run(string(base), func(b *testing.B) {
			for b.Loop() {
				learntest.Fit(b, pl, tab, nil, 1)
			}
		})
	}
}
