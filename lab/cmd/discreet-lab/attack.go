// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/commands"
	"github.com/discreet-dp/discreet/internal/commands/cli"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/table/schema"
	"github.com/discreet-dp/discreet/internal/train"
	"github.com/discreet-dp/discreet/lab/internal/attack"
)

// attackFlags holds the flags of the command.
type attackFlags struct {
	*app
	choice  *commands.Choice
	claim   string
	data    []string
	schema  string
	targets int
	runs    int
	out     string
	json    bool
	exceed  bool
}

func (a *app) newAttackCommand() *cobra.Command {
	t := &attackFlags{app: a}
	c := &cobra.Command{
		Use:   "attack",
		Short: "infer who was in the table, against what ε allows (not private)",
		Long: `Attack performs membership inference against a training. It trains many times.
Before each training a coin decides for every target row whether its protected
part is in the table or another part takes its place. (Under add-remove the coin
decides whether the row is in the table at all.) The attacker sees the model and
guesses the coin.

The attacker knows all rows, both parts of each target, and half of the
trainings with their coins. From these it learns for each row how confident
models are in either case (LiRA, Carlini et al. 2022). For comparison, attack
also measures a single threshold on the confidence. Half of the targets are rows
as they are; the other half are rows made to stand out.

Attack prints the area under the ROC curve, the advantage, and true positive
rates at low false positive rates, with 95 % intervals over trainings. Next to
them it prints the most that (ε, δ) allows any attacker. It also prints a lower
bound on ε from the most exposed row, which holds with confidence 0.999999.
Little success proves nothing; only the guarantee has a proof. If the success
exceeds what the guarantee allows, the claim is REFUTED.

A guarantee for the private columns protects these columns. It does not hide
whether a person is in the table. The attacker then infers the columns.

The output is exact and so NOT PRIVATE, and no ledger counts the trainings. Keep
the output with people who may see the rows. The command requires --not-private.`,
		Example: `  discreet-lab attack --data census.csv --schema census.yaml --learner additive --epsilon 1 --not-private
  discreet-lab attack --data a.csv --schema s.yaml --learner logistic --targets 200 --runs 1000 \
    --out roc.svg --json --not-private`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return t.runAttack(c.Context()) },
	}
	t.choice = commands.AddChoice(c)
	c.Flags().Lookup("not-private").Usage = "accept output that is not private"
	c.Flags().Lookup("epsilon").Usage = "the privacy loss `ε` of each training; not used for learners " +
		"without privacy"
	c.Flags().StringVar(&t.claim, "claim", "", "the `ε` to compare with (default the value of --epsilon)")
	c.Flags().StringArrayVar(&t.data, "data", nil,
		commands.TableWords+"; - is standard input; may be repeated")
	c.Flags().StringVar(&t.schema, "schema", "", "the schema `file` of the table")
	c.Flags().IntVar(&t.targets, "targets", 50, "the `number` of rows, or persons, of each kind to attack")
	c.Flags().IntVar(&t.runs, "runs", 400, "the `number` of trainings; the attacker learns from half of them")
	c.Flags().StringVar(&t.out, "out", "", "the .svg or .png `file` to draw true against false positive rates to")
	c.Flags().BoolVar(&t.json, "json", false, "print one JSON object")
	c.Flags().BoolVar(&t.exceed, "exceed-max-epsilon", false, "attack although the schema declares a max_epsilon")
	cli.Reads(c, "data", "schema")
	cli.Writes(c, "out")
	cli.Require(c, "data", "schema")
	return c
}

func (t *attackFlags) runAttack(ctx context.Context) error {
	req, claim, err := t.checkFlags()
	if err != nil {
		return err
	}
	s, err := schema.Load(t.schema)
	if err != nil {
		return err
	}
	if excess := (train.Price{NotPrivate: true}).Excess(s); excess != "" && !t.exceed {
		return &cli.BudgetError{Err: fmt.Errorf("attack: %s; only --exceed-max-epsilon goes beyond it", excess)}
	}
	if _, err := req.Plan(s, 0); err != nil { // before any row is read
		return commands.AsUsageError(err)
	}
	if t.out != "" {
		if err := cli.CheckWritable(t.out); err != nil {
			return err
		}
	}
	tab, err := t.ReadTable(ctx, s, t.data)
	if err != nil {
		return err
	}
	pl, err := req.Plan(s, tab.PublicUnits()) // it must not know how many are left out
	if err != nil {
		return commands.AsUsageError(err)
	}
	progress, done := t.ShowRuns("training")
	r, err := attack.AttackMembership(ctx, pl, tab, attack.Membership{Epsilon: claim.Epsilon, Delta: claim.Delta,
		Targets: t.targets, Runs: t.runs, Progress: progress})
	done()
	if err != nil {
		return commands.AsRefusal(err)
	}
	if t.out != "" {
		if err := t.drawChart(t.out, attack.AttackChart(req.Name, r)); err != nil {
			return err
		}
	}
	if t.json {
		return cli.WriteJSON(t.Stdout, attack.NewAttack(req.Name, tab.Rows, r))
	}
	return attack.WriteAttack(t.Stdout, req.Name, tab.Rows, r)
}

// checkFlags returns what to train, and the claim to compare with.
func (t *attackFlags) checkFlags() (req *train.Request, claim dp.Price, err error) {
	bad := func(param, want string, got any) (*train.Request, dp.Price, error) {
		return nil, claim, cli.Refuse("attack", param, want, got)
	}
	ext := filepath.Ext(t.out)
	switch {
	case !t.choice.Price.NotPrivate:
		return bad("not-private", "is required: the results of an attack are exact and reveal facts about the rows", nil)
	case t.targets < 1:
		return bad("targets", "must be at least 1", t.targets)
	case t.runs < attack.MinMembershipRuns:
		return bad("runs", fmt.Sprintf("must be at least %d", attack.MinMembershipRuns), t.runs)
	case t.out != "" && ext != ".svg" && ext != ".png":
		return bad("out", "must end in .svg or .png", t.out)
	}
	// --not-private speaks of the report; whether the training is private is for
	// the learner and --epsilon to say.
	t.choice.Price.NotPrivate = false
	for _, l := range train.Learners() {
		if l.Name == t.choice.Name && !l.Private || strings.EqualFold(t.choice.Price.Epsilon, "inf") {
			t.choice.Price.NotPrivate = true
		}
	}
	if req, err = t.choice.MakeRequest("attack"); err != nil {
		return nil, claim, err
	}
	claim = dp.Price{Epsilon: req.Price.Epsilon, Delta: req.Price.Delta}
	if t.claim != "" {
		if claim.Epsilon, err = dp.ParseEpsilon(t.claim); err != nil {
			return nil, claim, &cli.UsageError{Err: err}
		}
	}
	return req, claim, nil
}
