// SPDX-License-Identifier: Apache-2.0

package model

import (
	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// stepped is a classifier whose scores follow from sums of steps.
type stepped interface {
	// toSteps lays the sums out over the columns of the model's schema.
	toSteps(s *schema.Schema) *stepSum
}

// stepSum adds up steps by the cells of grids: the log-odds of the positive class, or one number for each
// of more than two classes. It adds integers, so that a score does not depend on the order.
type stepSum struct {
	start []int64 // by score
	grids []stepGrid
}

type stepGrid struct {
	feature.Grid
	units []int64 // by cell, then score
}

func newStepSum(start ...float64) *stepSum {
	s := &stepSum{}
	for _, x := range start {
		s.start = append(s.start, feature.Units(x))
	}
	return s
}

// add adds steps, by score, then cell of the grid with these axes.
func (s *stepSum) add(steps [][]float64, axes ...feature.Bins) {
	g := stepGrid{Grid: feature.Grid{Axes: axes}}
	for cell := range steps[0] {
		for k := range steps {
			g.units = append(g.units, feature.Units(steps[k][cell]))
		}
	}
	s.grids = append(s.grids, g)
}

// bindTable returns a function that scores the rows from, from+1, ... of cols.
func (s *stepSum) bindTable(cols []column.Column) func(from int, out []float64) {
	var bound []*feature.BoundGrid
	for k := range s.grids {
		bound = append(bound, s.grids[k].Bind(cols))
	}
	return func(from int, out []float64) {
		width := len(s.start)
		cells, spare := make([]uint32, len(out)/width), make([]uint32, len(out)/width)
		sums := make([]int64, len(out))
		for i := range cells {
			copy(sums[i*width:], s.start)
		}
		for g, b := range bound {
			b.Read(from, cells, spare)
			for i, cell := range cells {
				row := sums[i*width:][:width]
				for k, u := range s.grids[g].units[int(cell)*width:][:width] {
					row[k] += u
				}
			}
		}
		for i, z := range sums {
			out[i] = float64(z)
		}
		for i := range cells {
			scoreUnits(out[i*width:][:width])
		}
	}
}

// scoreRow implements rowScorer.
func (s *stepSum) scoreRow(row []column.Cell, out []float64) {
	if len(out) == 1 {
		z := s.start[0]
		for k := range s.grids {
			z += s.grids[k].units[s.grids[k].CellOf(row)]
		}
		out[0] = float64(z)
	} else {
		// Sums of these integers are below 2^53, so that they are exact here too.
		for k, z := range s.start {
			out[k] = float64(z)
		}
		for i := range s.grids {
			g := &s.grids[i]
			for k, u := range g.units[g.CellOf(row)*len(out):][:len(out)] {
				out[k] += float64(u)
			}
		}
	}
	scoreUnits(out)
}

// scoreUnits turns the sums of one row, in units, into scores.
func scoreUnits(z []float64) {
	for k := range z {
		z[k] /= feature.ScoreOne
	}
	if len(z) > 1 {
		Softmax.applyTo(z)
	} else {
		z[0] = logisticFunction(z[0])
	}
}
