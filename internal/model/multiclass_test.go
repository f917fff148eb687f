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

// layered is a complete additive model of three classes.
func layered() *Model {
	m := three(summed())
	noise := func(n int) [][]float64 {
		return [][]float64{make([]float64, n), make([]float64, n), make([]float64, n)}
	}
	m.Classifier = &MulticlassAdditive{Intercepts: []float64{-0.75, 0.5, -3}, Shapes: []ClassShape{
		{Column: "age", Edges: []float64{18, 65}, LogShares: [][]float64{{-1, 0.25, 0.5}, {0, 1, -1}, {2, 1e-9, -0.125}},
			Noise: [][]float64{{0.3, 0.1, 0.2}, {1, 2, 3}, {0, 0, 0.5}}},
		{Column: "bill", Edges: []float64{1, 10, 1e6},
			LogShares: [][]float64{{0, 0.125, -2, 1e-9}, {1, 1, 1, -1}, {0, 0, 4, 2}}, Noise: noise(4)},
		{Column: "ward", LogShares: [][]float64{{0.1, 0.2, -0.3, 0.4}, {3, 2, 1, 0}, {0, 0, 0, -7}}, Noise: noise(4)},
	}}
	return m
}

func TestMulticlassAdditiveAgreesWithNaiveTwin(t *testing.T) {
	const rows = 500
	m := layered()
	cols := patients(rand.New(rand.NewPCG(7, 7)), m.Schema, rows)
	got, err := m.Scores(cols, rows)
	if err != nil {
		t.Fatal(err)
	}
	for i := range rows {
		z, all := make([]float64, 3), 0.0
		for k := range z {
			z[k] = m.Classifier.(*MulticlassAdditive).Intercepts[k]
			for _, sh := range m.Classifier.(*MulticlassAdditive).Shapes {
				j := indexColumns(m.Schema)[sh.Column]
				b := int(cols[j].Codes.At(i))
				if m.Schema.Columns[j].Kind == schema.Number {
					x := cols[j].Values[b]
					for b = 0; b < len(sh.Edges) && x >= sh.Edges[b]; b++ {
					}
				}
				z[k] += sh.LogShares[k][b]
			}
			z[k] = math.Exp(z[k])
			all += z[k]
		}
		for k := range z {
			if want := z[k] / all; math.Abs(got[3*i+k]-want) > 1e-5 {
				t.Fatalf("row %d, level %d: %g, the twin has %g", i, k, got[3*i+k], want)
			}
		}
	}
}

func TestInconsistentMulticlassModelsAreRefused(t *testing.T) {
	for _, c := range []struct {
		want   string
		change func(m *Model)
	}{
		{"intercepts must number 3", func(m *Model) {
			m.Classifier.(*MulticlassAdditive).Intercepts = m.Classifier.(*MulticlassAdditive).Intercepts[:2]
		}},
		{"intercepts must be at most", func(m *Model) { m.Classifier.(*MulticlassAdditive).Intercepts[1] = math.NaN() }},
		{"shapes must number 1", func(m *Model) { m.Classifier.(*MulticlassAdditive).Shapes = nil }},
		{"must have one shape", func(m *Model) {
			m.Classifier.(*MulticlassAdditive).Shapes[1] = m.Classifier.(*MulticlassAdditive).Shapes[0]
		}},
		{"must be in the model's schema", func(m *Model) { m.Classifier.(*MulticlassAdditive).Shapes[1].Column = "rent" }},
		{"for each of 3 classes", func(m *Model) {
			m.Classifier.(*MulticlassAdditive).Shapes[0].LogShares = m.Classifier.(*MulticlassAdditive).Shapes[0].LogShares[:2]
		}},
		{"for each of 3 classes", func(m *Model) { m.Classifier.(*MulticlassAdditive).Shapes[0].Noise = nil }},
		{"class 2: log-odds and noise must number 4", func(m *Model) {
			m.Classifier.(*MulticlassAdditive).Shapes[2].LogShares[2] = []float64{1}
		}},
		{"log-odds must be at most", func(m *Model) {
			m.Classifier.(*MulticlassAdditive).Shapes[2].LogShares[1][0] = feature.MaxStep + 1
		}},
		{"noise must be from 0", func(m *Model) { m.Classifier.(*MulticlassAdditive).Shapes[2].Noise[1][0] = -1 }},
		{"edges must increase strictly", func(m *Model) { m.Classifier.(*MulticlassAdditive).Shapes[0].Edges[1] = 18 }},
		{"must not be followed", func(m *Model) { m.Schema.Columns[0].Monotone = schema.Increasing }},
		{"more than 2 classes", func(m *Model) { m.Schema = summed().Schema }},
	} {
		m := layered()
		c.change(m)
		if _, err := Marshal(m); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}
