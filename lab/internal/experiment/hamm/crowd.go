// SPDX-License-Identifier: Apache-2.0

package hamm

import (
	"fmt"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/lab/internal/experiment/frame"
	"github.com/discreet-dp/discreet/lab/internal/plot"
)

var crowds = []int{10, 30, 100, 300, 1000}

const crowdEpsilon = dp.Nano

// byCrowd are the lines without noise that change with the number of parties.
var byCrowd = []string{softExact, ensemble, pooled}

func (t *task) againstParties() *frame.Figure {
	var points []frame.Point
	for _, m := range t.crowdSizes() {
		for _, line := range byCrowd {
			points = append(points, frame.Point{Series: nameAt(line, m)})
		}
		for _, line := range private {
			points = append(points, frame.Point{Series: nameAt(line, m), Epsilon: crowdEpsilon})
		}
	}
	points = append(points, frame.Point{Series: individual})
	return &frame.Figure{
		Name: "hamm/" + t.name + "-parties", Paper: paper, Data: t.name, Repeats: 10,
		Title: fmt.Sprintf("Accuracy on %s against the number of parties", t.title), Claim: claim + ".",
		Protocol: t.describeProtocol() + fmt.Sprintf(" ε = %s; more parties bring more rows.", dp.Epsilon(crowdEpsilon)),
		Points:   points, Open: t.openData(overallAccuracy),
		Draw: func(s *frame.Summary) *plot.Lines {
			return drawPrivate(s, fmt.Sprintf("%s against the number of parties, ε = 1", t.title), "parties", t.overParties(),
				[]string{individual})
		},
		Judge: func(s *frame.Summary) []frame.Check { return judgeLines(s, t.overParties()) },
		Notes: func(s *frame.Summary) []string { return listNotes(s, t.overParties()) },
	}
}

func (t *task) crowdSizes() (out []int) {
	for _, m := range crowds {
		if m <= t.parties {
			out = append(out, m)
		}
	}
	return out
}

func (t *task) overParties() (out []place) {
	for _, m := range t.crowdSizes() {
		out = append(out, place{float64(m), fmt.Sprintf("%d parties", m), crowdEpsilon, func(line string) string {
			if line == individual {
				return line
			}
			return nameAt(line, m)
		}})
	}
	return out
}
