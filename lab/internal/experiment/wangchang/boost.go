// SPDX-License-Identifier: Apache-2.0

package wangchang

import (
	"math"

	"github.com/discreet-dp/discreet/internal/table/feature"
)

// boosting is what Algorithm 2 keeps over all owners' rows, and what came of it
// on the test rows. Weights have a mean of 1: the paper's times the number of
// rows, which is public.
type boosting struct {
	y       []uint8
	classes int
	weight  []float64
	votes   []float64 // by test row and class
}

func newBoosting(train, test labelled) *boosting {
	b := &boosting{y: train.y, classes: train.classes, weight: onesOf(len(train.y)),
		votes: make([]float64, len(test.y)*train.classes)}
	return b
}

func onesOf(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = 1
	}
	return out
}

// addClassifier is lines 11 to 21 for a base classifier that answers said on the training
// rows and tested on the test rows. Error and weights are exact sums over all
// owners, as printed. A classifier no better than guessing gets no vote, for
// which the paper has no rule.
func (b *boosting) addClassifier(said, tested []uint8) {
	wrong, all := 0.0, 0.0
	for i, w := range b.weight {
		all += w
		if said[i] != b.y[i] {
			wrong += w
		}
	}
	k := float64(b.classes)
	// One row right or wrong at the ends, where the logarithm has none.
	err := min(max(wrong/all, 0.5/float64(len(b.y))), 1-0.5/float64(len(b.y)))
	vote := math.Log((1-err)/err) + math.Log(k-1)
	if !(vote > 0) {
		return
	}
	up, sum := math.Exp(vote), 0.0
	for i := range b.weight {
		if said[i] != b.y[i] {
			b.weight[i] *= up
		}
		sum += b.weight[i]
	}
	for i := range b.weight {
		b.weight[i] *= float64(len(b.weight)) / sum
	}
	for i, c := range tested {
		b.votes[i*b.classes+int(c)] += vote
	}
}

// errorRate is the share of test rows whose heaviest class, the first of equal
// ones, is not theirs.
func (b *boosting) errorRate(y []uint8) float64 {
	wrong := 0
	for i, c := range y {
		if feature.ArgMax(b.votes[i*b.classes:(i+1)*b.classes]) != int(c) {
			wrong++
		}
	}
	return float64(wrong) / float64(len(y))
}
