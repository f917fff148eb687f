// SPDX-License-Identifier: Apache-2.0

package main

import (
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/learn/additive"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

func additiveLearner() *learner {
	p := additive.Params{}
	return &learner{
		name:    "additive",
		private: true, approximate: true,
		options: []option{
			{"declared-rows", "how many rows to reckon with where their number is private", integer{&p.Rows}},
		},
		plan: func(pr price, s *schema.Schema, rows int) (learn.Plan, error) {
			p.Epsilon, p.Delta, p.NotPrivate = pr.epsilon, pr.delta, pr.notPrivate
			if s.Classes() > 2 {
				pl, err := p.PlanLevels(s, rows)
				if err != nil {
					return nil, err // as below
				}
				return pl, nil
			}
			pl, err := p.Plan(s, rows)
			if err != nil {
				return nil, err // not pl: a nil *additive.Plan is not a nil learn.Plan
			}
			return pl, nil
		},
	}
}
