// SPDX-License-Identifier: Apache-2.0

// Package noninterference searches for a private row that shows in what the laboratory's learners
// release, with the product's own tests: the other files are links to them.
package noninterference

import (
	"slices"

	"github.com/discreet-dp/discreet/internal/train"
	"github.com/discreet-dp/discreet/lab/internal/learners"
)

func init() {
	products := train.LearnerNames()
	learners.Register()
	searched = func() []*train.Learner {
		return slices.DeleteFunc(train.Learners(), func(l *train.Learner) bool { return slices.Contains(products, l.Name) })
	}
}
