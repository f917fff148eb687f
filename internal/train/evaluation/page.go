// SPDX-License-Identifier: Apache-2.0

//go:build !js

package evaluation

import (
	"fmt"
	"io"

	"github.com/discreet-dp/discreet/internal/ground/sheet"
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
func (r *Report) charts() []sheet.Chart {
	class := r.Release.Levels[r.Release.Positive]
	spread := fmt.Sprintf("%.0f %% intervals.", 100*Confidence)
	add := func(s *sheet.Line, x float64, e Estimate) {
		if e.Known && (len(s.X) == 0 || x > s.X[len(s.X)-1]) {
			s.X, s.Y = append(s.X, x), append(s.Y, e.Value)
			s.Low, s.High = append(s.Low, e.Low), append(s.High, e.High)
		}
	}
	found := sheet.Line{Name: "rows"}
	for _, g := range r.Calibration {
		if g.Share.High-g.Share.Low < 1 { // or nothing is known of the group
			add(&found, (g.From+g.To)/2, g.Share)
		}
	}
	precision, recall := sheet.Line{Name: "precision", Band: true}, sheet.Line{Name: "recall", Band: true}
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
	var out []sheet.Chart
	if len(found.X) > 1 {
		out = append(out, sheet.Chart{Title: "Calibration", Subtitle: "Calibrated scores lie on the dashed line.",
			XLabel: "middle of a group of scores of " + class, YLabel: "observed share", Note: "Bars: " + spread,
			Lines: []sheet.Line{found, {Name: "calibrated", X: []float64{0, 1}, Y: []float64{0, 1}, Dashed: true}}})
	}
	if len(precision.X) > 1 && len(recall.X) > 1 {
		out = append(out, sheet.Chart{Title: "Precision and recall by threshold",
			Subtitle: "Rows that score the threshold or more are predicted " + class + ".", XLabel: "threshold", YLabel: "share",
			Note: "Bands: " + spread, Lines: []sheet.Line{precision, recall}})
	}
	return out
}
