// SPDX-License-Identifier: Apache-2.0

package hamm

import (
	"fmt"

	"github.com/discreet-dp/discreet/lab/internal/experiment/frame"
	"github.com/discreet-dp/discreet/lab/internal/plot"
)

// lines are a figure's lines over the budgets, each with one point of ε = 0 more,
// which the word says what it is: the series of the line's name, a comma and the
// word.
type lines struct {
	names []string
	word  string
}

func (l lines) nameBeside(name string) string { return name + ", " + l.word }

func (l lines) listPoints() (out []frame.Point) {
	for _, name := range l.names {
		out = append(out, frame.Point{Series: l.nameBeside(name)})
		for _, eps := range budgets {
			out = append(out, frame.Point{Series: name, Epsilon: eps})
		}
	}
	return out
}

// drawChart shows the lines over the budgets.
func (l lines) drawChart(s *frame.Summary, title string) *plot.Lines {
	out := &plot.Lines{
		Title: title, Subtitle: fmt.Sprintf("mean of %d repeats", s.Repeats),
		XLabel: "privacy loss ε of a whole party", YLabel: "test accuracy", LogX: true,
		Spread: "one standard deviation between repeats",
	}
	for _, name := range l.names {
		series := plot.Series{Name: name}
		for _, eps := range budgets {
			addPoint(&series, eps.Float(), s.Mean(name, eps, accuracy))
		}
		out.Series = append(out.Series, series)
	}
	return out
}

// listNotes are the numbers of each line.
func (l lines) listNotes(s *frame.Summary) (out []string) {
	for _, name := range l.names {
		text := name + ":"
		for _, eps := range budgets {
			text += fmt.Sprintf(" %s at ε = %s;", formatPercent(s.Mean(name, eps, accuracy)), eps)
		}
		out = append(out, fmt.Sprintf("%s %s: %s.", text, l.word, formatPercent(s.Mean(l.nameBeside(name), 0, accuracy))))
	}
	return append(out, "± is the standard deviation between repeats.")
}

// addPoint puts a mean at x, a standard deviation to either side.
func addPoint(to *plot.Series, x float64, st frame.Stat) {
	to.X, to.Y = append(to.X, x), append(to.Y, st.Mean)
	to.Low, to.High = append(to.Low, st.Mean-st.StdDev), append(to.High, st.Mean+st.StdDev)
}
