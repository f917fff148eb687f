// SPDX-License-Identifier: Apache-2.0

package forecast

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/train"
)

// Quote is the cost of a training, and a forecast of what it would learn, which is nil unless
// requested.
type Quote struct {
	*train.Quote
	Forecast *Forecast `json:"forecast,omitempty"`
}

// WriteText writes the quote as text for readers; words names steps.
func (q *Quote) WriteText(w io.Writer, words func(dp.Step) string) error {
	if err := q.Quote.WriteText(w, words); err != nil || q.Forecast == nil {
		return err
	}
	return q.Forecast.WriteText(w)
}

// WriteText writes the forecast as text for readers.
func (f *Forecast) WriteText(out io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, `
what it would learn, on INVENTED tables: %d of %d rows each, made from the schema
alone; columns are independent and uniform%s, and the label follows
%s columns by a law of known strength. Your table may be easier or harder.

`, f.Repeats, f.Rows, f.shareText(), f.Role)
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, "  AUC (a constant has 0.5)\tof the law\twithout noise\tof this plan\tit learns\n")
	for _, s := range f.Signals {
		from := fmt.Sprintf("all %d columns contribute equally", s.Columns)
		if s.Columns == 1 {
			from = "one column determines all"
		}
		ideal := "none"
		if s.WithoutNoise != nil {
			ideal = fmt.Sprintf("%.3f", s.WithoutNoise.Mean)
		}
		fmt.Fprintf(w, "  %s\t%.3f\t%s\t%s\t%s\n", from, s.Law, ideal, s.Private, s.Verdict)
	}
	w.Flush()
	b.WriteString("\n  nothing: it learns less than a tenth of what the law has above 0.5, or less than two\n" +
		"  standard errors; little: less than half of it; part: less than nine tenths; most: more. If a fit\n" +
		"  without noise learns little too, use more rows or another learner; a larger epsilon won't help.\n")
	if len(f.Columns) > 0 {
		fmt.Fprintf(&b, "\n  %s columns kept, the best ones, if the second contributes half as much as the first,\n"+
			"  the third a third, and so on:\n", f.Role)
		w = tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
		for _, c := range f.Columns {
			note := ""
			if c.Columns == f.Best {
				note = "as good as any: ignore the others, if you know them beforehand"
				if c.Columns == f.Columns[len(f.Columns)-1].Columns {
					note = "best"
				}
			}
			fmt.Fprintf(w, "  %d\t%s\t%s\n", c.Columns, c.Private, note)
		}
		w.Flush()
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// shareText states the share of positive rows that was assumed.
func (f *Forecast) shareText() string {
	text := ""
	if f.Persons {
		text = ", one row of each person"
	}
	if f.Positives != nil {
		text += fmt.Sprintf(", %.3g of the rows positive", *f.Positives)
	}
	return text
}

// String returns the mean and the standard deviation of single trainings.
func (m Mean) String() string { return fmt.Sprintf("%.3f +- %.3f", m.Mean, m.StdDev) }
