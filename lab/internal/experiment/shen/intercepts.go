// SPDX-License-Identifier: Apache-2.0

package shen

import (
	"fmt"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/learn/brc"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
	"github.com/discreet-dp/discreet/lab/internal/experiment/frame"
)

const (
	interceptDrawn  = "intercept-uniform"
	interceptZero   = "intercept-zero"
	interceptPicked = "intercept-selected"
	interceptFine   = "intercept-selected-64"
)

// newIntercepts compares section 6's three ways to choose an intercept.
func newIntercepts() *frame.Figure {
	f := duel{
		name: "intercepts", title: "Intercepts of random classifiers on Adult, everything private",
		says: "Intercepts drawn uniformly and intercepts of zero lead to roughly the same accuracy",
		protocol: "Section 6, Algorithm 3: every feature and the label private, T = 25, c1 = c2 = √2. Uniform: drawn from " +
			"[-1, 1]. Zero. Selected: half of a round's ε picks among evenly spaced values of a public range, 9 or 64 of " +
			"them, the other half pays for the error. " +
			"The paper picks among the values at which a row changes sides; such a value is a row's own and shows it, so a " +
			"grid stands for them. Noise by the tight sensitivity.",
		headline: "BRC by intercept, everything private", epsilons: budgets,
		lines: []contender{
			interceptLine(interceptDrawn, "uniform", brc.InterceptUniform, 0),
			interceptLine(interceptZero, "zero", brc.InterceptZero, 0),
			interceptLine(interceptPicked, "selected of 9", brc.InterceptSelected, 9),
			interceptLine(interceptFine, "selected of 64", brc.InterceptSelected, 64),
		},
		judge: judgeIntercepts,
	}.newFigure()
	f.OneClaim = true // that lines are alike would hold of lines that are mixed
	return f
}

func interceptLine(series, label string, how brc.Intercept, candidates int) contender {
	return contender{series, label, fmt.Sprintf("intercept=%s candidates=%d", how, candidates), true,
		func(s *schema.Schema, rows int, eps dp.Epsilon) (learn.Plan, error) {
			b := brc.Printed()
			b.Epsilon, b.Encoding, b.Intercept = eps, feature.Ordinal, how
			if candidates > 0 {
				b.Candidates = candidates
			}
			return b.Plan(s, rows)
		}}
}

func judgeIntercepts(s *frame.Summary) []frame.Check {
	d := s.Over(interceptZero, interceptDrawn, budgets, accuracy)
	last := budgets[len(budgets)-1]
	a, b := s.Mean(interceptZero, last, accuracy), s.Mean(interceptDrawn, last, accuracy)
	return []frame.Check{{
		What: "zero less uniform, mean over the five ε",
		Paper: "roughly the same accuracy (read as: within 2 points, both above one half at the largest ε with 95 % " +
			"confidence)",
		Ours: fmt.Sprintf("%+.1f ± %.1f points; %s and %s at ε = %s", 100*d.Mean, 100*d.StdErr, formatPercent(a),
			formatPercent(b), last),
		Parts: []frame.Part{frame.Within(d, -0.02, 0.02), frame.Above(a, chance), frame.Above(b, chance)},
	}}
}
