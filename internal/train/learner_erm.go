// SPDX-License-Identifier: Apache-2.0

package train

import (
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/learn/erm"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

func ermLearner() *Learner {
	p := erm.Defaults()
	return &Learner{
		Name:    "erm",
		Private: true,
		Draws:   true,
		Options: []Option{
			{"loss", "loss of the margin: logistic, or huber for a support vector machine", word[erm.Loss]{&p.Loss}},
			{"width", "half-width of the Huber-hinge's rounded corner", decimal{&p.Width}},
			{"method", "where noise enters: objective, output or auto", word[erm.Method]{&p.Method}},
			{"mode", "how noise is sized: tight, or cms11 as printed", word[erm.Mode]{&p.Mode}},
			{"noise", "noise that meets private numbers: auto, the shorter one, blocks, shaped like rows, gamma, " +
				"or laplace for exact arithmetic (method output only)", word[erm.Noise]{&p.Noise}},
			{"encoding", "how categories become numbers: onehot or ordinal", word[feature.Encoding]{&p.Encoding}},
			{"reg", "ridge on the mean loss, 0 for the learner's rule", decimal{&p.Reg}},
			{"norm", "length that scaled rows are projected to", decimal{&p.Norm}},
			{"threshold", "whether part of epsilon chooses the intercept again: auto, or none, to rank rows",
				word[erm.Threshold]{&p.Threshold}},
		},
		Make: func(pr Price, s *schema.Schema, rows int) (learn.Plan, error) {
			p.Epsilon, p.NotPrivate = pr.Epsilon, pr.NotPrivate
			return AsPlan(p.Plan(s, rows))
		},
	}
}
