// SPDX-License-Identifier: Apache-2.0

package evaluation

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/discreet-dp/discreet/internal/ground/plaintext"
)

// titles are the names of numbers in the text of a report.
var titles = map[string]string{
	"auc": "AUC", "log_loss": "log loss", "accuracy": "accuracy", "positive_rate": "positive rate",
	"precision": "precision", "recall": "recall", "predicted_rate": "predicted positive", "cost": "cost per row",
	"pr_auc": "PR-AUC", "lift_at_10_percent": "lift at 10 %",
	"auc_difference": "AUC, difference", "log_loss_difference": "log loss, difference",
	"accuracy_difference": "accuracy, difference",
	"auc_first":           "AUC, first model", "auc_second": "AUC, second model",
	"log_loss_first": "log loss, first model", "log_loss_second": "log loss, second model",
	"accuracy_first": "accuracy, first model", "accuracy_second": "accuracy, second model",
}

// WriteText writes the report as text for readers.
func (r *Report) WriteText(out io.Writer) error {
	var b strings.Builder
	rel := r.Release
	b.WriteString(strings.ReplaceAll(r.describe(), ". ", ".\n") + "\n")
	fmt.Fprintf(&b, "Intervals hold the true number about %.0f %% of the time. They cover the noise and the choice of rows.\n\n",
		100*Confidence)
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, n := range r.Numbers {
		fmt.Fprintf(w, "%s\t%s\n", titles[n.Name], n.Estimate)
	}
	w.Flush()
	if rel.Models == 2 {
		b.WriteString("\nDifferences are the second model's number less the first one's, on the same rows.\n")
	}
	if len(rel.Levels) == 2 {
		fmt.Fprintf(&b, "\nRows that score at least %.4g are predicted %s.\n", r.Threshold, rel.Levels[rel.Positive])
	}
	if r.Chosen {
		b.WriteString("The costs chose this threshold. Intervals of what depends on it are wider: they hold at all thresholds\n" +
			"together.\n")
	}
	if len(r.Calibration) > 0 {
		fmt.Fprintf(&b, "\nCalibration\n")
		w = tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
		fmt.Fprintf(w, "score\tshare of %s\n", rel.Levels[rel.Positive])
		for _, g := range r.Calibration {
			fmt.Fprintf(w, "%.4f to %.4f\t%s\n", g.From, g.To, g.Share)
		}
		w.Flush()
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// describe describes what is protected, the price, and the size of the table if it is public.
func (r *Report) describe() string {
	rel, unit := r.Release, "one row"
	if rel.Persons {
		unit = "all rows of one person"
	}
	price := "epsilon = " + rel.Epsilon.String()
	if rel.Delta > 0 {
		price += ", delta = " + rel.Delta.String()
	}
	text := fmt.Sprintf("Private: %s protects %s of %s in the held-out table.", price, rel.Scope.Words(), unit)
	if rel.Units > 0 && rel.Persons {
		return text + fmt.Sprintf(" The table has %s; each counts for one row.", plaintext.Count(rel.Units, "person"))
	}
	if rel.Units > 0 {
		return text + fmt.Sprintf(" The table has %s.", plaintext.Count(rel.Units, "row"))
	}
	return text
}

// String writes the value and its interval.
func (e Estimate) String() string {
	if !e.Known {
		return fmt.Sprintf("unknown  (%.4f to %.4f)", e.Low, e.High)
	}
	return fmt.Sprintf("%.4f  (%.4f to %.4f)", e.Value, e.Low, e.High)
}
