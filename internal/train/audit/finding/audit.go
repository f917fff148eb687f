// SPDX-License-Identifier: Apache-2.0

package finding

import (
	"fmt"
	"io"
	"strings"

	"github.com/discreet-dp/discreet/internal/train/audit"
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
