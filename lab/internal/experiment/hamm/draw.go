// SPDX-License-Identifier: Apache-2.0

package hamm

import (
	"fmt"

	"github.com/discreet-dp/discreet/lab/internal/experiment/frame"
	"github.com/discreet-dp/discreet/lab/internal/plot"
)

// drawPrivate shows the private lines over the places, and references.
func drawPrivate(s *frame.Summary, what, axis string, places []place, references []string) *plot.Lines {
	l := &plot.Lines{
		Title: "Accuracy on " + what, Subtitle: fmt.Sprintf("mean of %d repeats", s.Repeats),
		XLabel: axis, YLabel: "test accuracy", LogX: true,
		Spread: "one standard deviation between repeats",
	}
	for _, line := range private[:drawnPrivate] {
		series := plot.Series{Name: line}
		for _, p := range places {
			addPoint(&series, p.x, s.Mean(p.line(line), p.eps, accuracy))
		}
		l.Series = append(l.Series, series)
	}
	last := places[len(places)-1]
	for _, name := range references {
		l.References = append(l.References, plot.Reference{Name: name, Y: s.Mean(last.line(name), 0, accuracy).Mean})
	}
	return l
}
