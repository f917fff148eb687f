// SPDX-License-Identifier: Apache-2.0

package brc

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/censustest"
	"github.com/discreet-dp/discreet/internal/check/testkit/learntest"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/learn/logistic"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// The public classifier counts its mistakes by the answers a model gives, also
// where the fitted score is zero but for rounding.
func TestPublicAnswersAreTheModels(t *testing.T) {
	tab := censustest.Table(4, 3000)
	cols := tab.Schema.ByRole(schema.Public)
	sp, err := feature.NewSpace(tab.Schema, feature.Ordinal, cols)
	if err != nil {
		t.Fatal(err)
	}
	groups, err := learntest.Engine(t, tab).Groups(context.Background(), cols)
	if err != nil {
		t.Fatal(err)
	}
	close := [2]int{} // by the scorer's answer
	r := rand.New(rand.NewPCG(4, 4))
	for trial := range 40 {
		coef := make([]float64, sp.Width()+1)
		for f := range sp.Width() {
			coef[f] = 2 * r.NormFloat64()
		}
		for k, j := range sp.Columns { // the intercept cancels one group's score
			f, v := sp.Cell(k, &groups.Cols[j], int(groups.Cols[j].Codes.At(trial)))
			coef[len(coef)-1] -= coef[f] * v
		}
		top := 0.0
		for _, c := range coef {
			top = max(top, math.Abs(c))
		}
		p := &publicSide{space: sp, groups: &guard.Groups{Groups: *groups}, classifier: logistic.Threshold(coef), answers: make([]uint8, groups.Len)}
		want := make([]uint64, groups.Len)
		feature.NewScorer(sp, []feature.Threshold{p.classifier}).Bind(groups.Cols).Answers(0, want)
		scores := make([]float64, groups.Len)
		for i := range scores {
			scores[i] = coef[len(coef)-1]
			for k, j := range sp.Columns {
				f, v := sp.Cell(k, &groups.Cols[j], int(groups.Cols[j].Codes.At(i)))
				scores[i] += coef[f] * v
			}
			if math.Abs(scores[i]) < top*sp.Slack()/2 { // the worst a rounded score may say
				close[want[i]]++
				scores[i] = (1 - 2*float64(want[i])) * top * sp.Slack() / 2
			}
		}
		p.fillAnswers(coef, scores)
		for i, a := range p.answers {
			if uint64(a) != want[i] {
				t.Fatalf("trial %d: group %d answers %d, scorer %d", trial, i, a, want[i])
			}
		}
	}
	if close[0] == 0 || close[1] == 0 {
		t.Errorf("%v scores near zero: the test is one-sided", close)
	}
}
