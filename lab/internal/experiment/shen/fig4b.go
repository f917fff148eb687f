// SPDX-License-Identifier: Apache-2.0

package shen

import (
	"fmt"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
	"github.com/discreet-dp/discreet/lab/internal/experiment/frame"
	"github.com/discreet-dp/discreet/lab/internal/learn/pate"
)

const (
	patePerVote  = "pate-printed-per-vote"
	pateInAll    = "pate-printed-in-all"
	pateRepaired = "pate-repaired"
)

func newFig4b() *frame.Figure {
	return duel{
		name: "fig4b", title: "BRC and PATE on Adult",
		says: "The accuracy of PATE increases very slowly with ε, and BRC supersedes it from ε = 0.02 on",
		protocol: "BRC as in Figure 2a. The paper states no parameters for PATE and does not say what its ε pays for. " +
			"pate-printed: section 7's text, 50 teachers, Laplace noise on both counts of the vote about each training row; " +
			"ε is spent on each vote (per-vote) or on the votes about all rows in equal parts (in-all). Under both readings " +
			"it is NOT private: a row's own cells decide the whole vote about it, and predicting needs the teachers; its " +
			"bill is 0 and its model says so. " +
			"pate-repaired: teachers' classifiers are summed once, ε pays for everything (evidence/guarantees/pate.md).",
		headline: "BRC and PATE", epsilons: budgets,
		lines: []contender{
			brcLine(brcPaper, "BRC", false),
			linearLine(),
			{patePerVote, "printed, ε per vote", "form=printed, ε for each vote, not private", false, printedPate},
			{pateInAll, "printed, ε in all", "form=printed, ε/n for each vote, not private", false,
				func(s *schema.Schema, rows int, eps dp.Epsilon) (learn.Plan, error) {
					return printedPate(s, rows, max(1, eps/dp.Epsilon(rows)))
				}},
			{pateRepaired, "repaired", "form=repaired", false, repairedPate},
		},
		note:  "Printed: PATE as in the paper, NOT private at any ε. Repaired: our private form.",
		judge: judgeFig4b,
		notes: []string{"The printed teachers answer for test rows without noise, since the text does not say who asks " +
			"them there. The repaired form is ours and takes no part in the verdict."},
	}.newFigure()
}

func judgeFig4b(s *frame.Summary) (checks []frame.Check) {
	riseIn := func(s *frame.Summary, series string) float64 {
		return s.Mean(series, budgets[len(budgets)-1], accuracy).Mean - s.Mean(series, budgets[0], accuracy).Mean
	}
	rise := func(series string) float64 { return riseIn(s, series) }
	for _, reading := range []struct{ series, what string }{
		{pateInAll, "PATE as printed, ε for the votes about all rows"},
		{patePerVote, "PATE as printed, ε for each vote"},
	} {
		checks = append(checks,
			checkExceeds("BRC exceeds "+reading.what, budgets, budgets[1], func(eps dp.Epsilon) frame.Stat {
				return s.Difference(brcPaper, reading.series, eps, accuracy)
			}),
			frame.Check{
				What: "rise from ε = 0.01 to 0.16 of " + reading.what, Paper: "very slow (read as: less than half of BRC's)",
				Ours: fmt.Sprintf("%+.1f points, BRC %+.1f", 100*rise(reading.series), 100*rise(brcPaper)),
				Parts: []frame.Part{frame.Below(s.Statistic(func(s *frame.Summary) float64 {
					return riseIn(s, reading.series) - riseIn(s, brcPaper)/2
				}), 0)},
			})
	}
	return checks
}

// printedPate protects nothing; vote is what one vote is said to cost.
func printedPate(s *schema.Schema, rows int, vote dp.Epsilon) (learn.Plan, error) {
	p := pate.Defaults()
	p.Form, p.NotPrivate, p.VoteEpsilon, p.Encoding = pate.Printed, true, vote, feature.Ordinal
	return p.Plan(s, rows)
}

func repairedPate(s *schema.Schema, rows int, eps dp.Epsilon) (learn.Plan, error) {
	p := pate.Defaults()
	p.Epsilon, p.Encoding = eps, feature.Ordinal
	return p.Plan(s, rows)
}
