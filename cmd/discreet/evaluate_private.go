// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/sha256"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/commands"
	"github.com/discreet-dp/discreet/internal/commands/cli"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ground/keyfile"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
	"github.com/discreet-dp/discreet/internal/train"
	"github.com/discreet-dp/discreet/internal/train/evaluation"
	"github.com/discreet-dp/discreet/internal/train/predict"
)

// privateEvaluation holds the flags of a private evaluation.
type privateEvaluation struct {
	epsilon, delta string
	costs, by      string
	compare        string
	schema         string
	part           string
	cohorts        []string
	key, purpose   string
	from           predict.Threshold
	commands.Charging
}

// evaluatingPrivately is the title of these flags.
const evaluatingPrivately = "Private evaluation"

// priced are the flags that need --epsilon.
var priced = []string{"delta", "costs", "by", "compare", "schema", "part", "cohorts", "ledger", "dataset", "job", "key", "request"}

// hints say why some of them do.
var hints = map[string]string{
	"by":      "groups are measured privately only",
	"compare": "two models are compared privately only; evaluate each by itself for exact numbers",
	"costs":   "exactly, --threshold costs=FP:FN takes the costs",
}

func (p *privateEvaluation) addFlags(c *cobra.Command) {
	c.Flags().StringVar(&p.epsilon, "epsilon", "", "the privacy loss ε of a private evaluation, a `number`")
	c.Flags().StringVar(&p.delta, "delta", "", "its δ, a `number` below 1/rows (default 0)")
	c.Flags().StringVar(&p.costs, "costs", "",
		"choose the threshold by `FP:FN`, the costs of a false positive and a false negative")
	c.Flags().StringVar(&p.by, "by", "",
		"measure each group of rows, too: the `column` whose levels are the groups")
	c.Flags().StringVar(&p.compare, "compare", "", "a second model `file`, to measure how it differs on the same rows")
	c.Flags().StringVar(&p.schema, "schema", "",
		"the schema `file` of the held-out rows (default the model's own, without persons and parts)")
	c.Flags().StringVar(&p.part, "part", "",
		"read one part: the rows with this `value` in the schema's column of parts")
	c.Flags().StringSliceVar(&p.cohorts, "cohorts", nil, "read some cohorts: their `names`, in a list with commas")
	cli.AddSection(c, evaluatingPrivately, "epsilon", "delta", "costs", "by", "compare", "schema", "part", "cohorts")
	p.Charging.AddFlags(c, "the `name` of the held-out rows' data set in the ledger",
		"the evaluation's `ID` in the ledger: the same ID returns the same numbers, whatever the rows are (default a random one)")
	c.Flags().StringVar(&p.key, "key", "", "the analyst's key `file`, if the data set has an owner")
	c.Flags().StringVar(&p.purpose, "request", "",
		"ask for an approval instead: the evaluation's `purpose`, on one line")
	cli.AddSection(c, commands.Counting, "key", "request")
}

// refuseWithoutPrice refuses flags that have no meaning without --epsilon.
func (p *privateEvaluation) refuseWithoutPrice(c *cobra.Command) error {
	for _, name := range priced {
		if c.Flags().Changed(name) {
			return &cli.UsageError{Err: &dp.ParamError{Op: "evaluate", Param: name, Want: "must be given together with --epsilon", Hint: hints[name]}}
		}
	}
	return nil
}

// params checks the flags by themselves.
func (e *evaluate) params() (p evaluation.Params, choice evaluation.Choice, err error) {
	if p.Epsilon, err = dp.ParseEpsilon(e.private.epsilon); err != nil {
		return p, choice, err
	}
	if e.private.delta != "" {
		if p.Delta, err = dp.ParseDelta(e.private.delta); err != nil {
			return p, choice, err
		}
	}
	threshold, err := predict.ParseThreshold(e.threshold)
	if err != nil {
		return p, choice, err
	}
	if e.private.costs != "" && threshold.Given() {
		return p, choice, dp.Refuse("evaluate", "costs", "must not be given together with --threshold", e.private.costs)
	}
	e.private.from, p.By, choice.Rate = threshold, e.private.by, threshold.Rate()
	if threshold.NeedsScores() && !(choice.Rate > 0 && choice.Rate < 1) {
		return p, choice, dp.Refuse("evaluate", "threshold", "must have a share of the rows above 0 and below 1", e.threshold)
	}
	if e.private.costs != "" {
		choice.Costs, err = evaluation.ParseCosts(e.private.costs)
	}
	return p, choice, err
}

// runPrivately runs a private evaluation.
func (e *evaluate) runPrivately(c *cobra.Command) error {
	p := &e.private
	params, choice, err := e.params()
	if err != nil {
		return &cli.UsageError{Err: err}
	}
	if err := p.RequireTogether(c, "dataset", "job", "cohorts", "key", "request"); err != nil {
		return err
	}
	if err := cli.CheckPage("evaluate", e.out); err != nil {
		return err
	}
	if params.Models, err = commands.LoadModels(e.model, p.compare); err != nil {
		return err
	}
	params.Threshold = p.from.Fixed(params.Models[0])
	s, text, err := e.heldOutSchema(params.Models)
	if err != nil {
		return err
	}
	run := &train.Evaluation{Params: params, Training: train.Training{Op: "evaluate", Schema: s, SchemaText: text,
		Data: e.data, Part: p.part, Cohorts: p.cohorts, Say: e.Say,
		Read: func(ctx context.Context) (*dataset.Table, error) { return e.ReadTable(ctx, s, e.data) }}}
	if p.Ledger.Address != "" {
		run.Job = &train.Job{Dataset: p.Dataset, ID: p.JobID, Purpose: p.purpose}
		if p.key != "" {
			if run.Job.Key, err = keyfile.Read("evaluate", p.key); err != nil {
				return err
			}
		}
		if p.purpose != "" && p.JobID == "" {
			return cli.Refuse("evaluate", "job", "must be given together with --request", nil)
		}
	}
	if err := run.Check(); err != nil {
		return commands.AsUsageError(err)
	}
	if err := choice.Check(s.Classes(), len(params.Models)); err != nil {
		return &cli.UsageError{Err: err}
	}
	var r *evaluation.Release
	err = p.Ledger.WithJob(c.Context(), run.Job, func() (err error) {
		r, err = run.Run(c.Context())
		return err
	})
	if err != nil {
		return commands.AsUsageError(err)
	}
	if r == nil {
		e.Say("requested: it is evaluated by the same command without --request, once another key approves it")
		return nil
	}
	report, err := r.Report(choice)
	if err != nil {
		return err
	}
	if p.compare == "" {
		file, err := model.Marshal(params.Models[0])
		if err != nil {
			return err
		}
		report.Model = fmt.Sprintf("%x", sha256.Sum256(file))
	}
	return e.writeReport(report)
}

// heldOutSchema returns the schema of the held-out table, and its text. The model's own schema does
// not state the unit of privacy, and cannot be used if training protected persons.
func (e *evaluate) heldOutSchema(models []*model.Model) (*schema.Schema, []byte, error) {
	if e.private.schema != "" {
		return commands.LoadSchema(e.private.schema)
	}
	for _, m := range models {
		if m.Privacy.ProtectsPersons() {
			return nil, nil, cli.Refuse("evaluate", "schema", "must be given: the model protects persons, and only the held-out "+
				"rows' schema names the column of persons", nil)
		}
	}
	for _, m := range models[1:] {
		if _, err := m.Bind(models[0].Schema); err != nil {
			return nil, nil, cli.Refuse("evaluate", "schema", "must be given: the two models do not read the same columns", nil)
		}
	}
	text, err := models[0].Schema.YAML()
	return models[0].Schema, text, err
}
