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
	fmt.Fprintf(w, "balanced accuracy\t%.4f\n", r.BalancedAccuracy)
	fmt.Fprintf(w, "AUC\t%s\n", auc)
	fmt.Fprintf(w, "log loss\t%.4f\n", r.LogLoss)
	fmt.Fprintf(w, "calibration error\t%.4f\n", r.CalibrationError)
	w.Flush()
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
