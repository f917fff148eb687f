// SPDX-License-Identifier: Apache-2.0

package learners

import (
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/table/schema"
	"github.com/discreet-dp/discreet/internal/train"
	"github.com/discreet-dp/discreet/lab/internal/learn/people"
)

func peopleLearner() *train.Learner {
	p := people.Defaults()
	return &train.Learner{
		Name:    "people",
		Private: true,
		Draws:   true,
		Options: []train.Option{
			{Name: "rounds", Usage: "rounds of boosting, 0 for as many as ε and the rows allow", Value: train.Int(&p.Rounds)},
			{Name: "encoding", Usage: "encoding of categories: onehot or ordinal", Value: train.Word(&p.Encoding)},
			{Name: "kappa", Usage: "no row holds more than 1/(kappa·n) of the weight", Value: train.Number(&p.Kappa)},
			{Name: "base", Usage: "base classifier: logistic, stump or random", Value: train.Word(&p.Base)},
			{Name: "classifiers", Usage: "number of random classifiers to choose from in a round", Value: train.Int(&p.Candidates)},
		},
		Make: func(pr train.Price, s *schema.Schema, rows int) (learn.Plan, error) {
			p.Epsilon, p.NotPrivate = pr.Epsilon, pr.NotPrivate
			return train.AsPlan(p.Plan(s, rows))
		},
	}
}
