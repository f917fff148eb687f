// SPDX-License-Identifier: Apache-2.0

package shen

import (
	"context"
	"fmt"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/lab/internal/experiment/frame"
	"github.com/discreet-dp/discreet/lab/internal/plot"
)

const (
	toyEpsilon dp.Epsilon = 100 * dp.Nano
	voteWidth             = 100 // of a bucket
	middle                = "vote_middle"
	outside               = "vote_outside"
	focus                 = "vote_ratio"

	// toyStill are votes on weights that never move: the null run of the figure.
	toyStill = "weights-never-moved"
)

func newFig1c() *frame.Figure {
	return &frame.Figure{
		Name: "shen/fig1c", Paper: paper, Data: "toy", Repeats: 10,
		Title: "The vote of each classifier on a line, by its position",
		Claim: "Although single classifiers have low accuracy, their votes α concentrate around the mid-point 1,000, and " +
			"the final classification has very high accuracy.",
		Protocol: toyProtocol +
			"ε = 100, where the noise is irrelevant. Metric vote@i: mean α of one run's classifiers from i to below i+100, " +
			"absent where there are none; " +
			"vote_middle and vote_outside: mean α within and beyond 200 positions of 1,000, vote_ratio the former over the " +
			"latter; accuracy_alone: mean accuracy of the single classifiers. " +
			"Beside it, the votes of the same classifiers on weights that never move.",
		Points: []frame.Point{
			{Series: toyBRC, Epsilon: toyEpsilon, Parameters: "not private: classifiers from labels"},
			{Series: toyStill, Epsilon: toyEpsilon, Parameters: "not private: classifiers from labels; no boosting"},
		},
		Open: openFig1c, Draw: drawFig1c, Judge: judgeFig1c,
	}
}

func voteName(k int) string { return fmt.Sprintf("vote@%d", k*voteWidth) }

func openFig1c(context.Context, *frame.World) (frame.Setup, error) {
	return func(_ context.Context, r frame.Repeat) (frame.Measure, error) {
		return func(_ context.Context, p frame.Point) (frame.Measurement, error) {
			draws, noise := toyStreams(r, p.Epsilon)
			votes, err := toyBoost(toyClassifiers(draws), p.Epsilon, p.Series == toyBRC, noise)
			if err != nil {
				return frame.Measurement{}, err
			}
			return frame.Measurement{Values: votesByPlace(votes)}, nil
		}, nil
	}, nil
}

func votesByPlace(votes []toyVote) []frame.Value {
	var in [toyRows / voteWidth]mean
	var near, far, single mean
	for _, v := range votes {
		in[toyBucket(v.at, voteWidth)].addValue(v.vote)
		if max(v.at-toyRows/2, toyRows/2-v.at) <= 200 {
			near.addValue(v.vote)
		} else {
			far.addValue(v.vote)
		}
		single.addValue(aloneAt(v.at))
	}
	out := []frame.Value{{Metric: accuracy, Value: toyAccuracy(votes)}}
	add := func(metric string, m mean) {
		if m.n > 0 {
			out = append(out, frame.Value{Metric: metric, Value: m.meanValue()})
		}
	}
	add(alone, single)
	add(middle, near)
	add(outside, far)
	if near.n > 0 && far.n > 0 {
		out = append(out, frame.Value{Metric: focus, Value: near.meanValue() / far.meanValue()})
	}
	for k, m := range in {
		add(voteName(k), m)
	}
	return out
}

func drawFig1c(s *frame.Summary) *plot.Lines {
	l := plot.Series{Name: "α"}
	for k := range toyRows / voteWidth {
		st := s.Mean(toyBRC, toyEpsilon, voteName(k))
		if st.N == 0 {
			continue
		}
		l.X, l.Y = append(l.X, (float64(k)+0.5)*voteWidth), append(l.Y, st.Mean)
		l.Low, l.High = append(l.Low, st.Mean-st.StdErr), append(l.High, st.Mean+st.StdErr)
	}
	return &plot.Lines{
		Title:    "Votes of the classifiers on a line",
		Subtitle: fmt.Sprintf("Mean vote per 100 positions, ε = 100; mean of %d runs", s.Repeats),
		XLabel:   "position of the classifier", YLabel: "vote α",
		XTicks: []float64{0, 500, 1000, 1500, 2000},
		Spread: "mean ± one standard error over runs", Note: "Not private at any ε: the classifiers were found from labels.",
		Series: []plot.Series{l},
	}
}

func judgeFig1c(s *frame.Summary) []frame.Check {
	of := func(metric string) frame.Stat { return s.Mean(toyBRC, toyEpsilon, metric) }
	near, far, acc, one := of(middle), of(outside), of(accuracy), of(alone)
	still, lead := s.Mean(toyStill, toyEpsilon, focus), s.Difference(toyBRC, toyStill, toyEpsilon, focus)
	return []frame.Check{{
		What: "votes", Paper: "concentrate around 1,000 (read as: a mean vote within 200 of it at least twice that beyond)",
		Ours: fmt.Sprintf("%.3f within, %.3f beyond", near.Mean, far.Mean), Parts: []frame.Part{frame.Above(near, 0), frame.Above(s.Statistic(func(s *frame.Summary) float64 {
			return s.Mean(toyBRC, toyEpsilon, middle).Mean - 2*s.Mean(toyBRC, toyEpsilon, outside).Mean
		}), 0)},
	}, {
		What:  "ratio of the two, against that of weights that never move",
		Paper: "boosting concentrates votes (read as: larger with 95 % confidence)",
		Ours:  fmt.Sprintf("%.2f against %.2f", of(focus).Mean, still.Mean), Parts: []frame.Part{frame.Above(lead, 0)},
	}, {
		What: "accuracy of a single classifier", Paper: "low (read as: at most 80 % on average)", Ours: formatPercent(one),
		Parts: []frame.Part{frame.Below(one, 0.8)},
	}, {
		What: "accuracy of all together", Paper: "very high (read as: at least 97 %)", Ours: formatPercent(acc),
		Parts: []frame.Part{frame.Above(acc, 0.97)},
	}}
}
