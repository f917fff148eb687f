// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/cli"
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/privacy/dp"
	"github.com/discreet-dp/discreet/internal/table/schema"
	"github.com/discreet-dp/discreet/internal/train"
)

// plan is the flags of the command.
type plan struct {
	*app
	choice  *choice
	schema  string
	rows    int
	samples samples
	json    bool
	ledger  ledgerFlag
	dataset string
	part    string
}

// quote is what plan prints for programs.
type quote struct {
	Learner string         `json:"learner"`
	Schema  string         `json:"schema"`
	Facts   map[string]any `json:"facts"`
	// Epsilon and Delta are what Bill costs, in units of 1e-9 and 1e-15; 0 where
	// nothing is protected, Delta also where the guarantee is pure.
	Epsilon dp.Epsilon `json:"epsilon_nano"`
	Delta   dp.Delta   `json:"delta_femto"`
	Bill    []dp.Event `json:"bill"`
	// Excess says how train would refuse the price; null where it would not.
	Excess  *string            `json:"excess"`
	Budget  *remainder         `json:"budget,omitempty"`
	Samples *train.SampleSizes `json:"samples,omitempty"`
}

func (a *app) newPlanCommand() *cobra.Command {
	p := &plan{app: a}
	c := &cobra.Command{
		Use:   "plan",
		Short: "say what a training would cost, without any data",
		Long: `Plan checks everything about a training that can be checked without data. It
prints what the training would protect, its bill and its noise. It reads the
schema and no table; train with the same flags spends what plan prints.

Flags for every learner come first below. The flags of one learner stand under
its name.

With --margin, --error and --dim it also prints how many rows it takes, in order
of magnitude, to learn a linear classifier of that margin, in so many
dimensions, to that error: without privacy, by perturbing the objective
(Chaudhuri, Monteleoni, Sarwate), and by the recipe of DMNS06 (Dwork, McSherry,
Nissim, Smith).`,
		Example: `  discreet plan --schema adult.yaml --learner brc --epsilon 0.16 --rows 20000
  discreet plan --schema adult.yaml --learner brc --epsilon 0.16 --rows 20000 --json
  discreet plan --schema adult.yaml --learner brc --epsilon 0.16 --ledger l.db --dataset adult
  discreet plan --schema adult.yaml --learner brc --epsilon 0.16 --margin 0.1 --error 0.1 --dim 50`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return p.runPlan(c) },
	}
	c.Flags().StringVar(&p.schema, "schema", "", "the schema `file` of the table")
	c.Flags().IntVar(&p.rows, "rows", 0, "the `number` of rows, where it is known")
	c.Flags().BoolVar(&p.json, "json", false, "print one JSON object")
	p.choice = addChoice(c)
	p.samples.addFlags(c)
	p.ledger.addFlag(c)
	c.Flags().StringVar(&p.dataset, "dataset", "", "the `name` of the data set in the ledger: say what would remain")
	cli.AddSection(c, counting, "ledger", "dataset")
	c.Flags().StringVar(&p.part, "part", "",
		"plan for one part: the rows with this `value` in the column that the schema names as parts:")
	cli.Require(c, "schema")
	return c
}

func (p *plan) runPlan(c *cobra.Command) error {
	req, err := p.choice.makeRequest("plan")
	if err != nil {
		return err
	}
	if p.rows < 0 || c.Flags().Changed("rows") && p.rows == 0 {
		return cli.Refuse("plan", "rows", "must be at least 1", p.rows)
	}
	sizes, err := p.samples.sampleSizes(c, req.Price)
	if err != nil {
		return &cli.UsageError{Err: err}
	}
	s, err := schema.Load(p.schema)
	if err != nil {
		return err
	}
	if err := train.CheckPart("plan", p.part, s); err != nil {
		return asUsageError(err)
	}
	pl, err := req.Plan(s, p.rows)
	if err != nil {
		return asUsageError(err)
	}
	left, err := p.findRemainder(c.Context(), req.Cost(pl))
	if err != nil {
		return err
	}
	excess := req.Price.Excess(s)
	if p.json {
		q := newQuote(req, s, pl, excess, sizes)
		q.Budget = left
		return cli.WriteJSON(p.Stdout, q)
	}
	if err := writePlan(p.Stdout, pl, req.Cost(pl), excess, sizes); err != nil {
		return err
	}
	return left.writeText(p.Stdout)
}

func newQuote(req *train.Request, s *schema.Schema, pl learn.Plan, excess string, sizes *train.SampleSizes) quote {
	q := quote{Learner: req.Name, Schema: s.Name, Facts: map[string]any{}, Bill: []dp.Event{}, Samples: sizes}
	for _, f := range pl.Facts() {
		q.Facts[f.Key] = f.Value
	}
	q.Bill = append(q.Bill, pl.Events()...)
	price := req.Cost(pl)
	q.Epsilon, q.Delta = price.Epsilon, price.Delta
	if excess != "" {
		q.Excess = &excess
	}
	return q
}

func writePlan(out io.Writer, pl learn.Plan, price dp.Price, excess string, sizes *train.SampleSizes) error {
	var b strings.Builder
	for _, f := range pl.Facts() {
		if f.Text != "" {
			fmt.Fprintln(&b, f.Text)
		}
	}
	bill := pl.Events()
	fmt.Fprintf(&b, "\nbill: %s in all, %d releases\n", price, len(bill))
	for _, e := range shortenBill(bill) {
		fmt.Fprintln(&b, "  "+e)
	}
	if excess != "" {
		fmt.Fprintf(&b, "\ntrain refuses this: %s\n", excess)
	}
	if sizes != nil {
		fmt.Fprintf(&b, "\n%s", sizes)
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// shortenBill lists the releases of a bill, leaving out the middle of a long one.
func shortenBill(bill []dp.Event) (lines []string) {
	const ends = 3
	for i, e := range bill {
		switch {
		case i < ends || i >= len(bill)-1 || len(bill) <= 2*ends:
			price := e.Epsilon.String()
			if e.Rho > 0 {
				price = "rho " + e.Rho.String()
			}
			lines = append(lines, fmt.Sprintf("%-32s %-18s %s", e.Release, e.Mechanism, price))
		case i == ends:
			lines = append(lines, fmt.Sprintf("... %d more; --json lists all", len(bill)-ends-1))
		}
	}
	return lines
}
