// SPDX-License-Identifier: Apache-2.0

package learners

import (
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/learn/nonprivate"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
	"github.com/discreet-dp/discreet/internal/train"
	"github.com/discreet-dp/discreet/lab/internal/learn/adaboost"
)

func adaboostLearner() *train.Learner {
	p := adaboost.Params{Rounds: 25, Base: adaboost.Stump, Encoding: feature.OneHot, Columns: nonprivate.All}
	return &train.Learner{
		Name: "adaboost",
		Options: []train.Option{
			{Name: "rounds", Usage: "rounds of boosting", Value: train.Int(&p.Rounds)},
			{Name: "encoding", Usage: "encoding of categories: onehot or ordinal", Value: train.Word(&p.Encoding)},
			{Name: "columns", Usage: "columns to use: all or public", Value: train.Word(&p.Columns)},
			{Name: "reg", Usage: "ridge penalty on the mean loss, 0 for 1/n", Value: train.Number(&p.Reg)},
			{Name: "base", Usage: "base classifier: logistic, stump or random", Value: train.Word(&p.Base)},
		},
		Make: func(pr train.Price, s *schema.Schema, rows int) (learn.Plan, error) {
			p.NotPrivate = pr.NotPrivate
			return p.Plan(s, rows)
		},
	}
}
