// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/commands"
	"github.com/discreet-dp/discreet/internal/commands/cli"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ground/keyfile"
	"github.com/discreet-dp/discreet/internal/ground/plaintext"
	"github.com/discreet-dp/discreet/internal/ledger"
	"github.com/discreet-dp/discreet/internal/table/schema"
	"github.com/discreet-dp/discreet/internal/train"
)

// budgetInit holds the flags of the command.
type budgetInit struct {
	*app
	ledger                                    commands.LedgerFlag
	dataset, epsilon, delta, unit, why, parts string
	cohortBy, key                             string
	institution, institutionDelta             string
	policy                                    commands.PolicyFlag
}

func (a *app) newBudgetInitCommand() *cobra.Command {
	b := &budgetInit{app: a}
	c := &cobra.Command{
		Use:   "init",
		Short: "declare a data set and its total budget",
		Long: `Init declares the privacy budget of a data set: the most that all trainings on
it may cost together. It creates the ledger if it does not exist. A data set
cannot be declared twice and its total cannot be changed, because a larger total
would break the promise made to the people in the table.

If a public column divides the rows into disjoint parts, pass the schema that
declares it (parts: COLUMN) as --parts. A training with --part is then charged
to its part. Only the most expensive part counts, because no row is in two
parts.

If people enter over time, and a public column records when, pass this column as
--cohort-by: a date, whose months are the cohorts, or a category, whose levels
are. A training with --cohorts is charged to the cohorts that it names. People
who enter later have a budget of their own, and each cohort may spend the total.
Declare it only if each person has one entry for good: a person in two cohorts
pays in both.

With --institution-epsilon all rows together have a total, too, for jobs that
protect the institution. A training does not: after it nothing bounds what is
told of all rows together.

With --key the data set has an owner: see budget allot and budget appoint. Name,
total and approvers may come from a --policy.`,
		Example: `  discreet budget init --ledger l.db --dataset patients --epsilon 1.0
  discreet budget init --ledger postgres://owner@db/ledger --dataset patients --epsilon 1.0 --delta 1e-6
  discreet budget init --ledger l.db --dataset clinics --epsilon 1.0 --parts clinics.yaml
  discreet budget init --ledger l.db --dataset members --epsilon 2.0 --cohort-by joined`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return b.declareDataset(c.Context()) },
	}
	b.ledger.AddFlag(c)
	c.Flags().StringVar(&b.dataset, "dataset", "", "the `name` of the data set")
	c.Flags().StringVar(&b.epsilon, "epsilon", "", "the total `ε`")
	c.Flags().StringVar(&b.delta, "delta", "0", "the total `δ`; 0 allows pure mechanisms only")
	c.Flags().StringVar(&b.unit, "unit", "",
		"the unit of privacy that schemas must declare (default that of the first training)")
	c.Flags().StringVar(&b.why, "note", "", "the owner's `note`: who decided on the total, and why")
	c.Flags().StringVar(&b.parts, "parts", "",
		"a schema `file` whose parts: trainings may be charged to; without it all trainings add up")
	c.Flags().StringVar(&b.cohortBy, "cohort-by", "",
		"the public `column` whose months or levels are cohorts that trainings may be charged to")
	c.MarkFlagsMutuallyExclusive("parts", "cohort-by")
	c.Flags().StringVar(&b.institution, "institution-epsilon", "", "the total `ε` of the institution as a whole (default none)")
	c.Flags().StringVar(&b.institutionDelta, "institution-delta", "0", "the total `δ` of the institution as a whole")
	c.Flags().StringVar(&b.key, "key", "",
		"the owner's key `file`: only keys with an allotment from the owner (budget allot) may then charge the data set")
	b.policy.AddFlag(c)
	cli.Reads(c, "parts", "key")
	cli.Require(c, "ledger")
	c.MarkFlagsOneRequired("dataset", "policy")
	c.MarkFlagsOneRequired("epsilon", "policy")
	for _, name := range []string{"dataset", "epsilon", "delta"} {
		c.MarkFlagsMutuallyExclusive("policy", name)
	}
	return c
}

func (b *budgetInit) declareDataset(ctx context.Context) error {
	allowed, err := b.policy.Read()
	if err != nil {
		return err
	}
	total := dp.Price{}
	if allowed != nil {
		b.dataset = allowed.Data
		total, err = allowed.Lifetime.Price()
	} else if total.Epsilon, err = dp.ParseEpsilon(b.epsilon); err == nil {
		total.Delta, err = dp.ParseDelta(b.delta)
	}
	if err != nil {
		return &cli.UsageError{Err: err}
	}
	var institution *ledger.Institution
	if b.institution != "" {
		institution = new(ledger.Institution)
		if institution.Epsilon, err = dp.ParseEpsilon(b.institution); err == nil {
			institution.Delta, err = dp.ParseDelta(b.institutionDelta)
		}
		if err != nil {
			return &cli.UsageError{Err: err}
		}
	}
	var parts *ledger.Parts
	if b.parts != "" {
		if parts, err = declaredParts(b.parts); err != nil {
			return err
		}
	}
	var owner ed25519.PrivateKey
	if b.key != "" {
		if owner, err = keyfile.Read("budget init", b.key); err != nil {
			return err
		}
	}
	l, err := b.ledger.Open(ctx, ledger.Create)
	if err != nil {
		return err
	}
	d := ledger.Dataset{Name: b.dataset, Epsilon: total.Epsilon, Delta: total.Delta, Unit: b.unit, Note: b.why, Parts: parts,
		CohortBy: b.cohortBy, Institution: institution, Owner: owner}
	if allowed != nil {
		err = allowed.Declare(ctx, l, d)
	} else {
		err = l.Declare(ctx, d)
	}
	if err = errors.Join(err, l.Close()); err != nil {
		return commands.AsRefusal(err)
	}
	in := "in total"
	if parts != nil {
		in = fmt.Sprintf("for each row; %d parts by %s", len(parts.Names), parts.By)
	}
	if b.cohortBy != "" {
		in = fmt.Sprintf("for each cohort by %s", b.cohortBy)
	}
	_, err = plaintext.Fprintf(b.Stdout, "declared %s: epsilon = %s, delta = %s %s\n", b.dataset, total.Epsilon, total.Delta, in)
	return err
}

// declaredParts reads the parts of a schema file, which must declare some.
func declaredParts(path string) (*ledger.Parts, error) {
	s, err := schema.Load(path)
	if err != nil {
		return nil, err
	}
	p, err := train.PartsOf(s)
	if p == nil && err == nil {
		err = &cli.UsageError{Err: &dp.ParamError{Op: "init", Param: "parts", Want: "must be a schema that declares parts",
			Got: path, Hint: "write parts: and the public column whose levels part the rows"}}
	}
	return p, err
}
