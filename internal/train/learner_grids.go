// SPDX-License-Identifier: Apache-2.0

package train

import (
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/learn/grids"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

func gridsLearner() *Learner {
	p := grids.Params{}
	return &Learner{
		Name:    "grids",
		Private: true,
		Draws:   true, Approximate: true,
		Options: []Option{
			{"declared-rows", "assumed number of rows, if their number is private", integer{&p.Rows}},
			{"rounds", "rounds of boosting, 0 for the learner's rule", integer{&p.Rounds}},
		},
		Make: func(pr Price, s *schema.Schema, rows int) (learn.Plan, error) {
			p.Epsilon, p.Delta, p.NotPrivate = pr.Epsilon, pr.Delta, pr.NotPrivate
			return AsPlan(p.Plan(s, rows))
		},
	}
}
