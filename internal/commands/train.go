// SPDX-License-Identifier: Apache-2.0

package commands

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/commands/cli"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ground/keyfile"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/model/explain"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/train"
)

// trainFlags holds the flags of the command.
type trainFlags struct {
	*App
	choice  *Choice
	data    []string
	schema  string
	model   string
	part    string
	cohorts []string
	key     string
	purpose string
	exceed  bool
	engine  string
	memory  string
	master  string
	submit  string
	checks  Checks
	policy  PolicyFlag
	party   bool // everything in the table is to be protected
	Charging
}

func (a *App) NewTrainCommand() *cobra.Command {
	t := &trainFlags{App: a}
	c := &cobra.Command{
		Use:   "train",
		Short: "train a model and print its privacy statement",
		Long: `Train reads a table, trains a model and writes the model file. It prints
the privacy statement, which the file contains: what is protected, what is not
protected, and what it cost.

Train checks all parameters before it opens the table. A private learner
requires --epsilon; there is no default. A learner without privacy refuses a
schema with private columns unless you pass --not-private, and the model records
this. The noise is fresh in every run and cannot be reproduced. If a training is
interrupted, it writes no model.

If nobody has run discreet schema check on the table with this schema, train says
so, and with --require-check it refuses, whatever was found (docs/schema.md).

With --part it reads only the rows of one part: the rows with that value in the
column that the schema declares as parts:. The prices of trainings on different
parts do not add up.

With --cohorts it reads only the rows of some cohorts, and only these are
charged. Cohorts are the levels, or the months, of the public column that the
data set was declared with (budget init --cohort-by).

If the data set has an owner, --key is the analyst's key file, and the training
is charged to the analyst's allotment. With --request the training is not run
but requested. Once another key has approved it (budget approve), the same
command without --request runs it.

With --ledger and --dataset the price is charged to the data set before the
training begins. The training is refused if the price is more than what is left.
The ledger keeps the model's bytes: the same --job returns the same model and
costs nothing. A job is bound to the learner, epsilon, delta, options, part and
cohorts, to the schema's text and to the names of the data files; with others
its ID is refused. Rows are not compared: other rows need another ID. Without a
ledger nothing is counted, and the model records this.`,
		Example: `  discreet train --data adult.data.gz --schema adult.yaml --epsilon 1 --model m.json
  discreet train --data 2023.parquet --data 2024.parquet --schema s.yaml --epsilon 1 --delta 1e-6 --model m.json
  discreet train --data adult.data.gz --schema adult.yaml --epsilon 0.5 --model m.json \
    --ledger l.db --dataset adult --job monday
  discreet train --data clinics.csv --schema clinics.yaml --epsilon 1 --part north --model north.json \
    --ledger l.db --dataset clinics
  discreet train --data p.csv --schema p.yaml --epsilon 0.5 --cohorts 2027-01,2027-02,2027-03 --model m.json \
    --ledger l.db --dataset patients
  discreet train --data adult.data.gz --schema adult.yaml --learner logistic --columns public --model public.json
  discreet train --data adult.data.gz --schema adult.yaml --learner brc --epsilon 1 --rounds 50 --model brc.json
  discreet train --data adult.data.gz --schema adult.yaml --epsilon inf --not-private --model twin.json`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return t.runTrain(c) },
	}
	t.addFlags(c)
	t.choice = AddChoice(c)
	return c
}

// addFlags adds the flags for the input, the output and the account.
func (t *trainFlags) addFlags(c *cobra.Command) {
	c.Flags().StringArrayVar(&t.data, "data", nil,
		TableWords+"; - is standard input; may be repeated")
	c.Flags().StringVar(&t.schema, "schema", "", "the schema `file` of the table")
	c.Flags().StringVar(&t.model, "model", "", "the `file` to write the model to; replaced if it is there")
	c.Flags().BoolVar(&t.exceed, "exceed-max-epsilon", false,
		"spend more than the schema's max_epsilon; the model records it")
	c.Flags().StringVar(&t.part, "part", "",
		"train on one part: the rows with this `value` in the column that the schema names as parts:")
	c.Flags().StringSliceVar(&t.cohorts, "cohorts", nil,
		"train on some cohorts: their `names`, in a list with commas")
	c.Flags().StringVar(&t.engine, "engine", train.EngineAuto,
		"the storage of the rows during training: memory, disk (in blocks, for tables larger than memory), auto, which is "+
			"disk with --memory-limit and otherwise memory, or spark (docs/scale.md); the model is the same")
	c.Flags().StringVar(&t.memory, "memory-limit", "",
		"keep the rows in blocks on disk, and at most this many `bytes` about them in memory (default 2GiB with --engine disk)")
	t.AddClusterFlags(c, &t.master, &t.submit)
	t.checks.AddFlags(c)
	t.Charging.AddFlags(c, "the `name` of the data set in the ledger",
		"the training's own `ID` in the ledger: with the same ID the same model is returned, whatever the rows are, "+
			"and never drawn again (default a random one)")
	c.Flags().StringVar(&t.key, "key", "", "the analyst's key `file`, if the data set has an owner")
	c.Flags().StringVar(&t.purpose, "request", "",
		"do not train but ask for an approval: the training's `purpose`, on one line")
	t.policy.AddFlag(c)
	cli.AddSection(c, Counting, "key", "request", "policy")
	cli.Reads(c, "data", "schema", "key")
	cli.WritesResult(c, "model")
	cli.Require(c, "data", "schema", "model")
}

// AddClusterFlags adds the flags that select a Spark cluster, if the program has Spark.
func (a *App) AddClusterFlags(c *cobra.Command, master, submit *string) {
	if a.Cluster == nil {
		return
	}
	c.Flags().StringVar(master, "master", "",
		"with --engine spark, the cluster's `address`, such as spark://host:7077 or yarn")
	c.Flags().StringVar(submit, "spark-submit", "",
		"with --engine spark, the `command` that submits, with arguments of its own (default \"spark-submit\")")
}

// FindCluster returns the cluster that the flags select, nil if they select none or the program has no
// Spark.
func (a *App) FindCluster(engine, master, submit string) train.Cluster {
	if a.Cluster == nil || engine != train.EngineSpark && master+submit == "" {
		return nil
	}
	return a.Cluster(master, submit)
}

func (t *trainFlags) runTrain(c *cobra.Command) error {
	req, err := t.choice.MakeRequest("train")
	if err != nil {
		return err
	}
	return t.trainRequest(c, req)
}

// trainRequest trains what req asks for. Several commands use it.
func (t *trainFlags) trainRequest(c *cobra.Command, req *train.Request) error {
	if err := t.RequireTogether(c, "dataset", "job", "cohorts", "key", "request"); err != nil {
		return err
	}
	s, text, err := LoadSchema(t.schema)
	if err != nil {
		return err
	}
	if t.party {
		if err := s.CheckDefaults(c.Name(), dp.Party); err != nil { // before any row is read
			return &cli.UsageError{Err: err}
		}
	}
	allowed, err := t.policy.Read()
	if err != nil {
		return err
	}
	if allowed != nil && allowed.Check {
		t.checks.Require = true
	}
	run := &train.Training{
		Op: c.Name(), Request: req, Schema: s, SchemaText: text, Data: t.data, Part: t.part, Cohorts: t.cohorts,
		Exceed: t.exceed, Policy: allowed, Now: Clock(),
		Output: train.Output{Path: t.model, Force: t.Force()}, Say: t.Say,
	}
	run.Rows = &train.RowSource{Engine: t.engine, Files: t.data, Options: dataset.Options{Stdin: t.Stdin},
		Show: t.ShowBusy, Cluster: t.FindCluster(t.engine, t.master, t.submit)}
	if t.memory != "" {
		if run.Rows.Memory, err = train.ParseBytes(c.Name(), "memory-limit", t.memory); err != nil {
			return AsUsageError(err)
		}
	}
	if t.Ledger.Address != "" {
		run.Job = &train.Job{Dataset: t.Dataset, ID: t.JobID, Purpose: t.purpose}
		if t.key != "" {
			if run.Job.Key, err = keyfile.Read(c.Name(), t.key); err != nil {
				return err
			}
		}
		if t.purpose != "" && t.JobID == "" {
			return cli.Refuse(c.Name(), "job", "must be given together with --request", nil)
		}
	}
	if err := run.Check(); err != nil {
		return AsUsageError(err)
	}
	if err := t.checks.Ask(c, t.App, s, t.schema, t.data); err != nil {
		return err
	}
	run.Checked = t.checks.Require
	if err := cli.CheckWritable(t.model); err != nil { // a lost model has spent its epsilon too
		return fmt.Errorf("%s: model %w", c.Name(), err)
	}
	var m *model.Model
	err = t.Ledger.WithJob(c.Context(), run.Job, func() (err error) {
		m, err = run.Run(c.Context())
		return err
	})
	if err != nil {
		return AsUsageError(err)
	}
	if m == nil {
		t.Say("requested: it is trained by the same command without --request, once another key approves it")
		return nil
	}
	t.Say("wrote %s", t.model)
	if _, err = io.WriteString(t.Stdout, m.Privacy.Card()); err != nil {
		return err
	}
	for _, q := range explain.Questions(m) {
		t.Say("question: %s", q)
	}
	return nil
}
