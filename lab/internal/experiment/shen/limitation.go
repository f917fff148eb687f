// SPDX-License-Identifier: Apache-2.0

package shen

import (
	"fmt"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/learn/erm"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
	"github.com/discreet-dp/discreet/lab/internal/experiment/frame"
)

const brcWhole = "brc-everything"

// largeEpsilon is the budget section 7 names.
const largeEpsilon dp.Epsilon = dp.Nano

func newLimitation() *frame.Figure {
	return duel{
		name: "limitation", title: "BRC on Adult for large ε",
		says: "For larger ε, say 1, BRC is somewhat worse than private logistic regression, with public features and without",
		protocol: "Section 7, \"Limitation when ε is large\"; the paper has no plot. BRC with section 5.3's split (brc) " +
			"and with everything private (brc-everything), T = 25, c1 = c2 = √2, noise c1·c2·T/(ε·n). " +
			"Private logistic regression of diffprivlib, as recorded, and ours by objective perturbation as in CMS11, " +
			"everything private.",
		headline: "BRC and private logistic for larger ε",
		epsilons: []dp.Epsilon{20_000_000, 80_000_000, 320_000_000, 640_000_000, largeEpsilon, 2 * dp.Nano},
		lines: []contender{
			brcLine(brcPaper, "BRC", false),
			brcLine(brcWhole, "BRC, all private", true),
			{diffprivlibLog, "diffprivlib", "everything private, diffprivlib's defaults", true, nil},
			{privateLog, "logistic, ours", "method=objective mode=cms11", true, privateLogistic},
		},
		judge: func(s *frame.Summary) []frame.Check {
			worse := func(series, what string) frame.Check {
				d := s.Difference(diffprivlibLog, series, largeEpsilon, accuracy)
				return frame.Check{
					What:  "private logistic regression less " + what + " at ε = 1",
					Paper: "somewhat worse BRC (read as: above 0 with 95 % confidence, up to 10 points)",
					Ours:  fmt.Sprintf("%+.2f ± %.2f points", 100*d.Mean, 100*d.StdErr), Parts: []frame.Part{frame.Within(d, 0, 0.1)},
				}
			}
			return []frame.Check{worse(brcPaper, "BRC"), worse(brcWhole, "BRC with everything private")}
		},
	}.newFigure()
}

// privateLogistic is our private baseline.
func privateLogistic(s *schema.Schema, rows int, eps dp.Epsilon) (learn.Plan, error) {
	e := erm.Defaults()
	e.Epsilon, e.Encoding, e.Method, e.Mode, e.Noise = eps, feature.Ordinal, erm.Objective, erm.CMS11, erm.Gamma
	return e.Plan(s, rows)
}
