// SPDX-License-Identifier: Apache-2.0

package adaboost

import (
	"context"
	"math"
)

// weak is a weak learner of classifiers C over cells: sets of rows that every
// classifier it may return is right about together or wrong about together.
type weak[C any] interface {
	// start returns the number of rows in each cell.
	startWeights() []float64
	// fit returns a classifier for weights w and sets wrong[c] for the cells c
	// it is wrong about (line 4). round counts from 0.
	fitWeak(ctx context.Context, round int, w []float64, wrong []bool) (C, error)
}

// voter is a classifier with its vote.
type voter[C any] struct {
	c    C
	vote float64
}

// boostWeak is Algorithm 1, for K levels SAMME.
func boostWeak[C any](ctx context.Context, rounds, levels int, h weak[C]) ([]voter[C], error) {
	w := h.startWeights() // line 2: a row weighs 1, or what its level does
	wrong := make([]bool, len(w))
	voters := make([]voter[C], 0, rounds)
	for t := range rounds {
		scaleToOne(w)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		c, err := h.fitWeak(ctx, t, w, wrong) // line 4
		if err != nil {
			return nil, err
		}
		vote := voteFor(weightedErr(w, wrong), levels) // lines 5 and 6
		reweigh(w, wrong, math.Exp(vote))              // line 7
		voters = append(voters, voter[C]{c, vote})
	}
	return voters, nil
}

// maxVote replaces the infinite vote of a classifier without a mistake, or
// without a right answer: log((1-err)/err) at err = 2^-40. Such a classifier
// leaves all weights in proportion, so the rounds that follow repeat it where
// the base is a learner, and outvotes all but a handful if it is a draw.
var maxVote = 40 * math.Ln2

// voteFor is line 6; for K levels it adds log(K-1), by which a classifier right
// more often than one in K times has a say (SAMME). Of two levels a classifier
// worse than chance gets a negative vote and so counts reversed. Of more levels
// there is no reverse and the vote is at least 0; splits are never worse than
// chance but for rounding.
func voteFor(werr float64, levels int) float64 {
	vote := min(max(math.Log((1-werr)/werr), -maxVote), maxVote)
	if levels > 2 {
		vote = max(0, vote+math.Log(float64(levels-1)))
	}
	return vote
}

// weightedErr is line 5; w adds up to 1 already but for rounding, and an error
// above 1 would have no vote.
func weightedErr(w []float64, wrong []bool) float64 {
	lost, kept := 0.0, 0.0
	for c, x := range w {
		if wrong[c] {
			lost += x
		} else {
			kept += x
		}
	}
	return lost / (lost + kept)
}

// reweigh is line 7.
func reweigh(w []float64, wrong []bool, factor float64) {
	for c := range w {
		if wrong[c] {
			w[c] *= factor
		}
	}
}

// scaleToOne keeps weights finite over any number of rounds. Only their
// proportions matter.
func scaleToOne(w []float64) {
	total := 0.0
	for _, x := range w {
		total += x
	}
	for c := range w {
		w[c] /= total
	}
}
