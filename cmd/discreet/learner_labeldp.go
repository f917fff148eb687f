// SPDX-License-Identifier: Apache-2.0

package main

import (
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/learn/labeldp"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

func labeldpLearner() *learner {
	p := labeldp.Defaults()
	return &learner{
		name:    "labeldp",
		private: true, approximate: true,
		options: []option{
			{"noise", "noise that meets private numbers: laplace or gaussian (with --delta), both exact, gamma, or auto, the shortest", word[labeldp.Noise]{&p.Noise}},
			{"encoding", "how categories become numbers: onehot or ordinal", word[feature.Encoding]{&p.Encoding}},
			{"reg", "ridge on the mean loss, 0 for the learner's rule", decimal{&p.Reg}},
		},
		plan: func(pr price, s *schema.Schema, rows int) (learn.Plan, error) {
			p.Epsilon, p.Delta, p.NotPrivate = pr.epsilon, pr.delta, pr.notPrivate
			pl, err := p.Plan(s, rows)
			if err != nil {
				return nil, err // not pl: a nil *labeldp.Plan is not a nil learn.Plan
			}
			return pl, nil
		},
	}
}
