// SPDX-License-Identifier: Apache-2.0

package commands

import (
	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/commands/cli"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ledger"
	"github.com/discreet-dp/discreet/internal/table/schema"
	"github.com/discreet-dp/discreet/internal/train"
	"github.com/discreet-dp/discreet/internal/train/forecast"
)

// plan holds the flags of the command.
type plan struct {
	*App
	choice  *Choice
	schema  string
	rows    int
	persons int
	samples samples
	json    bool
	ledger  LedgerFlag
	dataset string
	part    string
	cohorts []string
	invent  bool
	share   float64
	policy  PolicyFlag
}

func (a *App) NewPlanCommand() *cobra.Command {
	p := &plan{App: a}
	c := &cobra.Command{
		Use:   "plan",
		Short: "show what a training would cost, without any data",
		Long: `Plan checks everything about a training that can be checked without data. It
prints what the training would protect, its bill and its noise. It reads the
schema and no table. Train with the same flags spends what plan prints.

With --margin, --error and --dim it also prints how many rows, in order of
magnitude, are needed to learn a linear classifier of that margin, in that many
dimensions, to that error: without privacy, and by four published methods.

With --simulate it also trains on tables of --rows rows that it invents from the
schema. The labels of these tables depend on columns by known laws. It prints
how much of the laws is learned, and how many columns are worth their noise.
This costs no budget.`,
		Example: `  discreet plan --schema adult.yaml --epsilon 0.16 --rows 20000
  discreet plan --schema adult.yaml --epsilon 0.16 --ledger l.db --dataset adult
  discreet plan --schema adult.yaml --epsilon 0.16 --rows 20000 --simulate
  discreet plan --schema adult.yaml --epsilon 0.16 --margin 0.1 --error 0.1 --dim 50`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return p.runPlan(c) },
	}
	c.Flags().StringVar(&p.schema, "schema", "", "the schema `file` of the table")
	c.Flags().IntVar(&p.rows, "rows", 0, "the `number` of rows, if it is known")
	c.Flags().IntVar(&p.persons, "persons", 0, "the `number` of persons, in place of --rows if the schema declares person:")
	c.Flags().BoolVar(&p.json, "json", false, "print one JSON object")
	c.Flags().BoolVar(&p.invent, "simulate", false, "show what would be learned from tables invented from the schema")
	c.Flags().Float64Var(&p.share, "simulate-positives", 0.5, "the `share` of the positive class in those tables")
	p.choice = AddChoice(c)
	p.samples.addFlags(c)
	p.ledger.AddFlag(c)
	c.Flags().StringVar(&p.dataset, "dataset", "", "the `name` of the data set in the ledger, to show what would remain")
	cli.AddSection(c, Counting, "ledger", "dataset")
	c.Flags().StringVar(&p.part, "part", "",
		"plan for one part: the rows with this `value` in the column that the schema names as parts:")
	c.Flags().StringSliceVar(&p.cohorts, "cohorts", nil,
		"plan for some cohorts of the data set: their `names`, in a list with commas")
	p.policy.AddFlag(c)
	cli.Reads(c, "schema")
	cli.Require(c, "schema")
	return c
}

func (p *plan) runPlan(c *cobra.Command) error {
	req, err := p.choice.MakeRequest("plan")
	if err != nil {
		return err
	}
	for _, count := range []struct {
		flag  string
		given int
	}{{"rows", p.rows}, {"persons", p.persons}} {
		if c.Flags().Changed(count.flag) && count.given < 1 {
			return cli.Refuse("plan", count.flag, "must be at least 1", count.given)
		}
	}
	sizes, err := p.samples.sampleSizes(c, req.Price)
	if err != nil {
		return &cli.UsageError{Err: err}
	}
	s, text, err := LoadSchema(p.schema)
	if err != nil {
		return err
	}
	allowed, err := p.policy.Read()
	if err != nil {
		return err
	}
	if err := train.CheckPart("plan", p.part, s); err != nil {
		return AsUsageError(err)
	}
	units, err := p.countUnits(s)
	if err != nil {
		return err
	}
	pl, err := req.Plan(s, units)
	if err != nil {
		return AsUsageError(err)
	}
	q := forecast.Quote{Quote: req.Quote(s, pl, sizes)}
	if allowed != nil {
		f := train.PolicyFacts(s, text, pl.Terms().Price, Clock())
		f.Rows = units
		q.Policy = allowed.Judge(f)
	}
	if q.Budget, err = p.findRemainder(c, s, pl.Terms().Price); err != nil {
		return err
	}
	if p.invent {
		report, done := p.ShowRuns("simulating")
		o := forecast.Options{Rows: units, Positives: p.share, Progress: report}
		q.Forecast, err = forecast.Run(c.Context(), req, s, o)
		if done(); err != nil {
			return AsUsageError(err)
		}
	}
	if p.json {
		return cli.WriteJSON(p.Stdout, q)
	}
	return q.WriteText(p.Stdout, cli.StepWords(c))
}

// countUnits returns the number of units of privacy: persons if the schema declares them, otherwise
// rows.
func (p *plan) countUnits(s *schema.Schema) (int, error) {
	switch {
	case s.Person == nil && p.persons > 0:
		return 0, &cli.UsageError{Err: &dp.ParamError{Op: "plan", Param: "persons",
			Want: "must not be given: the schema declares no person", Got: p.persons, Hint: "give --rows"}}
	case s.Person != nil && p.rows > 0:
		return 0, &cli.UsageError{Err: &dp.ParamError{Op: "plan", Param: "rows",
			Want: "must not be given: the schema declares persons, and noise depends on their number", Got: p.rows,
			Hint: "give --persons"}}
	case s.Person != nil:
		return p.persons, nil
	}
	return p.rows, nil
}

// findRemainder returns what is left in the ledger, nil if none is named.
func (p *plan) findRemainder(c *cobra.Command, s *schema.Schema, price dp.Price) (left *train.Remainder, err error) {
	switch {
	case (p.ledger.Address == "") != (p.dataset == ""):
		return nil, cli.Refuse("plan", "ledger", "and dataset must be given together", nil)
	case p.dataset == "" && len(p.cohorts) > 0:
		return nil, cli.Refuse("plan", "cohorts", "must be given together with --ledger", nil)
	case p.dataset == "":
		return nil, nil
	}
	err = p.ledger.UseLedger(c.Context(), func(l *ledger.Ledger) error {
		left, err = train.FindRemainder(c.Context(), l, p.dataset, p.part, p.cohorts, s, price)
		return err
	})
	return left, AsUsageError(err)
}
