// SPDX-License-Identifier: Apache-2.0

package wangchang

import (
	"context"

	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/lab/internal/printed"
)

// boosting is Algorithm 2 over all owners' rows, and what came of it on the test rows. Sums are in the clear.
type boosting struct {
	*printed.Weights
	y       []uint8
	classes int
	votes   []float64 // by test row and class
}

func newBoosting(train, test labelled) *boosting {
	return &boosting{printed.NewWeights(len(train.y), train.classes, 1, printed.InTheClear), train.y, train.classes,
		make([]float64, len(test.y)*train.classes)}
}

func onesOf(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = 1
	}
	return out
}

// addClassifier is lines 11 to 21 for a base classifier that answers said on the training
// rows and tested on the test rows.
func (b *boosting) addClassifier(said, tested []uint8) {
	miss := make([]bool, len(said))
	for i, c := range said {
		miss[i] = c != b.y[i]
	}
	_, vote, _, err := b.Update(context.Background(), miss)
	if err != nil { // sums in the clear do not fail
		panic("wangchang: " + err.Error())
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
