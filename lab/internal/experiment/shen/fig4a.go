// SPDX-License-Identifier: Apache-2.0

package shen

import (
	"fmt"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
	"github.com/discreet-dp/discreet/lab/internal/experiment/frame"
	"github.com/discreet-dp/discreet/lab/internal/learn/people"
)

const (
	peopleAsTheirs = "people-25-rounds"
	peopleWhole    = "people-everything"
	peopleOurs     = "people"
)

func newFig4a() *frame.Figure {
	return duel{
		name: "fig4a", title: "BRC and Boosting for People on Adult",
		says: "In the range ε = 0.01 to 0.16 Boosting for People is not much better than guessing labels, and BRC is " +
			"far better",
		protocol: "BRC as in Figure 2a. The paper states no parameters for Boosting for People. people-25-rounds: no " +
			"public columns, which the algorithm of 2010 knows nothing of, random linear classifiers to choose from and T = " +
			"25, as in BRC. " +
			"people-everything: no public columns, stumps and as many rounds as ε pays for. people: that, with section 5.3's " +
			"public columns.",
		headline: "BRC and Boosting for People", epsilons: budgets,
		lines: []contender{
			brcLine(brcPaper, "BRC", false),
			linearLine(),
			peopleLine(peopleAsTheirs, "BfP, 25 rounds", true, people.Random, 25),
			peopleLine(peopleWhole, "BfP, all private", true, people.Stump, 0),
			peopleLine(peopleOurs, "BfP", false, people.Stump, 0),
		},
		note: "BfP: Boosting for People. BRC and the plain BfP use the public columns; the other two have " +
			"everything private.",
		judge: judgeFig4a,
		notes: []string{"The verdict is about people-25-rounds, the form nearest to the paper's; with stumps and fewer " +
			"rounds Boosting for People does better than the paper found."},
	}.newFigure()
}

func peopleLine(series, label string, everything bool, base people.Base, rounds int) contender {
	parameters := fmt.Sprintf("base=%s rounds=%d", base, rounds)
	if rounds == 0 {
		parameters = fmt.Sprintf("base=%s rounds=by rule", base)
	}
	return contender{series, label, parameters, everything,
		func(s *schema.Schema, rows int, eps dp.Epsilon) (learn.Plan, error) {
			p := people.Defaults()
			p.Epsilon, p.Encoding, p.Base, p.Rounds = eps, feature.Ordinal, base, rounds
			return p.Plan(s, rows)
		}}
}

func judgeFig4a(s *frame.Summary) []frame.Check {
	far := s.Over(brcPaper, peopleAsTheirs, budgets, accuracy)
	guess := frame.Check{What: "Boosting for People",
		Paper: "not much better than guessing (read as: at most 60 % at every ε)"}
	for _, eps := range budgets {
		st := s.Mean(peopleAsTheirs, eps, accuracy)
		guess.Parts = append(guess.Parts, frame.Below(st, 0.6))
		guess.Ours = appendItem(guess.Ours, fmt.Sprintf("%.1f %% at %s", 100*st.Mean, eps))
	}
	return []frame.Check{
		checkExceeds("BRC exceeds Boosting for People", budgets, budgets[0],
			func(eps dp.Epsilon) frame.Stat { return s.Difference(brcPaper, peopleAsTheirs, eps, accuracy) }),
		{
			What: "BRC less Boosting for People, mean over the five ε", Paper: "far better (read as: at least 5 points)",
			Ours: fmt.Sprintf("%+.1f ± %.1f points", 100*far.Mean, 100*far.StdErr), Parts: []frame.Part{frame.Above(far, 0.05)},
		},
		guess,
	}
}
