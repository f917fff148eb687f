// SPDX-License-Identifier: Apache-2.0

package wangchang

import (
	"context"
	"fmt"
	"strings"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/lab/internal/experiment/frame"
	"github.com/discreet-dp/discreet/lab/internal/plot"
)

// extractVariable names the environment variable that names a user's extract.
const extractVariable = "DISCREET_BRAZIL"

const centroid = "centroid "

// newBrazil measures what the paper says of the Brazilian census on a user's own
// extract.
func newBrazil(path string) *frame.Figure {
	f := &frame.Figure{
		Name: "wangchang/brazil", Paper: paper + ", Figures 2 and 3 and Table 2, Brazil", Data: "brazil",
		Repeats: 5, Quick: 1,
		Title: "Brazil: local classifiers and nearest centroids, accuracy against ε",
		Claim: "On the Brazilian census PM is more accurate than Duchi's and the Laplace mechanism and has the smallest " +
			"error of the mean, but at ε = 1, where Duchi's is smaller.",
		Protocol: "A user's own extract of IPUMS-International, whose terms forbid passing it on: AGE, the categories " +
			"that the loader knows, each code a binary dimension, and INCTOT, cut at its mean (read from unperturbed data, " +
			"as in the paper). " +
			"Rows without income left out; a tenth to test, anew in each repeat. Local logistic regressions of 100,000 " +
			"owners, or as many as have 120 rows; nearest centroids of a million rows, or all, classes in clear.",
		Draw: drawBrazil, Judge: judgeBrazil, Notes: notesBrazil,
		Open: func(_ context.Context, _ *frame.World) (frame.Setup, error) { return openBrazil(path) },
	}
	const note = "income cut at the mean of unperturbed data"
	for _, kind := range []string{"", centroid} {
		f.Points = append(f.Points, frame.Point{Series: seriesName(ofBrazil, kind+noNoise), Parameters: note})
		for _, m := range three {
			f.Points = append(f.Points, budgetPoints(seriesName(ofBrazil, kind+m.name), note, printedBudgets)...)
		}
	}
	return f
}

func openBrazil(path string) (frame.Setup, error) {
	e, err := openExtract(path)
	if err != nil {
		return nil, err
	}
	all := labelled{e, e.y, 2}
	if all.Len() < 10*peoplePer {
		return nil, &dp.ParamError{Op: "experiment", Param: "extract",
			Want: fmt.Sprintf("must hold at least %d rows with an income", 10*peoplePer), Got: all.Len()}
	}
	return func(_ context.Context, r frame.Repeat) (frame.Measure, error) {
		order := shuffledRows(all.Len(), r.Stream("split"))
		held := len(order) / 10
		test, train := all.subsetRows(order[:held]), order[held:]
		owners := min(standInOwners, len(train)/peoplePer)
		local := newClassifiers(fitOwners(all, train[:owners*peoplePer], owners, onesOf(all.Len())), test)
		group := train[:min(centroidPeople, len(train))]
		return func(_ context.Context, p frame.Point) (frame.Measurement, error) {
			_, m, rest := parseSeries(p.Series)
			if name, ok := strings.CutPrefix(rest, centroid); ok {
				_, m, _ = parseSeries(seriesName(ofBrazil, name))
				return measureCentroids(r, p, samples{all, test}, group, m), nil
			}
			return local.measureOwners(r, p, m, false), nil
		}, nil
	}, nil
}

func drawBrazil(s *frame.Summary) *plot.Lines {
	l := &plot.Lines{
		Title: "Brazil: a user's own extract", Subtitle: fmt.Sprintf("Printed mechanisms; mean of %d repeats", s.Repeats),
		XLabel: "ε of each report", YLabel: "test accuracy", Spread: spreadNote,
		Note: "Solid: mean of local logistic regressions. Dashed: nearest centroids, classes in clear.",
	}
	for _, m := range three {
		for _, kind := range []string{"", centroid} {
			c := newCurve(m.long, epsilonFloats(printedBudgets),
				func(i int) frame.Stat { return s.Mean(seriesName(ofBrazil, kind+m.name), printedBudgets[i], accuracy) })
			if kind != "" {
				c.Name, c.Like, c.Stroke = m.long+", centroid", m.long, plot.Dashed
			}
			l.Series = append(l.Series, c)
		}
	}
	return l
}

func judgeBrazil(s *frame.Summary) []frame.Check {
	out := []frame.Check{checkSmallest(s, ofBrazil)}
	for _, m := range three {
		out = append(out, printedOverOurs(s, ofBrazil, m))
	}
	for _, kind := range []string{"", centroid} {
		out = append(out, checkHighest(s, "Brazil: accuracy of "+kind+"PM", seriesName(ofBrazil, kind+pm.name),
			[]string{seriesName(ofBrazil, kind+duchi.name), seriesName(ofBrazil, kind+laplace.name)}, printedBudgets, accuracy))
	}
	return out
}

func notesBrazil(s *frame.Summary) (out []string) {
	for _, kind := range []string{"", centroid} {
		out = append(out, fmt.Sprintf("Without noise, %slogistic or centroid: %s.", kind,
			formatPercent(s.Mean(seriesName(ofBrazil, kind+noNoise), 0, accuracy))))
		for _, m := range three {
			out = append(out, notesOf(s, []string{seriesName(ofBrazil, kind+m.name)}, printedBudgets, accuracy)...)
		}
	}
	return append(out, "± is the standard deviation between repeats.")
}
