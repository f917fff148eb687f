// SPDX-License-Identifier: Apache-2.0

package adaboost

import (
	"context"
	"math"

	"github.com/discreet-dp/discreet/feature"
	"github.com/discreet-dp/discreet/model"
)

// weak is a weak learner over cells: sets of rows that every classifier it may
// return is right about together or wrong about together.
type weak interface {
	// start returns the number of rows in each cell.
	start() []float64
	// fit returns a classifier for weights w and sets wrong[c] for the cells c
	// it is wrong about (line 4). round counts from 0.
	fit(ctx context.Context, round int, w []float64, wrong []bool) (feature.Threshold, error)
}

// boost is Algorithm 1.
func boost(ctx context.Context, rounds int, h weak) ([]model.Member, error) {
	w := h.start() // line 2: a row weighs 1
	wrong := make([]bool, len(w))
	members := make([]model.Member, 0, rounds)
	for t := range rounds {
		scaleToOne(w)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		th, err := h.fit(ctx, t, w, wrong) // line 4
		if err != nil {
			return nil, err
		}
		vote := voteFor(weightedErr(w, wrong)) // lines 5 and 6
		reweigh(w, wrong, math.Exp(vote))      // line 7
		members = append(members, model.Member{Threshold: th, Vote: vote})
	}
	return members, nil
}

// maxVote replaces the infinite vote of a classifier without a mistake, or
// without a right answer: log((1-err)/err) at err = 2^-40. Such a classifier
// leaves all weights in proportion, so the rounds that follow repeat it where
// the base is a learner, and outvotes all but a handful where it is a draw.
var maxVote = 40 * math.Ln2

// voteFor is line 6 for two classes; K classes would add log(K-1) (SAMME). A
// classifier worse than chance gets a negative vote and so counts reversed.
func voteFor(werr float64) float64 {
	return min(max(math.Log((1-werr)/werr), -maxVote), maxVote)
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
