// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"math"
	"path/filepath"

	"github.com/discreet-dp/discreet/internal/audit"
	"github.com/discreet-dp/discreet/internal/cli"
	"github.com/discreet-dp/discreet/internal/plot"
)

// drawAudit draws how the statistic that was chosen is distributed on the two
// neighbours.
func drawAudit(path string, r *audit.Report) error {
	const most = 60 // characters of a text of the figure
	short := func(s string) string {
		if len(s) > most {
			s = s[:most-3] + "..."
		}
		return s
	}
	fig := plot.Lines{
		Title:    fmt.Sprintf("Audit: epsilon of at least %.3g shown, %g claimed", r.LowerBound, r.Claim),
		Subtitle: short(r.Subject),
		XLabel:   short(r.Shape.Statistic),
		YLabel:   "share of runs",
		Note:     fmt.Sprintf("%s: %d against %d in %d runs each; confidence %.9g. %s.", short(r.Event), r.Counts[0], r.Counts[1], r.Measured, r.Confidence, r.Verdict),
	}
	for side, name := range []string{"one table", "its neighbour"} {
		fig.Series = append(fig.Series, plot.Series{Name: name, X: r.Shape.At, Y: r.Shape.Share[side]})
	}
	if n := len(r.Shape.At); n > 1 {
		for i := range 5 {
			at := r.Shape.At[i*(n-1)/4]
			if round := roundTo(at, r.Shape.At[n-1]-r.Shape.At[0]); len(fig.XTicks) == 0 || round > fig.XTicks[len(fig.XTicks)-1] {
				fig.XTicks = append(fig.XTicks, round)
			}
		}
	}
	return cli.WriteFile(path, func(w io.Writer) error {
		if filepath.Ext(path) == ".png" {
			return fig.WritePNG(w)
		}
		return fig.WriteSVG(w)
	})
}

// roundTo keeps the digits of x that matter on an axis of that length.
func roundTo(x, length float64) float64 {
	unit := math.Pow(10, math.Floor(math.Log10(length))-1)
	return math.Round(x/unit) * unit
}
