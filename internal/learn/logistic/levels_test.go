// SPDX-License-Identifier: Apache-2.0

package logistic

import (
	"fmt"
	"math"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/censustest"
	"github.com/discreet-dp/discreet/internal/check/testkit/learntest"
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
)

func TestConformanceOfLevels(t *testing.T) {
	for _, c := range []struct {
		levels  int
		weights []float64
	}{{3, nil}, {4, []float64{1, 2, 3, 0.5}}, {2, []float64{1, 3}}} {
		t.Run(fmt.Sprintf("%d levels, weights %g", c.levels, c.weights), func(t *testing.T) {
			tab := learntest.Levels(censustest.Table(1, 400), c.levels, c.weights)
			learntest.Run(t, learntest.Case{
				Plan:  func() (learn.Plan, error) { return everything.Plan(tab.Schema, 0) },
				Table: tab,
			})
		})
	}
}

func fit(t *testing.T, p Params, tab *dataset.Table) *model.Model {
	t.Helper()
	pl, err := p.Plan(tab.Schema, tab.Rows)
	if err != nil {
		t.Fatal(err)
	}
	return learntest.Fit(t, pl, tab, nil, 1)
}

// Each level's function is that of a table with two levels, and a row of weight 3
// is three rows.
func TestLevelsEqualBinaryFits(t *testing.T) {
	for _, weights := range [][]float64{nil, {3, 1, 2}} {
		tab := learntest.Levels(censustest.Table(2, 500), 3, weights)
		p := everything
		p.Reg = 0.01
		m := fit(t, p, tab)
		var rows []int
		for i, label := range tab.Labels {
			times := 1
			if weights != nil {
				times = int(weights[label])
			}
			for range times {
				rows = append(rows, i)
			}
		}
		for level := range 3 {
			two := learntest.Levels(censustest.Table(2, 500), 2, nil)
			for i := range two.Labels {
				two.Labels[i] = uint8(1 - two.Schema.Label.Positive)
				if int(tab.Labels[i]) == level {
					two.Labels[i] = uint8(two.Schema.Label.Positive)
				}
			}
			q := p
			if weights != nil { // (1/n)·Σ w/3·l is (1/3n)·Σ over repeated rows
				two = two.Subset(rows)
				q.Reg = p.Reg * 3 * float64(tab.Rows) / float64(len(rows))
			}
			want := fit(t, q, two).Classifier.(*model.Logistic)
			for f := range want.Coef {
				if !(math.Abs(m.Classifier.(*model.Linear).Coef[level][f]-want.Coef[f]) <= 1e-6) {
					t.Fatalf("weights %g, level %d, coefficient %d: %.9g, alone %.9g", weights, level, f,
						m.Classifier.(*model.Linear).Coef[level][f], want.Coef[f])
				}
			}
			if !(math.Abs(m.Classifier.(*model.Linear).Bias[level]-want.Bias) <= 1e-6) {
				t.Errorf("weights %g, level %d: intercept %.9g, alone %.9g", weights, level,
					m.Classifier.(*model.Linear).Bias[level], want.Bias)
			}
		}
	}
}
