// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/cli"
	"github.com/discreet-dp/discreet/internal/forecast"
	"github.com/discreet-dp/discreet/internal/privacy/dp"
	"github.com/discreet-dp/discreet/internal/privacy/ledger"
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

	simulate  bool
	positives float64
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
(Chaudhuri, Monteleoni, Sarwate), by the recipe of DMNS06 (Dwork, McSherry,
Nissim, Smith), and by BLR08 and KLNRS08, whose time is exponential.

With --simulate it also trains the learner on tables of --rows rows that it
invents from the schema alone, in which labels follow columns by laws of known
strength, and prints what is learned of them: whether this epsilon can learn
anything, and how many columns are worth their noise. It takes seconds to
minutes, and no budget.`,
		Example: `  discreet plan --schema adult.yaml --learner brc --epsilon 0.16 --rows 20000
  discreet plan --schema adult.yaml --learner brc --epsilon 0.16 --rows 20000 --json
  discreet plan --schema adult.yaml --learner brc --epsilon 0.16 --ledger l.db --dataset adult
  discreet plan --schema adult.yaml --epsilon 0.16 --rows 20000 --simulate
  discreet plan --schema adult.yaml --learner brc --epsilon 0.16 --margin 0.1 --error 0.1 --dim 50`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return p.runPlan(c) },
	}
	c.Flags().StringVar(&p.schema, "schema", "", "the schema `file` of the table")
	c.Flags().IntVar(&p.rows, "rows", 0, "the `number` of rows, where it is known")
	c.Flags().BoolVar(&p.json, "json", false, "print one JSON object")
	c.Flags().BoolVar(&p.simulate, "simulate", false, "say what would be learned of tables invented from the schema")
	c.Flags().Float64Var(&p.positives, "simulate-positives", 0.5, "the `share` of the positive class in those tables")
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
	q := forecast.Quote{Quote: req.Quote(s, pl, sizes)}
	if q.Budget, err = p.findRemainder(c.Context(), req.Cost(pl)); err != nil {
		return err
	}
	if p.simulate {
		report, done := p.ShowRuns("simulating")
		q.Forecast, err = forecast.Run(c.Context(), req, s,
			forecast.Options{Rows: p.rows, Positives: p.positives, Progress: report})
		done()
		if err != nil {
			return asUsageError(err)
		}
	}
	if p.json {
		return cli.WriteJSON(p.Stdout, q)
	}
	return q.WriteText(p.Stdout)
}

// findRemainder is nil where no ledger is named.
func (p *plan) findRemainder(ctx context.Context, price dp.Price) (left *train.Remainder, err error) {
	if (p.ledger.address == "") != (p.dataset == "") {
		return nil, cli.Refuse("plan", "ledger", "and dataset must be given together", nil)
	}
	if p.ledger.address == "" {
		return nil, nil
	}
	err = p.ledger.useLedger(ctx, func(l *ledger.Ledger) error {
		left, err = train.FindRemainder(ctx, l, p.dataset, p.part, price)
		return err
	})
	return left, err
}
