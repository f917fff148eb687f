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
	"true_positives": "true positives", "false_positives": "false positives", "false_negatives": "false negatives",
	"true_negatives": "true negatives", "net_benefit": "net benefit", "score_minus_rate": "mean score minus rate",
	"pr_auc": "PR-AUC", "lift_at_10_percent": "lift at 10 %",
	"auc_difference": "AUC, difference", "log_loss_difference": "log loss, difference",
	"accuracy_difference": "accuracy, difference",
	"auc_first":           "AUC, first model", "auc_second": "AUC, second model",
	"log_loss_first": "log loss, first model", "log_loss_second": "log loss, second model",
	"accuracy_first": "accuracy, first model", "accuracy_second": "accuracy, second model",
}

// Sentences that stand wherever a report does.
const (
	methodWords = "One noisy histogram of scores by label was released, and every number here follows from it. Within a cell of " +
		"the histogram scores are taken as evenly spread."
	jointWords = "Curves, calibration and groups have wider intervals, which hold together: at all thresholds, or for all " +
		"groups and their numbers. So the reader may pick a threshold or a group after seeing them."
	benefitWords = "Net benefit counts true positives less false positives per row. A false positive weighs as the odds of the " +
		"threshold: at 0.2 four false positives cancel one true one. That of predicting everybody is drawn beside it. It is " +
		"unknown where its interval is wider than twice the upper end of the positive rate."
)

// limitWords are what a report does not say.
var limitWords = []string{
	"Intervals assume that the held-out rows were drawn from those on which the model is to be judged, and that it was not " +
		"trained on them.",
	"Missing cells and cells beyond the declared ranges were read as the schema says, and were not counted here.",
}

func intervalWords() string {
	return fmt.Sprintf("Intervals hold the true number about %.0f %% of the time. They cover the noise and the choice of rows.",
		100*Confidence)
}

// WriteText writes the report as text for readers.
func (r *Report) WriteText(out io.Writer) error {
	var b strings.Builder
	rel := r.Release
	b.WriteString(r.describePrice() + "\n")
	for _, line := range r.describeRows() {
		b.WriteString(line + "\n")
	}
	b.WriteString(intervalWords() + "\n\n")
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, n := range r.Numbers {
		fmt.Fprintf(w, "%s\t%s\n", titles[n.Name], n.Estimate)
	}
	w.Flush()
	if rel.Models == 2 {
		b.WriteString("\nDifferences are the second model's number less the first one's, on the same rows.\n")
	}
	if len(rel.Levels) == 2 {
		b.WriteString("\n" + strings.ReplaceAll(r.describeThreshold(), ". ", ".\n") + "\n")
	}
	if len(r.Calibration) > 0 {
		fmt.Fprintf(&b, "\nCalibration; the intervals hold together\n")
		w = tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
		fmt.Fprintf(w, "score\tshare of %s\n", rel.Levels[rel.Positive])
		for _, g := range r.Calibration {
			fmt.Fprintf(w, "%.4f to %.4f\t%s\n", g.From, g.To, g.Share)
		}
		w.Flush()
	}
	if r.Groups != nil {
		fmt.Fprintf(&b, "\nGroups by %s\n%s\n", rel.By, strings.Join(r.describeGroups(), "\n"))
		for _, g := range r.Groups {
			if !g.Told {
				continue
			}
			fmt.Fprintf(&b, "\n%s = %s\n", rel.By, g.Name)
			w = tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
			for _, n := range g.Numbers {
				fmt.Fprintf(w, "%s\t%s\n", titles[n.Name], n.Estimate)
			}
			w.Flush()
		}
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// describePrice says what is protected, and the price.
func (r *Report) describePrice() string {
	rel, unit := r.Release, "one row"
	if rel.Persons {
		unit = "all rows of one person"
	}
	price := "epsilon = " + rel.Epsilon.String()
	if rel.Delta > 0 {
		price += ", delta = " + rel.Delta.String()
	}
	return fmt.Sprintf("Private: %s protects %s of %s in the held-out table.", price, rel.Scope.Words(), unit)
}

// describeRows says the size of the table if it is public.
func (r *Report) describeRows() []string {
	switch rel := r.Release; {
	case rel.Units > 0 && rel.Persons:
		return []string{fmt.Sprintf("The table has %s; each counts for one row.", plaintext.Count(rel.Units, "person"))}
	case rel.Units > 0:
		return []string{fmt.Sprintf("The table has %s.", plaintext.Count(rel.Units, "row"))}
	}
	return nil
}

// describeOutcome says what is predicted.
func (r *Report) describeOutcome() []string {
	rel := r.Release
	if len(rel.Levels) > 2 {
		return []string{fmt.Sprintf("%s, one of %d classes.", rel.Label, len(rel.Levels))}
	}
	return []string{fmt.Sprintf("%s, with the positive class %s and the other class %s.", rel.Label, rel.Levels[rel.Positive],
		rel.Levels[1-rel.Positive])}
}

// describeThreshold says which rows are predicted positive.
func (r *Report) describeThreshold() string {
	text := fmt.Sprintf("Rows that score at least %.4g are predicted %s.", r.Threshold, r.Release.Levels[r.Release.Positive])
	if r.Chosen {
		text += " This is the cut of the histogram that suits the choice best by its counts. Intervals of what depends on it are wider: they hold at " +
			"all thresholds together."
	}
	return text
}

// describeGroups says how numbers of groups are read, and of which nothing is told.
func (r *Report) describeGroups() []string {
	out := []string{"Intervals of all numbers of all groups hold together. Mean score minus rate is 0 if scores are calibrated."}
	if names := r.withoutGroup(); len(names) > 0 {
		out = append(out, fmt.Sprintf("Too few rows to tell at this price: %s. The noisy counts of these groups could be those of "+
			"groups with hardly any rows.", strings.Join(names, ", ")))
	}
	return out
}

// shortly writes the value and its interval with three digits.
func (e Estimate) shortly() string {
	if !e.Known {
		return fmt.Sprintf("unknown (%.3f to %.3f)", e.Low, e.High)
	}
	return fmt.Sprintf("%.3f (%.3f to %.3f)", e.Value, e.Low, e.High)
}

// String writes the value and its interval.
func (e Estimate) String() string {
	if !e.Known {
		return fmt.Sprintf("unknown  (%.4f to %.4f)", e.Low, e.High)
	}
	return fmt.Sprintf("%.4f  (%.4f to %.4f)", e.Value, e.Low, e.High)
}
