// SPDX-License-Identifier: Apache-2.0

package engine

import "github.com/discreet-dp/discreet/internal/table/feature"

// ClassScore is a score of every row for each class: Start, to which Terms are added in
// order. The probabilities of the classes are the softmax of a row's scores. Scores are
// integers in units of 1/feature.ScoreOne nat, held within ±MaxClassScore after each
// addition, so they depend neither on the machine nor on where a row lies.
//
// A score grows by AddShape alone, so an engine may keep the scores of its rows from one
// question to the next and add only what is new.
type ClassScore struct {
	Start []int64 // by class
	Terms []ClassTerm
}

// ClassTerm is a step function for each class.
type ClassTerm struct {
	Bins  feature.Bins // of one column
	Units [][]int64    // by class, then bin
}

// MaxClassScore bounds a row's score for one class, in units of 1/feature.ScoreOne nat.
const MaxClassScore = 1 << 30

// NewClassScore starts at the given scores, one per class, in nats.
func NewClassScore(start []float64) *ClassScore {
	s := &ClassScore{Start: make([]int64, len(start))}
	for k, x := range start {
		s.Start[k] = feature.Units(x)
	}
	return s
}

// AddShape adds times the steps of sh, of which it keeps a copy.
func (s *ClassScore) AddShape(sh *feature.LevelShape, times float64) {
	t := ClassTerm{Bins: sh.Bins.Clone()}
	for _, steps := range sh.Steps {
		units := make([]int64, len(steps))
		for b, x := range steps {
			units[b] = feature.Units(times * x)
		}
		t.Units = append(t.Units, units)
	}
	s.Terms = append(s.Terms, t)
}

// ClassSlope is how the log-likelihood of the labels changes when a multiple of a
// shape is added to the scores, at none of it: a row whose class scores above
// the others gains, and the gain falls off by the curve. Both are in units of
// most/WeightOne, half the curve in units of that: it counts for half of what a
// row may say, since it is only asked how far to go.
type ClassSlope struct{ Gain, HalfCurve int64 }

// ClassResiduals is, by class and bin, what the labels say beyond the scores: a row
// of class y adds 1 − p(y) to Above[y] in its bin and p(k) to Below[k] for every other
// class k. Where the scores are right the two balance. In units of 1/WeightOne; a row
// adds at most 2·WeightOne over all cells of one column.
type ClassResiduals struct{ Above, Below [][]uint64 }
