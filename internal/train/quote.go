// SPDX-License-Identifier: Apache-2.0

package train

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ground/plaintext"
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/ledger"
	"github.com/discreet-dp/discreet/internal/ledger/policy"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Quote is the cost of a training, and facts about it that need no data.
type Quote struct {
	Learner string         `json:"learner"`
	Schema  string         `json:"schema"`
	Facts   map[string]any `json:"facts"`
	// Epsilon and Delta are the cost of Bill, in units of 1e-9 and 1e-15. Both are 0 if nothing is
	// protected, and Delta is 0 if the guarantee is pure.
	Epsilon dp.Epsilon `json:"epsilon_nano"`
	Delta   dp.Delta   `json:"delta_femto"`
	Bill    []dp.Event `json:"bill"`
	// Excess explains why a training would refuse the price; nil if it would not.
	Excess *string `json:"excess"`
	// Policy are the criteria of a project's policy, applied to the plan; none without one.
	Policy []policy.Criterion `json:"policy,omitempty"`
	// Warnings are reasons not to train like this; a training says them, too.
	Warnings []string     `json:"warnings,omitempty"`
	Budget   *Remainder   `json:"budget,omitempty"`
	Samples  *SampleSizes `json:"samples,omitempty"`

	facts []learn.Fact // for readers
}

// Quote returns the cost of a training by a plan of the request. sizes may be nil.
func (r *Request) Quote(s *schema.Schema, pl learn.Plan, sizes *SampleSizes) *Quote {
	price := pl.Terms().Price
	q := &Quote{Learner: r.Name, Schema: s.Name, Facts: map[string]any{}, Bill: append([]dp.Event{}, pl.Terms().Bill...),
		Epsilon: price.Epsilon, Delta: price.Delta, Samples: sizes}
	for _, f := range pl.Facts() {
		q.Facts[f.Key] = f.Value
		if f.Text != "" {
			q.facts = append(q.facts, f)
		}
		if strings.HasPrefix(f.Text, "TOO FEW: ") {
			q.Warnings = append(q.Warnings, f.Text)
		}
	}
	if weak := price.Epsilon.Warning(); weak != "" {
		q.Warnings = append(q.Warnings, weak)
	}
	if excess := r.Price.Excess(s); excess != "" {
		q.Excess = &excess
	}
	return q
}

// WriteText writes the quote as text for readers; words names steps.
func (q *Quote) WriteText(w io.Writer, words func(dp.Step) string) error {
	var b strings.Builder
	for _, f := range q.facts {
		fmt.Fprintln(&b, f.Words(words))
	}
	fmt.Fprintf(&b, "\nbill: %s\n", DescribeBill(dp.Price{Epsilon: q.Epsilon, Delta: q.Delta}, q.Bill))
	if weak := q.Epsilon.Warning(); weak != "" {
		fmt.Fprintln(&b, weak)
	}
	for _, e := range ShortenBill(q.Bill) {
		fmt.Fprintln(&b, "  "+e)
	}
	if q.Excess != nil {
		fmt.Fprintf(&b, "\ntrain refuses this: %s\n", *q.Excess)
	}
	if q.Policy != nil {
		b.WriteString("\npolicy:\n")
	}
	for _, c := range q.Policy {
		fmt.Fprintf(&b, "  %s\n", c)
	}
	if q.Samples != nil {
		fmt.Fprintf(&b, "\n%s", q.Samples)
	}
	if q.Budget != nil {
		q.Budget.writeText(&b)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// DescribeBill returns the price of a bill and the number of its measurements.
func DescribeBill(price dp.Price, bill []dp.Event) string {
	if len(bill) == 0 {
		return "nothing is charged, because nothing is protected"
	}
	return fmt.Sprintf("%s in total, %s", price, plaintext.Count(len(bill), "measurement"))
}

// ShortenBill lists the releases of a bill, and omits the middle of a long one.
func ShortenBill(bill []dp.Event) (lines []string) {
	const ends = 3
	for i, e := range bill {
		switch {
		case i < ends || i >= len(bill)-1 || len(bill) <= 2*ends:
			lines = append(lines, fmt.Sprintf("%-32s %-18s %s", e.Release, e.Mechanism, e.Price()))
		case i == ends:
			lines = append(lines, fmt.Sprintf("... %d more; in JSON all are listed", len(bill)-ends-1))
		}
	}
	return lines
}

// Remainder is what would be left of a budget after a training.
type Remainder struct {
	ledger.Statement
	Part       string         `json:"part"` // "" if the training reads all rows, or cohorts
	Cohorts    []string       `json:"cohorts,omitempty"`
	Asked      ledger.Decimal `json:"asked"`
	AskedDelta dp.Delta       `json:"asked_delta_femto"`
	// Both are null if the price exceeds what is left.
	Remains      *ledger.Decimal `json:"remains"`
	RemainsDelta *dp.Delta       `json:"remains_delta_femto"`
}

// FindRemainder asks a ledger what would be left of a data set after paying a price, for one part if
// part is not empty, or for cohorts of the schema. It spends nothing.
func FindRemainder(ctx context.Context, l *ledger.Ledger, dataset, part string, cohorts []string, s *schema.Schema,
	price dp.Price) (*Remainder, error) {
	t := &Training{Op: "plan", Schema: s, Cohorts: SortCohorts(cohorts), Job: &Job{Ledger: l, Dataset: dataset}}
	if err := t.findCohorts(ctx); err != nil {
		return nil, err
	}
	names := t.Cohorts
	if part != "" {
		names = []string{part}
	}
	b, err := l.Balances(ctx, dataset)
	if err != nil {
		return nil, err
	}
	left, err := b[0].LeftFor(names...)
	if err != nil {
		return nil, err
	}
	out := &Remainder{Statement: b[0].Statement(), Part: part, Cohorts: t.Cohorts, Asked: ledger.Decimal(price.Epsilon),
		AskedDelta: price.Delta}
	if price.Epsilon <= left.Epsilon && price.Delta <= left.Delta {
		after, afterDelta := ledger.Decimal(left.Epsilon-price.Epsilon), left.Delta-price.Delta
		out.Remains, out.RemainsDelta = &after, &afterDelta
	}
	return out, nil
}

func (r *Remainder) writeText(b *strings.Builder) {
	eps := func(d ledger.Decimal) dp.Epsilon { return dp.Epsilon(d) }
	verdict := "train refuses this: it exceeds what is left"
	if r.Remains != nil {
		verdict = fmt.Sprintf("%s would remain", eps(*r.Remains))
	}
	of := r.Dataset
	if r.Part != "" {
		of += ", part " + r.Part
	}
	if len(r.Cohorts) > 0 {
		of += ", cohorts " + strings.Join(r.Cohorts, ", ")
	}
	fmt.Fprintf(b, "\nbudget of %s: total %s, spent %s, reserved %s, left %s; %s\n",
		of, eps(r.Total), eps(r.Spent), eps(r.Reserved), eps(r.Left), verdict)
	if r.Femto.Total == 0 {
		return
	}
	if verdict = "not enough, or epsilon is not"; r.RemainsDelta != nil {
		verdict = fmt.Sprintf("%s would remain", *r.RemainsDelta)
	}
	fmt.Fprintf(b, "  delta: total %s, spent %s, reserved %s, left %s; %s\n",
		r.Femto.Total, r.Femto.Spent, r.Femto.Reserved, r.Femto.Left, verdict)
}
