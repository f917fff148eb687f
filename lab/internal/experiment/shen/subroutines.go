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
	subRandom      = "subroutine-random"
	subBayes       = "subroutine-bayes"
	subBayesLinear = "subroutine-bayes-linear"
	subShape       = "subroutine-shape"
	subShape2      = "subroutine-shape-2"
	subStump       = "subroutine-stump"
)

// newSubroutines compares what may stand in for a random linear classifier (section 1.2).
func newSubroutines() *frame.Figure {
	f := duel{
		name: "subroutines", title: "Subroutines of BRC on Adult, everything private",
		says: "BRC can be used with other private classifiers as its subroutine",
		protocol: "Section 1.2 names private classifiers that may take the place of random ones; section 6, Algorithm 3: " +
			"every feature and the label private, T = 25, c1 = c2 = √2. Drawn without reading a row, and free: linear " +
			"classifiers, as the paper has them; naive Bayes classifiers, whose classes' laws come from a prior (signs or, " +
			"linear, log odds added up); step functions of one column, a sign for each bin of a number's 10 or 3, or for each " +
			"level's place. Trained: stumps, picked for half of a round's ε. Noise by the tight sensitivity.",
		headline: "BRC by subroutine, everything private", epsilons: budgets,
		lines: []contender{
			subroutineLine(subRandom, "linear", brc.Random, 0, brc.Votes),
			subroutineLine(subBayes, "naive Bayes", brc.Bayes, 0, brc.Votes),
			subroutineLine(subBayesLinear, "naive Bayes, linear", brc.Bayes, 0, brc.Linear),
			subroutineLine(subShape, "shapes of 10 bins", brc.Shape, 9, brc.Votes),
			subroutineLine(subShape2, "shapes of 3 bins", brc.Shape, 2, brc.Votes),
			subroutineLine(subStump, "stumps, picked", brc.Stump, 9, brc.Votes),
		},
		judge: judgeSubroutines,
	}.newFigure()
	f.OneClaim = true // each line by itself
	return f
}

func subroutineLine(series, label string, sub brc.Subroutine, candidates int, out brc.Output) contender {
	return contender{series, label, fmt.Sprintf("subroutine=%s candidates=%d output=%s", sub, candidates, out), true,
		func(s *schema.Schema, rows int, eps dp.Epsilon) (learn.Plan, error) {
			b := brc.Printed()
			b.Epsilon, b.Encoding, b.Subroutine, b.Output = eps, feature.Ordinal, sub, out
			if candidates > 0 {
				b.Candidates = candidates
			}
			return b.Plan(s, rows)
		}}
}

func judgeSubroutines(s *frame.Summary) (checks []frame.Check) {
	last := budgets[len(budgets)-1]
	for _, l := range []struct{ series, name string }{{subBayes, "naive Bayes"}, {subShape, "shapes of 10 bins"},
		{subStump, "stumps"}} {
		a := s.Mean(l.series, last, accuracy)
		checks = append(checks, frame.Check{
			What:  fmt.Sprintf("%s as the subroutine at ε = %s", l.name, last),
			Paper: "usable (read as: at least 5 points above one half with 95 % confidence)",
			Ours:  formatPercent(a), Parts: []frame.Part{frame.Above(a, chance+0.05)},
		})
	}
	return checks
}
