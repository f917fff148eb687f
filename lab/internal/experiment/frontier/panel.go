// SPDX-License-Identifier: Apache-2.0

package frontier

import (
	"fmt"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/lab/internal/experiment/frame"
	"github.com/discreet-dp/discreet/lab/internal/plot"
)

// panel is what the figures have in common: lines of one metric over budgets,
// and bars that some of the lines must reach.
type panel struct {
	table, how string // of the picture
	metric     string
	budgets    []dp.Epsilon
	bars       []float64 // by budget; nil for none
	lines      []line
}

// line is one learner. Of several series it is, at each budget, the one with
// the best mean.
type line struct {
	name   string
	series []string
	judged bool // must reach the bars
}

// singleLine is a line of a single series.
func singleLine(series string, judged bool) line { return line{series, []string{series}, judged} }

// listPoints are every series at every budget, and the twin without privacy.
func (p *panel) listPoints() (out []frame.Point) {
	out = append(out, frame.Point{Series: notPrivate})
	seen := map[string]bool{}
	for _, l := range p.lines {
		for _, series := range l.series {
			if seen[series] {
				continue
			}
			seen[series] = true
			for _, eps := range p.budgets {
				out = append(out, frame.Point{Series: series, Epsilon: eps})
			}
		}
	}
	return out
}

// bestOf is the number of a line at one budget, and the series it is from.
func (l *line) bestOf(s *frame.Summary, eps dp.Epsilon, metric string) (st frame.Stat, series string) {
	for i, name := range l.series {
		if at := s.Mean(name, eps, metric); i == 0 || at.Mean > st.Mean {
			st, series = at, name
		}
	}
	return st, series
}

// judgeBars asks whether the mean reaches each bar.
func (p *panel) judgeBars(s *frame.Summary) (out []frame.Check) {
	for _, l := range p.lines {
		if !l.judged {
			continue
		}
		for i, eps := range p.budgets {
			st, _ := l.bestOf(s, eps, p.metric)
			out = append(out, frame.Check{
				What: fmt.Sprintf("%s: mean %s at ε = %s", l.name, p.metric, eps), Paper: fmt.Sprintf("%.3f", p.bars[i]),
				Ours:  formatNumber(st),
				Holds: st.Mean >= p.bars[i],
			})
		}
	}
	return out
}

// listNotes give every number with its spread.
func (p *panel) listNotes(s *frame.Summary) (out []string) {
	for _, l := range p.lines {
		metrics := []string{accuracy, auc, logLoss, calibration}
		if len(l.series) > 1 { // a choice by one metric says nothing about the others
			metrics = []string{p.metric}
		}
		for _, metric := range metrics {
			text := l.name + ", " + metric + ":"
			for _, eps := range p.budgets {
				st, series := l.bestOf(s, eps, metric)
				text += fmt.Sprintf(" %s at ε = %s", formatNumber(st), eps)
				if len(l.series) > 1 {
					text += " (" + series + ")"
				}
				text += ";"
			}
			out = append(out, text[:len(text)-1]+".")
		}
	}
	return append(out, fmt.Sprintf("Not private: accuracy %s, AUC %s.", formatNumber(s.Mean(notPrivate, 0, accuracy)),
		formatNumber(s.Mean(notPrivate, 0, auc))),
		"± is the standard deviation between repeats; the standard error is that over the root of their number.")
}

func formatNumber(st frame.Stat) string { return fmt.Sprintf("%.4f ± %.4f", st.Mean, st.StdDev) }

// drawChart shows the lines, the twin without privacy and the bars.
func (p *panel) drawChart(s *frame.Summary) *plot.Lines {
	l := &plot.Lines{
		Title:    "The default learner on " + p.table,
		Subtitle: fmt.Sprintf("%s; mean of %d repeats", p.how, s.Repeats),
		XLabel:   "privacy loss ε of the fit", YLabel: "test " + p.metric, LogX: true,
		Spread: "one standard deviation between repeats",
		Note:   "Hollow marks: the bars.",
	}
	add := func(name string, at func(eps dp.Epsilon) frame.Stat) {
		drawn := plot.Series{Name: name}
		for _, eps := range p.budgets {
			st := at(eps)
			drawn.X, drawn.Y = append(drawn.X, eps.Float()), append(drawn.Y, st.Mean)
			drawn.Low, drawn.High = append(drawn.Low, st.Mean-st.StdDev), append(drawn.High, st.Mean+st.StdDev)
		}
		l.Series = append(l.Series, drawn)
	}
	for _, of := range p.lines {
		add(of.name, func(eps dp.Epsilon) frame.Stat { st, _ := of.bestOf(s, eps, p.metric); return st })
	}
	add(notPrivate, func(dp.Epsilon) frame.Stat { return s.Mean(notPrivate, 0, p.metric) })
	if p.bars == nil {
		l.Note = ""
		return l
	}
	marks := plot.Series{Name: "bars", Stroke: plot.Points, Like: p.lines[0].name}
	for i, eps := range p.budgets {
		marks.X, marks.Y = append(marks.X, eps.Float()), append(marks.Y, p.bars[i])
	}
	l.Series = append(l.Series, marks)
	return l
}
