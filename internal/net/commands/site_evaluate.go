// SPDX-License-Identifier: Apache-2.0

package network

import (
	"context"
	"os"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/commands"
	"github.com/discreet-dp/discreet/internal/commands/cli"
	"github.com/discreet-dp/discreet/internal/ground/plaintext"
	"github.com/discreet-dp/discreet/internal/net/service/site"
	"github.com/discreet-dp/discreet/internal/table/schema"
	"github.com/discreet-dp/discreet/internal/train/evaluation"
)

// siteEvaluate holds the flags of the command.
type siteEvaluate struct {
	coordinating
	compare, costs string
	by             string
	threshold      float64
	exactly, json  bool
}

func (a *app) newSiteEvaluateCommand() *cobra.Command {
	e := &siteEvaluate{coordinating: coordinating{app: a}}
	c := &cobra.Command{
		Use:   "evaluate",
		Short: "measure a model on the held-out rows of several sites",
		Long: `Evaluate is discreet evaluate --epsilon for the held-out rows of all sites. Each
charges its own ledger. With --not-private each sends exact numbers, if its
policy has exact_evaluation.`,
		Example: `  discreet-net site evaluate --certs certs --as combiner/uni --sites sites.txt --schema clinics.yaml --model m.json \
    --epsilon 0.5 --honest 2 --state run
  discreet-net site evaluate --certs certs --as combiner/uni --sites sites.txt --schema clinics.yaml --model m.json --not-private`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return e.runEvaluate(c) },
	}
	e.addFlags(c, "evaluation")
	f := c.Flags()
	f.StringVar(&e.model, "model", "", "the model `file`")
	f.StringVar(&e.compare, "compare", "", "a second model `file`, to measure how it differs on the same rows")
	f.Float64Var(&e.threshold, "threshold", 0, "the lowest `score` of the positive class (default the model's own)")
	f.StringVar(&e.costs, "costs", "", "choose the threshold by `FP:FN`, the costs of a false positive and a false negative")
	f.StringVar(&e.by, "by", "", "measure each group of rows: the `column` whose levels are the groups")
	f.BoolVar(&e.exactly, "not-private", false, "ask each site for exact numbers")
	f.BoolVar(&e.json, "json", false, "print one JSON object")
	cli.Reads(c, "model", "compare")
	cli.Require(c, "model")
	return c
}

func (e *siteEvaluate) runEvaluate(cmd *cobra.Command) error {
	needed := []string{"epsilon", "honest", "state"}
	if e.exactly {
		for _, name := range append(needed, "delta", "compare", "costs", "by") {
			if cmd.Flags().Changed(name) {
				return cli.Refuse("site evaluate", name, "must not be given together with --not-private", nil)
			}
		}
	} else {
		for _, name := range needed {
			if !cmd.Flags().Changed(name) {
				return cli.Refuse("site evaluate", name, "must be given, or --not-private", nil)
			}
		}
	}
	s, err := schema.Load(e.schema)
	if err != nil {
		return err
	}
	p := evaluation.Params{Threshold: e.threshold, By: e.by}
	if p.Models, err = commands.LoadModels(e.model, e.compare); err != nil {
		return err
	}
	if !cmd.Flags().Changed("threshold") {
		p.Threshold = p.Models[0].Threshold()
	}
	c, err := e.coordinator("site evaluate")
	if err != nil {
		return err
	}
	if e.exactly {
		return e.evaluateExactly(cmd.Context(), c, s, p)
	}
	return e.evaluatePrivately(cmd.Context(), c, s, p)
}

// evaluateExactly prints the exact numbers that each site reports about its own rows.
func (e *siteEvaluate) evaluateExactly(ctx context.Context, c *site.Coordinator, s *schema.Schema, p evaluation.Params) error {
	reports, err := c.EvaluateExactly(ctx, p.Models[0], p.Threshold)
	if err != nil {
		return commands.AsRefusal(err)
	}
	if e.json {
		by := map[string]any{}
		for i, r := range reports {
			by[c.Peers[i].Name] = r
		}
		return cli.WriteJSON(e.Stdout, by)
	}
	for i, r := range reports {
		if _, err := plaintext.Fprintf(e.Stdout, "site %s\n", c.Peers[i].Name); err != nil {
			return err
		}
		if err := r.WriteText(e.Stdout, s.Label.Name); err != nil {
			return err
		}
	}
	return nil
}

// evaluatePrivately prints the numbers that follow from the noisy counts of all sites.
func (e *siteEvaluate) evaluatePrivately(ctx context.Context, c *site.Coordinator, s *schema.Schema, p evaluation.Params) error {
	price, err := e.price("site evaluate", s)
	if err != nil {
		return err
	}
	p.Epsilon, p.Delta = price.Epsilon, price.Delta
	var choice evaluation.Choice
	if e.costs != "" {
		if choice.Costs, err = evaluation.ParseCosts(e.costs); err != nil {
			return &cli.UsageError{Err: err}
		}
	}
	if err := choice.Check(s.Classes(), len(p.Models)); err != nil {
		return &cli.UsageError{Err: err}
	}
	if _, _, err := c.DescribeEvaluation(s, p); err != nil {
		return commands.AsRefusal(err)
	}
	if err := os.MkdirAll(e.state, 0o700); err != nil {
		return err
	}
	err = c.Evaluate(ctx, s, p, func(r *evaluation.Release) error {
		report, err := r.Report(choice)
		switch {
		case err != nil:
			return err
		case e.json:
			return cli.WriteJSON(e.Stdout, report)
		}
		return report.WriteText(e.Stdout)
	})
	if err == nil {
		e.Say("not protected: %s", c.Unprotected())
	}
	return commands.AsRefusal(err)
}
