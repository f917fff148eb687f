// SPDX-License-Identifier: Apache-2.0

package wangchang

import (
	"context"
	"fmt"
	"strings"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/lab/internal/experiment/frame"
	"github.com/discreet-dp/discreet/lab/internal/experiment/wangchang/continuous"
	"github.com/discreet-dp/discreet/lab/internal/plot"
)

const (
	imageRounds   = 6 // of 10,000 of the 60,000 images
	peopleRounds  = 9 // of 100,000 people
	peopleRound   = 100_000
	centroidsMost = 2 // largest weight sent, in mean weights
	byWeightName  = "by-weight"
	byCountName   = "by-count"
)

var fig7Budgets = []dp.Epsilon{0, 3 * dp.Nano, 5 * dp.Nano}

// errorName names the error of the first so many base classifiers together.
func errorName(rounds int) string { return fmt.Sprintf("error_after_%d", rounds) }

func newFig7() *frame.Figure {
	f := &frame.Figure{
		Name: "wangchang/fig7", Paper: paper + ", Figure 7", Data: dataNames(sources...), Repeats: 5, Quick: 1,
		Title: "Boosted nearest centroids, error against base classifiers",
		Claim: "Boosting nearest centroids lowers the error by 3 to 4 points without noise, and below that of the first " +
			"classifier at ε = 3 and 5 as well.",
		Protocol: "Algorithm 2 over section 3.5.1, PM as printed, 100 visual words, 6 rounds of 10,000 images not used " +
			"before, drawn anew in each repeat; census: 9 rounds of 100,000 invented people, 67 dimensions. Classes in clear, " +
			"exact error and weight sums over all rows in each round, as printed: neither is covered by ε. Sent is w·x/W with " +
			"weights of mean 1, cut at W = 2 (1 in the first round), for which the paper has no rule; a classifier no better " +
			"than guessing gets no vote. Two readings: the centroid divides the sum by the number of rows of its class " +
			"(by-count, as printed) or by their weights.",
		Open: openFig7, Draw: drawFig7, Judge: judgeFig7, Notes: notesFig7,
	}
	for _, s := range sources {
		for _, reading := range []string{byCountName, byWeightName} {
			f.Points = append(f.Points, budgetPoints(seriesName(s, reading), noteOf(s, manyWords), fig7Budgets)...)
		}
	}
	return f
}

func roundsOf(s source) int {
	if s == ofCensus {
		return peopleRounds
	}
	return imageRounds
}

func openFig7(ctx context.Context, w *frame.World) (frame.Setup, error) {
	sets, err := openSamples(ctx, w, manyWords, peopleRounds*peopleRound)
	if err != nil {
		return nil, err
	}
	return func(_ context.Context, r frame.Repeat) (frame.Measure, error) {
		order := map[source][]int{}
		for _, s := range sources {
			order[s] = shuffledRows(sets[s].train.Len(), r.Stream("owners, "+s.name))
		}
		return func(ctx context.Context, p frame.Point) (frame.Measurement, error) {
			s, _, reading := parseSeries(p.Series)
			return boostCentroids(ctx, r, p, sets[s], order[s], roundsOf(s), reading == byWeightName)
		}, nil
	}, nil
}

func boostCentroids(ctx context.Context, r frame.Repeat, p frame.Point, of samples, order []int, rounds int,
	byWeight bool) (frame.Measurement, error) {
	b := newBoosting(of.train, of.test)
	// Both readings see the same noise.
	src := r.Stream(strings.Fields(p.Series)[0] + ", ε = " + p.Epsilon.String())
	var law continuous.Mechanism
	if p.Epsilon > 0 {
		law = continuous.Piecewise(of.train.Dim(), p.Epsilon.Float())
	}
	out := frame.Measurement{Bill: p.Epsilon} // each row is sent once
	n := len(order) / rounds
	most := 1.0
	for m := range rounds {
		if err := ctx.Err(); err != nil {
			return frame.Measurement{}, err
		}
		c := perturbCentroids(of.train, order[m*n:(m+1)*n], b.Of, most, law, byWeight, src)
		b.addClassifier(nearestClass(of.train, c), nearestClass(of.test, c))
		out.Values = append(out.Values, frame.Value{Metric: errorName(m + 1), Value: b.errorRate(of.test.y)})
		most = centroidsMost
	}
	return out, nil
}

func drawFig7(s *frame.Summary) *plot.Lines {
	l := &plot.Lines{
		Title: "Boosted nearest centroids", Subtitle: fmt.Sprintf("Divided by weights; mean of %d repeats", s.Repeats),
		XLabel: "base classifiers", YLabel: "test error", Spread: spreadNote,
		Note: "Solid: no noise. Dashed: PM, ε = 5. Marks: ε = 3. ε covers neither dictionary, classes nor error sums; " +
			"census: invented people.",
	}
	for _, of := range sources {
		first := ""
		for i, eps := range []dp.Epsilon{0, 5 * dp.Nano, 3 * dp.Nano} {
			name := of.long
			if eps > 0 {
				name += ", ε = " + eps.String()
			}
			c := newCurve(name, countTo(roundsOf(of)), func(m int) frame.Stat {
				return s.Mean(seriesName(of, byWeightName), eps, errorName(m+1))
			})
			c.Stroke, c.Like = []plot.Stroke{plot.Solid, plot.Dashed, plot.Points}[i], first
			if first == "" {
				first = name
			}
			l.Series = append(l.Series, c)
		}
	}
	return l
}

// countTo is 1..n.
func countTo(n int) (out []float64) {
	for i := range n {
		out = append(out, float64(i+1))
	}
	return out
}

// boostingLift is how many points of error boosting takes off the first classifier.
func boostingLift(s *frame.Summary, of source, reading string, eps dp.Epsilon) frame.Stat {
	return s.Change(seriesName(of, reading), eps, errorName(1), errorName(roundsOf(of)))
}

func judgeFig7(s *frame.Summary) (out []frame.Check) {
	for _, of := range sources {
		for _, reading := range []string{byCountName, byWeightName} {
			d := boostingLift(s, of, reading, 0)
			out = append(out, frame.Check{
				What: of.long + ", " + reading + ": gain without noise", Paper: "3 to 4 points (read as: 2.5 to 4.5)",
				Ours: fmt.Sprintf("%+.1f points", 100*d.Mean), Parts: []frame.Part{frame.Within(d, 0.025, 0.045)},
			})
		}
		for _, eps := range fig7Budgets[1:] {
			d := boostingLift(s, of, byWeightName, eps)
			out = append(out, frame.Check{
				What:  fmt.Sprintf("%s, %s: gain at ε = %s", of.long, byWeightName, eps),
				Paper: "still lower than the first round (read as: with 95 % confidence)",
				Ours:  fmt.Sprintf("%+.1f ± %.1f points", 100*d.Mean, 100*d.StdErr), Parts: []frame.Part{frame.Above(d, 0)},
			})
		}
	}
	return out
}

func notesFig7(s *frame.Summary) []string {
	out := []string{nothingPrivate, standInSays,
		"Nobody's class, mistakes or weights are hidden here: the paper sends classes in clear and sums errors exactly. " +
			"What hides them is mode local, in `wangchang/fig3` and `wangchang/honesty`."}
	for _, of := range sources {
		for _, reading := range []string{byCountName, byWeightName} {
			for _, eps := range fig7Budgets {
				var l listed
				for m := range roundsOf(of) {
					l.addLine("%s", formatPercent(s.Mean(seriesName(of, reading), eps, errorName(m+1))))
				}
				at := "without noise"
				if eps > 0 {
					at = "at ε = " + eps.String()
				}
				out = append(out, fmt.Sprintf("%s, %s, %s, error by number of classifiers: %s.", of.long, reading, at, l))
			}
		}
	}
	return append(out, "± is the standard deviation between repeats.")
}
