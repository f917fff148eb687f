// SPDX-License-Identifier: Apache-2.0

package shen

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/learn/brc"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/lab/internal/experiment/frame"
	"github.com/discreet-dp/discreet/lab/internal/plot"
)

const (
	edgeRounds = 100
	edgeWindow = 10 // rounds at either end

	edgesMoved = "weights move"       // c1 = c2 = √2
	edgesFree  = "weights move far"   // c1 = c2 = 100
	edgesStill = "weights never move" // c1 = c2 = 1
	edgeStart  = "edge_first_rounds"
	edgeEnd    = "edge_last_rounds"
)

var edgeLines = map[string]float64{edgesMoved: math.Sqrt2, edgesFree: 100, edgesStill: 1}

// newEdges looks at the paper's first open question: why classifiers that ignore the
// rows can be boosted.
func newEdges() *frame.Figure {
	f := &frame.Figure{
		Name: "shen/edges", Paper: paper, Data: "adult", Repeats: 10,
		Title: "Edges of random classifiers as rows are reweighted, on Adult",
		Claim: "Our reading of the first open question: AdaBoost does well with random classifiers, provided that each has " +
			"slightly better accuracy than one half, and reweighting does not take that away.",
		Protocol: adultRows + fmt.Sprintf("Every feature and the label private, no noise, %d rounds, intercepts uniform. An "+
			"edge is how far a round's weighted error is from one half, to either side, since a vote may be negative. "+
			"Weights stay within [1/c, c] for c = √2 (as published), 100 and 1 (never moved), with the same random "+
			"classifiers. Metrics edge@t; edge_first_rounds and edge_last_rounds: means of ten; edge_10, _50, _90: "+
			"quantiles over a run's rounds.", edgeRounds),
		Open: openEdges, Draw: drawEdges, Judge: judgeEdges, Notes: notesEdges,
	}
	for _, series := range []string{edgesMoved, edgesFree, edgesStill} {
		f.Points = append(f.Points, frame.Point{Series: series, Encoding: string(feature.Ordinal),
			Parameters: fmt.Sprintf("not private; c1=c2=%.4g", edgeLines[series])})
	}
	return f
}

func openEdges(ctx context.Context, w *frame.World) (frame.Setup, error) {
	some, err := w.Read(ctx, "adult.yaml", adultFiles...)
	if err != nil {
		return nil, err
	}
	all := withAllPrivate(some)
	return func(_ context.Context, r frame.Repeat) (frame.Measure, error) {
		_, t, err := bothTrials(r, some, all)
		if err != nil {
			return nil, err
		}
		return t.measureEdges, nil
	}, nil
}

func (t *trial) measureEdges(ctx context.Context, p frame.Point) (frame.Measurement, error) {
	b := brc.Printed()
	b.NotPrivate, b.Rounds, b.Encoding = true, edgeRounds, feature.Ordinal
	b.C1, b.C2 = edgeLines[p.Series], edgeLines[p.Series]
	plan, err := b.Plan(t.train.Schema(), t.train.Rows())
	if err != nil {
		return frame.Measurement{}, err
	}
	m, err := guard.Train(ctx, plan, t.train, guard.Uncounted{}, mech.NewExit(t.repeat.Stream("classifiers")))
	if err != nil {
		return frame.Measurement{}, err
	}
	acc, err := accuracyOf(m, t.test)
	if err != nil {
		return frame.Measurement{}, err
	}
	var edges []float64
	for _, v := range m.Classifier.(*model.Votes).Members {
		edges = append(edges, math.Abs(v.Vote)) // a vote is 1/2 less the error
	}
	meanOf := func(some []float64) (sum float64) {
		for _, e := range some {
			sum += e / float64(len(some))
		}
		return sum
	}
	out := []frame.Value{{Metric: accuracy, Value: acc}, {Metric: edgeStart, Value: meanOf(edges[:edgeWindow])},
		{Metric: edgeEnd, Value: meanOf(edges[len(edges)-edgeWindow:])}}
	for i, e := range edges {
		out = append(out, frame.Value{Metric: edgeName(i + 1), Value: e})
	}
	slices.Sort(edges)
	for _, q := range []int{10, 50, 90} {
		out = append(out, frame.Value{Metric: fmt.Sprintf("edge_%d", q), Value: edges[q*(len(edges)-1)/100]})
	}
	return frame.Measurement{Values: out}, nil
}

func edgeName(round int) string { return fmt.Sprintf("edge@%d", round) }

func drawEdges(s *frame.Summary) *plot.Lines {
	l := &plot.Lines{
		Title:    "Edges of random classifiers",
		Subtitle: fmt.Sprintf("Adult, everything private, no noise; mean of %d repeats, five rounds each", s.Repeats),
		XLabel:   "rounds", YLabel: "|1/2 - weighted error|", Note: "Not private.",
	}
	const five = 5
	for _, series := range []string{edgesMoved, edgesFree, edgesStill} {
		line := plot.Series{Name: series}
		for from := 0; from < edgeRounds; from += five {
			sum := 0.0
			for t := range five {
				sum += s.Mean(series, 0, edgeName(from+t+1)).Mean / five
			}
			line.X, line.Y = append(line.X, float64(from)+(five+1)/2.), append(line.Y, sum)
		}
		l.Series = append(l.Series, line)
	}
	return l
}

func judgeEdges(s *frame.Summary) []frame.Check {
	end, lead := s.Mean(edgesMoved, 0, edgeEnd), s.Difference(edgesMoved, edgesStill, 0, accuracy)
	return []frame.Check{{
		What:  "mean edge of the last ten of 100 rounds, weights moved",
		Paper: "slightly better than one half (read as: an edge of at least 0.02 with 95 % confidence)",
		Ours:  fmt.Sprintf("%.3f ± %.3f", end.Mean, end.StdErr), Parts: []frame.Part{frame.Within(end, 0.02, 0.5)},
	}, {
		What:  "accuracy of all together, weights moved less never moved",
		Paper: "boosting adds to a vote of random classifiers (read as: above 0 with 95 % confidence)",
		Ours:  fmt.Sprintf("%+.1f ± %.1f points", 100*lead.Mean, 100*lead.StdErr), Parts: []frame.Part{frame.Above(lead, 0)},
	}}
}

func notesEdges(s *frame.Summary) (out []string) {
	for _, series := range []string{edgesMoved, edgesFree, edgesStill} {
		of := func(metric string) float64 { return s.Mean(series, 0, metric).Mean }
		out = append(out, fmt.Sprintf("%s: edges of the first ten rounds %.3f, of the last %.3f; tenth, half and nine "+
			"tenths of a run's below %.3f, %.3f, %.3f; accuracy %s.", series, of(edgeStart), of(edgeEnd), of("edge_10"),
			of("edge_50"), of("edge_90"), formatPercent(s.Mean(series, 0, accuracy))))
	}
	return append(out, "Not private at any point: there is no noise.")
}
