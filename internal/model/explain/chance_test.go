// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/table/feature"
)

// By hand: a bin without rows does not count, and what all bins have in common does not either.
func TestImportanceByHand(t *testing.T) {
	for _, c := range []struct {
		weights, steps []float64
		want           float64
	}{
		{nil, []float64{1, -1}, 1},
		{[]float64{0, 0}, []float64{1, -1}, 1},
		{nil, []float64{5, 3}, 1},
		{[]float64{0.75, 0.25, 0}, []float64{1, -3, 100}, 0.75*1 + 0.25*3},
		{[]float64{1, 0}, []float64{7, -50}, 0},
	} {
		if got := meanDistance(c.weights, c.steps); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("weights %v, steps %v: got %g, want %g", c.weights, c.steps, got, c.want)
		}
	}
}

// Steps are those in the middle of the bins in which rows were counted, and of marks.
func TestStepsOfBins(t *testing.T) {
	for _, c := range []struct {
		bins feature.Bins
		sh   model.Shape
		want []float64
	}{
		{feature.Bins{Edges: []float64{4}, Marked: 2},
			model.Shape{Edges: []float64{1, 2, 4, 6, 8, 9, 9.5}, LogOdds: []float64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}},
			[]float64{1, 5, 8, 9}},
		{feature.Bins{Edges: []float64{4}}, model.Shape{Edges: []float64{4}, LogOdds: []float64{1, 2}}, []float64{1, 2}},
		{feature.Bins{Codes: 3}, model.Shape{LogOdds: []float64{1, 2, 3}}, []float64{1, 2, 3}},
		{feature.Bins{Codes: 2, Groups: []uint32{1, 0, 1}}, model.Shape{LogOdds: []float64{1, 2, 1}}, []float64{2, 1}},
	} {
		if got := stepsOfBins(&c.bins, &c.sh); !slices.Equal(got, c.want) {
			t.Errorf("%+v: got %v, want %v", c.bins, got, c.want)
		}
	}
}

// quiet is a number of four bins, the last without rows.
func quiet(noise float64, gaussian bool) *chance {
	return &chance{bins: &feature.Bins{Edges: []float64{1, 2, 3}}, Cells: &model.Cells{Weights: []float64{0.5, 0.25, 0.25, 0}, Stretch: 1,
		Releases: []model.Release{{Rows: 4000, Weights: [2]float64{2000, 2000}, Noise: [2]float64{noise, noise}, Gaussian: gaussian, Part: 1}}}}
}

// Equal models give equal lines, more noise and a longer stretch higher ones.
func TestLinesFollowTheNoise(t *testing.T) {
	half, rare := quiet(5, false).findLines()
	if again, more := quiet(5, false).findLines(); again != half || more != rare || !(half > 0 && rare > half) {
		t.Fatalf("lines %g and %g, then %g and %g", half, rare, again, more)
	}
	for _, gaussian := range []bool{false, true} {
		if noisy, _ := quiet(200, gaussian).findLines(); !(noisy > half) {
			t.Errorf("forty times the noise, and the line falls from %g to %g", half, noisy)
		}
	}
	drowned := quiet(1e6, false)
	drowned.Releases[0].Weights = [2]float64{-1e6, 4e5}
	if half, rare := drowned.findLines(); !(half >= 0 && rare >= half) {
		t.Errorf("of a weight below 0 the lines are %g and %g", half, rare)
	}
	long := quiet(5, false)
	long.Stretch = 2
	if twice, _ := long.findLines(); twice != 2*half {
		t.Errorf("stretched twice the line is %g, not twice %g", twice, half)
	}
}

// By chance alone the log-odds of two bins of half of the rows each have a difference with a variance of 16 over the
// weight if each row weighs 1, half of that if labels are rare, and a weighted mean of 0.
func TestLabelsByChance(t *testing.T) {
	for _, rows := range []float64{400, 1e9} {
		c := quiet(5, true)
		c.Weights, c.Releases[0].Weights, c.Releases[0].Rows = []float64{0.5, 0.5}, [2]float64{200, 200}, rows
		found, squares := 0.0, 0.0
		const tries = 4000
		for range tries {
			odds := c.tryLabels()
			found += (odds[0] + odds[1]) / tries
			squares += (odds[0] - odds[1]) * (odds[0] - odds[1]) / tries
		}
		want := 16.0 / 400
		if rows > 400 {
			want /= 2
		}
		if math.Abs(found) > 1e-9 || math.Abs(squares/want-1) > 0.1 {
			t.Errorf("%g rows: mean %g, variance %g; want 0 and %g", rows, found, squares, want)
		}
	}
}

// What all cells say together is the shift: exactly where they are balanced, less where noise hides it.
func TestShiftByHand(t *testing.T) {
	r := model.Release{Weights: [2]float64{60, 20}, Noise: [2]float64{3, 4}, Balanced: true}
	if got, want := shiftOf(&r, 2), math.Log(3); math.Abs(got-want) > 1e-12 {
		t.Errorf("balanced: got %g, want %g", got, want)
	}
	r.Balanced = false
	if got, want := shiftOf(&r, 2), 2*math.Atanh(0.5*(1-50.0/1600)); math.Abs(got-want) > 1e-12 {
		t.Errorf("noisy: got %g, want %g", got, want)
	}
	r.Noise = [2]float64{30, 40}
	if got := shiftOf(&r, 2); got != 0 {
		t.Errorf("drowned: got %g, want 0", got)
	}
}

// A model states no line where the law is not known: of exact steps, and of those that columns share.
func TestColumnsWithoutLines(t *testing.T) {
	m := summed(t)
	a := m.Classifier.(*model.Additive)
	a.Shapes[0].Cells = &model.Cells{Edges: a.Shapes[0].Edges, Weights: []float64{0.5, 0.5, 0}}
	a.Shapes[1].Cells = &model.Cells{Edges: a.Shapes[1].Edges, Weights: []float64{0.25, 0.25, 0.25, 0.25}, Stretch: 1,
		Releases: []model.Release{{Rows: 100, Weights: [2]float64{50, 50}, Noise: [2]float64{5, 5}, Part: 1}}}
	e, err := Of(m)
	if err != nil {
		t.Fatal(err)
	}
	for _, sh := range e.Shapes {
		if lined := sh.Column == "bill"; lined != (sh.Noise > 0) || lined != (sh.Noise95 > 0) {
			t.Errorf("%s: lines %g and %g", sh.Column, sh.Noise, sh.Noise95)
		}
	}
	if text := written(t, m); strings.Count(text, "1 in 20") != 2 || strings.Count(text, ">–<") != 4 {
		t.Error("the page must have lines of one column, and dashes for the others")
	}
	a.Shapes[1].Cells.Releases = nil
	if text := written(t, m); strings.Contains(text, "1 in 20") {
		t.Error("the page has a column of lines, of which none is known")
	}
}
