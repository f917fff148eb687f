// SPDX-License-Identifier: Apache-2.0

package wangchang

import (
	"context"
	"fmt"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/net/federated/wire"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/lab/internal/experiment/frame"
	"github.com/discreet-dp/discreet/lab/internal/experiment/wangchang/continuous"
	"github.com/discreet-dp/discreet/lab/internal/plot"
)

const (
	fewWords    = 50
	imageOwners = 500
	boostedBy   = 5 // rounds of boosting logistic regressions
	boosted     = "boosted"
	boostedPM   = "boosted pm"
	boostedLift = "boosted_less_single"
)

func newFig2() *frame.Figure {
	f := &frame.Figure{
		Name: "wangchang/fig2", Paper: paper + ", Figure 2", Data: dataNames(sources...), Repeats: 10, Quick: 1,
		Title: "Mean of local logistic regressions, accuracy against ε",
		Claim: "The mean of local classifiers perturbed by PM is more accurate than by Duchi's or the Laplace mechanism, " +
			"accuracy improves with ε, and boosting such classifiers gains nothing.",
		Protocol: "Section 4.1. MNIST and Fashion-MNIST: 50 visual words, 500 owners of 120 images, drawn anew in each " +
			"repeat; the owners' one-against-the-rest logistic regressions (C = 1, no intercept) " +
			"with parameters clamped to [-1, 1]; ten reports an owner, one a class, each at ε on 50 numbers, which costs " +
			"10ε: only then is the noise that of Table 2. Tested on the 10,000 test images. " +
			"Census: 100,000 owners of 120 invented people each, 67 dimensions, one report. " +
			"Local: discreet's logistic regression in mode local, one report for each of the 60,000 images and its class. " +
			"Boosted: Algorithm 2, five rounds of 100 owners each. Features are square roots of shares of words, up to a " +
			"tenth of the blocks.",
		Open: openFig2, Draw: drawFig2, Judge: judgeFig2, Notes: notesFig2,
	}
	for _, s := range sources {
		note := noteOf(s, fewWords)
		f.Points = append(f.Points, frame.Point{Series: seriesName(s, noNoise), Parameters: note})
		for _, m := range withRepaired(s, pm, duchi, laplace, discrete) {
			f.Points = append(f.Points, budgetPoints(seriesName(s, m.name), note, printedBudgets)...)
		}
		if s != ofCensus {
			f.Points = append(f.Points, budgetPoints(seriesName(s, oneReport), note+", mode=local", printedBudgets)...)
			f.Points = append(f.Points, frame.Point{Series: seriesName(s, boosted), Parameters: note},
				frame.Point{Series: seriesName(s, boostedPM), Epsilon: 5 * dp.Nano, Parameters: note})
		}
	}
	return f
}

func openFig2(ctx context.Context, w *frame.World) (frame.Setup, error) {
	sets := map[string]localImages{}
	for _, s := range []images{mnist, fashion} {
		set, err := openImages(ctx, w, s, fewWords)
		if err != nil {
			return nil, err
		}
		sets[s.name] = set
	}
	crowd, err := localPeople(ctx, w, standInOwners)
	if err != nil {
		return nil, err
	}
	owners, unseen := map[string]*dataset.Table{}, map[string]*dataset.Table{}
	for name, set := range sets {
		owners[name], unseen[name] = tableOf(name, set.train), tableOf(name, set.test)
	}
	return func(_ context.Context, r frame.Repeat) (frame.Measure, error) {
		by := map[string]classifiers{ofCensus.name: crowd}
		for name, set := range sets {
			by[name] = set.firstOwners(r, imageOwners)
		}
		return func(ctx context.Context, p frame.Point) (frame.Measurement, error) {
			s, m, rest := parseSeries(p.Series)
			if rest == oneReport {
				return testLocal(ctx, r, p, owners[s.name], unseen[s.name], wire.Logistic)
			}
			if rest == boosted || rest == boostedPM {
				return boostLogistic(r, p, sets[s.name]), nil
			}
			return by[s.name].measureOwners(r, p, m, false), nil
		}, nil
	}, nil
}

// boostLogistic compares Algorithm 2 over five groups of owners with one round
// of all owners, both perturbed by PM or neither.
func boostLogistic(r frame.Repeat, p frame.Point, set localImages) frame.Measurement {
	var make func(d int) continuous.Mechanism
	var bill dp.Epsilon
	if p.Epsilon > 0 {
		make = func(d int) continuous.Mechanism { return continuous.Piecewise(d, p.Epsilon.Float()) }
		bill = p.Epsilon * imageClasses
	}
	src := r.Stream(p.Series)
	order := shuffledRows(set.train.Len(), r.Stream("owners"))
	n := len(order) / boostedBy
	b := newBoosting(set.train, set.test)
	for m := range boostedBy {
		f := fitOwners(set.train, order[m*n:(m+1)*n], imageOwners/boostedBy, b.Of)
		parameters := f.meanOfOwners(make, false, src)
		b.addClassifier(classifyRows(set.train, parameters), classifyRows(set.test, parameters))
	}
	single := fitOwners(set.train, order, imageOwners, onesOf(set.train.Len())).meanOfOwners(make, false, src)
	together := 1 - b.errorRate(set.test.y)
	return frame.Measurement{Bill: bill, Values: []frame.Value{
		{Metric: accuracy, Value: together},
		{Metric: boostedLift, Value: together - accuracyOf(classifyRows(set.test, single), set.test.y)},
	}}
}

func drawFig2(s *frame.Summary) *plot.Lines {
	return drawBudgets(s, "Mean of local logistic regressions",
		fmt.Sprintf("Printed mechanisms; mean of %d repeats", s.Repeats))
}

// drawBudgets shows accuracy against ε, a colour per source, a stroke per
// mechanism.
func drawBudgets(s *frame.Summary, title, subtitle string) *plot.Lines {
	l := &plot.Lines{
		Title: title, Subtitle: subtitle, XLabel: "ε of each report", YLabel: "test accuracy", Spread: spreadNote,
		Note: "Solid: PM. Dashed: Duchi. Marks: Laplace. The dictionary of images is not covered by ε; census: " +
			"invented people.",
	}
	for _, of := range sources {
		first := ""
		for _, m := range three {
			c := newCurve(of.long+" "+m.long, epsilonFloats(printedBudgets), func(i int) frame.Stat {
				return s.Mean(seriesName(of, m.name), printedBudgets[i], accuracy)
			})
			c.Stroke, c.Like = m.stroke, first
			if first == "" {
				first = c.Name
			}
			l.Series = append(l.Series, c)
		}
		for _, m := range withRepaired(of) {
			c := newCurve(of.long+" "+m.long, epsilonFloats(printedBudgets), func(i int) frame.Stat {
				return s.Mean(seriesName(of, m.name), printedBudgets[i], accuracy)
			})
			c.Stroke = m.stroke
			l.Series = append(l.Series, c)
		}
	}
	return l
}

func judgeFig2(s *frame.Summary) (out []frame.Check) {
	out = judgeBudgets(s)
	for _, of := range []source{ofMNIST, ofFashion} {
		gain := s.Mean(seriesName(of, boosted), 0, boostedLift)
		out = append(out, frame.Check{
			What:  of.long + ": boosted less single logistic regression, without noise",
			Paper: "no improvement (read as: at most half a point)",
			Ours:  fmt.Sprintf("%+.1f ± %.1f points", 100*gain.Mean, 100*gain.StdDev), Parts: []frame.Part{frame.Below(gain, 0.005)},
		})
	}
	return out
}

// judgeBudgets checks that PM is the highest and that accuracy improves with ε.
func judgeBudgets(s *frame.Summary) (out []frame.Check) {
	for _, of := range sources {
		out = append(out, checkHighest(s, of.long+": accuracy of PM", seriesName(of, pm.name),
			[]string{seriesName(of, duchi.name), seriesName(of, laplace.name)}, printedBudgets, accuracy))
		var all []string
		for _, m := range three {
			all = append(all, seriesName(of, m.name))
		}
		out = append(out, checkRises(s, of.long+": accuracy", all, printedBudgets, accuracy))
	}
	return out
}

func notesFig2(s *frame.Summary) []string {
	out := notesBudgets(s)
	for _, of := range []source{ofMNIST, ofFashion} {
		gain := s.Mean(seriesName(of, boostedPM), 5*dp.Nano, boostedLift)
		out = append(out,
			fmt.Sprintf("%s, boosted less single with PM at ε = 5: %+.1f ± %.1f points. The groups of a round have a fifth "+
				"of the owners.", of.long, 100*gain.Mean, 100*gain.StdDev))
	}
	return out
}

func notesBudgets(s *frame.Summary) []string {
	out := []string{nothingPrivate, tiesNote, standInSays}
	for _, of := range sources {
		out = append(out, fmt.Sprintf("%s without noise: %s.", of.long,
			formatPercent(s.Mean(seriesName(of, noNoise), 0, accuracy))))
		for _, m := range withRepaired(of, pm, duchi, laplace) {
			out = append(out, notesOf(s, []string{seriesName(of, m.name)}, printedBudgets, accuracy)...)
		}
	}
	for _, of := range sources {
		out = append(out, notesOf(s, []string{seriesName(of, oneReport)}, printedBudgets, accuracy)...)
	}
	out = append(append(out, localNote), discreteNotes(s, sources, printedBudgets, accuracy)...)
	return append(out, "± is the standard deviation between repeats; of differences, the standard error.")
}
