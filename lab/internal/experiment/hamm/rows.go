// SPDX-License-Identifier: Apache-2.0

package hamm

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/net/federated/multiparty"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/lab/internal/experiment/frame"
	"github.com/discreet-dp/discreet/lab/internal/plot"
)

var auxRows = []int{100, 300, 1000, 3000, 10000}

// auxRidges are the ridge fixed before the first run, and the one chosen on
// 2026-11-20 after its results: the former hides the gap to the rows.
var auxRidges = []float64{0.001, 0.00001}

// auxLine is a line with a ridge of its own.
type auxLine struct {
	name  string // soft or softExact
	ridge float64
}

func listAuxLines() (out []auxLine) {
	for _, ridge := range auxRidges {
		out = append(out, auxLine{softExact, ridge}, auxLine{soft, ridge})
	}
	return out
}

func (l auxLine) String() string { return fmt.Sprintf("%s, ridge %g", l.name, l.ridge) }

func (l auxLine) epsilon() dp.Epsilon {
	if l.name == soft {
		return rowsEpsilon
	}
	return 0
}

// gapAt is the line's gap with so many rows.
func (l auxLine) gapAt(s *frame.Summary, rows int) frame.Stat {
	return s.Mean(nameAt(l.String(), rows), l.epsilon(), gap)
}

const (
	rowsEpsilon = 5 * dp.Nano
	gap         = "gap"
)

// auxiliaryRows is Theorem 4's N⁻¹.
func auxiliaryRows() *frame.Figure {
	t := newIntrusion()
	t.parties, t.aux, t.test = 300, 30_000, 10_000
	var points []frame.Point
	for _, l := range listAuxLines() {
		for _, n := range auxRows {
			points = append(points, frame.Point{Series: nameAt(l.String(), n), Epsilon: l.epsilon()})
		}
	}
	return &frame.Figure{
		Name: "hamm/rows", Paper: paper, Data: t.name, Repeats: 10,
		Title: "Loss on network intrusion against the number of auxiliary rows",
		Claim: "Few auxiliary rows cost a term of order 1/N, which does not touch privacy (Theorem 4).",
		Protocol: t.describeProtocol() +
			fmt.Sprintf(" ε = %s. Gap is the loss on the test rows, weighed by the parties' votes on them, over that of the "+
				"fit without noise to all %d auxiliary rows, of the same ridge.",
				dp.Epsilon(rowsEpsilon), t.aux),
		Points: points,
		Open: t.openData(func(ctx context.Context, tr *trial) (frame.Measure, error) {
			shares := votesOf(tr.tested, tr.test)
			best := map[float64]float64{}
			for _, ridge := range auxRidges {
				var err error
				if best[ridge], err = tr.lossWith(ctx, tr.aux.Rows, auxLine{softExact, ridge}, shares); err != nil {
					return nil, err
				}
			}
			return func(ctx context.Context, p frame.Point) (frame.Measurement, error) {
				series, n, _ := strings.Cut(p.Series, "@")
				rows, _ := strconv.Atoi(n)
				lines := listAuxLines()
				l := lines[slices.IndexFunc(lines, func(l auxLine) bool { return l.String() == series })]
				loss, err := tr.lossWith(ctx, rows, l, shares)
				return frame.Measurement{Values: []frame.Value{{Metric: gap, Value: loss - best[l.ridge]}}, Bill: p.Epsilon}, err
			}, nil
		}),
		Draw:  drawRows,
		Judge: judgeRows,
		Notes: func(s *frame.Summary) (out []string) {
			for _, l := range listAuxLines() {
				text := l.String() + ":"
				for _, n := range auxRows {
					st := l.gapAt(s, n)
					text += fmt.Sprintf(" %.4f ± %.4f at %d rows,", st.Mean, st.StdErr, n)
				}
				out = append(out, text[:len(text)-1]+".")
			}
			return append(out, "Votes as shares are smooth, so a hundred rows teach nearly all; what is left of the gap at "+
				"this ε is what privacy costs, whatever N.", "± is the standard error over repeats.")
		},
	}
}

// lossWith is the loss of a line's fit to so many auxiliary rows.
func (tr *trial) lossWith(ctx context.Context, rows int, l auxLine, shares []float64) (float64, error) {
	p := multiparty.Defaults()
	p.Reg, p.Epsilon, p.NotPrivate = l.ridge, l.epsilon(), l.epsilon() == 0
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
	for _, line := range listAuxLines() {
		series := plot.Series{Name: line.String()}
		for _, n := range auxRows {
			addPoint(&series, float64(n), line.gapAt(s, n))
		}
		l.Series = append(l.Series, series)
	}
	return l
}

// judgeRows judges the ridge fixed first; beside it the readings and the ridge that
// were chosen after results.
func judgeRows(s *frame.Summary) []frame.Check {
	few, many := auxRows[0], auxRows[len(auxRows)-1]
	slopeOf := func(ridge float64) frame.Stat {
		return s.Statistic(func(s *frame.Summary) float64 {
			var x, y []float64
			for _, n := range auxRows {
				x, y = append(x, math.Log(float64(n))), append(y, math.Log(max(auxLine{softExact, ridge}.gapAt(s, n).Mean, 1e-9)))
			}
			return fitSlope(x, y)
		})
	}
	// gaps is above 0 where the gap with many rows is above the part of that with few.
	gaps := func(line auxLine, part float64) frame.Stat {
		return s.Statistic(func(s *frame.Summary) float64 { return line.gapAt(s, many).Mean - part*line.gapAt(s, few).Mean })
	}
	fixed, chosen := slopeOf(auxRidges[0]), slopeOf(auxRidges[1])
	private := auxLine{soft, auxRidges[0]}
	a, b := private.gapAt(s, few), private.gapAt(s, many)
	later := auxLine{soft, auxRidges[1]}
	c, d := later.gapAt(s, few), later.gapAt(s, many)
	const after = "reading and ridge chosen on 2026-11-20, after results"
	return []frame.Check{
		{What: "slope of log gap against log N, without noise", Paper: "-1 (read as: from -1.4 to -0.6)",
			Ours: fmt.Sprintf("%.2f ± %.2f", fixed.Mean, fixed.StdErr), Parts: []frame.Part{frame.Within(fixed, -1.4, -0.6)}},
		{What: fmt.Sprintf("gap at ε = %s, %d rows against %d", dp.Epsilon(rowsEpsilon), many, few),
			Paper: "falls to what privacy alone costs (read as: to less than half)",
			Ours:  fmt.Sprintf("%.4f ± %.4f against %.4f ± %.4f", b.Mean, b.StdErr, a.Mean, a.StdErr),
			Parts: []frame.Part{frame.Below(gaps(private, 0.5), 0)}},
		{What: "slope of log gap against log N, without noise, small ridge",
			Paper: "-1, as a bound from above (read as: at most -0.6)",
			Ours:  fmt.Sprintf("%.2f ± %.2f", chosen.Mean, chosen.StdErr), Parts: []frame.Part{frame.Below(chosen, -0.6)}, Later: after},
		{What: fmt.Sprintf("gap at ε = %s, %d rows less %d, small ridge", dp.Epsilon(rowsEpsilon), many, few),
			Paper: "the number of auxiliary rows does not touch privacy (read as: no larger, but for two standard errors)",
			Ours:  fmt.Sprintf("%.4f ± %.4f against %.4f ± %.4f", d.Mean, d.StdErr, c.Mean, c.StdErr),
			Parts: []frame.Part{{Of: gaps(later, 1), Low: math.Inf(-1), High: 0, Weak: true}}, Later: after},
	}
}
