// SPDX-License-Identifier: Apache-2.0

package train

import (
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/learn/auto"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

func autoLearner() *Learner {
	p := auto.Params{}
	return &Learner{
		Name:    "auto",
		Private: true, Approximate: true,
		Options: []Option{
			{"declared-rows", "assumed number of rows, if their number is private", integer{&p.Rows}},
		},
		Make: func(pr Price, s *schema.Schema, rows int) (learn.Plan, error) {
			p.Epsilon, p.Delta, p.NotPrivate = pr.Epsilon, pr.Delta, pr.NotPrivate
			return p.Plan(s, rows)
		},
	}
}
