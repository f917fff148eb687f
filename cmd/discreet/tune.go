// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/cli"
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/privacy/dp"
	"github.com/discreet-dp/discreet/internal/table/schema"
	"github.com/discreet-dp/discreet/internal/tune"
)

// tuning is the flags of the command: those of train, with candidates in place
// of a learner.
type tuning struct {
	train
	epsilon    string
	learners   []string
	candidates string
	params     tune.Params
}

func (a *app) tune() *cobra.Command {
	t := &tuning{train: train{app: a}, params: tune.Defaults()}
	c := &cobra.Command{
		Use:   "tune",
		Short: "train candidates and release the best, all paid for",
		Long: `Tune trains several candidates, a learner with its options each, and writes the
model of the one that makes the fewest mistakes on rows it was not trained on.
The choice is private too: --epsilon pays for the model and for the choosing,
and nothing of the other candidates is released. A learner that can be named
beforehand does better with all of --epsilon: use train.

  --method all          trains each candidate once, for an equal share of
                        epsilon; good for a handful
  --method geometric    trains candidates drawn at random, a random number of
  --method logarithmic  times, for a third, a half and two thirds of epsilon
  --method root         each, however many candidates there are

A random number of times must stay unknown: where somebody can see how long the
command takes, use all. --patience makes those runs more, at the same price.

Candidates are named as in train; their options follow after colons. --learners
lists them, a file of --candidates has one to a line (empty lines and lines that
begin with # are left out). A ledger is charged as by train.`,
		Example: `  discreet tune --data adult.data.gz --schema adult.yaml --learners additive,brc:rounds=5,brc --epsilon 1 --model m.json
  discreet tune --data adult.data.gz --schema adult.yaml --candidates grid.txt --method logarithmic --patience 30 \
    --epsilon 1 --model m.json --ledger l.db --dataset adult --job tuesday`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return t.run(c) },
	}
	t.add(c)
	c.Flags().StringVar(&t.epsilon, "epsilon", "", "the privacy loss ε of the model and its choice together, a `number`")
	c.Flags().StringSliceVar(&t.learners, "learners", nil, "the `names` of candidates, each with its options: NAME[:OPTION=VALUE]...")
	c.Flags().StringVar(&t.candidates, "candidates", "", "a `file` of candidates, one to a line")
	c.Flags().StringVar((*string)(&t.params.Method), "method", string(t.params.Method), "how many trainings: all, geometric, logarithmic or root, a `name`")
	c.Flags().Float64Var(&t.params.HeldOut, "held-out", t.params.HeldOut, "the `share` of the rows that judge and do not train")
	c.Flags().IntVar(&t.params.Patience, "patience", t.params.Patience, "a random number of runs ends with chance 1/`number` at a time, unused by all")
	cli.Require(c, "epsilon")
	complete(c, "learners", learnerNames()...)
	var methods []string
	for _, m := range tune.Methods() {
		methods = append(methods, string(m))
	}
	complete(c, "method", methods...)
	c.MarkFlagsOneRequired("learners", "candidates")
	c.MarkFlagsMutuallyExclusive("learners", "candidates")
	return c
}

func (t *tuning) run(c *cobra.Command) error {
	eps, err := dp.ParseEpsilon(t.epsilon)
	if err != nil {
		return &cli.UsageError{Err: err}
	}
	specs, err := t.specs()
	if err != nil {
		return err
	}
	if t.params.Candidates, err = candidates(specs); err != nil {
		return &cli.UsageError{Err: err}
	}
	// What makes two tunings the same job: see configuration.
	t.choice = &choice{given: map[string]*raw{
		"candidates": {text: strings.Join(specs, "\n"), set: true},
		"method":     {text: string(t.params.Method), set: true},
		"held-out":   {text: strconv.FormatFloat(t.params.HeldOut, 'g', -1, 64), set: true},
		"patience":   {text: strconv.Itoa(t.params.Patience), set: true},
	}}
	return t.perform(c, &request{learner: t.learner(), price: price{epsilon: eps}})
}

// learner is tuning as one learner: to whatever trains, it is one.
func (t *tuning) learner() *learner {
	return &learner{name: "tune", private: true, plan: func(pr price, s *schema.Schema, rows int) (learn.Plan, error) {
		p := t.params
		p.Epsilon = pr.epsilon
		pl, err := p.Plan(s, rows)
		if err != nil {
			return nil, err // not pl: a nil *tune.Plan is not a nil learn.Plan
		}
		return pl, nil
	}}
}

// candidates are configured private learners, no two of them the same.
func candidates(specs []string) (out []tune.Candidate, err error) {
	seen := map[string]bool{}
	for _, spec := range specs {
		l, name, err := configured("tune", "candidates", spec)
		switch {
		case err != nil:
			return nil, err
		case !l.private:
			return nil, &dp.ParamError{Op: "tune", Param: "candidates", Want: "must be private learners", Got: strconv.Quote(spec)}
		case seen[spec]:
			return nil, &dp.ParamError{Op: "tune", Param: "candidates", Want: "must differ", Got: strconv.Quote(spec)}
		}
		seen[spec] = true
		out = append(out, tune.Candidate{Name: name, Plan: func(eps dp.Epsilon, s *schema.Schema, rows int) (learn.Plan, error) {
			return l.plan(price{epsilon: eps}, s, rows)
		}})
	}
	return out, nil
}

// specs are the candidates as they were typed, or as the file has them.
func (t *tuning) specs() (specs []string, err error) {
	if t.candidates == "" {
		return t.learners, nil
	}
	text, err := os.ReadFile(t.candidates)
	if err != nil {
		return nil, fmt.Errorf("tune: candidates: %w", err)
	}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			specs = append(specs, line)
		}
	}
	return specs, nil
}
