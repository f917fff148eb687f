// SPDX-License-Identifier: Apache-2.0

package adaboost

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/learntest"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/learn/nonprivate"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
	"github.com/discreet-dp/discreet/lab/internal/census"
)

func TestConformanceOfLevels(t *testing.T) {
	for _, c := range []struct {
		base    Base
		levels  int
		weights []float64
	}{{Stump, 3, nil}, {Stump, 4, []float64{1, 2, 3, 0.5}}, {Stump, 2, []float64{1, 3}}, {Logistic, 2, []float64{1, 3}}} {
		t.Run(fmt.Sprintf("%s, %d levels, weights %g", c.base, c.levels, c.weights), func(t *testing.T) {
			tab := learntest.Levels(census.Generate(1, 400), c.levels, c.weights)
			learntest.Run(t, learntest.Case{
				Plan:      func() (learn.Plan, error) { return params(c.base).Plan(tab.Schema, 0) },
				Table:     tab,
				OrderFree: true,
			})
		})
	}
}

// Six rows, x = 0..5, levels a a b b c c. By hand, with weights before scaling;
// a vote is log((1-e)/e) + log 2:
//
//	round 1: 1 1 1 1 1 1, purity 4 at 1.5 and 3.5, the lower wins: a below and b,
//	         the first of two, above; wrong about rows 4, 5: 2/6, vote log 4
//	round 2: 1 1 1 1 4 4, purity 2+6.8 at 1.5 and 2+8 at 3.5: a, the first of two,
//	         below and c above, wrong about rows 2, 3: 2/12, vote log 10
//	round 3: 1 1 10 10 4 4, purity 18.6 at 1.5 and 26.4 at 3.5: b below and c
//	         above, wrong about rows 0, 1: 2/30, vote log 28
//
// The odds are then 40 : 28 : 1 on rows 0 and 1, 10 : 112 : 1 on rows 2 and 3,
// 1 : 4 : 280 on rows 4 and 5.
func TestSixRowsOfThreeLevelsByHand(t *testing.T) {
	s := &schema.Schema{
		Name: "six", Unit: "one row", Relation: dp.ReplaceOne,
		Columns: []schema.Column{{Name: "x", Role: schema.Public, Kind: schema.Number, Lower: 0, Upper: 5}},
		Label: schema.Label{Name: "y", Role: schema.Public,
			Levels: []schema.Level{{Value: "a"}, {Value: "b"}, {Value: "c"}}, Positive: -1, Default: -1},
	}
	tab := &dataset.Table{
		Schema: s, Rows: 6, Labels: []uint8{0, 0, 1, 1, 2, 2},
		Cols: []column.Column{{Codes: column.Codes{U8: []uint8{0, 1, 2, 3, 4, 5}}, Values: []float64{0, 1, 2, 3, 4, 5}}},
	}
	p := Params{Rounds: 3, Base: Stump, Encoding: feature.Ordinal, Columns: nonprivate.Public}
	m := learntest.Fit(t, mustPlan(t, p, s), tab, nil, 1)
	for i, want := range []struct {
		vote, cut float64
		yes, no   []float64
	}{
		{math.Log(4), 1.5, []float64{0, 1, 0}, []float64{1, 0, 0}},
		{math.Log(10), 3.5, []float64{0, 0, 1}, []float64{1, 0, 0}},
		{math.Log(28), 3.5, []float64{0, 0, 1}, []float64{0, 1, 0}},
	} {
		got := m.Classifier.(*model.Ballots).Members[i]
		if !(math.Abs(got.Weight-want.vote) <= 1e-12) || got.Stump.Coef[0] != 1 ||
			!(math.Abs(got.Stump.Bias+2*want.cut/5-1) <= 1e-8) ||
			!slices.Equal(got.Stump.Yes, want.yes) || !slices.Equal(got.Stump.No, want.no) {
			t.Errorf("round %d: weight %g, %+v, want %+v", i+1, got.Weight, got.Stump, want)
		}
	}
	scores, err := m.Scores(tab.Cols, tab.Rows)
	if err != nil {
		t.Fatal(err)
	}
	for i, odds := range [][]float64{{40, 28, 1}, {40, 28, 1}, {10, 112, 1}, {10, 112, 1}, {1, 4, 280}, {1, 4, 280}} {
		all := odds[0] + odds[1] + odds[2]
		for k := range odds {
			if !(math.Abs(scores[3*i+k]-odds[k]/all) <= 1e-12) {
				t.Errorf("row %d, level %d: score %g, want %g", i, k, scores[3*i+k], odds[k]/all)
			}
		}
	}
	if got := m.Labels(scores); !slices.Equal(got, tab.Labels) {
		t.Errorf("labels %v, want %v", got, tab.Labels)
	}
}

// The twin reads SAMME row by row with un-scaled weights, given the splits of
// the model.
func TestBallotsEqualTheNaiveTwin(t *testing.T) {
	for _, weights := range [][]float64{nil, {4, 1, 2, 2}} {
		tab := learntest.Levels(census.Generate(2, 700), 4, weights)
		p := params(Stump)
		p.Rounds = 40
		m := learntest.Fit(t, mustPlan(t, p, tab.Schema), tab, nil, 1)
		sp, err := feature.NewSpace(tab.Schema, p.Encoding, tab.Schema.Features())
		if err != nil {
			t.Fatal(err)
		}
		w := make([]float64, tab.Rows)
		for i, label := range tab.Labels {
			if w[i] = 1; weights != nil {
				w[i] = weights[label]
			}
		}
		for round, member := range m.Classifier.(*model.Ballots).Members {
			answers := make([]uint64, tab.Rows)
			feature.NewScorer(sp, []feature.Threshold{member.Stump.Threshold}).Bind(tab.Cols).Answers(0, answers)
			wrong := make([]bool, tab.Rows)
			lost, all := 0.0, 0.0
			for i, a := range answers {
				leaf := member.Stump.No
				if a == 1 {
					leaf = member.Stump.Yes
				}
				wrong[i] = leaf[tab.Labels[i]] != 1
				all += w[i]
				if wrong[i] {
					lost += w[i]
				}
			}
			vote := math.Log((1-lost/all)/(lost/all)) + math.Log(3)
			if !(math.Abs(vote-member.Weight) <= 1e-9) {
				t.Fatalf("round %d: vote %.12g, twin's %.12g", round+1, member.Weight, vote)
			}
			for i := range w {
				if wrong[i] {
					w[i] *= math.Exp(vote)
				}
			}
		}
	}
}

// A row of weight 3 is three rows.
func TestWeightsCountRows(t *testing.T) {
	for _, base := range []Base{Stump, Logistic} {
		weighted := learntest.Levels(census.Generate(3, 300), 2, []float64{1, 3})
		var rows []int
		for i, label := range weighted.Labels {
			rows = append(rows, i)
			if label == 1 {
				rows = append(rows, i, i)
			}
		}
		p := params(base)
		p.Rounds, p.Reg = 3, 0
		if base == Logistic {
			p.Reg = 0.01
		}
		a := learntest.Fit(t, mustPlan(t, p, weighted.Schema), weighted, nil, 1).Classifier.(*model.Votes).Members
		repeated := learntest.Levels(census.Generate(3, 300), 2, nil).Subset(rows)
		b := learntest.Fit(t, mustPlan(t, p, repeated.Schema), repeated, nil, 1).Classifier.(*model.Votes).Members
		for i := range a {
			if !(math.Abs(a[i].Vote-b[i].Vote) <= 1e-6) {
				t.Errorf("%s: vote %d is %g, of repeated rows %g", base, i, a[i].Vote, b[i].Vote)
			}
		}
	}
}

func TestVoteOfLevels(t *testing.T) {
	for _, c := range []struct{ werr, vote float64 }{
		{0, maxVote + math.Log(2)}, {2. / 3, 0}, {0.9, 0}, {1, 0}, {0.5, math.Log(2)}, {0.2, math.Log(8)},
	} {
		if got := voteFor(c.werr, 3); !(math.Abs(got-c.vote) <= 1e-12) {
			t.Errorf("vote for error %g is %g, want %g", c.werr, got, c.vote)
		}
	}
}
