// SPDX-License-Identifier: Apache-2.0

//go:build !js

package heldout

import (
	"crypto/sha256"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/internal/ground/sheet"
	"github.com/discreet-dp/discreet/internal/model"
)

const notPrivate = "Not private: exact numbers about the rows that were evaluated"

// charts draws the charts of an evaluation: calibration and, for two classes, precision against recall
// and the positive rows among those with the highest scores.
func (e *Evaluation) charts() []sheet.Chart {
	scored := "of the predicted class"
	if e.positive != "" {
		scored = "of " + e.positive
	}
	found := sheet.Line{Name: "rows"}
	for _, b := range e.Calibration {
		if n := len(found.X); b.Rows > 0 && (n == 0 || b.Score > found.X[n-1]) {
			found.X, found.Y = append(found.X, b.Score), append(found.Y, b.Share)
		}
	}
	out := []sheet.Chart{{
		Title: "Calibration", Subtitle: "Rows in ten bins by score. Calibrated scores lie on the dashed line.",
		XLabel: "mean score " + scored, YLabel: "observed share", Note: notPrivate,
		Lines: []sheet.Line{found, {Name: "calibrated", X: []float64{0, 1}, Y: []float64{0, 1}, Dashed: true}},
	}}
	if e.Ranking == nil || len(e.Ranking.Points) < 2 {
		return out
	}
	precision, recall, gain := sheet.Line{Name: "precision"}, sheet.Line{Name: "recall"}, sheet.Line{Name: "found"}
	roc := sheet.Line{Name: "model"}
	for _, p := range e.Curve() {
		roc.X, roc.Y = append(roc.X, p.FalsePositives), append(roc.Y, p.TruePositives)
	}
	for i := range e.Ranking.Points {
		p := e.Ranking.Points[len(e.Ranking.Points)-1-i]
		precision.X, precision.Y = append(precision.X, p.Threshold), append(precision.Y, p.Precision)
		recall.X, recall.Y = append(recall.X, p.Threshold), append(recall.Y, p.Recall)
		q := e.Ranking.Points[i]
		gain.X, gain.Y = append(gain.X, q.Predicted), append(gain.Y, q.Recall)
	}
	if len(roc.X) > 1 { // some row is negative
		out = append(out, sheet.Chart{
			Title: "ROC curve", Subtitle: "Each point is a threshold. The dashed line is guessing.",
			XLabel: "false positive rate", YLabel: "true positive rate", Note: notPrivate,
			Lines: []sheet.Line{roc, {Name: "guessing", X: []float64{0, 1}, Y: []float64{0, 1}, Dashed: true}},
		})
	}
	return append(out, sheet.Chart{
		Title: "Precision and recall by threshold", Subtitle: "Rows that score the threshold or more are predicted " +
			e.positive + ".",
		XLabel: "threshold", YLabel: "share", Note: notPrivate,
		Lines: []sheet.Line{precision, recall},
	}, sheet.Chart{
		Title: "Found among the highest scores", Subtitle: "The dashed line is a random order.",
		XLabel: "share of rows predicted " + e.positive, YLabel: "share of them found",
		Note:  notPrivate,
		Lines: []sheet.Line{gain, {Name: "random", X: []float64{0, 1}, Y: []float64{0, 1}, Dashed: true}},
	})
}

// WriteHTML writes numbers and charts as one self-contained page.
func (e *Evaluation) WriteHTML(w io.Writer) error {
	file, err := model.Marshal(e.model)
	if err != nil {
		return err
	}
	page := &sheet.Sheet{
		Title: "Evaluation of " + e.label,
		Alarm: "NOT PRIVATE. The numbers on this page are exact. Show it only to people who may see the rows.",
		Lead: fmt.Sprintf("How well a model predicts %s for the %d rows that were given. It predicts new rows so well only if training did not read these. Data set %s; learner %s; "+
			"model file, SHA-256: %x.", e.label, e.Rows, e.model.Schema.Name, e.model.Learner, sha256.Sum256(file)),
		Parts: []sheet.Part{{Title: "Numbers"}, {Title: "True classes (down) and predicted classes (across)",
			Table: sheet.Table{Head: append([]string{""}, e.Confusion.Labels...)}}},
	}
	for _, fact := range e.Facts() {
		page.Parts[0].Rows = append(page.Parts[0].Rows, fact[:])
	}
	for k, counts := range e.Confusion.Counts {
		row := []string{e.Confusion.Labels[k]}
		for _, n := range counts {
			row = append(row, strconv.Itoa(n))
		}
		page.Parts[1].Rows = append(page.Parts[1].Rows, row)
	}
	if len(e.Unpredicted) > 0 {
		page.Parts[1].Note = "No row is predicted " + strings.Join(e.Unpredicted, ", ") + "."
	}
	if lines := e.describeCells(); len(lines) > 0 {
		cells := sheet.Part{Title: "Cells", Text: lines[:1]}
		for _, line := range lines[1:] {
			cells.Rows = append(cells.Rows, []string{line})
		}
		page.Parts = append(page.Parts, cells)
	}
	if charts := e.charts(); len(charts) > 0 {
		page.Parts = append(page.Parts, sheet.Part{Title: "Charts", Charts: charts})
	}
	return page.WriteHTML(w)
}
