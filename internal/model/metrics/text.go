// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// WriteText writes the report for people; label is the name of the column.
func (r *Report) WriteText(out io.Writer, label string) error {
	auc := "undefined: some class has no row"
	if r.AUC != nil {
		auc = fmt.Sprintf("%.4f", *r.AUC)
	}
	var b strings.Builder
	b.WriteString("NOT PRIVATE: exact numbers about these rows, for rows held out of training\n")
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "rows\t%d\n", r.Rows)
	fmt.Fprintf(w, "accuracy\t%.4f\n", r.Accuracy)
	fmt.Fprintf(w, "always %s\t%.4f\n", r.Majority, r.MajorityAccuracy)
	fmt.Fprintf(w, "balanced accuracy\t%.4f\n", r.BalancedAccuracy)
	fmt.Fprintf(w, "AUC\t%s\n", auc)
	fmt.Fprintf(w, "log loss\t%.4f\n", r.LogLoss)
	fmt.Fprintf(w, "calibration error\t%.4f\n", r.CalibrationError)
	r.Ranking.writeText(w)
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

// writeText writes the lines of a label with two levels.
func (r *Ranking) writeText(w io.Writer) {
	if r == nil {
		return
	}
	say := func(name string, x *float64, without string) {
		if x == nil {
			fmt.Fprintf(w, "%s\tundefined: %s\n", name, without)
			return
		}
		fmt.Fprintf(w, "%s\t%.4f\n", name, *x)
	}
	say("threshold", r.Threshold, "no score reaches it")
	say("precision", r.Precision, "nobody is predicted positive")
	say("recall", r.Recall, "no row is positive")
	say("PR-AUC", r.PRAUC, "no row is positive")
	say("lift at 10 %", r.LiftTop10, "no row is positive")
	fmt.Fprintf(w, "positive rate\t%.4f true, %.4f predicted, %.4f expected by scores\n", r.PositiveRate,
		r.PredictedRate, r.ExpectedRate)
}
