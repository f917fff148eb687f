// SPDX-License-Identifier: Apache-2.0

//go:build !js

package evaluation

import (
	"fmt"
	"io"
	"strings"

	"github.com/discreet-dp/discreet/internal/ground/sheet"
)

// WriteHTML writes the report as a page, in the order of the TRIPOD+AI statement (Collins and others, BMJ 2024): what was
// protected, participants, outcome, model and methods, then performance, and its limits.
func (r *Report) WriteHTML(w io.Writer) error {
	rel := r.Release
	page := &sheet.Sheet{Title: "Private evaluation of " + rel.Label, Lead: r.describePrice(), Parts: []sheet.Part{
		{Title: "Participants", Text: r.describeRows()},
		{Title: "Outcome", Text: r.describeOutcome()},
		{Title: "Methods", Text: []string{methodWords, intervalWords(), jointWords}},
		{Title: "Performance", Table: tableOf(r.Numbers)},
	}}
	add := func(p sheet.Part) { page.Parts = append(page.Parts, p) }
	if len(r.Points) > 1 {
		charts := r.charts()
		if charts.calibration != nil {
			add(sheet.Part{Title: "Calibration", Charts: charts.calibration})
		}
		add(sheet.Part{Title: "Clinical utility", Text: []string{benefitWords}, Charts: charts.benefit})
		add(sheet.Part{Title: "Classification", Text: []string{r.describeThreshold()}, Charts: charts.classes, Picks: r.confusions()})
	}
	if r.Groups != nil {
		add(sheet.Part{Title: "Groups by " + rel.By, Text: r.describeGroups(), Table: r.tableOfGroups()})
	}
	add(sheet.Part{Title: "Limits", Text: limitWords})
	return page.WriteHTML(w)
}

// tableOf is a table of numbers with their intervals.
func tableOf(numbers []Number) sheet.Table {
	out := sheet.Table{Head: []string{"", "estimate", "from", "to"}}
	for _, n := range numbers {
		value := "unknown"
		if n.Known {
			value = fmt.Sprintf("%.4f", n.Value)
		}
		out.Rows = append(out.Rows, []string{titles[n.Name], value, fmt.Sprintf("%.4f", n.Low), fmt.Sprintf("%.4f", n.High)})
	}
	return out
}

// tableOfGroups has a row for each group that has numbers.
func (r *Report) tableOfGroups() (out sheet.Table) {
	for _, g := range r.Groups {
		if !g.Told {
			continue
		}
		row := []string{g.Name}
		if out.Head == nil {
			out.Head = []string{r.Release.By}
		}
		for _, n := range g.Numbers {
			if len(out.Rows) == 0 {
				out.Head = append(out.Head, titles[n.Name])
			}
			row = append(row, n.Estimate.shortly())
		}
		out.Rows = append(out.Rows, row)
	}
	return out
}

// confusions are the tables of true and predicted classes at each threshold.
func (r *Report) confusions() *sheet.Picks {
	rel := r.Release
	positive, other := rel.Levels[rel.Positive], rel.Levels[1-rel.Positive]
	out := &sheet.Picks{Label: "Shares of all rows by true and predicted class, at a threshold to pick:"}
	for k, p := range r.Points {
		by := map[string]string{}
		for _, n := range p.Numbers {
			by[n.Name] = n.Estimate.shortly()
		}
		if p.Threshold <= r.Threshold {
			out.First = k
		}
		out.Tables = append(out.Tables, sheet.Pick{Name: fmt.Sprintf("threshold %.4g", p.Threshold),
			Table: sheet.Table{Head: []string{"", "predicted " + positive, "predicted " + other},
				Rows: [][]string{{"truly " + positive, by["true_positives"], by["false_negatives"]},
					{"truly " + other, by["false_positives"], by["true_negatives"]},
					{"net benefit", by[benefitName], ""}}}})
	}
	return out
}

// drawn are the charts of one model of two classes, by part of the page.
type drawn struct{ calibration, benefit, classes []sheet.Chart }

// charts draws them.
func (r *Report) charts() (out drawn) {
	class := r.Release.Levels[r.Release.Positive]
	add := func(s *sheet.Line, x float64, e Estimate) {
		if e.Known && (len(s.X) == 0 || x > s.X[len(s.X)-1]) {
			s.X, s.Y = append(s.X, x), append(s.Y, e.Value)
			s.Low, s.High = append(s.Low, e.Low), append(s.High, e.High)
		}
	}
	// The mean score of a group is not released. It lies in the group, so that its point lies in a box.
	found := sheet.Line{Name: "rows"}
	for _, g := range r.Calibration {
		if e := g.Share; e.Known && e.High-e.Low < 1 { // or nothing is known of the group
			add(&found, g.From, e)
			found.Until = append(found.Until, g.To)
		}
	}
	if len(found.X) > 1 {
		out.calibration = []sheet.Chart{{Title: "Calibration", Subtitle: "A box that misses the dashed line shows scores that are not calibrated.",
			XLabel: "group of scores of " + class, YLabel: "observed share", Note: "A box is as wide as its group, whose mean score is " +
				"anywhere in it, and as high as the share's interval. Boxes hold together.",
			Lines: []sheet.Line{found, {Name: "calibrated", X: []float64{0, 1}, Y: []float64{0, 1}, Dashed: true}}}}
	}
	lines := map[string]*sheet.Line{}
	for _, name := range []string{"precision", "recall", benefitName} {
		lines[name] = &sheet.Line{Name: strings.ReplaceAll(name, "net_benefit", "model"), Band: true}
	}
	top := r.benefitTop()
	for _, p := range r.Points {
		for _, n := range p.Numbers {
			if line := lines[n.Name]; line != nil && (n.Name != benefitName || n.Value >= -top/4 && n.Value <= top) {
				add(line, p.Threshold, n.Estimate)
			}
		}
	}
	if line := lines[benefitName]; len(line.X) > 1 {
		out.benefit = []sheet.Chart{{Title: "Decision curve", Subtitle: "Where the model is above both, it helps. Predicting nobody is 0.",
			XLabel: "threshold", YLabel: "net benefit per row", Low: -top / 4, High: top, Note: jointBand,
			Lines: []sheet.Line{*line, r.benefitOfAll(-top / 4)}}}
	}
	if precision, recall := lines["precision"], lines["recall"]; len(precision.X) > 1 && len(recall.X) > 1 {
		out.classes = []sheet.Chart{{Title: "Precision and recall by threshold",
			Subtitle: "Rows that score the threshold or more are predicted " + class + ".", XLabel: "threshold", YLabel: "share",
			Note: jointBand, Lines: []sheet.Line{*precision, *recall}}}
	}
	return out
}

const jointBand = "A band holds at all thresholds together."

// benefitTop is where the axis of net benefits ends: they are at most the share of positive rows.
func (r *Report) benefitTop() float64 {
	rate, _ := r.Find("positive_rate")
	for _, top := range []float64{0.02, 0.04, 0.1, 0.2, 0.4, 1} {
		if top >= 1.1*rate.Value {
			return top
		}
	}
	return 1
}

// benefitOfAll is the net benefit of predicting everybody, down to low.
func (r *Report) benefitOfAll(low float64) sheet.Line {
	rate, _ := r.Find("positive_rate")
	out := sheet.Line{Name: "predict everybody", X: []float64{0}, Y: []float64{rate.Value}, Dashed: true}
	for k := 1; k < 100; k++ {
		at := float64(k) / 100
		if y := rate.Value - (1-rate.Value)*at/(1-at); y >= low {
			out.X, out.Y = append(out.X, at), append(out.Y, y)
		}
	}
	return out
}
