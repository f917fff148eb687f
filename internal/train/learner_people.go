// SPDX-License-Identifier: Apache-2.0

package train

import (
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/learn/people"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

func peopleLearner() *Learner {
	p := people.Defaults()
	return &Learner{
		Name:    "people",
		Private: true,
		draws:   true,
		Options: []Option{
			{"rounds", "rounds of boosting, 0 for as many as ε and the rows allow", integer{&p.Rounds}},
			{"encoding", "encoding of categories: onehot or ordinal", word[feature.Encoding]{&p.Encoding}},
			{"kappa", "no row holds more than 1/(kappa·n) of the weight", decimal{&p.Kappa}},
			{"base", "base classifier: logistic, stump or random", word[people.Base]{&p.Base}},
			{"classifiers", "number of random classifiers to choose from in a round", integer{&p.Candidates}},
		},
		plan: func(pr Price, s *schema.Schema, rows int) (learn.Plan, error) {
			p.Epsilon, p.NotPrivate = pr.Epsilon, pr.NotPrivate
			return asPlan(p.Plan(s, rows))
		},
	}
}
