// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Each question is asked from its limit on, by itself, and not of numbers that noise may have made.
func TestQuestions(t *testing.T) {
	s := &schema.Schema{Columns: []schema.Column{
		{Name: "x", Role: schema.Private, Kind: schema.Number, Lower: 0, Upper: 2, Default: new(float64)},
		{Name: "c", Role: schema.Private, Kind: schema.Category, Levels: []schema.Level{{Value: "a"}, {Value: "b"}}},
	}, Label: schema.Label{Name: "y", Role: schema.Private, Levels: []schema.Level{{Value: "alive"}, {Value: "dead"}}, Positive: 1}}
	logit := func(share float64) float64 { return math.Log(share / (1 - share)) }
	make := func(intercept float64, x, c []float64, effect, noise float64) *model.Model {
		release := []model.Release{{Rows: 1e4, Weights: [2]float64{2500, 2500}, Noise: [2]float64{noise, noise}, Part: 1}}
		steps := []float64{-effect, effect, effect}
		a := &model.Additive{Intercept: intercept, Shapes: []model.Shape{
			{Column: "x", Edges: []float64{1}, LogOdds: steps[:2], Noise: []float64{0.1, 0.1},
				Cells: &model.Cells{Edges: []float64{1}, Weights: x, Releases: release, Stretch: 1}},
			{Column: "c", LogOdds: steps, Noise: []float64{0.1, 0.1, 0.1}, Cells: &model.Cells{Weights: c, Releases: release, Stretch: 1}},
		}}
		return &model.Model{Learner: "additive", Schema: s, Classifier: a}
	}
	half, even := []float64{0.5, 0.5}, []float64{0.5, 0.3, 0.2}
	for _, row := range []struct {
		name string
		m    *model.Model
		want []string
	}{
		{"good", make(logit(0.3), half, even, 1, 5), nil},
		{"rare", make(logit(0.021), half, even, 1, 5), nil},
		{"one class", make(logit(0.019), half, even, 1, 5), []string{`label "y" hold`}},
		{"the other class", make(logit(0.981), half, even, 1, 5), []string{`nearly all rows are "dead"`}},
		{"one bin", make(0, []float64{0.02, 0.98}, even, 1, 5), []string{`bounds of column "x"`}},
		{"two bins", make(0, []float64{0.04, 0.96}, even, 1, 5), nil},
		{"one bin by noise", make(0, []float64{0, 1}, even, 1, 75), nil},
		{"one level", make(0, half, []float64{0.99, 0, 0.01}, 1, 5), nil},
		{"other values", make(0, half, []float64{0, 0.01, 0.99}, 1, 5), []string{`column "c" hold`}},
		{"no effect", make(0, half, even, 0.001, 5), []string{"No column's effect exceeds its noise"}},
	} {
		got := Questions(row.m)
		if len(got) != len(row.want) || len(got) > 0 && !strings.Contains(got[0], row.want[0]) {
			t.Errorf("%s: %q", row.name, got)
		}
		if e, err := Of(row.m); err != nil || !slices.Equal(e.Questions, got) {
			t.Errorf("%s: explained as %v, %v", row.name, e, err)
		}
	}
	three := *s
	three.Label.Levels = append(slices.Clone(three.Label.Levels), schema.Level{Value: "gone"})
	grids := &model.Model{Learner: "grids", Schema: &three, Classifier: &model.Grids{Intercepts: []float64{0, 5, 0}}}
	if share, class := largestClass(grids); class != 1 || share < nearlyAll {
		t.Errorf("class %d has a share of %g", class, share)
	}
}
