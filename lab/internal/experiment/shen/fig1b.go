// SPDX-License-Identifier: Apache-2.0

package shen

import (
	"context"
	"fmt"
	"slices"

	"github.com/discreet-dp/discreet/lab/internal/experiment/frame"
	"github.com/discreet-dp/discreet/lab/internal/plot"
)

const (
	toyDraws  = "classifiers"
	drawWidth = 200 // of a bucket
)

func newFig1b() *frame.Figure {
	return &frame.Figure{
		Name: "shen/fig1b", Paper: paper, Data: "toy", Repeats: 100,
		Title: "Where classifiers fall that were trained on flipped labels",
		Claim: "The distribution of the classifiers is close to uniform.",
		Protocol: toyProtocol + "Metric count@i: how many of one run's 50 classifiers lie from i to below i+200 (the last " +
			"bucket holds 2,000 too). The paper shows the histogram of its runs; a hundred runs, so that chance does not " +
			"shape ours.",
		Points: []frame.Point{{Series: toyDraws, Parameters: "not private: classifiers from labels"}},
		Open:   openFig1b, Draw: drawFig1b, Judge: judgeFig1b, Notes: notesFig1b,
	}
}

func countName(k int) string { return fmt.Sprintf("count@%d", k*drawWidth) }

func openFig1b(context.Context, *frame.World) (frame.Setup, error) {
	return func(_ context.Context, r frame.Repeat) (frame.Measure, error) {
		return func(context.Context, frame.Point) (frame.Measurement, error) {
			var in [toyRows / drawWidth]int
			var single mean
			draws, _ := toyStreams(r, 0)
			for _, at := range toyClassifiers(draws) {
				in[toyBucket(at, drawWidth)]++
				single.addValue(aloneAt(at))
			}
			out := frame.Measurement{Values: []frame.Value{{Metric: alone, Value: single.meanValue()}}}
			for k, n := range in {
				out.Values = append(out.Values, frame.Value{Metric: countName(k), Value: float64(n)})
			}
			return out, nil
		}, nil
	}, nil
}

const uniformCount = float64(toyRounds) * drawWidth / toyRows

func drawFig1b(s *frame.Summary) *plot.Lines {
	l := plot.Series{Name: "classifiers"}
	for k := range toyRows / drawWidth {
		st := s.Mean(toyDraws, 0, countName(k))
		l.X, l.Y = append(l.X, (float64(k)+0.5)*drawWidth), append(l.Y, st.Mean)
		l.Low, l.High = append(l.Low, st.Mean-st.StdErr), append(l.High, st.Mean+st.StdErr)
	}
	return &plot.Lines{
		Title:    "Classifiers from flipped labels",
		Subtitle: fmt.Sprintf("Labels flipped with probability 0.49; 50 classifiers a run, mean of %d runs", s.Repeats),
		XLabel:   "position of the classifier", YLabel: "classifiers per bucket of 200 positions",
		XTicks: []float64{0, 500, 1000, 1500, 2000}, YFrom: 0, YTo: max(12, slices.Max(l.High)),
		Spread: "mean ± one standard error over runs", Series: []plot.Series{l},
		References: []plot.Reference{{Name: "uniform", Y: uniformCount}},
	}
}

func judgeFig1b(s *frame.Summary) []frame.Check {
	least, most := toyRounds+0.0, 0.0
	var parts []frame.Part
	for k := range toyRows / drawWidth {
		mean := s.Mean(toyDraws, 0, countName(k)).Mean
		parts = append(parts, frame.Within(s.Mean(toyDraws, 0, countName(k)), uniformCount/2, 2*uniformCount))
		least, most = min(least, mean), max(most, mean)
	}
	one := s.Mean(toyDraws, 0, alone)
	return []frame.Check{{
		What:  "accuracy of a single classifier",
		Paper: "that of a random one (read as: within 5 points of the 75 % of uniform positions)",
		Ours:  formatPercent(one), Parts: []frame.Part{frame.Within(one, 0.7, 0.8)},
	}, {
		What: "classifiers in a bucket", Paper: fmt.Sprintf("close to uniform (read as: from half to twice %g)",
			uniformCount),
		Ours:  fmt.Sprintf("from %.1f to %.1f", least, most),
		Parts: parts,
	}}
}

func notesFig1b(*frame.Summary) []string {
	return []string{"Labels flipped with probability 1/2 would give the arcsine law, heaped at both ends; the two " +
		"hundredths that are left of the labels draw the classifiers to the middle. Near 0.49 the two about balance."}
}
