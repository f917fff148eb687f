// SPDX-License-Identifier: Apache-2.0

package commands

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/vbauerster/mpb/v8/decor"

	"github.com/discreet-dp/discreet/internal/commands/cli"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/table/schema"
	"github.com/discreet-dp/discreet/internal/train"
	"github.com/discreet-dp/discreet/internal/train/audit"
	"github.com/discreet-dp/discreet/internal/train/audit/finding"
	"github.com/discreet-dp/discreet/internal/train/audit/subject"
	"github.com/discreet-dp/discreet/internal/train/evaluation"
)

// auditFlags holds the flags of the command.
type auditFlags struct {
	*App
	choice     *Choice
	schema     string
	rows       int
	mechanism  string
	model      string
	command    string
	neighbours []string
	delta      float64
	alpha      float64
	runs       int
	limit      time.Duration
	out        string
	json       bool
}

func (a *App) NewAuditCommand() *cobra.Command {
	t := &auditFlags{App: a}
	c := &cobra.Command{
		Use:   "audit",
		Short: "test a privacy claim from outside",
		Long: `Audit tests a privacy claim from outside. It runs a learner, a mechanism, the
private evaluation of a model or any other program many times on two
neighbouring tables. It searches half of the runs for an event that
distinguishes the tables, and counts that event in the other half. It prints a
lower bound on the privacy loss, which holds with the stated confidence for
every event that was tried. If the bound is above the claim, the
claim is REFUTED. "Not refuted" is not a proof. Audit exits with 0 whatever the
verdict.

Learners run on tables made from the schema; no data are read. An audit finds
most if there are few rounds and a large loss in each. Therefore brc is audited
with 2 rounds and c1 = c2 = 2, unless flags change this. A learner without
privacy is compared with the claim too.

A command is run by the shell. {data} is replaced by the name of a CSV file and
{epsilon} by the claim. The command prints one line for each run, with one
number or several. If the command also contains {runs}, it must make that many
independent runs at once, which saves starting it for each run. The two files
are given by --neighbours, or made from --schema.`,
		Example: `  discreet audit --learner additive --schema adult.yaml --epsilon 2 --json
  discreet audit --mechanism laplace --epsilon 1
  discreet audit --model m.json --epsilon 1 --runs 10000
  discreet audit --command "./mean.py {data} {epsilon} {runs}" --neighbours a.csv,b.csv --epsilon 1`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return t.runAudit(c.Context()) },
	}
	t.choice = AddChoice(c)
	// Here a learner is one of three subjects: not required, and no one's default.
	l := c.Flags().Lookup("learner")
	l.Annotations, l.DefValue, t.choice.Name = nil, "", ""
	l.Usage = "the `name` of the learner to audit: " + strings.Join(train.LearnerNames(), ", ")
	c.Flags().Lookup("epsilon").Usage = "the claim: the privacy loss `ε` that must not be exceeded"
	c.Flags().Lookup("delta").Usage = "the `δ` of an (ε, δ) claim"
	if err := c.Flags().MarkHidden("not-private"); err != nil {
		panic(err)
	}
	c.Flags().StringVar(&t.schema, "schema", "", "the schema `file` of the learner's or command's tables")
	c.Flags().IntVar(&t.rows, "rows", 0, "the `number` of rows, or persons, of these tables; 0 for 1000 (brc) or 100")
	c.Flags().StringVar(&t.mechanism, "mechanism", "", "the mechanism to audit: "+strings.Join(audit.Mechanisms(), ", "))
	CompleteFlag(c, "mechanism", audit.Mechanisms()...)
	c.Flags().StringVar(&t.model, "model", "", "the model `file` whose private evaluation to audit")
	c.Flags().StringVar(&t.command, "command", "",
		"the `command` to audit, with {data} and, if wanted, {epsilon} and {runs}")
	c.Flags().StringSliceVar(&t.neighbours, "neighbours", nil, "two CSV `files` for the command, separated by a comma")
	c.Flags().Float64Var(&t.alpha, "alpha", audit.DefaultAlpha, "the largest `probability` of refuting a true claim")
	c.Flags().IntVar(&t.runs, "runs", 0, "the `number` of runs on each neighbour; 0 for as many as fit into --limit")
	c.Flags().DurationVar(&t.limit, "limit", 30*time.Second, "approximate running time if --runs is not given")
	if a.DrawAudit != nil {
		c.Flags().StringVar(&t.out, "out", "", "the .svg or .png `file` to draw the two output distributions to")
		cli.Writes(c, "out")
	}
	c.Flags().BoolVar(&t.json, "json", false, "print one JSON object")
	cli.AddSection(c, "A command to audit", "command", "neighbours")
	cli.Reads(c, "schema", "neighbours", "model")
	cli.Require(c, "epsilon")
	c.MarkFlagsOneRequired("learner", "mechanism", "model", "command")
	c.MarkFlagsMutuallyExclusive("learner", "mechanism", "model", "command")
	return c
}

func (t *auditFlags) runAudit(ctx context.Context) error {
	eps, err := t.checkFlags()
	if err != nil {
		return &cli.UsageError{Err: err}
	}
	if t.out != "" {
		if err := cli.CheckWritable(t.out); err != nil {
			return err
		}
	}
	// A training here makes a lot of garbage on a tiny heap: collecting it at
	// the usual pace would take half of the time.
	defer debug.SetGCPercent(debug.SetGCPercent(1000))
	src := rng.System()
	var sub audit.Subject
	switch {
	case t.mechanism != "":
		if sub, err = audit.Mechanism(t.mechanism, eps, t.delta); err != nil {
			return &cli.UsageError{Err: err}
		}
	case t.command != "":
		var clean func()
		p := subject.Program{Command: t.command, Neighbours: t.neighbours, Schema: t.schema, Rows: t.rows, Env: t.Env}
		sub, clean, err = p.Subject(ctx, eps, src)
		defer clean()
	case t.model != "":
		sub, err = t.evaluationSubject(eps, src)
	default:
		sub, err = t.makeSubject(ctx, src)
	}
	if err != nil {
		return err
	}
	t.Say("auditing %s", sub.Name)
	share, done := t.ShowProgress("auditing", decor.Percentage())
	r, err := audit.Run(ctx, sub, audit.Options{
		Epsilon: eps, Delta: t.delta, Alpha: t.alpha, Runs: t.runs, Limit: t.limit,
		Progress: func(s float64) { share(int64(1000*s), 1000) },
	})
	done()
	if err != nil {
		return err
	}
	if t.out != "" {
		if err := t.DrawAudit(t.out, r); err != nil {
			return err
		}
	}
	if t.json {
		return cli.WriteJSON(t.Stdout, finding.NewAudit(r))
	}
	return finding.WriteAudit(t.Stdout, r)
}

// checkFlags checks the flags that all subjects of an audit share.
func (t *auditFlags) checkFlags() (dp.Epsilon, error) {
	bad := dp.RefuseFor("audit")
	eps, err := dp.ParseEpsilon(t.choice.Price.Epsilon)
	if err != nil {
		return 0, err
	}
	delta, err := dp.ParseDelta(t.choice.Price.Delta)
	if err != nil {
		return 0, err
	}
	t.delta = delta.Float()
	ext := filepath.Ext(t.out)
	switch {
	case t.choice.Price.NotPrivate:
		return 0, bad("not-private", "must not be given: an audit needs a finite claim", true)
	case !(t.alpha > 0 && t.alpha <= 0.5):
		return 0, bad("alpha", "must be > 0 and at most 0.5", t.alpha)
	case t.runs != 0 && t.runs < audit.MinRuns:
		return 0, bad("runs", fmt.Sprintf("must be at least %d, or 0", audit.MinRuns), t.runs)
	case t.limit <= 0:
		return 0, bad("limit", "must be > 0", t.limit)
	case t.rows < 0 || t.rows == 1:
		return 0, bad("rows", "must be at least 2, or 0", t.rows)
	case t.out != "" && ext != ".svg" && ext != ".png":
		return 0, bad("out", "must end in .svg or .png", t.out)
	case t.choice.Name != "" && t.schema == "":
		return 0, bad("schema", "must be given with --learner: the tables are made from it", nil)
	case t.neighbours != nil && t.command == "":
		return 0, bad("neighbours", "must not be given unless --command is given", strings.Join(t.neighbours, ","))
	case t.neighbours != nil && len(t.neighbours) != 2:
		return 0, bad("neighbours", "must be two files", strings.Join(t.neighbours, ","))
	case t.command != "" && (t.neighbours == nil) == (t.schema == ""):
		return 0, bad("command", "needs either --neighbours or --schema", t.command)
	case t.command != "" && !strings.Contains(t.command, "{data}"):
		return 0, bad("command", "must contain {data}, the file to read", t.command)
	}
	return eps, nil
}

// evaluationSubject returns the evaluation of the model that --model names, at the claimed ε.
func (t *auditFlags) evaluationSubject(eps dp.Epsilon, src rng.Source) (sub audit.Subject, err error) {
	m, err := model.Load(t.model)
	if err != nil {
		return sub, err
	}
	s := m.Schema
	if t.schema != "" {
		if s, err = schema.Load(t.schema); err != nil {
			return sub, err
		}
	}
	delta, err := dp.ParseDelta(t.choice.Price.Delta)
	if err != nil {
		return sub, err
	}
	p := evaluation.Params{Epsilon: eps, Delta: delta, Models: []*model.Model{m}, Threshold: 0.5}
	sub, err = audit.Evaluation(p, s, cmp.Or(t.rows, 100), src)
	return sub, AsRefusal(err)
}

// makeSubject returns the subject that --learner names.
func (t *auditFlags) makeSubject(ctx context.Context, src rng.Source) (sub audit.Subject, err error) {
	s, err := schema.Load(t.schema)
	if err != nil {
		return sub, err
	}
	if !subject.Private(t.choice.Name) {
		t.Say("learner %s adds no noise: expect the claim to be refuted", t.choice.Name)
	}
	sub, err = subject.Learner(ctx, t.choice.CollectFlags(), s, t.rows, src)
	return sub, AsUsageError(err)
}
