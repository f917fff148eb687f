// SPDX-License-Identifier: Apache-2.0

//go:build !js

package evaluation

import (
	"fmt"
	"io"

	"github.com/discreet-dp/discreet/internal/plot"
	"github.com/discreet-dp/discreet/internal/plot/sheet"
)

// WriteHTML writes the report as a page of numbers and charts, each with its intervals.
func (r *Report) WriteHTML(w io.Writer) error {
	rel := r.Release
	numbers := sheet.Table{Title: "Numbers", Head: []string{"", "estimate", "from", "to"},
		Note: fmt.Sprintf("Intervals hold the true number about %.0f %% of the time. They cover the noise and the choice of rows.",
			100*Confidence)}
	for _, n := range r.Numbers {
		value := "unknown"
		if n.Known {
			value = fmt.Sprintf("%.4f", n.Value)
		}
		numbers.Rows = append(numbers.Rows, []string{titles[n.Name], value, fmt.Sprintf("%.4f", n.Low), fmt.Sprintf("%.4f", n.High)})
	}
	if len(rel.Levels) == 2 {
		numbers.Note += fmt.Sprintf(" Rows that score at least %.4g are predicted %s.", r.Threshold, rel.Levels[rel.Positive])
	}
	page := &sheet.Sheet{Title: "Private evaluation of " + rel.Label, Lead: r.describe(), Tables: []sheet.Table{numbers}}
	if len(r.Points) > 1 {
		page.Charts = r.charts()
	}
	return page.WriteHTML(w)
}

// charts draws the charts of one model of two classes.
func (r *Report) charts() []*plot.Lines {
	class := r.Release.Levels[r.Release.Positive]
	tenths := []float64{0, 0.2, 0.4, 0.6, 0.8, 1}
	spread := fmt.Sprintf("%.0f %% intervals", 100*Confidence)
	add := func(s *plot.Series, x float64, e Estimate) {
		if e.Known && (len(s.X) == 0 || x > s.X[len(s.X)-1]) {
			s.X, s.Y = append(s.X, x), append(s.Y, e.Value)
			s.Low, s.High = append(s.Low, e.Low), append(s.High, e.High)
		}
	}
	found := plot.Series{Name: "rows"}
	for _, g := range r.Calibration {
		if g.Share.High-g.Share.Low < 1 { // or nothing is known of the group
			add(&found, (g.From+g.To)/2, g.Share)
		}
	}
	precision, recall := plot.Series{Name: "precision", Band: true}, plot.Series{Name: "recall", Band: true}
	for _, p := range r.Points {
		for _, n := range p.Numbers {
			switch n.Name {
			case "precision":
				add(&precision, p.Threshold, n.Estimate)
			case "recall":
				add(&recall, p.Threshold, n.Estimate)
			}
		}
	}
	var out []*plot.Lines
	if len(found.X) > 1 {
		out = append(out, &plot.Lines{Title: "Calibration", Subtitle: "Calibrated scores lie on the dashed line.",
			XLabel: "middle of a group of scores of " + class, YLabel: "observed share", XTicks: tenths, YTo: 1, Spread: spread,
			Series: []plot.Series{found, {Name: "calibrated", X: []float64{0, 1}, Y: []float64{0, 1}, Stroke: plot.Dashed}}})
	}
	if len(precision.X) > 1 && len(recall.X) > 1 {
		out = append(out, &plot.Lines{Title: "Precision and recall by threshold",
			Subtitle: "Rows that score the threshold or more are predicted " + class + ".", XLabel: "threshold", YLabel: "share",
			XTicks: tenths, YTo: 1, Spread: spread, Series: []plot.Series{precision, recall}})
	}
	return out
}
