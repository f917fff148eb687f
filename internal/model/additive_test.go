// SPDX-License-Identifier: Apache-2.0

package model

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/table/schema"
)

// summed is a complete additive model of three columns.
func summed() *Model {
	m := voted()
	m.Learner, m.Spaces, m.Classifier = "additive", nil, nil
	m.Schema.Columns = m.Schema.Columns[:3]
	m.Schema.Label.Position = 3
	m.Classifier = &Additive{Intercept: -0.75, Shapes: []Shape{
		{Column: "age", Edges: []float64{18, 65}, LogOdds: []float64{-1, 0.25, 0.5}, Noise: []float64{0.3, 0.1, 0.2}},
		{Column: "bill", Edges: []float64{1, 10, 1e6}, LogOdds: []float64{0, 0.125, -2, 1e-9}, Noise: []float64{0, 0, 0, 0}},
		{Column: "ward", LogOdds: []float64{0.1, 0.2, -0.3, 0.4}, Noise: []float64{1, 1, 2, 3}},
	}}
	return m
}

// paired is summed with a pair of numbers, and one that takes no column's shape
// with it.
func paired() *Model {
	m := summed()
	m.Classifier.(*Additive).Shapes = m.Classifier.(*Additive).Shapes[:2]
	m.Classifier.(*Additive).Pairs = []PairShape{
		{Columns: [2]string{"bill", "age"}, Edges: [2][]float64{{100}, {40, 50}}, LogOdds: []float64{1, 0.5, -1, 0, 2, -0.25},
			Noise: []float64{0, 1, 2, 3, 4, 5}},
		{Columns: [2]string{"ward", "age"}, Edges: [2][]float64{nil, {30}},
			LogOdds: []float64{1, -1, 0.125, 2, 3, 4, -4, 0.0625}, Noise: make([]float64, 8)},
	}
	return m
}

// marked is paired, with steps for the marks of its numbers; the pairs have none.
func marked() *Model {
	m, middle := paired(), 40.0
	m.Schema.Ignored, m.Schema.Dialect.Decimal, m.Schema.Dialect.Delimiter = []string{"*_id"}, ',', ';'
	age, ward := &m.Schema.Columns[0], &m.Schema.Columns[2]
	ward.Levels[0].Prefixes, m.Schema.Label.Levels[0].Prefixes = []string{"N-"}, []string{"W"}
	ward.Levels[1].Value, ward.Levels[2].Value, ward.Buckets = "bucket 1", "bucket 2", 2
	age.Special, age.Missing, age.Default = []float64{96, 98}, true, &middle
	a := m.Classifier.(*Additive)
	a.Shapes[0].LogOdds, a.Shapes[0].Noise = []float64{-1, 0.25, 0.5, 3, -3, 2.5}, []float64{0.3, 0.1, 0.2, 1, 2, 3}
	return m
}

// stated is marked, with what noise alone does; of an exact shape nothing is stated.
func stated() *Model {
	m := marked()
	a := m.Classifier.(*Additive)
	a.Moved = &Moved{Intercept: 0.25, Slope: 0.1, Middle: -0.5}
	a.Shapes[0].Moved, a.Pairs[0].Moved = []float64{0.1, 0, 0.2, 0.5, 0.5, 1}, []float64{0, 0.5, 1, 1, 2, 3}
	a.Shapes[0].Cells = &Cells{Edges: []float64{65}, Weights: []float64{0.5, 0.25, 0.125, 0.125, 0}, Stretch: 1.25,
		Releases: []Release{
			{Rows: 100, Weights: [2]float64{50, 40}, Noise: [2]float64{4, 3}, Balanced: true, Part: 0.4},
			{Rows: 100, Weights: [2]float64{48, -1}, Noise: [2]float64{5, 2.5}, Gaussian: true, Part: 1},
		}}
	a.Shapes = append(a.Shapes, Shape{Column: "ward", LogOdds: []float64{1, 1, 0, -1}, Noise: make([]float64, 4),
		Cells: &Cells{Groups: []uint32{0, 0, 1, 2}, Weights: []float64{0.5, 0.5, 0}}})
	a.Pairs[0].Weights = []float64{0, 0.5, 0, 0.25, 0, 0.25}
	return m
}

// markedGrids is gridded with the same marks.
func markedGrids() *Model {
	m := gridded()
	m.Schema = marked().Schema
	g := m.Classifier.(*Grids)
	g.Grids[1].Steps[0] = slices.Repeat(g.Grids[1].Steps[0], 3)[:2*5*2]
	for i := range g.Grids[1].Steps[0] {
		g.Grids[1].Steps[0][i] = float64(i) / 8
	}
	return m
}

func TestMarksAreOfVersionSeven(t *testing.T) {
	for _, m := range []*Model{marked(), markedGrids()} {
		file := mustMarshal(t, m)
		if !strings.HasPrefix(string(file), "{\n  \"discreet_model\": 7,") {
			t.Errorf("%.40s", file)
		}
		back, err := Unmarshal(file)
		if err != nil {
			t.Fatal(err)
		}
		if again := mustMarshal(t, back); string(again) != string(file) {
			t.Error("read and written, the file is another")
		}
	}
}

// A table that was read by a schema of other marks is refused: its cells mean other things.
func TestTablesOfOtherMarksAreRefused(t *testing.T) {
	m := marked()
	for _, spoil := range []func(c *schema.Column){func(c *schema.Column) { c.Special = c.Special[:1] },
		func(c *schema.Column) { c.Missing = false }} {
		other := *m.Schema
		other.Columns = slices.Clone(other.Columns)
		spoil(&other.Columns[0])
		if _, err := m.Bind(&other); err == nil || !strings.Contains(err.Error(), "missing and special cells") {
			t.Errorf("error %v", err)
		}
	}
}

// What a monotone column promises is about its amounts.
func TestMarksNeedNotFollowAMonotoneColumn(t *testing.T) {
	m := marked()
	m.Classifier.(*Additive).Pairs = nil
	m.Schema.Columns = m.Schema.Columns[:2]
	m.Schema.Label.Position = 2
	m.Schema.Columns[0].Monotone = schema.Increasing
	mustMarshal(t, m)
	m.Classifier.(*Additive).Shapes[0].LogOdds[1] = -2
	if _, err := Marshal(m); err == nil {
		t.Error("amounts that fall were taken")
	}
}

func TestAdditiveAgreesWithNaiveTwin(t *testing.T) {
	for _, m := range []*Model{summed(), paired(), marked()} {
		agreesWithNaiveTwin(t, m)
	}
}

func agreesWithNaiveTwin(t *testing.T, m *Model) {
	const rows = 500
	cols := patients(rand.New(rand.NewPCG(21, 22)), m.Schema, rows)
	got, err := m.Scores(cols, rows)
	if err != nil {
		t.Fatal(err)
	}
	for i := range rows {
		z := m.Classifier.(*Additive).Intercept
		bin := func(name string, edges []float64) int {
			k := indexColumns(m.Schema)[name]
			code := int(cols[k].Codes.At(i))
			if cols[k].Values == nil {
				return code
			}
			bin := 0
			for _, e := range edges {
				if cols[k].Values[code] >= e {
					bin++
				}
			}
			return bin
		}
		for _, sh := range m.Classifier.(*Additive).Shapes {
			at := bin(sh.Column, sh.Edges)
			if c := cols[indexColumns(m.Schema)[sh.Column]]; c.Marks != nil && c.Marks[c.Codes.At(i)] > 0 {
				at = len(sh.Edges) + int(c.Marks[c.Codes.At(i)])
			}
			z += sh.LogOdds[at]
		}
		for _, sh := range m.Classifier.(*Additive).Pairs {
			width := len(sh.Edges[1]) + 1
			z += sh.LogOdds[bin(sh.Columns[0], sh.Edges[0])*width+bin(sh.Columns[1], sh.Edges[1])]
		}
		// Each of four numbers is rounded to a multiple of 2^-20.
		if want := 1 / (1 + math.Exp(-z)); math.Abs(got[i]-want) > 1e-6 {
			t.Fatalf("score of row %d is %g, want %g", i, got[i], want)
		}
	}
}

func TestAdditiveRefuses(t *testing.T) {
	if _, err := Marshal(summed()); err != nil {
		t.Fatal(err)
	}
	for say, edit := range map[string]func(a *Additive){
		"shapes must number":            func(a *Additive) { a.Shapes = nil },
		"intercept":                     func(a *Additive) { a.Intercept = math.NaN() },
		"must be in the model's schema": func(a *Additive) { a.Shapes[0].Column = "stranger" },
		"must have one shape":           func(a *Additive) { a.Shapes[2] = a.Shapes[0] },
		"edges of a category":           func(a *Additive) { a.Shapes[2].Edges = []float64{1} },
		"edges must increase":           func(a *Additive) { a.Shapes[0].Edges = []float64{65, 65} },
		"inside the bounds":             func(a *Additive) { a.Shapes[0].Edges[0] = 0 },
		"one per bin":                   func(a *Additive) { a.Shapes[1].LogOdds = a.Shapes[1].LogOdds[1:] },
		"log-odds must be at most":      func(a *Additive) { a.Shapes[1].LogOdds[0] = math.Inf(1) },
		"noise must be":                 func(a *Additive) { a.Shapes[1].Noise[0] = -1 },
		"must be used by a classifier":  func(a *Additive) { a.Shapes = a.Shapes[:2] },
	} {
		m := summed()
		edit(m.Classifier.(*Additive))
		if _, err := Marshal(m); err == nil || !strings.Contains(err.Error(), say) {
			t.Errorf("%s: %v", say, err)
		}
	}
	for say, edit := range map[string]func(a *Additive){
		"must be in the model's schema": func(a *Additive) { a.Pairs[1].Columns[1] = "stranger" },
		"must be two columns":           func(a *Additive) { a.Pairs[1].Columns[0] = "age" },
		"with one shape": func(a *Additive) {
			a.Pairs[1] = a.Pairs[0]
			a.Pairs[1].Columns = [2]string{"age", "bill"}
		},
		"edges of a category":          func(a *Additive) { a.Pairs[1].Edges[0] = []float64{1} },
		"edges must increase":          func(a *Additive) { a.Pairs[0].Edges[1] = []float64{50, 40} },
		"one per bin":                  func(a *Additive) { a.Pairs[0].LogOdds = a.Pairs[0].LogOdds[1:] },
		"log-odds must be at most":     func(a *Additive) { a.Pairs[0].LogOdds[5] = math.NaN() },
		"noise must be":                func(a *Additive) { a.Pairs[0].Noise[5] = math.NaN() },
		"must be used by a classifier": func(a *Additive) { a.Pairs = a.Pairs[:1] },
	} {
		m := paired()
		edit(m.Classifier.(*Additive))
		if _, err := Marshal(m); err == nil || !strings.Contains(err.Error(), say) {
			t.Errorf("pair: %s: %v", say, err)
		}
	}
	m := paired()
	m.Schema.Columns[0].Monotone = schema.Increasing
	if _, err := Marshal(m); err == nil || !strings.Contains(err.Error(), "must not be monotone") {
		t.Errorf("a pair of a monotone column: %v", err)
	}
	m = summed()
	m.Schema.Columns[0].Monotone = schema.Increasing
	if _, err := Marshal(m); err != nil {
		t.Error(err)
	}
	m.Schema.Columns[0].Monotone = schema.Decreasing
	if _, err := Marshal(m); err == nil || !strings.Contains(err.Error(), `"age" must be decreasing`) {
		t.Errorf("a shape that rises where the schema wants it to fall: %v", err)
	}
	for say, edit := range map[string]func(a *Additive){
		"moved must hold deviations":   func(a *Additive) { a.Moved.Slope = -1 },
		"a middle of at most":          func(a *Additive) { a.Moved.Middle = math.NaN() },
		"moved must be empty":          func(a *Additive) { a.Shapes[0].Moved = a.Shapes[0].Moved[1:] },
		"in a model that states it":    func(a *Additive) { a.Moved = nil },
		"pair 0: moved must be from 0": func(a *Additive) { a.Pairs[0].Moved[2] = math.Inf(1) },
		"cells: edges must increase":   func(a *Additive) { a.Shapes[0].Cells.Edges[0] = math.NaN() },
		"among those of the shape":     func(a *Additive) { a.Shapes[0].Cells.Edges[0] = 64 },
		"weights must number 5":        func(a *Additive) { a.Shapes[0].Cells.Weights = []float64{1} },
		"weights must be from 0 to 1":  func(a *Additive) { a.Shapes[0].Cells.Weights[4] = math.NaN() },
		"stretch must be from 0":       func(a *Additive) { a.Shapes[0].Cells.Stretch = math.Inf(1) },
		"rows, noise and sizes":        func(a *Additive) { a.Shapes[0].Cells.Releases[1].Noise[1] = -1 },
		"weights from 0 to 1e+15":      func(a *Additive) { a.Shapes[0].Cells.Releases[1].Weights[1] = math.Inf(-1) },
		"part of a release must be":    func(a *Additive) { a.Shapes[0].Cells.Releases[0].Part = math.NaN() },
		"releases must number": func(a *Additive) {
			a.Shapes[0].Cells.Releases = slices.Repeat(a.Shapes[0].Cells.Releases, maxReleases)
		},
		"groups must hold one bin":       func(a *Additive) { a.Shapes[2].Cells.Groups[3] = 4 },
		"one bin below 4 for each of 4":  func(a *Additive) { a.Shapes[2].Cells.Groups = []uint32{0} },
		"for each of 0 codes":            func(a *Additive) { a.Shapes[0].Cells.Groups = []uint32{0} },
		"pair 0: weights must number 6":  func(a *Additive) { a.Pairs[0].Weights = []float64{1} },
		"pair 0: weights must be from 0": func(a *Additive) { a.Pairs[0].Weights[0] = 2 },
	} {
		m := stated()
		edit(m.Classifier.(*Additive))
		if _, err := Marshal(m); err == nil || !strings.Contains(err.Error(), say) {
			t.Errorf("noise alone: %s: %v", say, err)
		}
	}
	m = summed()
	m.Classifier = voted().Classifier.(*Votes)
	if _, err := Marshal(m); err == nil {
		t.Error("two classifiers in one model")
	}
}

// A body in a frame of another version than it needs is refused: there is one
// spelling of a model.
func TestVersionFitsTheBody(t *testing.T) {
	for v, m := range map[int]*Model{1: voted(), 2: summed(), 3: levelled(), 4: paired(), 5: followed(), 7: marked(),
		8: stated()} {
		got, raw, err := readFrame(mustMarshal(t, m))
		if err != nil || got != v {
			t.Fatal(got, err)
		}
		for other := range version {
			if other++; other == v {
				continue
			}
			if _, err := Unmarshal(writeFrame(other, raw)); err == nil || !strings.Contains(err.Error(), "version must be") {
				t.Errorf("version %d in a frame of version %d: %v", v, other, err)
			}
		}
	}
}
