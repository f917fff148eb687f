// SPDX-License-Identifier: Apache-2.0

package train

import (
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/learn/adaboost"
	"github.com/discreet-dp/discreet/internal/learn/nonprivate"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

func adaboostLearner() *Learner {
	p := adaboost.Params{Rounds: 25, Base: adaboost.Stump, Encoding: feature.OneHot, Columns: nonprivate.All}
	return &Learner{
		Name: "adaboost",
		Options: []Option{
			{"rounds", "rounds of boosting", integer{&p.Rounds}},
			{"encoding", "encoding of categories: onehot or ordinal", word[feature.Encoding]{&p.Encoding}},
			{"columns", "columns to use: all or public", word[nonprivate.Columns]{&p.Columns}},
			{"reg", "ridge penalty on the mean loss, 0 for 1/n", decimal{&p.Reg}},
			{"base", "base classifier: logistic, stump or random", word[adaboost.Base]{&p.Base}},
		},
		plan: func(pr Price, s *schema.Schema, rows int) (learn.Plan, error) {
			p.NotPrivate = pr.NotPrivate
			return p.Plan(s, rows)
		},
	}
}
