// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math"

	"github.com/discreet-dp/discreet/internal/train/audit"
	"github.com/discreet-dp/discreet/lab/internal/plot"
)

// drawAudit draws an audit to an .svg or .png file.
func (a *app) drawAudit(path string, r *audit.Report) error { return a.drawChart(path, auditChart(r)) }

// auditChart draws the distribution of the chosen statistic on the two neighbours.
func auditChart(r *audit.Report) *plot.Lines {
	const most = 60 // characters of a text of the figure
	short := func(s string) string {
		if len(s) > most {
			s = s[:most-3] + "..."
		}
		return s
	}
	fig := &plot.Lines{
		Title:    fmt.Sprintf("Audit: epsilon of at least %.3g shown, %g claimed", r.LowerBound, r.Claim),
		Subtitle: short(r.Subject),
		XLabel:   short(r.Shape.Statistic),
		YLabel:   "share of runs",
		Note: fmt.Sprintf("%s: %d against %d in %d runs each; confidence %.9g. %s.", short(r.Event), r.Counts[0],
			r.Counts[1], r.Measured, r.Confidence, r.Verdict),
	}
	for side, name := range []string{"one table", "its neighbour"} {
		fig.Series = append(fig.Series, plot.Series{Name: name, X: r.Shape.At, Y: r.Shape.Share[side]})
	}
	if n := len(r.Shape.At); n > 1 {
		for i := range 5 {
			at := r.Shape.At[i*(n-1)/4]
			if round := roundTo(at, r.Shape.At[n-1]-r.Shape.At[0]); len(fig.XTicks) == 0 ||
				round > fig.XTicks[len(fig.XTicks)-1] {
				fig.XTicks = append(fig.XTicks, round)
			}
		}
	}
	return fig
}

// roundTo keeps the digits of x that are visible on an axis of that length.
func roundTo(x, length float64) float64 {
	unit := math.Pow(10, math.Floor(math.Log10(length))-1)
	return math.Round(x/unit) * unit
}
