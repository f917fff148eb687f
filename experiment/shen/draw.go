// SPDX-License-Identifier: Apache-2.0

package shen

import (
	"fmt"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/experiment/frame"
	"github.com/discreet-dp/discreet/plot"
)

// draw shows the paper's three series and the tight variant, with the values
// the text states as unjoined marks.
func (p partial) draw(s *frame.Summary) *plot.Lines {
	l := &plot.Lines{
		Title:    "BRC on " + p.table,
		Subtitle: fmt.Sprintf("Balanced, 10 %% held out, T = 25, ordinal encoding; mean of %d repeats", s.Repeats),
		XLabel:   "privacy loss ε of the fit", YLabel: "test accuracy",
		LogX: true, Spread: "mean ± one standard error over repeats",
		Note: "Hollow marks: what the paper's text states. Dashed: the same with tight noise.",
	}
	level := func(series, name string) {
		m := s.Mean(series, 0, accuracy)
		l.Series = append(l.Series, line(name, budgets, func(dp.Epsilon) frame.Stat { return m }))
	}
	curve := func(series, name, like string, stroke plot.Stroke) {
		c := line(name, budgets, func(eps dp.Epsilon) frame.Stat { return s.Mean(series, eps, accuracy) })
		c.Like, c.Stroke = like, stroke
		l.Series = append(l.Series, c)
	}
	paperLevel := func(like string, y float64) {
		l.Series = append(l.Series, plot.Series{Name: "paper: " + like, X: []float64{budgets[len(budgets)-1].Float()}, Y: []float64{y}, Stroke: plot.Points, Like: like})
	}
	curve(brcPaper, "BRC", "", plot.Solid)
	curve(brcTight, "BRC, tight", "BRC", plot.Dashed)
	level(nonPrivate, "all features, not private")
	level(publicOnly, "public features")
	marks := plot.Series{Name: "paper: BRC", Stroke: plot.Points, Like: "BRC"}
	for _, st := range p.stated {
		marks.X, marks.Y = append(marks.X, st.epsilon.Float()), append(marks.Y, st.accuracy)
	}
	l.Series = append(l.Series, marks)
	paperLevel("all features, not private", p.nonPrivate)
	paperLevel("public features", p.publicOnly)
	return l
}

func line(name string, at []dp.Epsilon, of func(dp.Epsilon) frame.Stat) plot.Series {
	s := plot.Series{Name: name}
	for _, eps := range at {
		st := of(eps)
		s.X, s.Y = append(s.X, eps.Float()), append(s.Y, st.Mean)
		s.Low, s.High = append(s.Low, st.Mean-st.StdErr), append(s.High, st.Mean+st.StdErr)
	}
	return s
}
