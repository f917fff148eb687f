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
			{"encoding", "how categories become numbers: onehot or ordinal", word[feature.Encoding]{&p.Encoding}},
			{"c1", "row weights stay above 1/c1", decimal{&p.C1}},
			{"c2", "row weights stay below c2", decimal{&p.C2}},
			{"sensitivity", "how noise is sized: tight, or paper to reproduce figures", word[brc.Sensitivity]{&p.Sensitivity}},
			{"intercept", "intercepts of random classifiers: uniform, zero or selected", word[brc.Intercept]{&p.Intercept}},
			{"subroutine", "private classifiers of the rounds: random, bayes, shape or stump",
				word[brc.Subroutine]{&p.Subroutine}},
			{"output", "how rounds are added up: votes, their signs, or linear, their values", word[brc.Output]{&p.Output}},
			{"candidates", "how many intercepts, or thresholds of a number, are chosen from; a shape's cuts of a number",
				integer{&p.Candidates}},
			{"private-label", "public columns beside a private label: everything (private too) or labeldp (not protected)",
				word[brc.PrivateLabel]{&p.PrivateLabel}},
			{"public-share", "part of ε that labeldp spends on the public classifier", decimal{&p.PublicShare}},
			{"public-part", "what the public classifier adds: answers, or scores (with --output linear)",
				word[brc.PublicPart]{&p.PublicPart}},
			{"class-weights", "how much rows of a class count: as the schema declares, or balanced",
				word[brc.ClassWeights]{&p.ClassWeights}},
			{"positives", "declared share of rows of the positive class, 0 where it is not known", decimal{&p.Positives}},
		},
		Make: func(pr Price, s *schema.Schema, rows int) (learn.Plan, error) {
			p.Epsilon, p.NotPrivate = pr.Epsilon, pr.NotPrivate
			return AsPlan(p.Plan(s, rows))
		},
	}
}
