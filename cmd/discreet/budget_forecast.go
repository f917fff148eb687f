// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/commands"
	"github.com/discreet-dp/discreet/internal/commands/cli"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ground/plaintext"
	"github.com/discreet-dp/discreet/internal/ledger"
)

// budgetForecast holds the flags of the command.
type budgetForecast struct {
	*app
	ledger                              commands.LedgerFlag
	dataset, epsilon, delta, also, from string
	last                                int
	json                                bool
}

func (a *app) newBudgetForecastCommand() *cobra.Command {
	b := &budgetForecast{app: a}
	c := &cobra.Command{
		Use:   "forecast",
		Short: "compute how long a budget lasts",
		Long: `Forecast assumes that one model is trained each month on the people of the last
months. It prints whether the budget sustains this, and if not, when it runs out.
Without --epsilon it finds the largest ε that is sustainable. With --also one
more model is trained each month on everyone, and forecast prints until when the
budget allows both. The price of running trainings counts as spent. Forecast
reads only the ledger and spends nothing.

If cohorts are not months, each new cohort counts as one month.`,
		Example: `  discreet budget forecast --ledger l.db --dataset members --epsilon 0.5 --last 3
  discreet budget forecast --ledger l.db --dataset members --last 3 --also 0.1 --json`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return b.showForecast(c.Context()) },
	}
	b.ledger.AddFlag(c)
	c.Flags().StringVar(&b.dataset, "dataset", "", "the `name` of the data set")
	c.Flags().StringVar(&b.epsilon, "epsilon", "", "the model's ε, a `number`; the largest that is sustainable when left out")
	c.Flags().StringVar(&b.delta, "delta", "0", "the model's δ, a `number`")
	c.Flags().IntVar(&b.last, "last", 3, "the `number` of cohorts that each model reads, the newest ones")
	c.Flags().StringVar(&b.also, "also", "", "the ε of one more model each month, on everyone, a `number`")
	c.Flags().StringVar(&b.from, "from", "", "the first `month`, such as 2027-01; this month when left out")
	c.Flags().BoolVar(&b.json, "json", false, "print one JSON object")
	cli.Require(c, "ledger", "dataset")
	return c
}

func (b *budgetForecast) showForecast(ctx context.Context) error {
	pace := ledger.Pace{Last: b.last, From: b.from}
	if pace.From == "" {
		pace.From = time.Now().UTC().Format("2006-01")
	}
	for _, f := range []struct {
		text string
		into *dp.Epsilon
	}{{b.epsilon, &pace.Price.Epsilon}, {b.also, &pace.Also.Epsilon}} {
		if f.text == "" {
			continue
		}
		eps, err := dp.ParseEpsilon(f.text)
		if err != nil {
			return &cli.UsageError{Err: err}
		}
		*f.into = eps
	}
	var err error
	if pace.Price.Delta, err = dp.ParseDelta(b.delta); err != nil {
		return &cli.UsageError{Err: err}
	}
	return b.ledger.UseLedger(ctx, func(l *ledger.Ledger) error {
		all, err := l.Balances(ctx, b.dataset)
		if err != nil {
			return err
		}
		o, err := all[0].Forecast(pace)
		if err != nil {
			return commands.AsRefusal(err)
		}
		if b.json {
			return cli.WriteJSON(b.Stdout, o)
		}
		_, err = plaintext.Fprintf(b.Stdout, "%s\n", o.Words)
		return err
	})
}
