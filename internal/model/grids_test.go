// SPDX-License-Identifier: Apache-2.0

package model

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// gridded is a complete sum of grids of two classes.
func gridded() *Model {
	m := summed()
	m.Learner = "grids"
	steps := func(n int) (out []float64) {
		for i := range n {
			out = append(out, math.Round(1e6*math.Sin(float64(n+3*i)))/1e6)
		}
		return out
	}
	m.Classifier = &Grids{Intercepts: []float64{-0.75}, Grids: []Grid{
		{Axes: []GridAxis{{Column: "bill", Edges: []float64{1, 10}}, {Column: "ward", Parts: []int{0, 2, 1, 0}}},
			Steps: [][]float64{steps(9)}},
		{Axes: []GridAxis{{Column: "ward", Parts: []int{1, 0, 0, 1}}, {Column: "age", Edges: []float64{40}},
			{Column: "bill", Edges: []float64{1e3}}}, Steps: [][]float64{steps(8)}},
	}}
	return m
}

// griddedThree is one of three classes.
func griddedThree() *Model {
	m := three(gridded())
	g := m.Classifier.(*Grids)
	g.Intercepts = []float64{0.5, -1, 2}
	for k := range g.Grids {
		one := &g.Grids[k]
		for class := range 2 {
			steps := make([]float64, len(one.Steps[0]))
			for i := range steps {
				steps[i] = float64(class) - one.Steps[0][i]*0.5
			}
			one.Steps = append(one.Steps, steps)
		}
	}
	return m
}

func TestGridsAgreeWithNaiveTwin(t *testing.T) {
	const rows = 500
	for _, m := range []*Model{gridded(), griddedThree()} {
		cols := patients(rand.New(rand.NewPCG(7, 7)), m.Schema, rows)
		got, err := m.Scores(cols, rows)
		if err != nil {
			t.Fatal(err)
		}
		g, index := m.Classifier.(*Grids), indexColumns(m.Schema)
		for i := range rows {
			z := make([]float64, len(g.Intercepts))
			for k := range z {
				z[k] = g.Intercepts[k]
				for _, one := range g.Grids {
					cell, every := 0, 1
					for _, a := range one.Axes {
						code := int(cols[index[a.Column]].Codes.At(i))
						part, parts := 0, len(a.Edges)+1
						if a.Parts != nil {
							part, parts = a.Parts[code], 1
							for _, p := range a.Parts {
								parts = max(parts, p+1)
							}
						}
						for _, e := range a.Edges {
							if cols[index[a.Column]].Values[code] >= e {
								part++
							}
						}
						cell, every = cell+part*every, every*parts
					}
					z[k] += one.Steps[k][cell]
				}
			}
			want, all := []float64{1 / (1 + math.Exp(-z[0]))}, 0.0
			if len(z) > 1 {
				want = nil
				for _, x := range z {
					all += math.Exp(x)
				}
				for _, x := range z {
					want = append(want, math.Exp(x)/all)
				}
			}
			for k, w := range want {
				if math.Abs(got[len(want)*i+k]-w) > 1e-5 {
					t.Fatalf("row %d, score %d: %g, the twin has %g", i, k, got[len(want)*i+k], w)
				}
			}
		}
	}
}

func TestInconsistentGridsAreRefused(t *testing.T) {
	for _, c := range []struct {
		want   string
		change func(m *Model, g *Grids)
	}{
		{"intercepts must number 1", func(_ *Model, g *Grids) { g.Intercepts = []float64{1, 2} }},
		{"intercepts must number 3", func(m *Model, _ *Grids) { three(m) }},
		{"intercepts must be at most", func(_ *Model, g *Grids) { g.Intercepts[0] = math.NaN() }},
		{"grids must number 1", func(_ *Model, g *Grids) { g.Grids = nil }},
		{"grids must number 1", func(_ *Model, g *Grids) { g.Grids = make([]Grid, maxGrids+1) }},
		{"axes must number 1", func(_ *Model, g *Grids) { g.Grids[0].Axes = nil }},
		{"axes must number 1", func(_ *Model, g *Grids) { g.Grids[0].Axes = make([]GridAxis, maxAxes+1) }},
		{`column "rent" must be`, func(_ *Model, g *Grids) { g.Grids[0].Axes[0].Column = "rent" }},
		{`column "ward" must be`, func(_ *Model, g *Grids) { g.Grids[0].Axes[0] = g.Grids[0].Axes[1] }},
		{"edges must increase strictly", func(_ *Model, g *Grids) { g.Grids[0].Axes[0].Edges[1] = 1 }},
		{"edges of a category", func(_ *Model, g *Grids) { g.Grids[0].Axes[1].Edges = []float64{1} }},
		{"edges and no parts", func(_ *Model, g *Grids) { g.Grids[0].Axes[0].Parts = []int{0, 1} }},
		{"2 to 65536 parts", func(_ *Model, g *Grids) { g.Grids[0].Axes[0].Edges = nil }},
		{"2 to 65536 parts", func(_ *Model, g *Grids) { g.Grids[0].Axes[1].Parts = make([]int, 4) }},
		{"must number 4, one per code", func(_ *Model, g *Grids) { g.Grids[0].Axes[1].Parts = []int{0, 1} }},
		{"must be from 0 to 3", func(_ *Model, g *Grids) { g.Grids[0].Axes[1].Parts[0] = 4 }},
		{"must be from 0 to 3", func(_ *Model, g *Grids) { g.Grids[0].Axes[1].Parts[0] = -1 }},
		{"each of 1 scores", func(_ *Model, g *Grids) { g.Grids[1].Steps = nil }},
		{"must number 9, one per cell", func(_ *Model, g *Grids) { g.Grids[0].Steps[0] = make([]float64, 8) }},
		{"steps must be at most", func(_ *Model, g *Grids) { g.Grids[0].Steps[0][3] = feature.MaxStep + 1 }},
		{"steps must be at most", func(_ *Model, g *Grids) { g.Grids[0].Steps[0][3] = math.NaN() }},
		{"cells must number at most", func(_ *Model, g *Grids) {
			many := make([]float64, 300)
			for i := range many {
				many[i] = 1 + float64(i)/10
			}
			g.Grids[1].Axes[1].Edges, g.Grids[1].Axes[2].Edges = many, many
		}},
		{"only a sum of shapes", func(m *Model, _ *Grids) { m.Schema.Columns[0].Monotone = schema.Increasing }},
	} {
		m := gridded()
		c.change(m, m.Classifier.(*Grids))
		if _, err := Marshal(m); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}
