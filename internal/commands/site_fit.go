// SPDX-License-Identifier: Apache-2.0

package commands

import (
	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/commands/cli"
)

func (a *App) NewSiteFitCommand() *cobra.Command {
	t := &trainFlags{App: a, party: true}
	c := &cobra.Command{
		Use:   "fit",
		Short: "fit an institution's own model, which stays with it",
		Long: `Fit trains any learner on a party's own table. The model stays with the party,
and site vote protects everything that a party holds, however its model was made.
Without --epsilon the training therefore adds no noise, and the model's
statement forbids its release.

A party that does not trust the combiner either can train with noise. Such a
model may be released, so it obeys the schema's max_epsilon and a ledger, like a
model of discreet train.`,
		Example: `  discreet-net site fit --data mine.csv --schema mine.yaml --learner logistic --model m.json
  discreet-net site fit --data mine.csv --schema mine.yaml --learner additive --model m.json
  discreet-net site fit --data mine.csv --schema mine.yaml --learner additive --epsilon 1 --model m.json`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if t.choice.Price.Epsilon == "" {
				t.choice.Price.Epsilon, t.choice.Price.NotPrivate = "inf", true
				t.exceed = true // this model stays, and says so
			}
			return t.runTrain(c)
		},
	}
	t.addFlags(c)
	t.choice = AddChoice(c)
	for _, name := range []string{"not-private", "delta"} {
		if err := c.Flags().MarkHidden(name); err != nil {
			panic(err)
		}
	}
	cli.Require(c, "learner")
	return c
}
