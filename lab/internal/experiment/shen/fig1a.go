// SPDX-License-Identifier: Apache-2.0

package shen

import (
	"context"
	"fmt"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/lab/internal/experiment/frame"
	"github.com/discreet-dp/discreet/lab/internal/plot"
)

const toyBRC = "brc-toy"

// The text names 0.1 and 100 only.
var toyBudgets = []dp.Epsilon{10_000_000, 20_000_000, 50_000_000, 100_000_000, 200_000_000, 500_000_000, dp.Nano,
	10 * dp.Nano, 100 * dp.Nano}

// toyKnee is where section 4 expects BRC to begin to work: c1·c2·T/n.
const toyKnee dp.Epsilon = 100_000_000

func newFig1a() *frame.Figure {
	f := &frame.Figure{
		Name: "shen/fig1a", Paper: paper, Data: "toy", Repeats: 10,
		Title:    "BRC on a line, accuracy against ε",
		Claim:    "For roughly ε ≥ 0.1 = c1·c2·T/n BRC works well, and below it behaves erratically.",
		Protocol: toyProtocol + "10 runs for each ε; a repeat is one run, with the same classifiers at every ε.",
		Open:     openFig1a, Draw: drawFig1a, Judge: judgeFig1a, Notes: notesFig1a,
	}
	for _, eps := range toyBudgets {
		f.Points = append(f.Points, frame.Point{Series: toyBRC, Epsilon: eps,
			Parameters: "not private: classifiers from labels"})
	}
	return f
}

func openFig1a(context.Context, *frame.World) (frame.Setup, error) {
	return func(_ context.Context, r frame.Repeat) (frame.Measure, error) {
		return func(_ context.Context, p frame.Point) (frame.Measurement, error) {
			draws, noise := toyStreams(r, p.Epsilon)
			votes, err := toyBoost(toyClassifiers(draws), p.Epsilon, true, noise)
			if err != nil {
				return frame.Measurement{}, err
			}
			return frame.Measurement{Values: []frame.Value{{Metric: accuracy, Value: toyAccuracy(votes)}}}, nil
		}, nil
	}, nil
}

func drawFig1a(s *frame.Summary) *plot.Lines {
	l := plot.Series{Name: "BRC"}
	for _, eps := range toyBudgets {
		at := func(q float64) float64 { return s.Quantile(toyBRC, eps, accuracy, q) }
		l.X, l.Y = append(l.X, eps.Float()), append(l.Y, at(0.5))
		l.Q1, l.Q3 = append(l.Q1, at(0.25)), append(l.Q3, at(0.75))
		l.Low, l.High = append(l.Low, at(0)), append(l.High, at(1))
	}
	return &plot.Lines{
		Title:    "BRC on a line",
		Subtitle: fmt.Sprintf("2,000 points, T = 50, c1 = c2 = 2; %d runs at each ε", s.Repeats),
		XLabel:   "ε of the noise", YLabel: "accuracy",
		LogX: true, XTicks: []float64{0.01, 0.1, 1, 10, 100}, YFrom: 0, YTo: 1,
		Spread: "from the lower to the upper quartile across the median, whiskers to the extremes",
		Note: "Not private at any ε: the classifiers were found from labels. The paper expects good accuracy from " +
			"ε = 0.1 on.",
		Series: []plot.Series{l}, References: []plot.Reference{{Name: "guessing", Y: 0.5}},
	}
}

func judgeFig1a(s *frame.Summary) []frame.Check {
	well := frame.Check{What: "accuracy at ε ≥ 0.1", Paper: "works well (read as: a mean of at least 90 % at every one)"}
	wild := frame.Check{What: "accuracy at ε < 0.1",
		Paper: "erratic (read as: runs vary by at least 10 points at every one)"}
	for _, eps := range toyBudgets {
		st := s.Mean(toyBRC, eps, accuracy)
		if eps >= toyKnee {
			well.Parts = append(well.Parts, frame.Above(st, 0.9))
			well.Ours = appendItem(well.Ours, fmt.Sprintf("%.1f %% at %s", 100*st.Mean, eps))
		} else {
			wild.Parts = append(wild.Parts, frame.Above(s.Statistic(func(s *frame.Summary) float64 {
				return s.Mean(toyBRC, eps, accuracy).StdDev
			}), 0.1))
			wild.Ours = appendItem(wild.Ours, fmt.Sprintf("%.1f at %s", 100*st.StdDev, eps))
		}
	}
	return []frame.Check{well, wild}
}

func notesFig1a(s *frame.Summary) []string {
	means, boxes := "Mean accuracy ± standard deviation between runs:", "Quartiles between runs, lower, median and upper:"
	for _, eps := range toyBudgets {
		st := s.Mean(toyBRC, eps, accuracy)
		means += fmt.Sprintf(" %s: %.1f ± %.1f %%;", eps, 100*st.Mean, 100*st.StdDev)
		at := func(q float64) float64 { return 100 * s.Quantile(toyBRC, eps, accuracy, q) }
		boxes += fmt.Sprintf(" %s: %.1f, %.1f, %.1f %%;", eps, at(0.25), at(0.5), at(0.75))
	}
	return []string{
		means[:len(means)-1] + ".", boxes[:len(boxes)-1] + ".",
		"At ε = 0.1 the noise of a round has scale 1, twice the largest edge there is; section 4's own rule of thumb " +
			"(c1·c2·T/(ε·n) at most 1/2) is met from ε = 0.2 on.",
		"Not private at any ε: the classifiers have seen the labels.",
	}
}
