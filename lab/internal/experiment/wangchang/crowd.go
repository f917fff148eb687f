// SPDX-License-Identifier: Apache-2.0

package wangchang

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/lab/internal/experiment/frame"
	"github.com/discreet-dp/discreet/lab/internal/plot"
)

// ownersEpsilon is that of Figures 4 and 5.
const ownersEpsilon = 5 * dp.Nano

// crowd is a figure over the number of owners.
type crowd struct {
	source
	number  string // of the figure
	repeats int
	counts  []int
	says    string
	how     string
	record  string // what each record says of its data
	page    string // what the page says of it
	// open returns how owners are drawn for a repeat.
	open  func(ctx context.Context, w *frame.World) (func(r frame.Repeat, owners int) classifiers, error)
	judge func(c crowd, s *frame.Summary) []frame.Check
}

// nameAt is the series of a mechanism and a number of owners.
func (c crowd) nameAt(m mechanism, owners int) string {
	return fmt.Sprintf("%s, %d owners", seriesName(c.source, m.name), owners)
}

func (c crowd) newFigure() *frame.Figure {
	f := &frame.Figure{
		Name: "wangchang/fig" + c.number, Paper: paper + ", Figure " + c.number, Data: dataNames(c.source),
		Repeats: c.repeats, Quick: 1,
		Title: c.long + ": mean of local logistic regressions, accuracy against owners",
		Claim: c.says + ".", Protocol: "Section 4.1. " + c.how,
		Open: c.openAll, Draw: c.drawChart, Notes: c.listNotes,
		Judge: func(s *frame.Summary) []frame.Check { return c.judge(c, s) },
	}
	for _, owners := range c.counts {
		for _, m := range withRepaired(c.source, pm, duchi) {
			f.Points = append(f.Points, frame.Point{Series: c.nameAt(m, owners), Epsilon: ownersEpsilon, Parameters: c.record})
		}
	}
	return f
}

func (c crowd) openAll(ctx context.Context, w *frame.World) (frame.Setup, error) {
	draw, err := c.open(ctx, w)
	if err != nil {
		return nil, err
	}
	return func(_ context.Context, r frame.Repeat) (frame.Measure, error) {
		by := map[int]classifiers{}
		for _, owners := range c.counts {
			by[owners] = draw(r, owners)
		}
		return func(_ context.Context, p frame.Point) (frame.Measurement, error) {
			series, count, _ := strings.Cut(p.Series, ", ")
			owners, err := strconv.Atoi(strings.TrimSuffix(count, " owners"))
			if err != nil {
				return frame.Measurement{}, err
			}
			_, m, _ := parseSeries(series)
			return by[owners].measureOwners(r, p, m, false), nil
		}, nil
	}, nil
}

func (c crowd) drawChart(s *frame.Summary) *plot.Lines {
	l := &plot.Lines{
		Title: c.long + ": mean of local classifiers", Subtitle: fmt.Sprintf("Printed mechanisms, ε = 5; mean of %d repeats",
			s.Repeats),
		XLabel: "owners", YLabel: "test accuracy", LogX: true, Spread: spreadNote,
		Note: c.record + ". The mean squared errors are on the page.",
	}
	var x []float64
	for _, owners := range c.counts {
		x = append(x, float64(owners))
	}
	for _, m := range withRepaired(c.source, pm, duchi) {
		l.Series = append(l.Series, newCurve(m.long, x, func(i int) frame.Stat {
			return s.Mean(c.nameAt(m, c.counts[i]), ownersEpsilon, accuracy)
		}))
	}
	return l
}

// lessNoise checks that PM's mean is closer to the truth at every count.
func (c crowd) lessNoise(s *frame.Summary) frame.Check {
	check := frame.Check{What: c.long + ": mean squared error of PM over that of Duchi",
		Paper: "always less noise (below 1)"}
	var l listed
	for _, owners := range c.counts {
		ratio := s.Mean(c.nameAt(pm, owners), ownersEpsilon, mse).Mean / s.Mean(c.nameAt(duchi, owners), ownersEpsilon,
			mse).Mean
		check.Parts = append(check.Parts, frame.Above(s.Difference(c.nameAt(duchi, owners), c.nameAt(pm, owners), ownersEpsilon, mse), 0))
		l.addLine("%.2f with %d", ratio, owners)
	}
	check.Ours = l.String()
	return check
}

func (c crowd) moreAccurate(s *frame.Summary) frame.Check {
	check := frame.Check{What: c.long + ": accuracy of PM less that of Duchi",
		Paper: "consistently higher (read as: with 95 % confidence at every count)"}
	var l listed
	for _, owners := range c.counts {
		d := s.Difference(c.nameAt(pm, owners), c.nameAt(duchi, owners), ownersEpsilon, accuracy)
		check.Parts = append(check.Parts, frame.Above(d, 0))
		l.addLine("%+.1f ± %.1f points with %d", 100*d.Mean, 100*d.StdErr, owners)
	}
	check.Ours = l.String()
	return check
}

func (c crowd) listNotes(s *frame.Summary) []string {
	out := []string{c.page}
	for _, m := range withRepaired(c.source, pm, duchi) {
		var a, e listed
		for _, owners := range c.counts {
			at := c.nameAt(m, owners)
			a.addLine("%s with %d", formatPercent(s.Mean(at, ownersEpsilon, accuracy)), owners)
			e.addLine("%.3g (%.3g) with %d", s.Mean(at, ownersEpsilon, mse).Mean, s.Mean(at, ownersEpsilon, mseClosedForm).Mean,
				owners)
		}
		out = append(out, fmt.Sprintf("%s, accuracy: %s.", m.long, a),
			fmt.Sprintf("%s, mean squared error (closed form): %s.", m.long, e))
	}
	return append(out, "± is the standard deviation between repeats.")
}
