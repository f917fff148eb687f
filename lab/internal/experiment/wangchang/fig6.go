// SPDX-License-Identifier: Apache-2.0

package wangchang

import (
	"context"
	"fmt"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/lab/internal/experiment/frame"
	"github.com/discreet-dp/discreet/lab/internal/plot"
)

const (
	manyWords   = 100
	fig6Epsilon = 3 * dp.Nano
)

var fig6Counts = []int{1_000, 3_000, 5_000, 7_000, 9_000}

// fig6Series is a mechanism and a number of samples.
func fig6Series(m mechanism, samples int) string {
	return fmt.Sprintf("%s of %d samples", seriesName(ofMNIST, m.name), samples)
}

func newFig6() *frame.Figure {
	f := &frame.Figure{
		Name: "wangchang/fig6", Paper: paper + ", Figure 6", Data: dataNames(ofMNIST), Repeats: 10,
		Title: "MNIST: nearest centroid, accuracy against samples",
		Claim: "Nearest centroids become more accurate with more perturbed samples, and the number matters more than " +
			"for logistic regression.",
		Protocol: "Section 4.2. 100 visual words, ε = 3, samples drawn anew in each repeat, larger numbers from the same " +
			"order; classes in clear; tested on the 10,000 test images.",
		Open: openFig6, Draw: drawFig6, Judge: judgeFig6, Notes: notesFig6,
	}
	for _, n := range fig6Counts {
		for _, m := range withRepaired(ofMNIST, pm, duchi) {
			f.Points = append(f.Points, frame.Point{Series: fig6Series(m, n), Epsilon: fig6Epsilon,
				Parameters: dictionaryNote(manyWords)})
		}
	}
	return f
}

func openFig6(ctx context.Context, w *frame.World) (frame.Setup, error) {
	train, test, err := mnist.openImages(ctx, w, manyWords)
	if err != nil {
		return nil, err
	}
	return func(_ context.Context, r frame.Repeat) (frame.Measure, error) {
		order := shuffledRows(train.Len(), r.Stream("owners"))
		return func(_ context.Context, p frame.Point) (frame.Measurement, error) {
			for _, n := range fig6Counts {
				for _, m := range withRepaired(ofMNIST, pm, duchi) {
					if p.Series == fig6Series(m, n) {
						return measureCentroids(r, p, samples{train, test}, order[:n], m), nil
					}
				}
			}
			return frame.Measurement{}, fmt.Errorf("experiment: no series %q", p.Series)
		}, nil
	}, nil
}

func drawFig6(s *frame.Summary) *plot.Lines {
	l := &plot.Lines{
		Title:    "MNIST: nearest centroid",
		Subtitle: fmt.Sprintf("Printed mechanisms, ε = 3, classes in clear; mean of %d repeats", s.Repeats),
		XLabel:   "perturbed samples", YLabel: "test accuracy", Spread: spreadNote,
		Note: "The dictionary of images is not covered by ε.",
	}
	var x []float64
	for _, n := range fig6Counts {
		x = append(x, float64(n))
	}
	for _, m := range withRepaired(ofMNIST, pm, duchi) {
		l.Series = append(l.Series, newCurve(m.long, x, func(i int) frame.Stat {
			return s.Mean(fig6Series(m, fig6Counts[i]), fig6Epsilon, accuracy)
		}))
	}
	return l
}

func judgeFig6(s *frame.Summary) []frame.Check {
	first, last := fig6Counts[0], fig6Counts[len(fig6Counts)-1]
	at := func(n int, metric string) float64 { return s.Mean(fig6Series(pm, n), fig6Epsilon, metric).Mean }
	gain := s.Difference(fig6Series(pm, last), fig6Series(pm, first), fig6Epsilon, accuracy)
	less := at(first, mse) / at(last, mse)
	higher := frame.Check{What: "accuracy of PM less that of Duchi", Paper: "higher at every number"}
	var l listed
	for _, n := range fig6Counts {
		d := s.Difference(fig6Series(pm, n), fig6Series(duchi, n), fig6Epsilon, accuracy)
		higher.Parts = append(higher.Parts, frame.Above(d, 0))
		l.addLine("%+.1f points with %d", 100*d.Mean, n)
	}
	higher.Ours = l.String()
	return []frame.Check{
		{
			What:  "PM, 1,000 to 9,000 samples",
			Paper: "the error matters more than for logistic regression (read as: at least 5 points for a ninth of the error)",
			Ours:  fmt.Sprintf("%+.1f points, a %.1fth of the error", 100*gain.Mean, less), Parts: []frame.Part{frame.Above(gain, 0.05)},
		},
		higher,
	}
}

func notesFig6(s *frame.Summary) []string {
	out := []string{nothingPrivate, tiesNote}
	for _, m := range withRepaired(ofMNIST, pm, duchi) {
		var a, e listed
		for _, n := range fig6Counts {
			at := fig6Series(m, n)
			a.addLine("%s with %d", formatPercent(s.Mean(at, fig6Epsilon, accuracy)), n)
			e.addLine("%.3g with %d", s.Mean(at, fig6Epsilon, mse).Mean, n)
		}
		out = append(out, fmt.Sprintf("%s, accuracy: %s.", m.long, a),
			fmt.Sprintf("%s, mean squared error of a centroid's coordinate: %s.", m.long, e))
	}
	return append(out, "± is the standard deviation between repeats.")
}
