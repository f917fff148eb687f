// SPDX-License-Identifier: Apache-2.0

package shen

import (
	"fmt"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/lab/internal/experiment/frame"
	"github.com/discreet-dp/discreet/lab/internal/plot"
)

// drawChart shows the paper's series, BRC as one linear classifier and what the text
// states stands beside them as hollow marks.
func (p panel) drawChart(s *frame.Summary) *plot.Lines {
	l := &plot.Lines{
		Title:    "BRC on " + p.table + p.describeVariant(),
		Subtitle: fmt.Sprintf("%s, 10 %% held out, T = 25, ordinal encoding; mean of %d repeats", p.panelName(), s.Repeats),
		XLabel:   "privacy loss ε of the fit", YLabel: "test accuracy",
		LogX: true, Spread: "mean ± one standard error over repeats",
		Note: "Hollow marks: what the paper's text states.",
	}
	curve := func(series, name string, baseline bool) {
		l.Series = append(l.Series, newLine(name, p.epsilons, func(eps dp.Epsilon) frame.Stat {
			if baseline {
				eps = 0
			}
			return s.Mean(series, eps, accuracy)
		}))
	}
	paper := func(like string, at ...stated) {
		marks := plot.Series{Name: like + " (paper)", Stroke: plot.Points, Like: like}
		for _, st := range at {
			marks.X, marks.Y = append(marks.X, st.epsilon.Float()), append(marks.Y, st.accuracy)
		}
		l.Series = append(l.Series, marks)
	}
	curve(brcPaper, "BRC", false)
	curve(brcLinear, "BRC, linear", false)
	curve(nonPrivate, "not private", true)
	if !p.everything {
		curve(publicOnly, "public only", true)
	}
	curve(diffprivlibLog, "diffprivlib", false)
	last := p.epsilons[len(p.epsilons)-1]
	if len(p.stated) > 0 {
		paper("BRC", p.stated...)
	}
	if p.nonPrivate > 0 {
		paper("not private", stated{last, p.nonPrivate})
	}
	if p.publicOnly > 0 {
		paper("public only", stated{last, p.publicOnly})
	}
	return l
}

func (p panel) panelName() string {
	if p.first > 0 {
		return fmt.Sprintf("First %d rows, balanced", p.first)
	}
	return "Balanced"
}

func newLine(name string, at []dp.Epsilon, of func(dp.Epsilon) frame.Stat) plot.Series {
	s := plot.Series{Name: name}
	for _, eps := range at {
		st := of(eps)
		if st.N == 0 {
			continue
		}
		s.X, s.Y = append(s.X, eps.Float()), append(s.Y, st.Mean)
		s.Low, s.High = append(s.Low, st.Mean-st.StdErr), append(s.High, st.Mean+st.StdErr)
	}
	return s
}
