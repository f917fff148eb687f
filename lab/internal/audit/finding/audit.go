// SPDX-License-Identifier: Apache-2.0

package finding

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/discreet-dp/discreet/lab/internal/audit"
	"github.com/discreet-dp/discreet/lab/internal/plot"
)

// Audit is the JSON form of an audit.
type Audit struct {
	Subject    string   `json:"subject"`
	Claim      float64  `json:"claim"` // ε
	Delta      float64  `json:"delta"`
	LowerBound float64  `json:"lower_bound"` // on ε
	Confidence float64  `json:"confidence"`
	Runs       int      `json:"runs"` // on each of the two neighbours
	Verdict    string   `json:"verdict"`
	Pair       string   `json:"pair"`
	Event      string   `json:"event"`
	Counts     [2]int   `json:"counts"` // of the event in the measured runs
	Counted    int      `json:"counted_runs"`
	Maximum    *float64 `json:"maximum"` // of the pair; null if unknown
}

// NewAudit converts r.
func NewAudit(r *audit.Report) Audit {
	out := Audit{
		Subject: r.Subject, Claim: r.Claim, Delta: r.Delta, LowerBound: r.LowerBound, Confidence: r.Confidence,
		Runs: r.Runs, Verdict: r.Verdict, Pair: r.Pair, Event: r.Event, Counts: r.Counts, Counted: r.Measured,
	}
	if r.Maximum > 0 {
		out.Maximum = &r.Maximum
	}
	return out
}

// WriteAudit writes an audit as text for readers.
func WriteAudit(w io.Writer, r *audit.Report) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", r.Subject)
	fmt.Fprintf(&b, "pair         %s\n", r.Pair)
	fmt.Fprintf(&b, "event        %s\n", r.Event)
	fmt.Fprintf(&b, "counted      %d against %d in %d runs each\n", r.Counts[0], r.Counts[1], r.Measured)
	fmt.Fprintf(&b, "claim        epsilon <= %g", r.Claim)
	if r.Delta > 0 {
		fmt.Fprintf(&b, ", delta <= %g", r.Delta)
	}
	fmt.Fprintf(&b, "\nmeasured     epsilon >= %.4g with confidence %.9g", r.LowerBound, r.Confidence)
	if r.Maximum > 0 {
		fmt.Fprintf(&b, "; a correct program shows at most %.4g on this pair", r.Maximum)
	}
	fmt.Fprintf(&b, "\nverdict      %s\n", r.Verdict)
	_, err := io.WriteString(w, b.String())
	return err
}

// AuditChart draws the distribution of the chosen statistic on the two neighbours.
func AuditChart(r *audit.Report) *plot.Lines {
	const most = 60 // characters of a text of the figure
	short := func(s string) string {
		if len(s) > most {
			s = s[:most-3] + "..."
		}
		return s
	}
	fig := &plot.Lines{
		Title:    fmt.Sprintf("Audit: epsilon of at least %.3g shown, %g claimed", r.LowerBound, r.Claim),
		Subtitle: short(r.Subject),
		XLabel:   short(r.Shape.Statistic),
		YLabel:   "share of runs",
		Note: fmt.Sprintf("%s: %d against %d in %d runs each; confidence %.9g. %s.", short(r.Event), r.Counts[0],
			r.Counts[1], r.Measured, r.Confidence, r.Verdict),
	}
	for side, name := range []string{"one table", "its neighbour"} {
		fig.Series = append(fig.Series, plot.Series{Name: name, X: r.Shape.At, Y: r.Shape.Share[side]})
	}
	if n := len(r.Shape.At); n > 1 {
		for i := range 5 {
			at := r.Shape.At[i*(n-1)/4]
			if round := roundTo(at, r.Shape.At[n-1]-r.Shape.At[0]); len(fig.XTicks) == 0 ||
				round > fig.XTicks[len(fig.XTicks)-1] {
				fig.XTicks = append(fig.XTicks, round)
			}
		}
	}
	return fig
}

// roundTo keeps the digits of x that are visible on an axis of that length.
func roundTo(x, length float64) float64 {
	unit := math.Pow(10, math.Floor(math.Log10(length))-1)
	return math.Round(x/unit) * unit
}
