// SPDX-License-Identifier: Apache-2.0

package hamm

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/internal/federated/multiparty"
	"github.com/discreet-dp/discreet/internal/plot"
	"github.com/discreet-dp/discreet/internal/privacy/dp"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/lab/internal/experiment/frame"
)

var auxRows = []int{100, 300, 1000, 3000, 10000}

const (
	rowsEpsilon = 5 * dp.Nano
	gap         = "gap"
)

// auxiliaryRows is Theorem 4's N⁻¹.
func auxiliaryRows() *frame.Figure {
	t := newIntrusion()
	t.parties, t.aux, t.test = 300, 30_000, 10_000
	var points []frame.Point
	for _, n := range auxRows {
		points = append(points, frame.Point{Series: nameAt(softExact, n)},
			frame.Point{Series: nameAt(soft, n), Epsilon: rowsEpsilon})
	}
	return &frame.Figure{
		Name: "hamm/rows", Paper: paper, Data: t.name, Repeats: 10,
		Title: "Loss on network intrusion against the number of auxiliary rows",
		Claim: "Few auxiliary rows cost a term of order 1/N, which does not touch privacy (Theorem 4).",
		Protocol: t.describeProtocol() +
			fmt.Sprintf(" ε = %s. Gap is the loss on the test rows, weighed by the parties' votes on them, over that of the "+
				"fit without noise to all %d auxiliary rows. The ridge is 0.00001.",
				dp.Epsilon(rowsEpsilon), t.aux),
		Points: points,
		Open: t.openData(func(ctx context.Context, tr *trial) (frame.Measure, error) {
			shares := votesOf(tr.tested, tr.test)
			best, err := tr.lossWith(ctx, tr.aux.Rows, 0, shares)
			if err != nil {
				return nil, err
			}
			return func(ctx context.Context, p frame.Point) (frame.Measurement, error) {
				_, n, _ := strings.Cut(p.Series, "@")
				rows, _ := strconv.Atoi(n)
				loss, err := tr.lossWith(ctx, rows, p.Epsilon, shares)
				return frame.Measurement{Values: []frame.Value{{Metric: gap, Value: loss - best}}, Bill: p.Epsilon}, err
			}, nil
		}),
		Draw:  drawRows,
		Judge: judgeRows,
		Notes: func(s *frame.Summary) (out []string) {
			for _, line := range []string{softExact, soft} {
				text := line + ":"
				for _, n := range auxRows {
					st := s.Mean(nameAt(line, n), lineEpsilon(line), gap)
					text += fmt.Sprintf(" %.4f ± %.4f at %d rows,", st.Mean, st.StdErr, n)
				}
				out = append(out, text[:len(text)-1]+".")
			}
			return append(out, "Votes as shares are smooth, so a hundred rows teach nearly all; what is left of the gap at "+
				"this ε is what privacy costs, whatever N.", "± is the standard error over repeats.")
		},
	}
}

func lineEpsilon(line string) dp.Epsilon {
	if line == soft {
		return rowsEpsilon
	}
	return 0
}

// lossWith is the loss of a fit to so many auxiliary rows, ε = 0 for no noise.
func (tr *trial) lossWith(ctx context.Context, rows int, eps dp.Epsilon, shares []float64) (float64, error) {
	p := multiparty.Defaults()
	p.Reg, p.Epsilon, p.NotPrivate = 0.00001, eps, eps == 0
	c, err := tr.handIn(p, len(tr.tables), rows)
	if err != nil {
		return 0, err
	}
	m, err := c.combineModel(ctx, mech.NewExit(tr.repeat.Stream(fmt.Sprintf("%d rows", rows))))
	if err != nil {
		return 0, err
	}
	return lossOf(m, tr.test, shares)
}

func drawRows(s *frame.Summary) *plot.Lines {
	l := &plot.Lines{
		Title:    "Loss on network intrusion against auxiliary rows, ε = 5",
		Subtitle: fmt.Sprintf("mean of %d repeats", s.Repeats),
		XLabel:   "auxiliary rows", YLabel: "nats above the best fit", LogX: true,
		Spread: "one standard deviation between repeats",
	}
	for _, line := range []string{softExact, soft} {
		series := plot.Series{Name: line}
		for _, n := range auxRows {
			addPoint(&series, float64(n), s.Mean(nameAt(line, n), lineEpsilon(line), gap))
		}
		l.Series = append(l.Series, series)
	}
	return l
}

func judgeRows(s *frame.Summary) []frame.Check {
	var x, y []float64
	for _, n := range auxRows {
		x, y = append(x, math.Log(float64(n))), append(y, math.Log(max(s.Mean(nameAt(softExact, n), 0, gap).Mean, 1e-9)))
	}
	few, many := s.Mean(nameAt(soft, auxRows[0]), rowsEpsilon, gap),
		s.Mean(nameAt(soft, auxRows[len(auxRows)-1]), rowsEpsilon, gap)
	return []frame.Check{
		{What: "slope of log gap against log N, without noise", Paper: "-1, as a bound from above (read as: at most -0.6)",
			Ours: fmt.Sprintf("%.2f", fitSlope(x, y)), Holds: fitSlope(x, y) <= -0.6},
		{What: fmt.Sprintf("gap at ε = %s, %d rows less %d", dp.Epsilon(rowsEpsilon), auxRows[len(auxRows)-1], auxRows[0]),
			Paper: "the number of auxiliary rows does not touch privacy (read as: no larger, but for two standard errors)",
			Ours:  fmt.Sprintf("%.4f ± %.4f against %.4f ± %.4f", many.Mean, many.StdErr, few.Mean, few.StdErr),
			Holds: many.Mean-few.Mean <= 2*math.Hypot(many.StdErr, few.StdErr)},
	}
}
