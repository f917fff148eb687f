// SPDX-License-Identifier: Apache-2.0

package hamm

import (
	"context"
	"fmt"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/lab/internal/experiment/frame"
	"github.com/discreet-dp/discreet/lab/internal/plot"
)

// budgets are ours: the notes have no axes.
var budgets = []dp.Epsilon{100_000_000, 200_000_000, 500_000_000, dp.Nano, 2 * dp.Nano, 5 * dp.Nano, 10 * dp.Nano}

// private are the lines that cost ε. A chart has room for the first six.
var private = []string{soft, softPrinted, majority, majorityPrinted, average, release, softShades}

const drawnPrivate = 6

var exact = []string{softExact, ensemble, pooled, individual}

// drawn are those of them that a chart has room for.
var drawn = []string{ensemble, pooled, individual}

const claim = "Soft votes beat majority votes and parameter averaging, and come close to learning without privacy " +
	"as ε and the number of parties grow"

func (t *task) againstEpsilon() *frame.Figure {
	var points []frame.Point
	for _, line := range exact {
		points = append(points, frame.Point{Series: line})
	}
	for _, eps := range budgets {
		for _, line := range private {
			points = append(points, frame.Point{Series: line, Epsilon: eps})
		}
	}
	return &frame.Figure{
		Name: "hamm/" + t.name + "-epsilon", Paper: paper, Data: t.name, Repeats: 10,
		Title: fmt.Sprintf("Accuracy on %s against ε", t.title), Claim: claim + ".",
		Protocol: t.describeProtocol() + " All parties vote.",
		Points:   points, Open: t.openData(overallAccuracy),
		Draw:  t.drawEpsilon,
		Judge: func(s *frame.Summary) []frame.Check { return judgeLines(s, overEpsilon()) },
		Notes: func(s *frame.Summary) []string { return listNotes(s, overEpsilon()) },
	}
}

// openData loads the task once; begin readies each trial, whose parties all train a
// ridge.
func (t *task) openData(begin func(context.Context, *trial) (frame.Measure, error)) func(context.Context,
	*frame.World) (frame.Setup, error) {
	return func(ctx context.Context, w *frame.World) (frame.Setup, error) {
		all, err := t.load(ctx, w)
		if err != nil {
			return nil, err
		}
		w.PermuteLabels(all.Labels)
		fit := fitRidge(t.encoding)
		return func(ctx context.Context, r frame.Repeat) (frame.Measure, error) {
			tr, err := t.beginTrial(ctx, all, r, func(int) fitter { return fit })
			if err != nil {
				return nil, err
			}
			return begin(ctx, tr)
		}, nil
	}
}

// overallAccuracy measures accuracy.
func overallAccuracy(_ context.Context, tr *trial) (frame.Measure, error) { return tr.measureLine, nil }

func (t *task) drawEpsilon(s *frame.Summary) *plot.Lines {
	return drawPrivate(s, fmt.Sprintf("%s against ε", t.title), "privacy loss ε of a whole party", overEpsilon(), drawn)
}

// place is one value of the horizontal axis.
type place struct {
	x    float64
	name string
	eps  dp.Epsilon
	line func(line string) string // the series of a line there
}

func overEpsilon() (out []place) {
	for _, eps := range budgets {
		out = append(out, place{eps.Float(), "ε = " + eps.String(), eps, func(line string) string { return line }})
	}
	return out
}
