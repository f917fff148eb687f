// SPDX-License-Identifier: Apache-2.0

package main

import (
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/learn/people"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

func peopleLearner() *learner {
	p := people.Defaults()
	return &learner{
		name:    "people",
		private: true,
		options: []option{
			{"rounds", "rounds of boosting", integer{&p.Rounds}},
			{"encoding", "how categories become numbers: onehot or ordinal", word[feature.Encoding]{&p.Encoding}},
			{"kappa", "no row holds more than 1/(kappa·n) of the weight", decimal{&p.Kappa}},
			{"base", "what to boost: logistic, stump or random", word[people.Base]{&p.Base}},
			{"classifiers", "random classifiers to choose from in a round", integer{&p.Candidates}},
		},
		plan: func(pr price, s *schema.Schema, rows int) (learn.Plan, error) {
			p.Epsilon, p.NotPrivate = pr.epsilon, pr.notPrivate
			pl, err := p.Plan(s, rows)
			if err != nil {
				return nil, err // not pl: a nil *people.Plan is not a nil learn.Plan
			}
			return pl, nil
		},
	}
}
