// SPDX-License-Identifier: Apache-2.0

package network

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/commands"
	"github.com/discreet-dp/discreet/internal/commands/cli"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/net/federated/multiparty"
	"github.com/discreet-dp/discreet/internal/net/service/combine"
	"github.com/discreet-dp/discreet/internal/table/schema"
	"github.com/discreet-dp/discreet/internal/train"
)

// combination holds the flags of combine and site plan that state how to combine.
type combination struct {
	public  string // schema of the auxiliary table
	epsilon string
	open    bool // without privacy
	params  multiparty.Params
}

func (f *combination) addFlags(c *cobra.Command) {
	p := multiparty.Defaults()
	f.params = p
	c.Flags().StringVar(&f.public, "schema", "", "the schema `file` of the auxiliary table and the label")
	c.Flags().StringVar(&f.epsilon, "epsilon", "",
		"the privacy loss `ε` for each party; inf only with --not-private")
	c.Flags().BoolVar(&f.open, "not-private", false, "combine without noise, for comparison only")
	c.Flags().IntVar(&f.params.Parties, "parties", 0, "the `number` of parties that were asked; it is public")
	c.Flags().StringVar((*string)(&f.params.Method), "method", string(p.Method), "soft, majority, average or noisy-max")
	c.Flags().StringVar((*string)(&f.params.Form), "form", string(p.Form),
		"what is released, for soft and majority: statistic or output")
	c.Flags().StringVar((*string)(&f.params.Shape), "shape", string(p.Shape), "shape of a statistic's noise: rows or ball")
	c.Flags().StringVar((*string)(&f.params.Mode), "mode", string(p.Mode),
		"scale of the noise for form output: tight or printed")
	c.Flags().StringVar((*string)(&f.params.Loss), "loss", string(p.Loss), "logistic, or huber with form output")
	c.Flags().Float64Var(&f.params.Width, "width", p.Width, "half the width of the Huber-hinge's corner, a `number`")
	c.Flags().Float64Var(&f.params.Reg, "reg", 0, "the ridge `penalty` on the mean loss; 0 for the method's rule")
	c.Flags().StringVar((*string)(&f.params.Encoding), "encoding", string(p.Encoding),
		"encoding of categories: onehot or ordinal")
	c.Flags().IntVar(&f.params.Queries, "queries", 0, "the `number` of rows that noisy-max answers")
	c.Flags().Float64Var(&f.params.Bound, "bound", p.Bound, "the `length` to which average clips coefficients")
	cli.AddSection(c, "Methods", "method", "form", "shape", "mode", "loss", "width", "reg", "encoding", "queries", "bound")
	for name, words := range map[string][]string{
		"method": {"soft", "majority", "average", "noisy-max"}, "form": {"statistic", "output"}, "shape": {"rows", "ball"},
		"mode": {"tight", "printed"}, "loss": {"logistic", "huber"},
		"encoding": {"onehot", "ordinal"},
	} {
		commands.CompleteFlag(c, name, words...)
	}
	cli.Reads(c, "schema")
	cli.Require(c, "schema", "parties")
}

// readFlags checks what can be checked without a schema.
func (f *combination) readFlags(op string) error {
	bad := func(want string, got any, hint string) error {
		return &cli.UsageError{Err: &dp.ParamError{Op: op, Param: "epsilon", Want: want, Got: got, Hint: hint}}
	}
	inf := strings.EqualFold(f.epsilon, "inf")
	switch {
	case inf != f.open && f.epsilon != "":
		return bad("may be inf only together with --not-private", f.epsilon, "")
	case f.open:
	case f.epsilon == "":
		return bad("is required: it is the price that every party pays", nil,
			"for example --epsilon 1; discreet-net site plan shows what it buys")
	default:
		eps, err := dp.ParseEpsilon(f.epsilon)
		if err != nil {
			return &cli.UsageError{Err: err}
		}
		f.params.Epsilon = eps
	}
	f.params.NotPrivate = f.open
	return nil
}

// planVotes prices the combination; rows is 0 if unknown.
func (f *combination) planVotes(s *schema.Schema, rows int) (*multiparty.Plan, error) {
	pl, err := f.params.Plan(s, rows)
	if _, ok := errors.AsType[*dp.ParamError](err); ok {
		return nil, &cli.UsageError{Err: err}
	}
	return pl, err
}

// combiner holds the flags of the command.
type combiner struct {
	*app
	combination
	asking
	commands.Charging
	combine.Combination
	answers string
}

func (a *app) newSiteVoteCommand() *cobra.Command {
	t := &combiner{app: a}
	t.Read, t.Combination.Say, t.Progress = a.readUnlabelled, a.Say, a.ShowRuns
	t.asking.Asking = &t.Ask
	t.Ask.Log, t.Ask.Now = a.newLogger(), commands.Clock
	c := &cobra.Command{
		Use:   "vote",
		Short: "train one classifier from many parties' votes",
		Long: `Vote reads the votes files of a folder, checks their signatures, and trains
one classifier. The classifier is private for everything that one party holds.
To see in advance what it costs and what it buys, use site plan.

There are four methods:

- soft counts each row for every class, by the share of parties that voted for
  the class.
- majority gives each row the class with most votes. One vote may change this
  class, so the noise is larger by a factor of the number of parties.
- average takes the mean of logistic coefficients instead of votes.
- noisy-max answers rows one by one, each for its share of epsilon.

A party that sends nothing counts as a constant vote, because its participation
is protected too. --parties is the number of parties that were asked, and it is
public. With --roster only the parties on that list may vote. Each line is a
public key and a party's name; signatures prove who voted.

With --sites it asks the parties that serve (site serve), until --wait is over. --votes is then the folder to keep the votes in.

With --secure-sum (method soft, form statistic) the combiner sees no votes: it
learns only the sum of the parties' vectors, with noise sized for --honest of
them, of at least --minimum parties. With --sites the parties and the --helpers,
who hold the shares, are processes elsewhere. With --votes this process
simulates all of them.

With --ledger the combination is charged to a data set whose unit is a party.
noisy-max charges each answer, and stops when the budget is spent.`,
		Example: `  discreet-net site vote --votes votes --aux aux.csv --schema aux.yaml --parties 200 \
    --epsilon 1 --model global.json
  discreet-net site vote --votes votes --aux aux.csv --schema aux.yaml --parties 200 --epsilon 1 \
    --method majority --model global.json
  discreet-net site vote --votes votes --aux aux.csv --schema aux.yaml --parties 200 --epsilon 1 \
    --secure-sum --honest 150 --model global.json
  discreet-net site vote --votes votes --aux aux.csv --schema aux.yaml --parties 200 --epsilon 5 \
    --method noisy-max --queries 50 --answers answers.csv
  discreet-net site vote --sites parties.txt --certs certs --as combiner/uni --aux aux.csv --schema aux.yaml \
    --parties 200 --epsilon 1 --model global.json \
    --ledger l.db --dataset hospitals --job first
  discreet-net site vote --sites parties.txt --certs certs --as combiner/uni --aux aux.csv --schema aux.yaml \
    --parties 200 --epsilon 1 --model global.json \
    --secure-sum --honest 150 \
    --helpers one=https://h1.example:8445,two=https://h2.example:8445,three=https://h3.example:8445`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return t.runVote(c) },
	}
	c.Flags().StringVar(&t.Votes, "votes", "", "the `folder` of the votes files, which holds nothing else")
	c.Flags().StringArrayVar(&t.Aux, "aux", nil,
		"a `file` of the auxiliary table, the parties' very bytes; may be repeated")
	c.Flags().StringVar(&t.Roster, "roster", "",
		"the `file` of parties that may vote: a public key and a name on each line")
	c.Flags().StringVar(&t.Output.Path, "model", "", "the `file` to write the model to; replaced if it is there")
	c.Flags().StringVar(&t.answers, "answers", "", "with noisy-max, the CSV `file` to write answers to instead of a model")
	c.Flags().BoolVar(&t.InSecret, "secure-sum", false,
		"use a secret sum: the combiner sees no votes; with --votes a rehearsal")
	c.Flags().IntVar(&t.Honest, "honest", 0,
		"with --secure-sum, the `number` of parties in the sum whose noise is counted on")
	c.Flags().IntVar(&t.Minimum, "minimum", 0,
		"with --secure-sum, the smallest `number` of parties in the sum (default as many as --honest)")
	c.Flags().IntVar(&t.Holders, "holders", 5, "with --secure-sum and --votes, the `number` of those who hold shares")
	t.combination.addFlags(c)
	t.asking.addFlags(c)
	t.Charging.AddFlags(c, "the `name` of the data set in the ledger; its unit is party",
		"the combination's own `ID`: with the same ID parties give the same votes, and the ledger the same result "+
			"(default a random one)")
	cli.AddSection(c, secretSums, "secure-sum", "honest", "minimum", "holders")
	cli.Reads(c, "votes", "aux", "roster")
	cli.WritesResult(c, "model")
	cli.Writes(c, "answers")
	cli.Require(c, "aux")
	c.MarkFlagsOneRequired("votes", "sites")
	c.MarkFlagsMutuallyExclusive("roster", "sites")
	c.MarkFlagsMutuallyExclusive("holders", "sites")
	c.MarkFlagsOneRequired("model", "answers")
	c.MarkFlagsMutuallyExclusive("model", "answers")
	return c
}

func (t *combiner) runVote(c *cobra.Command) error {
	ctx := c.Context()
	if err := t.readFlags("site vote"); err != nil {
		return err
	}
	if t.answers != "" && t.params.Method != multiparty.NoisyMax {
		return cli.Refuse("site vote", "answers", "may be given with --method noisy-max only", t.answers)
	}
	switch {
	case t.InSecret && (t.answers != "" || t.Roster != ""):
		return cli.Refuse("site vote", "secure-sum", "must not be given with --answers and --roster: there are no votes to see",
			true)
	case t.InSecret && t.Honest < 1:
		return cli.Refuse("site vote", "honest", "must be given with --secure-sum, and at least 1", t.Honest)
	case t.InSecret && c.Flags().Changed("minimum") && (t.Minimum < t.Honest || t.Minimum > t.params.Parties):
		return cli.Refuse("site vote", "minimum", "must be at least --honest and at most --parties", t.Minimum)
	case t.InSecret && t.Ask.Peers != "" && t.Votes != "":
		return cli.Refuse("site vote", "votes", "must not be given with --sites and --secure-sum: there are no votes to keep",
			t.Votes)
	case !t.InSecret && t.Honest != 0:
		return cli.Refuse("site vote", "honest", "must not be given without --secure-sum", t.Honest)
	case !t.InSecret && t.Minimum != 0:
		return cli.Refuse("site vote", "minimum", "must not be given without --secure-sum", t.Minimum)
	}
	if err := t.asking.checkFlags(c, t.params.Method, t.InSecret); err != nil {
		return err
	}
	if err := t.checkPaying(c); err != nil {
		return err
	}
	s, err := schema.Load(t.public)
	if err != nil {
		return err
	}
	pl, err := t.planVotes(s, 0)
	if err != nil {
		return err
	}
	for _, out := range []string{t.Output.Path, t.answers} {
		if out == "" {
			continue
		}
		if err := cli.CheckWritable(out); err != nil {
			return fmt.Errorf("combine: output %w", err)
		}
	}
	t.Output.Force = t.Force()
	t.ID, t.Schema, t.Params = t.JobID, t.public, t.params
	if t.ID == "" {
		t.ID = rand.Text()
	}
	if t.Ask.Peers != "" {
		if t.Ask.Self, err = t.asking.loadIdentity(); err != nil {
			return err
		}
		defer watchCertificate(ctx, t.Ask.Self, t.Ask.Log)()
	}
	if t.Ledger.Address != "" {
		t.Job = &train.Job{Dataset: t.Dataset}
	}
	return t.Ledger.WithJob(ctx, t.Job, func() error {
		if t.answers != "" {
			return commands.AsUsageError(t.Answers(ctx, s, t.answers,
				func(f func(io.Writer) error) error { return t.WriteFile(t.answers, f) }))
		}
		m, err := t.Model(ctx, s, pl)
		if err != nil {
			return commands.AsUsageError(err)
		}
		t.App.Say("wrote %s", t.Output.Path)
		_, err = io.WriteString(t.Stdout, m.Privacy.Card())
		return err
	})
}

// checkPaying refuses flags for payment that contradict each other.
func (t *combiner) checkPaying(c *cobra.Command) error {
	if err := t.RequireTogether(c, "dataset"); err != nil {
		return err
	}
	switch {
	case t.Ledger.Address == "" && t.Ask.Peers == "" && c.Flags().Changed("job"):
		return cli.Refuse("site vote", "job", "may be given with --ledger or --sites only", t.JobID)
	case t.Ledger.Address != "" && t.open:
		return &cli.BudgetError{Err: errors.New("combine: a combination without privacy exceeds every budget; leave out " +
			"--ledger to combine without one")}
	}
	return nil
}
