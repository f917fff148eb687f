// SPDX-License-Identifier: Apache-2.0

package hamm

import (
	"fmt"

	"github.com/discreet-dp/discreet/internal/plot"
	"github.com/discreet-dp/discreet/internal/privacy/dp"
	"github.com/discreet-dp/discreet/lab/internal/experiment/frame"
)

var crowds = []int{10, 30, 100, 300, 1000}

const crowdEpsilon = dp.Nano

// byCrowd are the lines without noise that change with the number of parties.
var byCrowd = []string{softExact, ensemble, pooled}

func (t *task) againstParties() *frame.Figure {
	var points []frame.Point
	for _, m := range t.crowds() {
		for _, line := range byCrowd {
			points = append(points, frame.Point{Series: at(line, m)})
		}
		for _, line := range private {
			points = append(points, frame.Point{Series: at(line, m), Epsilon: crowdEpsilon})
		}
	}
	points = append(points, frame.Point{Series: individual})
	return &frame.Figure{
		Name: "hamm/" + t.name + "-parties", Paper: paper, Data: t.name, Repeats: 10,
		Title: fmt.Sprintf("Accuracy on %s against the number of parties", t.title), Claim: claim + ".",
		Protocol: t.protocol() + fmt.Sprintf(" ε = %s; more parties bring more rows.", dp.Epsilon(crowdEpsilon)),
		Points:   points, Open: t.open(overall),
		Draw: func(s *frame.Summary) *plot.Lines {
			return draw(s, fmt.Sprintf("%s against the number of parties, ε = 1", t.title), "parties", t.overParties(), []string{individual})
		},
		Judge: func(s *frame.Summary) []frame.Check { return judge(s, t.overParties()) },
		Notes: func(s *frame.Summary) []string { return notes(s, t.overParties()) },
	}
}

func (t *task) crowds() (out []int) {
	for _, m := range crowds {
		if m <= t.parties {
			out = append(out, m)
		}
	}
	return out
}

func (t *task) overParties() (out []place) {
	for _, m := range t.crowds() {
		out = append(out, place{float64(m), fmt.Sprintf("%d parties", m), crowdEpsilon, func(line string) string {
			if line == individual {
				return line
			}
			return at(line, m)
		}})
	}
	return out
}
