// SPDX-License-Identifier: Apache-2.0

package train

import (
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/learn/logistic"
	"github.com/discreet-dp/discreet/internal/learn/nonprivate"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

func logisticLearner() *Learner {
	p := logistic.Params{Encoding: feature.OneHot, Columns: nonprivate.All}
	return &Learner{
		Name: "logistic",
		Options: []Option{
			{"encoding", "encoding of categories: onehot or ordinal", word[feature.Encoding]{&p.Encoding}},
			{"columns", "columns to use: all or public", word[nonprivate.Columns]{&p.Columns}},
			{"reg", "ridge penalty on the mean loss, 0 for 1/n", decimal{&p.Reg}},
		},
		Make: func(pr Price, s *schema.Schema, rows int) (learn.Plan, error) {
			p.NotPrivate = pr.NotPrivate
			return p.Plan(s, rows)
		},
	}
}
