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
			{"width", "half the width of the Huber-hinge's rounded corner", decimal{&p.Width}},
			{"method", "what is perturbed: objective, output or auto", word[erm.Method]{&p.Method}},
			{"mode", "scale of the noise: tight, or cms11 as printed", word[erm.Mode]{&p.Mode}},
			{"noise", "noise vector: auto (the shorter one), blocks (shaped like rows), gamma, " +
				"or laplace for exact arithmetic (method output only)", word[erm.Noise]{&p.Noise}},
			{"encoding", "encoding of categories: onehot or ordinal", word[feature.Encoding]{&p.Encoding}},
			{"reg", "ridge penalty on the mean loss, 0 for the learner's rule", decimal{&p.Reg}},
			{"norm", "length to which scaled rows are projected", decimal{&p.Norm}},
			{"threshold", "whether part of ε is spent on a new intercept: auto, or none if the scores only rank rows",
				word[erm.Threshold]{&p.Threshold}},
		},
		Make: func(pr Price, s *schema.Schema, rows int) (learn.Plan, error) {
			p.Epsilon, p.NotPrivate = pr.Epsilon, pr.NotPrivate
			return AsPlan(p.Plan(s, rows))
		},
	}
}
