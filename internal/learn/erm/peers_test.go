// SPDX-License-Identifier: Apache-2.0

package erm

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/learntest"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/table/census"
	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/engine/solver"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// peers is what lab/peers/sklearn/erm.py writes: one table, and the least values of
// the objective that scikit-learn and scipy find.
type peers struct {
	Columns []struct {
		Kind         schema.Kind
		Lower, Upper float64
		Log1p        bool
		Levels       int
		Missing      bool
		Cells        []float64
	}
	Labels []uint8
	Cases  []struct {
		Encoding         feature.Encoding
		Reg, Norm, Huber float64
		Loss             float64
	}
	Levels struct { // of the same rows
		Labels  []uint8
		Weights []float64
		Cases   []struct {
			Encoding  feature.Encoding
			Reg, Norm float64
			Losses    []float64 // each level against the rest
		}
	}
}

func readPeers(t *testing.T) *peers {
	t.Helper()
	text, err := os.ReadFile("testdata/peers.json")
	if err != nil {
		t.Fatal(err)
	}
	file := new(peers)
	if err := json.Unmarshal(text, file); err != nil {
		t.Fatal(err)
	}
	if len(file.Cases) == 0 || len(file.Levels.Cases) == 0 {
		t.Fatal("no case")
	}
	return file
}

func (p *peers) table() *dataset.Table {
	s := *census.Schema()
	s.Columns = nil
	tab := &dataset.Table{Schema: &s, Rows: len(p.Labels), Labels: p.Labels}
	for j, c := range p.Columns {
		sc := schema.Column{Name: strconv.Itoa(j), Role: schema.Private, Kind: c.Kind, Lower: c.Lower, Upper: c.Upper,
			Missing: c.Missing}
		if c.Log1p {
			sc.Transform = schema.Log1p
		}
		for l := range c.Levels {
			sc.Levels = append(sc.Levels, schema.Level{Value: strconv.Itoa(l)})
		}
		var col column.Column
		n := sc.Codes()
		if c.Kind == schema.Number {
			col.Values = slices.Compact(slices.Sorted(slices.Values(c.Cells)))
			n = len(col.Values)
		}
		codes := make([]uint32, len(c.Cells))
		for i, cell := range c.Cells {
			codes[i] = uint32(cell)
			if c.Kind == schema.Number {
				at, _ := slices.BinarySearch(col.Values, cell)
				codes[i] = uint32(at)
			}
		}
		col.Codes = column.Narrow(codes, n)
		s.Columns, tab.Cols = append(s.Columns, sc), append(tab.Cols, col)
	}
	return tab
}

// objectiveAt is the objective of pl at coefficients of scaled rows.
func objectiveAt(t *testing.T, pl *Plan, tab engine.Table, w []float64) float64 {
	t.Helper()
	p := pl.problemOf(tab.Rows())
	s, err := solver.Losses{Space: p.Space, Loss: p.Loss, Rows: engine.Rows{Scale: p.RowScale(), Norm: p.Norm, Weights: pl.s.Label.RowWeights()},
		Coef: w, Value: true, Hess: true}.Floats(context.Background(), tab)
	if err != nil {
		t.Fatal(err)
	}
	value := s.Loss / float64(tab.Rows())
	for _, x := range w {
		value += p.Reg * x * x / 2
	}
	return value
}

// Without noise the least loss is what other programs find: scikit-learn for
// the logistic loss, BFGS and Newton in scipy for the Huber-hinge.
func TestMinimumAgreesWithOtherSolvers(t *testing.T) {
	file := readPeers(t)
	tab := file.table()
	for _, c := range file.Cases {
		t.Run(fmt.Sprintf("%s, Λ=%g, R=%g, h=%g", c.Encoding, c.Reg, c.Norm, c.Huber), func(t *testing.T) {
			p := settings()["not private"]
			p.Encoding, p.Reg, p.Norm = c.Encoding, c.Reg, c.Norm
			if c.Huber > 0 {
				p.Loss, p.Width = Huber, c.Huber
			}
			pl, err := p.Plan(tab.Schema, tab.Rows)
			if err != nil {
				t.Fatal(err)
			}
			m := learntest.Fit(t, pl, tab, nil, 1)
			// Back to scaled rows, where the objective is defined.
			w := append(slices.Clone(m.Classifier.(*model.Logistic).Coef), m.Classifier.(*model.Logistic).Bias)
			for i := range w {
				w[i] /= pl.problemOf(tab.Rows).RowScale()
			}
			at := objectiveAt(t, pl, learntest.Engine(t, tab), w)
			if !(math.Abs(at-c.Loss) <= 1e-9) {
				t.Errorf("the least loss is %.12g here and %.12g there", at, c.Loss)
			}
		})
	}
}

// The same of labels of three levels whose rows weigh as the schema says: each
// level's least loss against the rest.
func TestLevelsAgreeWithOtherSolvers(t *testing.T) {
	file := readPeers(t)
	tab := file.table()
	tab.Labels = file.Levels.Labels
	label := &tab.Schema.Label
	label.Levels = append(slices.Clone(label.Levels), schema.Level{Value: "third"})
	label.Positive, label.Weights = -1, file.Levels.Weights
	for _, c := range file.Levels.Cases {
		t.Run(fmt.Sprintf("%s, Λ=%g, R=%g", c.Encoding, c.Reg, c.Norm), func(t *testing.T) {
			p := settings()["not private"]
			p.Encoding, p.Reg, p.Norm = c.Encoding, c.Reg, c.Norm
			pl, err := p.Plan(tab.Schema, tab.Rows)
			if err != nil {
				t.Fatal(err)
			}
			m := learntest.Fit(t, pl, tab, nil, 1)
			for level, part := range pl.parts {
				w := append(slices.Clone(m.Classifier.(*model.Linear).Coef[level]), m.Classifier.(*model.Linear).Bias[level])
				for i := range w {
					w[i] /= part.problemOf(tab.Rows).RowScale()
				}
				view := learntest.Engine(t, tab).Against(level)
				at := objectiveAt(t, part, view, w)
				if !(math.Abs(at-c.Losses[level]) <= 1e-9) {
					t.Errorf("level %d: the least loss is %.12g here and %.12g there", level, at, c.Losses[level])
				}
			}
		})
	}
}
