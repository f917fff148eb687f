// SPDX-License-Identifier: Apache-2.0

package chaudhuri

import (
	"fmt"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/lab/internal/experiment/frame"
	"github.com/discreet-dp/discreet/lab/internal/plot"
)

// drawChart shows both losses with the constants as printed.
func (p panel) drawChart(s *frame.Summary) *plot.Lines {
	l := &plot.Lines{
		Title:    "Private SVM and logistic on " + p.table,
		Subtitle: fmt.Sprintf("One-hot, everything private, 10 %% held out; mean of %d repeats", s.Repeats),
		XLabel:   "privacy loss ε of the fit", YLabel: "test error",
		LogX: true, Spread: "mean ± one standard error over repeats",
		Note: "Objective and output perturbation, constants as printed in CMS11.",
	}
	for _, m := range machines {
		for _, by := range asPrinted {
			one := plot.Series{Name: m.short + ", " + by.name}
			for _, eps := range budgets {
				st := s.Mean(m.seriesName(by.name), eps, testError)
				if st.N == 0 {
					continue
				}
				one.X, one.Y = append(one.X, eps.Float()), append(one.Y, st.Mean)
				one.Low, one.High = append(one.Low, st.Mean-st.StdErr), append(one.High, st.Mean+st.StdErr)
			}
			l.Series = append(l.Series, one)
		}
	}
	l.References = []plot.Reference{{Name: "SVM, not private", Y: s.Mean(machines[0].seriesName(""), 0, testError).Mean}}
	if p.chance {
		l.References = append(l.References, plot.Reference{Name: "chance", Y: s.Mean(guess, 0, testError).Mean})
	}
	return l
}

// judgeClaims reads order and trend, which is all that axes without numbers state.
func (p panel) judgeClaims(s *frame.Summary) (checks []frame.Check) {
	for _, m := range machines {
		checks = append(checks, checkBelow(s, m))
		for _, by := range asPrinted {
			checks = append(checks, checkApproach(s, m, by))
		}
	}
	return checks
}

// checkBelow checks the order of the two methods at every ε, paired by repeats.
func checkBelow(s *frame.Summary, m machine) frame.Check {
	c := frame.Check{What: m.long + ": objective less output, points of error",
		Paper: "below 0 at every ε (read as: with 95 % confidence)"}
	for _, eps := range budgets {
		d := s.Difference(m.seriesName("output"), m.seriesName("objective"), eps, testError)
		c.Parts = append(c.Parts, frame.Above(d, 0))
		c.Ours += fmt.Sprintf("%+.2f ± %.2f at %s, ", -100*d.Mean, 100*d.StdErr, eps)
	}
	c.Ours = c.Ours[:len(c.Ours)-2]
	return c
}

// checkApproach checks that the price of privacy shrinks by half or more from the
// smallest to the largest ε.
func checkApproach(s *frame.Summary, m machine, by method) frame.Check {
	over := func(s *frame.Summary, eps dp.Epsilon) float64 {
		return s.Mean(m.seriesName(by.name), eps, testError).Mean - s.Mean(m.seriesName(""), 0, testError).Mean
	}
	first, last := over(s, budgets[0]), over(s, budgets[len(budgets)-1])
	return frame.Check{
		What:  fmt.Sprintf("%s: error of %s over that without privacy", m.long, by.name),
		Paper: "shrinks as ε grows (read as: to less than half over our grid)",
		Ours:  fmt.Sprintf("%.2f points at %s, %.2f at %s", 100*first, budgets[0], 100*last, budgets[len(budgets)-1]),
		Parts: []frame.Part{frame.Below(s.Statistic(func(s *frame.Summary) float64 {
			return over(s, budgets[len(budgets)-1]) - over(s, budgets[0])/2
		}), 0)},
	}
}

func (p panel) listNotes(s *frame.Summary) (out []string) {
	for _, m := range machines {
		out = append(out, fmt.Sprintf("%s without privacy: error %s; chance %s.", m.long,
			formatPercent(s.Mean(m.seriesName(""), 0, testError)), formatPercent(s.Mean(guess, 0, testError))))
		for _, by := range methods {
			text := m.seriesName(by.name) + ":"
			for _, eps := range budgets {
				text += fmt.Sprintf(" %s: %s;", eps, formatPercent(s.Mean(m.seriesName(by.name), eps, testError)))
			}
			out = append(out, text[:len(text)-1]+".")
		}
	}
	return append(out, p.finding,
		"The slides' axes bear no numbers: order and trend are judged. Their own noise (no Jacobian term, ε for 1 + ε) is "+
			"not used anywhere: it does not keep its promise (evidence/guarantees/erm.md).",
		"± is the standard error over repeats.")
}

func formatPercent(s frame.Stat) string {
	return fmt.Sprintf("%.2f ± %.2f %%", 100*s.Mean, 100*s.StdErr)
}
