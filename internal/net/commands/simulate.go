// SPDX-License-Identifier: Apache-2.0

package network

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/commands"
	"github.com/discreet-dp/discreet/internal/commands/cli"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/net/federated/collect"
	"github.com/discreet-dp/discreet/internal/net/federated/simulate"
	"github.com/discreet-dp/discreet/internal/net/federated/wire"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
	"github.com/discreet-dp/discreet/internal/train"
)

// simulateFlags holds the flags of the command.
type simulateFlags struct {
	*app
	data       []string
	schema     string
	model      string
	classifier string
	mechanism  string
	mode       string
	epsilon    string
	owners     int
	rounds     int
	plan       bool
	noise      float64
	json       bool
	exceed     bool
	checks     commands.Checks
	commands.Charging
}

// Modes of a simulation.
const (
	modeLocal     = "local"
	modeAggregate = "aggregate"
)

// mechanisms maps the names on the command line to the names of laws.
var mechanisms = map[string]string{"pm": "piecewise", "duchi": "duchi", "laplace": "laplace", "hybrid": "hybrid",
	"oue": "oue", "grr": "grr"}

func (a *app) newSimulateCommand() *cobra.Command {
	s := &simulateFlags{app: a}
	c := &cobra.Command{
		Use:   "simulate",
		Short: "simulate owners who perturb at home, and train on their reports",
		Long: `Simulate uses a table as a population. Each row, or each of --owners equal parts
of the rows, belongs to a data owner who trusts no one. It shows what accuracy a
population of that size can reach. Every column and the label are private here,
whatever the schema's roles.

In mode local, the default, each owner sends one report, which is ε-private
before it leaves. In mode aggregate owners send shares of a secret sum. This
needs much less noise, but the owners must trust those who hold the shares.

The mechanisms oue and grr report a cell of a column's table. The mechanisms pm,
duchi, hybrid and laplace report a vector. Mode aggregate takes no mechanism.
Without --mechanism, mode local takes the better of oue and grr for each
question.

With --plan it reads no data. It prints how accurate each question's reports
will be for --owners owners, how many owners are needed for --noise, and how far
one dishonest owner can change the result.`,
		Example: `  discreet-net simulate --data adult.data.gz --schema adult.yaml --classifier stump --epsilon 1 --model m.json
  discreet-net simulate --plan --schema adult.yaml --classifier stump --epsilon 1 --owners 100000 --noise 0.01`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return s.runSimulate(c) },
	}
	f := c.Flags()
	f.StringArrayVar(&s.data, "data", nil,
		commands.TableWords+"; - is standard input; may be repeated")
	f.StringVar(&s.schema, "schema", "", "the schema `file` of the table")
	f.StringVar(&s.model, "model", "", "the `file` to write the model to; replaced if it is there")
	f.StringVar(&s.classifier, "classifier", "stump", "the `classifier` that a round adds: stump, centroid or logistic")
	f.StringVar(&s.mechanism, "mechanism", "", "the `mechanism` by which owners perturb: pm, duchi, laplace, hybrid, oue or grr")
	f.StringVar(&s.mode, "mode", modeLocal, "the `mode`: local or aggregate")
	f.StringVar(&s.epsilon, "epsilon", "", "the `ε` of an owner's single report")
	f.IntVar(&s.owners, "owners", 0, "the `number` of data owners; 0: every row is one")
	f.IntVar(&s.rounds, "rounds", 0, "the `number` of rounds; 0: as many as the number of owners allows")
	f.BoolVar(&s.plan, "plan", false, "show how accurate reports will be, without any data")
	f.Float64Var(&s.noise, "noise", 0.01,
		"with --plan, the desired standard deviation of an estimated share of all records, a `number`")
	f.BoolVar(&s.exceed, "exceed-max-epsilon", false, "spend more than the schema's max_epsilon; the model records it")
	s.checks.AddFlags(c)
	s.Charging.AddFlags(c, "the `name` of the data set in the ledger",
		"the simulation's own `ID` in the ledger: with the same ID the same model is returned (default a random one)")
	f.BoolVar(&s.json, "json", false, "print one JSON object")
	cli.AddSection(c, "Planning without data", "plan", "noise")
	cli.Reads(c, "data", "schema")
	cli.WritesResult(c, "model")
	cli.Require(c, "schema", "epsilon")
	return c
}

func (s *simulateFlags) runSimulate(c *cobra.Command) error {
	eps, err := dp.ParseEpsilon(s.epsilon)
	if err != nil {
		return &cli.UsageError{Err: err}
	}
	if err := s.checkFlags(c); err != nil {
		return &cli.UsageError{Err: err}
	}
	if err := s.RequireTogether(c, "dataset", "job"); err != nil {
		return err
	}
	sch, text, err := commands.LoadSchema(s.schema)
	if err != nil {
		return err
	}
	if err := sch.CheckDefaults("simulate", dp.WholeRow); err != nil { // before any row is read
		return &cli.UsageError{Err: err}
	}
	if s.plan {
		return s.printPlan(sch, eps)
	}
	if err := s.checks.Ask(c, s.App, sch, s.schema, s.data); err != nil {
		return err
	}
	m, out, err := s.trainModel(c.Context(), sch, text, eps)
	if err != nil {
		return commands.AsUsageError(err)
	}
	s.Say("wrote %s", s.model)
	switch {
	case out == nil: // the job had its result: its rounds are not told again
		_, err := io.WriteString(s.Stdout, m.Privacy.Card())
		return err
	case s.json:
		return cli.WriteJSON(s.Stdout, out.Numbers())
	}
	return out.WriteText(s.Stdout)
}

// checkFlags refuses flags that are wrong under any schema.
func (s *simulateFlags) checkFlags(c *cobra.Command) error {
	fault := func(param, want string, got any, hint string) error {
		return &dp.ParamError{Op: "simulate", Param: param, Want: want, Got: got, Hint: hint}
	}
	_, known := mechanisms[s.mechanism]
	classifiers := []string{string(wire.Stump), string(wire.Centroid), string(wire.Logistic)}
	switch {
	case s.mode != modeLocal && s.mode != modeAggregate:
		return fault("mode", "must be local or aggregate", s.mode, "")
	case !slices.Contains(classifiers, s.classifier):
		return fault("classifier", "must be one of "+strings.Join(classifiers, ", "), s.classifier, "")
	case s.mechanism != "" && !known:
		return fault("mechanism", "must be one of pm, duchi, laplace, hybrid, oue, grr", s.mechanism, "")
	case s.mode == modeAggregate && s.mechanism != "":
		return fault("mechanism", "must not be given in mode aggregate: owners share the noise of one sum", s.mechanism, "")
	case s.rounds < 0 || c.Flags().Changed("rounds") && s.rounds == 0:
		return fault("rounds", "must be at least 1", s.rounds, "")
	case s.owners < 0 || c.Flags().Changed("owners") && s.owners == 0:
		return fault("owners", "must be at least 1", s.owners, "")
	case s.plan && (len(s.data) > 0 || s.model != ""):
		return fault("plan", "must be without --data and --model: it reads and writes nothing", nil, "")
	case s.plan && s.mode != modeLocal:
		return fault("plan", "must be of mode local", s.mode, "")
	case s.plan && s.owners == 0:
		return fault("owners", "must be given with --plan", nil, "for example --owners 100000")
	case s.plan && !(s.noise > 0 && s.noise <= 1):
		return fault("noise", "must be above 0 and at most 1", s.noise, "")
	case !s.plan && c.Flags().Changed("noise"):
		return fault("noise", "must be with --plan", s.noise, "")
	case !s.plan && len(s.data) == 0:
		return fault("data", "must be given", nil, "or --plan, which needs none")
	case !s.plan && s.model == "":
		return fault("model", "must be given", nil, "")
	}
	return nil
}

// trainModel simulates the owners, charges for the model and writes it. It returns nil if an earlier
// run of the same job wrote the model.
func (s *simulateFlags) trainModel(ctx context.Context, sch *schema.Schema, text []byte,
	eps dp.Epsilon) (m *model.Model, out *simulate.Result, err error) {
	run := &train.Simulation{
		Training: train.Training{Op: "simulate", Schema: sch, SchemaText: text, Data: s.data, Exceed: s.exceed,
			Output: train.Output{Path: s.model, Force: s.Force()}, Say: s.Say,
			Read: func(ctx context.Context) (*dataset.Table, error) { return s.ReadTable(ctx, sch, s.data) }},
		Price: dp.Price{Epsilon: eps},
		Bill:  collect.Bill(wire.Mode(s.mode), mechanisms[s.mechanism], eps),
		Options: map[string]string{"mode": s.mode, "classifier": s.classifier, "mechanism": s.mechanism,
			"owners": strconv.Itoa(s.owners), "rounds": strconv.Itoa(s.rounds)},
		Play: func(ctx context.Context, tab *dataset.Table, counted bool) (*model.Model, error) {
			report, done := s.ShowRuns(s.mode)
			defer done()
			out, err = simulate.Run(ctx, tab, simulate.Params{
				Mode: wire.Mode(s.mode), Classifier: wire.Classifier(s.classifier), Mechanism: mechanisms[s.mechanism],
				Epsilon: eps, Owners: s.owners, Rounds: s.rounds, Progress: report, Counted: counted,
			})
			if err != nil {
				return nil, err
			}
			return out.Model, nil
		},
	}
	if s.mode == modeAggregate {
		run.Price.Delta = wire.SumDelta
	}
	if s.Ledger.Address != "" {
		run.Job = &train.Job{Dataset: s.Dataset, ID: s.JobID}
	}
	if err := run.Check(); err != nil {
		return nil, nil, err
	}
	if err := cli.CheckWritable(s.model); err != nil {
		return nil, nil, fmt.Errorf("simulate: model %w", err)
	}
	err = s.Ledger.WithJob(ctx, run.Job, func() error {
		m, err = run.Run(ctx)
		return err
	})
	return m, out, err
}

// printPlan prints the expected error of the reports.
func (s *simulateFlags) printPlan(sch *schema.Schema, eps dp.Epsilon) error {
	o, err := simulate.Foresee(collect.Params{
		Schema: sch, Classifier: wire.Classifier(s.classifier), Mechanism: mechanisms[s.mechanism], Epsilon: eps,
		Owners: s.owners, Rounds: s.rounds,
	}, s.noise)
	if err != nil {
		return err
	}
	if s.json {
		return cli.WriteJSON(s.Stdout, o)
	}
	return o.WriteText(s.Stdout)
}
