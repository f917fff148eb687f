// SPDX-License-Identifier: Apache-2.0

package wangchang

import (
	"context"
	"fmt"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/net/federated/wire"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/lab/internal/census"
	"github.com/discreet-dp/discreet/lab/internal/experiment/frame"
	"github.com/discreet-dp/discreet/lab/internal/experiment/wangchang/continuous"
	"github.com/discreet-dp/discreet/lab/internal/plot"
)

const (
	centroidImages = 10_000
	centroidPeople = 1_000_000
)

func newFig3() *frame.Figure {
	f := &frame.Figure{
		Name: "wangchang/fig3", Paper: paper + ", Figure 3", Data: dataNames(sources...), Repeats: 5, Quick: 1,
		Title: "Nearest centroid, accuracy against ε",
		Claim: "The nearest centroid classifier from samples perturbed by PM is more accurate than by Duchi's or the " +
			"Laplace mechanism, and a million samples preserve its accuracy even at ε = 1.",
		Protocol: "Section 4.2. MNIST and Fashion-MNIST: 50 visual words, 10,000 perturbed training images, drawn anew in " +
			"each repeat, tested on the 10,000 test images. " +
			"Census: a million invented people of 67 dimensions, binary ones in {-1, 1}; 50,000 others to test. One report a " +
			"sample at ε; its class travels in clear, as printed, and is protected by nothing. Beside it mode local, in " +
			"which one report covers the class as well.",
		Open: openFig3, Draw: drawFig3, Judge: judgeFig3, Notes: notesBudgets,
	}
	for _, s := range sources {
		note := noteOf(s, fewWords)
		f.Points = append(f.Points, frame.Point{Series: seriesName(s, noNoise), Parameters: note})
		for _, m := range withRepaired(s, pm, duchi, laplace, discrete) {
			f.Points = append(f.Points, budgetPoints(seriesName(s, m.name), note, printedBudgets)...)
		}
		f.Points = append(f.Points, budgetPoints(seriesName(s, oneReport), note+", mode=local", printedBudgets)...)
	}
	return f
}

// samples are rows to perturb and rows to test.
type samples struct{ train, test labelled }

// openSamples reads both sets of images and the stand-in.
func openSamples(ctx context.Context, w *frame.World, words, people int) (map[source]samples, error) {
	out := map[source]samples{}
	for _, s := range []struct {
		source
		images
	}{{ofMNIST, mnist}, {ofFashion, fashion}} {
		train, test, err := s.images.openImages(ctx, w, words)
		if err != nil {
			return nil, err
		}
		out[s.source] = samples{train, test}
	}
	if people > 0 {
		if err := w.CannotPermute(inventedPeople); err != nil {
			return nil, err
		}
		train, test := standIn(people)
		out[ofCensus] = samples{train, test}
	}
	return out, nil
}

func openFig3(ctx context.Context, w *frame.World) (frame.Setup, error) {
	sets, err := openSamples(ctx, w, fewWords, centroidPeople)
	if err != nil {
		return nil, err
	}
	crowd := census.Generate(peopleSeed, centroidPeople)
	unseen := map[source]*dataset.Table{ofCensus: census.Generate(testSeed, testPeople)}
	for s, set := range sets {
		if s != ofCensus {
			unseen[s] = tableOf(s.name, set.test)
		}
	}
	return func(_ context.Context, r frame.Repeat) (frame.Measure, error) {
		group := map[source][]int{ofCensus: upTo(centroidPeople)}
		owners := map[source]*dataset.Table{ofCensus: crowd}
		for s, set := range sets {
			if s != ofCensus {
				group[s] = shuffledRows(set.train.Len(), r.Stream("owners"))[:centroidImages]
				owners[s] = tableOf(s.name, set.train.subsetRows(group[s]))
			}
		}
		return func(ctx context.Context, p frame.Point) (frame.Measurement, error) {
			s, m, rest := parseSeries(p.Series)
			if rest == oneReport {
				return testLocal(ctx, r, p, owners[s], unseen[s], wire.Centroid)
			}
			return measureCentroids(r, p, sets[s], group[s], m), nil
		}, nil
	}, nil
}

// measureCentroids perturbs the samples of a group and tests their centroids.
func measureCentroids(r frame.Repeat, p frame.Point, of samples, group []int, m mechanism) frame.Measurement {
	even := onesOf(of.train.Len())
	var law continuous.Mechanism
	if p.Epsilon > 0 {
		law = m.make(of.train.Dim(), p.Epsilon.Float())
	}
	c := perturbCentroids(of.train, group, even, 1, law, false, r.Stream(p.Series+", ε = "+p.Epsilon.String()))
	values := []frame.Value{{Metric: accuracy, Value: accuracyOf(nearestClass(of.test, c), of.test.y)}}
	if p.Epsilon > 0 {
		exact := perturbCentroids(of.train, group, even, 1, nil, false, nil)
		sum := 0.0
		for k := range c {
			sum += squaredError(c[k], exact[k])
		}
		values = append(values, frame.Value{Metric: mse, Value: sum / float64(len(c))})
	}
	return frame.Measurement{Values: values, Bill: p.Epsilon}
}

func drawFig3(s *frame.Summary) *plot.Lines {
	return drawBudgets(s, "Nearest centroid of perturbed samples",
		fmt.Sprintf("Printed mechanisms, classes in clear; mean of %d repeats", s.Repeats))
}

func judgeFig3(s *frame.Summary) []frame.Check {
	one, none := s.Mean(seriesName(ofCensus, pm.name), dp.Nano, accuracy),
		s.Mean(seriesName(ofCensus, noNoise), 0, accuracy)
	return append(judgeBudgets(s), frame.Check{
		What: "census: accuracy of PM at ε = 1", Paper: "well preserved (read as: within 2 points of that without noise)",
		Ours: fmt.Sprintf("%s, without noise %s", formatPercent(one), formatPercent(none)),
		Parts: []frame.Part{frame.Above(s.Between(seriesName(ofCensus, pm.name), dp.Nano, seriesName(ofCensus, noNoise), 0,
			accuracy), -0.02)},
	})
}
