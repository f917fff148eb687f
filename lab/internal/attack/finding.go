// SPDX-License-Identifier: Apache-2.0

package attack

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/lab/internal/plot"
)

// Attack is the JSON form of a membership attack.
type Attack struct {
	Learner    string       `json:"learner"`
	Epsilon    float64      `json:"epsilon"` // of the claim; 0 if there is none
	Delta      json.Number  `json:"delta"`
	Protects   dp.Scope     `json:"protects"`
	Rows       int          `json:"rows"`
	Runs       int          `json:"runs"` // measured trainings
	Taught     int          `json:"taught"`
	LowerBound float64      `json:"lower_bound"` // on ε
	Confidence float64      `json:"confidence"`
	Verdict    string       `json:"verdict"`
	Private    bool         `json:"private"` // always false: these numbers reveal information about the rows
	Kinds      []attackKind `json:"kinds"`
}

type attackKind struct {
	Name    string      `json:"name"`
	Targets int         `json:"targets"`
	Loss    attackCurve `json:"loss_threshold"`
	Ratio   attackCurve `json:"likelihood_ratio"`
}

type attackCurve struct {
	AUC       interval      `json:"auc"`
	Advantage interval      `json:"advantage"`
	Points    []attackPoint `json:"points"`
}

type attackPoint struct {
	FPR     interval `json:"fpr"`
	TPR     interval `json:"tpr"`
	Allowed *float64 `json:"allowed_tpr"` // null without a claim
}

type interval struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// NewAttack converts r, for a learner and a number of rows.
func NewAttack(learner string, rows int, r *MembershipReport) Attack {
	out := Attack{Learner: learner, Epsilon: r.Claim.Epsilon.Float(), Delta: json.Number(r.Claim.Delta.String()),
		Protects: r.Scope,
		Rows:     rows, Runs: r.Runs, Taught: r.Taught, LowerBound: r.Bound, Confidence: r.Confidence, Verdict: r.Verdict}
	for _, k := range r.Kinds {
		out.Kinds = append(out.Kinds, attackKind{k.Name, k.Targets, newAttackCurve(k.Loss, r.Claim),
			newAttackCurve(k.Ratio, r.Claim)})
	}
	return out
}

func newAttackCurve(c Curve, claim dp.Price) attackCurve {
	out := attackCurve{AUC: interval(c.AUC), Advantage: interval(c.Advantage)}
	for _, p := range c.Points {
		q := attackPoint{FPR: interval(p.FPR), TPR: interval(p.TPR)}
		if claim.Epsilon > 0 {
			most := MostTPR(claim.Epsilon.Float(), claim.Delta.Float(), p.FPR.Value)
			q.Allowed = &most
		}
		out.Points = append(out.Points, q)
	}
	return out
}

// WriteAttack writes a membership attack as text for readers.
func WriteAttack(w io.Writer, learner string, rows int, r *MembershipReport) error {
	var b strings.Builder
	eps, delta := r.Claim.Epsilon.Float(), r.Claim.Delta.Float()
	claimed := r.Claim.Epsilon > 0
	fmt.Fprintf(&b, "membership inference against learner %s: %d rows, %d trainings measured after %d that taught\n",
		learner, rows, r.Runs, r.Taught)
	fmt.Fprintf(&b, "inferred: %s of %s\n\n%-24s", r.Scope.Words(), r.Unit, "")
	for _, k := range r.Kinds {
		fmt.Fprintf(&b, " %-27s", fmt.Sprintf("%d %s", k.Targets, k.Name))
	}
	if claimed {
		b.WriteString(" allowed")
	}
	line := func(name string, allowed float64, of func(k Kind) Interval) {
		fmt.Fprintf(&b, "\n%-24s", name)
		for n, k := range r.Kinds {
			i := of(k)
			text := fmt.Sprintf("%.4f (%.4f to %.4f)", i.Value, i.Low, i.High)
			if claimed || n+1 < len(r.Kinds) {
				text = fmt.Sprintf("%-27s", text)
			}
			b.WriteString(" " + text)
		}
		if claimed {
			fmt.Fprintf(&b, " %.4f", allowed)
		}
	}
	line("AUC, one threshold", MostAUC(eps, delta), func(k Kind) Interval { return k.Loss.AUC })
	line("AUC, likelihood ratio", MostAUC(eps, delta), func(k Kind) Interval { return k.Ratio.AUC })
	line("advantage", MostAdvantage(eps, delta), func(k Kind) Interval { return k.Ratio.Advantage })
	for i, f := range Rates {
		line(fmt.Sprintf("TPR at FPR %g %%", 100*f), MostTPR(eps, delta, f),
			func(k Kind) Interval { return k.Ratio.Points[i].TPR })
	}
	b.WriteString("\n\nThresholds come from the trainings that taught; false positive rates are those met there.\n")
	fmt.Fprintf(&b, "most exposed of them: epsilon >= %.4g with confidence %.9g", r.Bound, r.Confidence)
	if claimed {
		fmt.Fprintf(&b, "; claimed %s: %s", r.Claim, r.Verdict)
	}
	b.WriteString("\nNOT PRIVATE: this report was computed from the rows without noise\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// AttackChart draws the results of the likelihood ratio, and the limits of the claim.
func AttackChart(learner string, r *MembershipReport) *plot.Lines {
	fig := &plot.Lines{
		Title:    fmt.Sprintf("Membership inference against %s", learner),
		Subtitle: fmt.Sprintf("%d trainings measured, %s", r.Runs, r.Claim),
		XLabel:   "false positive rate",
		YLabel:   "true positive rate",
		LogX:     true, XTicks: []float64{0.001, 0.01, 0.1, 0.5}, YFrom: 0, YTo: 1,
		Spread: "95 % intervals over trainings",
		Note:   "Not private: computed from the rows without noise.",
	}
	if r.Claim.Epsilon == 0 {
		fig.Subtitle = fmt.Sprintf("%d trainings measured, no claim", r.Runs)
	}
	for _, k := range r.Kinds {
		s := plot.Series{Name: k.Name[strings.IndexByte(k.Name, ' ')+1:]}
		for _, p := range k.Ratio.Points {
			s.X, s.Y = append(s.X, p.Rate), append(s.Y, p.TPR.Value)
			s.Low, s.High = append(s.Low, p.TPR.Low), append(s.High, p.TPR.High)
		}
		fig.Series = append(fig.Series, s)
	}
	guess := plot.Series{Name: "guessing"}
	most := plot.Series{Name: "allowed"}
	for _, f := range Rates {
		guess.X, guess.Y = append(guess.X, f), append(guess.Y, f)
		most.X, most.Y = append(most.X, f), append(most.Y, MostTPR(r.Claim.Epsilon.Float(), r.Claim.Delta.Float(), f))
	}
	fig.Series = append(fig.Series, guess)
	if r.Claim.Epsilon > 0 {
		fig.Series = append(fig.Series, most)
	}
	return fig
}
