// SPDX-License-Identifier: Apache-2.0

package train

import (
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/learn/brc"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

func brcLearner() *Learner {
	p := brc.Defaults()
	return &Learner{
		Name:    "brc",
		Private: true,
		Draws:   true,
		Options: []Option{
			{"rounds", "rounds of boosting", integer{&p.Rounds}},
			{"encoding", "encoding of categories: onehot or ordinal", word[feature.Encoding]{&p.Encoding}},
			{"c1", "row weights stay above 1/c1", decimal{&p.C1}},
			{"c2", "row weights stay below c2", decimal{&p.C2}},
			{"sensitivity", "scale of the noise: tight, or paper to reproduce figures (auto is then declared and votes)", word[brc.Sensitivity]{&p.Sensitivity}},
			{"intercept", "intercepts of random classifiers: uniform, zero or selected", word[brc.Intercept]{&p.Intercept}},
			{"subroutine", "private classifier of a round: random, bayes, shape or stump",
				word[brc.Subroutine]{&p.Subroutine}},
			{"output", "how rounds are added up: votes (their signs, as printed), linear (their values), or auto (linear if the label is public)",
				word[brc.Output]{&p.Output}},
			{"candidates", "number of candidate intercepts or thresholds of a number; cuts of a number in a shape",
				integer{&p.Candidates}},
			{"private-label", "public columns if the label is private: everything (protected too) or labeldp (not protected)",
				word[brc.PrivateLabel]{&p.PrivateLabel}},
			{"public-share", "share of ε that labeldp spends on the public classifier", decimal{&p.PublicShare}},
			{"public-part", "output of the public classifier: answers, or scores (with output linear)",
				word[brc.PublicPart]{&p.PublicPart}},
			{"class-weights", "weight of a row of each class: declared (by the schema), balanced, or auto (balanced if the label is public)",
				word[brc.ClassWeights]{&p.ClassWeights}},
			{"positives", "declared share of rows of the positive class, 0 if unknown", decimal{&p.Positives}},
		},
		Make: func(pr Price, s *schema.Schema, rows int) (learn.Plan, error) {
			p.Epsilon, p.NotPrivate = pr.Epsilon, pr.NotPrivate
			return AsPlan(p.Plan(s, rows))
		},
	}
}
