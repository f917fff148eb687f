// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/commands"
	"github.com/discreet-dp/discreet/internal/commands/cli"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ground/plaintext"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/table/schema"
	"github.com/discreet-dp/discreet/internal/train"
	"github.com/discreet-dp/discreet/lab/internal/printed"
)

// boostFlags holds the flags of the command.
type boostFlags struct {
	*app
	data       []string
	schema     string
	model      string
	mechanism  string
	epsilon    string
	notPrivate bool
	exceed     bool
	params     printed.Params
}

// printedMechanisms maps the names on the command line to the names of laws.
var printedMechanisms = map[string]string{"pm": "piecewise", "duchi": "duchi", "laplace": "laplace", "hybrid": "hybrid"}

func (a *app) newBoostCommand() *cobra.Command {
	b := &boostFlags{app: a}
	c := &cobra.Command{
		Use:   "boost",
		Short: "boost as Wang and Chang print it, over secret sums (not private)",
		Long: `Boost is Algorithm 2 of Wang and Chang, Privacy-Preserving Boosting in the Local
Setting. The rows of a table are shared evenly among data owners. In each round a
group of owners reports, each at most once, by a mechanism that is ε-private. The
weighted error of the round's classifier and the sum of weights are secret sums
over all owners: each owner splits what it adds among the holders.

Owners also send labels or majority labels in clear, and the sums themselves are
exact. No ε covers them, so that the model promises nothing to anyone and the
command requires --not-private. For owners who are protected use discreet-net
simulate.

For each round it prints the weighted error and the vote.`,
		Example: `  discreet-lab boost --data census.csv --schema census.yaml --classifier stump --rounds 5 --owners 200 \
    --epsilon 4 --not-private --model m.json`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return b.runBoost(c.Context()) },
	}
	f := c.Flags()
	f.StringArrayVar(&b.data, "data", nil, commands.TableWords+"; - is standard input; may be repeated")
	f.StringVar(&b.schema, "schema", "", "the schema `file` of the table")
	f.StringVar(&b.model, "model", "", "the `file` to write the model to")
	f.StringVar((*string)(&b.params.Classifier), "classifier", "stump", "the `classifier` of a round: stump, centroid or logistic")
	f.StringVar(&b.mechanism, "mechanism", "pm", "the `mechanism` by which owners perturb: pm, duchi, hybrid or laplace")
	f.StringVar(&b.epsilon, "epsilon", "", "the `ε` of one report")
	f.IntVar(&b.params.Owners, "owners", 0, "the `number` of data owners; 0: every row is one")
	f.IntVar(&b.params.Rounds, "rounds", 5, "the `number` of rounds")
	f.IntVar(&b.params.Holders, "holders", 4, "the `number` of holders of shares; 0: sums in the clear")
	f.BoolVar(&b.notPrivate, "not-private", false, "accept a model that is not private")
	f.BoolVar(&b.exceed, "exceed-max-epsilon", false, "train although the schema declares a max_epsilon")
	cli.Reads(c, "data", "schema")
	cli.Writes(c, "model")
	cli.Require(c, "data", "schema", "epsilon", "model")
	return c
}

func (b *boostFlags) runBoost(ctx context.Context) (err error) {
	if !b.notPrivate {
		return cli.Refuse("boost", "not-private", "is required: labels and exact sums leave their owners", nil)
	}
	if b.params.Epsilon, err = dp.ParseEpsilon(b.epsilon); err != nil {
		return &cli.UsageError{Err: err}
	}
	if b.params.Mechanism = printedMechanisms[b.mechanism]; b.params.Mechanism == "" {
		return cli.Refuse("boost", "mechanism", "must be pm, duchi, hybrid or laplace", b.mechanism)
	}
	s, err := schema.Load(b.schema)
	if err != nil {
		return err
	}
	if excess := (train.Price{NotPrivate: true}).Excess(s); excess != "" && !b.exceed {
		return &cli.BudgetError{Err: fmt.Errorf("boost: %s; only --exceed-max-epsilon goes beyond it", excess)}
	}
	if err := cli.CheckWritable(b.model); err != nil {
		return err
	}
	tab, err := b.ReadTable(ctx, s, b.data)
	if err != nil {
		return err
	}
	report, done := b.ShowRuns("boosting")
	var rounds []printed.Round
	b.params.Trace = func(r printed.Round) {
		rounds = append(rounds, r)
		report(r.Round, b.params.Rounds)
	}
	m, err := printed.Run(ctx, tab, b.params)
	done()
	if _, ok := errors.AsType[*dp.ParamError](err); ok {
		return &cli.UsageError{Err: err}
	}
	if err != nil {
		return err
	}
	text, err := model.Marshal(m)
	if err != nil {
		return err
	}
	if err := b.WriteFile(b.model, func(w io.Writer) error { _, err := w.Write(text); return err }); err != nil {
		return err
	}
	b.Say("wrote %s", b.model)
	for _, r := range rounds {
		if _, err := plaintext.Fprintf(b.Stdout, "round %d: weighted error %.6g, vote %.6g\n", r.Round, r.Err, r.Vote); err != nil {
			return err
		}
	}
	_, err = plaintext.Fprintf(b.Stdout, "NOT PRIVATE: labels and exact sums of all owners left them in the clear\n")
	return err
}
