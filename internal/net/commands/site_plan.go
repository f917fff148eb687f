// SPDX-License-Identifier: Apache-2.0

package network

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/commands/cli"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ground/plaintext"
	"github.com/discreet-dp/discreet/internal/net/federated/multiparty"
	"github.com/discreet-dp/discreet/internal/table/schema"
	"github.com/discreet-dp/discreet/internal/train"
)

// partyPlan holds the flags of the command.
type partyPlan struct {
	*app
	combination
	rows int
	json bool
}

// combinationQuote is the JSON output of site plan.
type combinationQuote struct {
	Schema  string           `json:"schema"`
	Facts   map[string]any   `json:"facts"`
	Epsilon dp.Epsilon       `json:"epsilon_nano"`
	Bill    []dp.Event       `json:"bill"`
	Gap     []multiparty.Gap `json:"gap"` // by number of parties
}

func (a *app) newSitePlanCommand() *cobra.Command {
	p := &partyPlan{app: a}
	c := &cobra.Command{
		Use:   "plan",
		Short: "show what votes would cost and what they buy, without any",
		Long: `Plan prints what a combination protects, its bill and its noise. It also prints,
to a first approximation, by how much the combined classifier falls short of the
best one, in nats of mean loss. This has two parts: the cost of privacy, of
order 1/(epsilon parties)², and the cost of a finite auxiliary table, of order
1/rows (Hamm, Cao, Belkin 2016, Theorem 4, with its constants filled in for rows
that extend equally in all directions).`,
		Example: `  discreet-net site plan --schema aux.yaml --parties 200 --rows 5000 --epsilon 1
  discreet-net site plan --schema aux.yaml --parties 200 --rows 5000 --epsilon 1 --method majority --json`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return p.runPlan(c) },
	}
	p.addFlags(c)
	c.Flags().IntVar(&p.rows, "rows", 0, "the `number` of rows of the auxiliary table, if it is known")
	c.Flags().BoolVar(&p.json, "json", false, "print one JSON object")
	return c
}

func (p *partyPlan) runPlan(c *cobra.Command) error {
	if err := p.readFlags("plan"); err != nil {
		return err
	}
	if p.rows < 0 || c.Flags().Changed("rows") && p.rows == 0 {
		return cli.Refuse("plan", "rows", "must be at least 1", p.rows)
	}
	s, err := schema.Load(p.public)
	if err != nil {
		return err
	}
	pl, err := p.planVotes(s, p.rows)
	if err != nil {
		return err
	}
	q := combinationQuote{Schema: s.Name, Facts: map[string]any{}, Bill: append([]dp.Event{}, pl.Events()...),
		Epsilon: pl.Epsilon, Gap: []multiparty.Gap{}}
	for _, f := range pl.Facts() {
		q.Facts[f.Key] = f.Value
	}
	if pl.Method != multiparty.NoisyMax {
		for m := max(1, p.params.Parties/8); m <= 8*p.params.Parties; m *= 2 {
			q.Gap = append(q.Gap, pl.Gap(m, p.rows))
		}
	}
	if p.json {
		return cli.WriteJSON(p.Stdout, q)
	}
	var b strings.Builder
	for _, f := range pl.Facts() {
		plaintext.Fprintf(&b, "%s\n", f.Words(dp.Step.String))
	}
	plaintext.Fprintf(&b, "\nbill: %s\n", train.DescribeBill(dp.Pure(q.Bill), q.Bill))
	for _, line := range train.ShortenBill(q.Bill) {
		plaintext.Fprintf(&b, "  %s\n", line)
	}
	if len(q.Gap) > 0 {
		plaintext.Fprintf(&b, "\nabout so many nats of loss above the best classifier\n  %10s  %12s  %12s\n", "parties",
			"for privacy", "for few rows")
		for _, g := range q.Gap {
			few := "?"
			if p.rows > 0 {
				few = fmt.Sprintf("%.3g", g.Sampling)
			}
			plaintext.Fprintf(&b, "  %10d  %12.3g  %12s\n", g.Parties, g.Privacy, few)
		}
	}
	_, err = io.WriteString(p.Stdout, b.String())
	return err
}
