// SPDX-License-Identifier: Apache-2.0

package learners

import "github.com/discreet-dp/discreet/internal/train"

// All lists them, made again by each call.
func All() []*train.Learner {
	return []*train.Learner{peopleLearner(), pateLearner(), adaboostLearner()}
}
