// SPDX-License-Identifier: Apache-2.0

package statistic

import (
	"math"
	"reflect"
	"slices"

	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/feature"
)

// margins implements engine.Score: who boosts asks next about a score with one shape more, and each
// row's margin is then one addition away. A margin is the score if the label is positive and minus it
// if not, in units of 1/feature.ScoreOne nat; times 2, plus 1 if the label is positive, so that a loop
// over rows needs no labels.
type margins struct{ f *feature.Additive }

// longest is how far margins reach, in nats: an int32 holds twice as much.
const longest = math.MaxInt32 / (4 * feature.ScoreOne)

// fitsUnits reports whether every partial sum of f does.
func fitsUnits(f *feature.Additive) bool {
	sum := math.Abs(f.Intercept)
	if f.Clip != nil {
		sum += max(math.Abs(f.Clip.Low), math.Abs(f.Clip.High))
	}
	for _, sh := range f.Shapes {
		most := 0.0
		for _, s := range sh.Steps {
			most = max(most, math.Abs(s))
		}
		sum += most
	}
	return sum < longest
}

func (m margins) Width() int { return 1 }

func (m margins) Len() int { return len(m.f.Shapes) }

func (m margins) TermColumns(from int) []int { return shapeColumns(m.f.Shapes[from:]) }

func shapeColumns(shapes []feature.Shape) (columns []int) {
	for k := range shapes {
		columns = append(columns, shapes[k].Columns()...)
	}
	return columns
}

func (m margins) Extends(old engine.Score) bool {
	o, ok := old.(margins)
	if !ok || o.f.Intercept != m.f.Intercept || !reflect.DeepEqual(o.f.Clip, m.f.Clip) || len(o.f.Shapes) > len(m.f.Shapes) {
		return false
	}
	for k := range o.f.Shapes {
		if !reflect.DeepEqual(&o.f.Shapes[k], &m.f.Shapes[k]) {
			return false
		}
	}
	return true
}

func (m margins) Keep() engine.Score {
	g := *m.f
	if g.Clip != nil {
		clip := *g.Clip
		g.Clip = &clip
	}
	g.Shapes = slices.Clone(g.Shapes)
	for k := range g.Shapes {
		sh := &g.Shapes[k]
		sh.Bins, sh.Steps = sh.Bins.Clone(), slices.Clone(sh.Steps)
	}
	return margins{&g}
}

func (m margins) Scorer(run *engine.Run, from int) func() {
	var bins, spare []uint32
	if from == 0 {
		bound, side := m.f.Bind(run.Cols), run.Positive()
		var score []int64
		return func() {
			n := run.Rows()
			score, spare = room(score, n), room(spare, 2*n)
			bound.Scores(0, score, spare)
			for i, l := range run.Labels {
				bit := int32(side[l])
				run.Scores[i] = int32(score[i])*(bit<<1-1)<<1 | bit
			}
		}
	}
	var addends []addend
	for k := range m.f.Shapes[from:] {
		addends = append(addends, newAddend(&m.f.Shapes[from+k], run.Cols))
	}
	return func() {
		n := run.Rows()
		bins, spare = room(bins, n), room(spare, n)
		for k := range addends {
			addends[k].addTo(run.Scores, bins, spare)
		}
	}
}

// addend is what one shape adds to margins.
type addend struct {
	place
	units []int32 // by twice the place, plus 1 for rows of the positive label
}

func newAddend(sh *feature.Shape, cols []column.Column) addend {
	a := addend{place: placeOf(&sh.Bins, cols)}
	a.units = make([]int32, 2*a.places)
	for at := range a.places {
		u := 2 * int32(feature.Units(sh.Steps[a.binOf(at)]))
		a.units[2*at], a.units[2*at+1] = -u, u
	}
	return a
}

// addTo adds it to the margins of rows.
func (a *addend) addTo(margins []int32, bins, spare []uint32) {
	if a.codes != nil {
		units := (*[2 << 8]int32)(a.units)
		for i, c := range a.codes.U8[:len(margins)] {
			m := margins[i]
			margins[i] = m + units[2*uint(c)+uint(m&1)]
		}
		return
	}
	a.bins.Read(0, bins, spare)
	for i, m := range margins {
		margins[i] = m + a.units[2*bins[i]+uint32(m&1)]
	}
}
