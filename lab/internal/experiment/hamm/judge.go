// SPDX-License-Identifier: Apache-2.0

package hamm

import (
	"fmt"

	"github.com/discreet-dp/discreet/lab/internal/experiment/frame"
)

// judgeLines holds the order of the lines and the trend to the paper's words.
func judgeLines(s *frame.Summary, places []place) []frame.Check {
	const ours = "our claim, not the paper's"
	return []frame.Check{
		checkOrder(s, places, soft, majority, "soft votes above majority votes (both as statistic)"),
		checkOrder(s, places, softPrinted, majorityPrinted, "soft votes above majority votes (both as printed)"),
		checkOrder(s, places, soft, average, "soft votes above parameter averaging"),
		checkClose(s, places, pooled, "learning without privacy from all rows pooled", ""),
		checkClose(s, places, softExact, "the same votes without noise", ours),
		claimOurs(checkOrder(s, places, soft, softPrinted, "our statistic nowhere below the printed output perturbation"),
			ours),
	}
}

func claimOurs(c frame.Check, later string) frame.Check {
	c.Later = later
	return c
}

// checkClose wants the loss of accuracy against a reference to vanish.
func checkClose(s *frame.Summary, places []place, reference, what, later string) frame.Check {
	last := places[len(places)-1]
	gap := func(p place) frame.Stat { return s.Between(p.line(reference), 0, p.line(soft), p.eps, accuracy) }
	half := frame.Below(gap(last), 0.005)
	if gap(places[0]).Mean > 0.01 {
		half = frame.Below(s.Statistic(func(s *frame.Summary) float64 {
			lost := func(p place) float64 {
				return s.Mean(p.line(reference), 0, accuracy).Mean - s.Mean(p.line(soft), p.eps, accuracy).Mean
			}
			return lost(last) - lost(places[0])/2
		}), 0)
	}
	return frame.Check{
		What:  "soft votes: accuracy lost against " + what,
		Paper: "vanishes as ε and parties grow (read as: below 2 points at the end of the axis, and below half of the start)",
		Ours: fmt.Sprintf("%.2f points at %s, %.2f at %s", 100*gap(places[0]).Mean, places[0].name, 100*gap(last).Mean,
			last.name),
		Parts: []frame.Part{frame.Below(gap(last), 0.02), half}, Later: later,
	}
}

// miss is how often a bound of the mean may err.
const miss = 0.025

// checkOrder wants a nowhere below b, by more than a tenth of a point, and above it somewhere.
func checkOrder(s *frame.Summary, places []place, a, b, what string) frame.Check {
	c := frame.Check{What: what + ", points of accuracy",
		Paper: "above (read as: nowhere below beyond 95 % confidence, above beyond it somewhere)"}
	var best frame.Stat
	for _, p := range places {
		d := pairedDifference(s, p, a, b)
		nowhere := frame.Above(d, -0.001)
		nowhere.Weak = true
		c.Parts = append(c.Parts, nowhere)
		if best.N == 0 || d.AtLeast(miss) > best.AtLeast(miss) {
			best = d
		}
		c.Ours += fmt.Sprintf("%+.2f ± %.2f at %s, ", 100*d.Mean, 100*d.StdErr, p.name)
	}
	c.Ours = c.Ours[:len(c.Ours)-2]
	c.Parts = append(c.Parts, frame.Above(best, 0))
	return c
}

func pairedDifference(s *frame.Summary, p place, a, b string) frame.Stat {
	return s.Difference(p.line(a), p.line(b), p.eps, accuracy)
}

// listNotes give every number with its spread.
func listNotes(s *frame.Summary, places []place) (out []string) {
	for _, line := range private {
		text := line + ":"
		for _, p := range places {
			text += fmt.Sprintf(" %s at %s;", formatPercent(s.Mean(p.line(line), p.eps, accuracy)), p.name)
		}
		out = append(out, text[:len(text)-1]+".")
	}
	last := places[len(places)-1]
	for _, line := range exact {
		out = append(out, fmt.Sprintf("%s: %s.", line, formatPercent(s.Mean(last.line(line), 0, accuracy))))
	}
	text := softShades + " less average, points:"
	for _, p := range places {
		d := pairedDifference(s, p, softShades, average)
		text += fmt.Sprintf(" %+.2f ± %.2f at %s;", 100*d.Mean, 100*d.StdErr, p.name)
	}
	out = append(out, text[:len(text)-1]+
		" (standard error). Where averaging is ahead of soft votes, all parties use logistic regression, and its bound "+
		"gives their coefficients one length (hamm/ballots); votes need not be of one type (hamm/mixed).")
	return append(out, "The notes we have of the paper bear no numbers: order and trend are judged. ± is the standard "+
		"deviation between repeats.")
}

func formatPercent(s frame.Stat) string {
	return fmt.Sprintf("%.2f ± %.2f %%", 100*s.Mean, 100*s.StdDev)
}
