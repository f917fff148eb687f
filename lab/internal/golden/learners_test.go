// SPDX-License-Identifier: Apache-2.0

// Package train holds the laboratory's learners to the bytes that they have always made, with the
// product's own test: the other file is a link to it.
package train_test

import (
	"slices"

	"github.com/discreet-dp/discreet/internal/train"
	"github.com/discreet-dp/discreet/lab/internal/learners"
)

func init() {
	products := train.LearnerNames()
	learners.Register()
	golden = func() []*train.Learner {
		return slices.DeleteFunc(train.Learners(), func(l *train.Learner) bool { return slices.Contains(products, l.Name) })
	}
}
