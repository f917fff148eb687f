// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// WriteText writes the report as text for readers; label is the name of the column.
func (r *Report) WriteText(out io.Writer, label string) error {
	var b strings.Builder
	b.WriteString("NOT PRIVATE: exact numbers about these rows. They hold for new rows only if training did not read these.\n")
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, fact := range r.Facts() {
		fmt.Fprintf(w, "%s\t%s\n", fact[0], fact[1])
	}
	w.Flush()
	for _, level := range r.Unpredicted {
		fmt.Fprintf(&b, "no row is predicted %s\n", level)
	}
	fmt.Fprintf(&b, "\n%s: true (down) and predicted (across)\n", label)
	w = tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "\t%s\t\n", strings.Join(r.Confusion.Labels, "\t"))
	for k, counts := range r.Confusion.Counts {
		fmt.Fprintf(w, "%s\t", r.Confusion.Labels[k])
		for _, n := range counts {
			fmt.Fprintf(w, "%d\t", n)
		}
		fmt.Fprintln(w)
	}
	w.Flush()
	_, err := io.WriteString(out, b.String())
	return err
}

// Facts returns the numbers as pairs of a name and a formatted value.
func (r *Report) Facts() (facts [][2]string) {
	say := func(name, format string, args ...any) {
		facts = append(facts, [2]string{name, fmt.Sprintf(format, args...)})
	}
	known := func(name string, x *float64, without string) {
		if x == nil {
			say(name, "undefined: %s", without)
			return
		}
		say(name, "%.4f", *x)
	}
	say("rows", "%d", r.Rows)
	say("accuracy", "%.4f", r.Accuracy)
	say("always "+r.Majority, "%.4f", r.MajorityAccuracy)
	say("balanced accuracy", "%.4f", r.BalancedAccuracy)
	known("AUC", r.AUC, "some class has no row")
	say("log loss", "%.4f", r.LogLoss)
	say("calibration error", "%.4f", r.CalibrationError)
	if q := r.Ranking; q != nil {
		known("threshold", q.Threshold, "no row is predicted positive")
		known("precision", q.Precision, "no row is predicted positive")
		known("recall", q.Recall, "no row is positive")
		known("PR-AUC", q.PRAUC, "no row is positive")
		known("lift at 10 %", q.LiftTop10, "no row is positive")
		say("positive rate", "%.4f true, %.4f predicted, %.4f expected by scores", q.PositiveRate, q.PredictedRate, q.ExpectedRate)
	}
	return facts
}
