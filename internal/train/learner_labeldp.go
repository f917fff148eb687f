// SPDX-License-Identifier: Apache-2.0

package train

import (
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/learn/labeldp"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

func labeldpLearner() *Learner {
	p := labeldp.Defaults()
	return &Learner{
		Name:    "labeldp",
		Private: true,
		Draws:   true, Approximate: true, PublicOnly: true,
		Options: []Option{
			{"noise", "noise vector: laplace or gaussian (with a delta), both exact, gamma, or auto, the " +
				"shortest", word[labeldp.Noise]{&p.Noise}},
			{"encoding", "encoding of categories: onehot or ordinal", word[feature.Encoding]{&p.Encoding}},
			{"reg", "ridge penalty on the mean loss, 0 for the learner's rule", decimal{&p.Reg}},
		},
		Make: func(pr Price, s *schema.Schema, rows int) (learn.Plan, error) {
			p.Epsilon, p.Delta, p.NotPrivate = pr.Epsilon, pr.Delta, pr.NotPrivate
			return AsPlan(p.Plan(s, rows))
		},
	}
}
