// SPDX-License-Identifier: Apache-2.0

package shen

import (
	"math"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/lab/internal/experiment/frame"
)

// Section 4's example: toyRows points on a line, the left half "-", the right
// half "+". A classifier at i calls the points before i "-" and the others "+".
// It is found by flipping labels, so it has seen them: nothing of section 4 is
// private, whatever its ε.
const (
	toyRows   = 2000
	toyRounds = 50
	toyC      = 2.0 // c1 and c2
	toyFlips  = 49  // labels flipped, in a hundred
)

// toyVote is one round's classifier and its α.
type toyVote struct {
	at   int
	vote float64
}

// toyClassifiers draws one run's classifiers.
func toyClassifiers(src rng.Source) []int {
	at := make([]int, toyRounds)
	for t := range at {
		at[t] = fewestMistakes(toyLabels(src), src)
	}
	return at
}

// toyLabels flips each label with probability 0.49; true is "+".
func toyLabels(src rng.Source) []bool {
	labels := make([]bool, toyRows)
	for i := range labels {
		labels[i] = (i >= toyRows/2) != (rng.Below(src, 100) < toyFlips)
	}
	return labels
}

// fewestMistakes is the classifier with the fewest mistakes about labels; among
// several, any of them.
func fewestMistakes(labels []bool, src rng.Source) int {
	mistakes, fewest, best, ties := 0, 0, 0, uint64(1) // less those of the classifier at 0
	for i, plus := range labels {
		if plus { // the classifier at i+1 is wrong about i
			mistakes++
		} else {
			mistakes--
		}
		switch {
		case mistakes < fewest:
			fewest, best, ties = mistakes, i+1, 1
		case mistakes == fewest:
			ties++
			if rng.Below(src, ties) == 0 {
				best = i + 1
			}
		}
	}
	return best
}

// toyWrong says whether the classifier at i is wrong about row.
func toyWrong(at, row int) bool {
	return (row >= at) != (row >= toyRows/2)
}

// toyBoost is Algorithm 3 over given classifiers, row by row; the public column
// of section 4 is left out as it is there. src is for the noise. Where moving is
// false, weights stay at 1: votes without boosting, to compare with.
func toyBoost(classifiers []int, eps dp.Epsilon, moving bool, src rng.Source) ([]toyVote, error) {
	each, err := eps.Split(len(classifiers))
	if err != nil {
		return nil, err
	}
	exit := mech.NewExit(src)
	w := make([]float64, toyRows)
	for i := range w {
		w[i] = 1
	}
	votes := make([]toyVote, len(classifiers))
	for t, at := range classifiers {
		wrong, all := 0.0, 0.0
		for i, x := range w {
			all += x
			if toyWrong(at, i) {
				wrong += x
			}
		}
		noise, err := mech.LaplaceFor(each[t], toyC*toyC/toyRows, 1)
		if err != nil {
			return nil, err
		}
		vote := 0.5 - exit.Release("weighted error", noise, mech.RatioOf(wrong/all))[0]
		votes[t] = toyVote{at, vote}
		if !moving {
			continue
		}
		for i, x := range w {
			if x *= math.Exp(vote); toyWrong(at, i) && x <= toyC && x >= 1/toyC {
				w[i] = x
			}
		}
	}
	return votes, nil
}

// toyAccuracy is that of the votes on the rows themselves, as in section 4.
func toyAccuracy(votes []toyVote) float64 {
	right := 0
	for i := range toyRows {
		sum := 0.0
		for _, v := range votes {
			if i >= v.at {
				sum += v.vote
			} else {
				sum -= v.vote
			}
		}
		if (sum > 0) == (i >= toyRows/2) {
			right++
		}
	}
	return float64(right) / toyRows
}

// alone is the metric of aloneAt: the accuracy of the single classifier at i.
const alone = "accuracy_alone"

func aloneAt(i int) float64 {
	return 1 - math.Abs(float64(i-toyRows/2))/toyRows
}

// mean is a running mean.
type mean struct {
	sum float64
	n   int
}

func (m *mean) addValue(x float64) {
	m.sum += x
	m.n++
}

func (m *mean) meanValue() float64 { return m.sum / float64(m.n) }

// toyBucket is the bucket of a classifier, all of one width, the last one with
// its right end.
func toyBucket(at, width int) int {
	return min(at, toyRows-1) / width
}

// toyStreams are the sources of one run: all ε see the same classifiers.
func toyStreams(r frame.Repeat, eps dp.Epsilon) (classifiers, noise rng.Source) {
	return r.Stream("classifiers"), r.Stream("noise, ε = " + eps.String())
}

const toyProtocol = "Section 4: 2,000 points on a line, c1 = c2 = 2, T = 50; a round's classifier is the best one " +
	"after each label was flipped with probability 0.49 (ties: any of them). " +
	"Accuracy on the points themselves. NOT private at any ε: the classifiers have seen the labels. "
