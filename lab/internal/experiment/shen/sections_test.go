// SPDX-License-Identifier: Apache-2.0

package shen

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/size"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/table/sample"
	"github.com/discreet-dp/discreet/lab/internal/experiment/frame"
)

func run(t *testing.T, f *frame.Figure, repeats int) *frame.Result {
	t.Helper()
	res, err := f.Run(context.Background(), options(t, repeats))
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Verdict.Checks) == 0 || res.Verdict.Reason == "" {
		t.Errorf("%s: no verdict", f.Name)
	}
	return res
}

// Section 4 draws its own rows. At ε = 100 the noise is irrelevant; the mean
// accuracy of random classifiers is 3/4.
func TestToyFigures(t *testing.T) {
	if acc := run(t, newFig1a(), 2).Summary.Mean(toyBRC, toyEpsilon, accuracy).Mean; !(acc > 0.9) {
		t.Errorf("accuracy at ε = 100: %g", acc)
	}
	all := 0.0
	s := run(t, newFig1b(), 2).Summary
	for k := range toyRows / drawWidth {
		all += s.Mean(toyDraws, 0, countName(k)).Mean
	}
	if math.Abs(all-toyRounds) > 1e-9 {
		t.Errorf("%g classifiers in all buckets, want %d", all, toyRounds)
	}
	if out := run(t, newFig1c(), 10).Verdict.Outcome; out != frame.Reproduced {
		t.Errorf("fig1c: %s", out)
	}
	for _, f := range []*frame.Figure{newFig1a(), newFig1b(), newFig1c()} {
		if !strings.Contains(f.Protocol, "NOT private") {
			t.Errorf("%s does not say that it is not private", f.Name)
		}
	}
}

// Section 7 at its smallest: one repeat, the ends of the grid of ε.
func TestSectionSeven(t *testing.T) {
	size.OnlyLong(t, "reads real tables")
	world(t)
	// What was measured once in each figure, where a coin on 2,337 balanced rows
	// would have 50 ± 1 %: the least that learning must show.
	learned := map[string]struct {
		series string
		eps    float64 // 0: no privacy
	}{
		"shen/fig4a": {peopleWhole, 0.16}, "shen/fig4b": {brcPaper, 0.16}, "shen/fig4c": {randomBoost, 0},
		"shen/limitation": {privateLog, 2},
	}
	for _, f := range []*frame.Figure{newFig4a(), newFig4b(), newFig4c(), newFig4d(), newLimitation()} {
		t.Run(f.Name, func(t *testing.T) {
			res := run(t, f, 1)
			if want, ok := learned[f.Name]; ok {
				eps := dp.Epsilon(math.Round(want.eps * float64(dp.Nano)))
				if st := res.Summary.Mean(want.series, eps, accuracy); !(st.Mean > 0.55) {
					t.Errorf("%s at ε = %s learned nothing: accuracy %g", want.series, eps, st.Mean)
				}
			}
			for _, r := range res.Records {
				paid := r.Epsilon != nil && !strings.HasPrefix(r.Series, "pate-printed")
				if paid && r.Bill != *r.Epsilon || !paid && r.Bill != 0 {
					t.Errorf("%s: bill %g", r.Series, r.Bill)
				}
				if !paid && r.Epsilon != nil && !strings.Contains(r.Parameters, "not private") {
					t.Errorf("%s does not say that it is not private", r.Series)
				}
			}
		})
	}
}

func TestUpToKeepsTheFirstRounds(t *testing.T) {
	m := &model.Model{Classifier: &model.Votes{Members: []model.Member{{Vote: 1}, {Vote: -2}, {Vote: 3}}}}
	for rounds, want := range [][3]float64{{0, 0, 0}, {1, 0, 0}, {1, -2, 0}, {1, -2, 3}} {
		for i, v := range upTo(m, rounds).Classifier.(*model.Votes).Members {
			if v.Vote != want[i] {
				t.Errorf("after %d rounds member %d votes %g, want %g", rounds, i, v.Vote, want[i])
			}
		}
	}
	if m.Classifier.(*model.Votes).Members[2].Vote != 3 {
		t.Error("the model itself was changed")
	}
}

// The first 500 rows hold 113 positives: 226 balanced rows, 23 to test.
func TestFig4dRows(t *testing.T) {
	w := world(t)
	all, err := w.Read(context.Background(), "adult.yaml", "adult/adult.data.gz")
	if err != nil {
		t.Fatal(err)
	}
	few := all.Subset(firstRows(500))
	r := frame.Repeat{Seed: 1}
	rows := sample.Balance(few, r.Stream("balance"))
	if _, test := sample.HoldOut(rows, smallTest, r.Stream("hold out")); len(rows) != 226 || len(test) != 23 {
		t.Errorf("%d balanced rows, %d to test", len(rows), len(test))
	}
}
