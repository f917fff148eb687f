// SPDX-License-Identifier: Apache-2.0

package memory

import (
	"math"
	"reflect"
	"slices"
	"sync"

	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/feature"
)

// scored is the last score that rows were weighed under, and their margins: who
// boosts asks next about that score with one shape more, and each row's margin
// is then one addition away.
type scored struct {
	sync.Mutex
	score    *feature.Additive // nil: none
	positive int
	// margins are of all rows, in units of 1/feature.ScoreOne nat: the score where
	// the label is positive, minus it where not; times 2, plus 1 where it is
	// positive, so that a loop over rows needs no labels.
	margins []int32
}

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

// newShapes returns the shapes that f has and the score of the margins has not;
// ok says that there is no other difference.
func (s *scored) newShapes(f *feature.Additive, positive int) (shapes []feature.Shape, ok bool) {
	g := s.score
	if g == nil || s.positive != positive || g.Intercept != f.Intercept || !reflect.DeepEqual(g.Clip, f.Clip) ||
		len(g.Shapes) > len(f.Shapes) {
		return nil, false
	}
	for k := range g.Shapes {
		if !reflect.DeepEqual(&g.Shapes[k], &f.Shapes[k]) {
			return nil, false
		}
	}
	return f.Shapes[len(g.Shapes):], true
}

// keepScore says that the margins are of f, of which it makes a copy.
func (s *scored) keepScore(f *feature.Additive, positive int) {
	g := *f
	if f.Clip != nil {
		clip := *f.Clip
		g.Clip = &clip
	}
	g.Shapes = slices.Clone(f.Shapes)
	for k := range g.Shapes {
		sh := &g.Shapes[k]
		sh.Bins, sh.Steps = sh.Bins.Clone(), slices.Clone(sh.Steps)
	}
	s.score, s.positive = &g, positive
}

// ScoredTerms is how many of the first terms of a score, the one of f, classes and grid that is
// not nil, need no columns in the next question about it: what rows score by these is kept.
// f is asked about against a class.
func (m *Table) ScoredTerms(against int, f *feature.Additive, classes *engine.ClassScore, grid *engine.GridScore) int {
	switch {
	case f != nil && fitsUnits(f):
		m.scored.Lock()
		defer m.scored.Unlock()
		if against < 0 {
			against = m.positive
		}
		if more, ok := m.scored.newShapes(f, against); ok {
			return len(f.Shapes) - len(more)
		}
	case classes != nil:
		m.classes.Lock()
		defer m.classes.Unlock()
		if m.classes.of == classes && m.classes.terms <= len(classes.Terms) {
			return m.classes.terms
		}
	case grid != nil:
		m.grids.Lock()
		defer m.grids.Unlock()
		if m.grids.of == grid && m.grids.terms <= len(grid.Terms) {
			return m.grids.terms
		}
	}
	return 0
}

// addend is what one shape adds to margins as scored holds them.
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

// addTo adds it to the margins of rows from, from+1, ...
func (a *addend) addTo(from int, margins []int32, s *cellScratch) {
	if a.codes != nil {
		units := (*[2 << 8]int32)(a.units)
		for i, c := range a.codes[from:][:len(margins)] {
			m := margins[i]
			margins[i] = m + units[2*uint(c)+uint(m&1)]
		}
		return
	}
	bins := s.bins[:len(margins)]
	a.bins.Read(from, bins, s.spare)
	for i, m := range margins {
		margins[i] = m + a.units[2*bins[i]+uint32(m&1)]
	}
}
