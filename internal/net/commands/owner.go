// SPDX-License-Identifier: Apache-2.0

package network

import (
	"bufio"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/commands"
	"github.com/discreet-dp/discreet/internal/commands/cli"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ground/plaintext"
	"github.com/discreet-dp/discreet/internal/net/federated/wire"
	"github.com/discreet-dp/discreet/internal/net/service/operator"
	"github.com/discreet-dp/discreet/internal/net/service/owner"
	"github.com/discreet-dp/discreet/internal/net/service/owner/spending"
	"github.com/discreet-dp/discreet/internal/net/service/tasks"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// ownerFlags holds the flags of the command.
type ownerFlags struct {
	*app
	remote
	anchors                       commands.AnchorsFlag
	task, book, epsilon, lifetime string
	mode, model                   string
	data                          []string
	owners, connections, honest   int
	json                          bool
}

func (a *app) newOwnerCommand() *cobra.Command {
	o := &ownerFlags{app: a}
	c := &cobra.Command{
		Use:   "owner",
		Short: "take part in a task as a data owner",
		Long: `Owner answers a task once. It waits for its turn, computes one report about its
rows, perturbs it, writes it into its book, and only then sends it. It takes
part if an operator has signed the task and the task's ε is at most
--max-epsilon. It refuses permanently if all its reports together would cost
more than --lifetime-epsilon.

With --mode aggregate it takes part in secret sums instead, which are far more
accurate for the same ε. The owner must then trust the helpers: with five, two
may collude with the aggregator; with three, none may. It also relies on other
owners to add their share of the noise. A task that counts on more than --honest
of those on its list is refused.

With --owners N the rows belong to N owners, in equal parts, each with a key of
its own in the book. Use this for trials, and for machines that hold the data of
many people.`,
		Example: `  discreet-net owner --certs certs --as owner/clinic-7 --server https://agg.example.org:8443 --task 5f1c… \
    --data rows.csv --book book.db --max-epsilon 1 --lifetime-epsilon 4`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return o.runOwners(c.Context()) },
	}
	o.remote.addFlags(c, "owner/clinic-7")
	f := c.Flags()
	f.StringVar(&o.task, "task", "", "the `name` of the task, as task create prints it")
	f.StringArrayVar(&o.data, "data", nil, "a `file` of the owner's rows, CSV (also .gz or .zst) or Parquet; may be repeated")
	f.StringVar(&o.book, "book", "", "the `file` with the owner's key and reports; created if it does not exist")
	f.StringVar(&o.epsilon, "max-epsilon", "", "the largest `ε` of a task to answer")
	f.StringVar(&o.lifetime, "lifetime-epsilon", "", "the largest `ε` of all reports of an owner together")
	f.StringVar(&o.mode, "mode", modeLocal, "the `mode` of the tasks to answer: local or aggregate")
	f.IntVar(&o.honest, "honest", 0,
		"in mode aggregate, the `number` of owners on the task's list whom you believe to be honest")
	f.StringVar(&o.model, "model", "", "wait for the model and write it to this `file`; replaced if it is there")
	f.IntVar(&o.owners, "owners", 1, "the `number` of owners that the rows belong to")
	f.IntVar(&o.connections, "connections", 4,
		"the `number` of connections to the aggregator, each with one upload at a time")
	f.BoolVar(&o.json, "json", false, "print one JSON object")
	o.anchors.AddFlag(c)
	cli.AddSection(c, secretSums, "mode", "honest")
	cli.Reads(c, "data")
	cli.Keeps(c, "book", cli.BookTable)
	cli.Writes(c, "model")
	cli.Require(c, "task", "data", "book", "max-epsilon", "lifetime-epsilon")
	c.AddCommand(a.newOwnerKeysCommand())
	return c
}

func (a *app) newOwnerKeysCommand() *cobra.Command {
	var path, lifetime string
	var owners int
	var anchors commands.AnchorsFlag
	c := &cobra.Command{
		Use:   "keys",
		Short: "print the public keys of a book's owners",
		Long: `Keys prints the public key of each owner of a book, one a line, and creates keys
that are missing. The key identifies the owner. An operator who knows the
owners' keys can admit them to a task with task create --roster.`,
		Example: `  discreet-net owner keys --book book.db --lifetime-epsilon 4 >> roster.txt`,
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) (err error) {
			eps, err := dp.ParseEpsilon(lifetime)
			if err != nil {
				return &cli.UsageError{Err: err}
			}
			if owners < 1 || owners > tasks.MaxRoster {
				return cli.Refuse("owner", "owners", fmt.Sprintf("must be 1 to %d", tasks.MaxRoster), owners)
			}
			folder, err := anchors.Folder()
			if err != nil {
				return err
			}
			b, err := spending.Open(c.Context(), path, eps, folder)
			if err != nil {
				return commands.AsRefusal(err)
			}
			defer func() { err = errors.Join(err, b.Close()) }()
			keys, err := b.Keys(c.Context(), owners)
			if err != nil {
				return err
			}
			out := bufio.NewWriter(a.Stdout)
			for i := range keys.Len() {
				plaintext.Fprintf(out, "%s\n", keys.Name(i))
			}
			return out.Flush()
		},
	}
	f := c.Flags()
	f.StringVar(&path, "book", "", "the `file` with the owners' keys and reports; created if it does not exist")
	f.StringVar(&lifetime, "lifetime-epsilon", "", "the largest `ε` of all reports of an owner together")
	f.IntVar(&owners, "owners", 1, "the `number` of owners")
	cli.Keeps(c, "book", cli.BookTable)
	anchors.AddFlag(c)
	cli.Require(c, "book", "lifetime-epsilon")
	return c
}

func (o *ownerFlags) runOwners(ctx context.Context) (err error) {
	eps, err := dp.ParseEpsilon(o.epsilon)
	if err != nil {
		return &cli.UsageError{Err: err}
	}
	lifetime, err := dp.ParseEpsilon(o.lifetime)
	if err != nil {
		return &cli.UsageError{Err: err}
	}
	if m := wire.Mode(o.mode); m != wire.Local && m != wire.Aggregate {
		return cli.Refuse("owner", "mode", "must be local or aggregate", o.mode)
	}
	if secret := wire.Mode(o.mode) == wire.Aggregate; secret != (o.honest > 0) {
		return cli.Refuse("owner", "honest", "must be at least 1 in mode aggregate, and left out in any other", o.honest)
	}
	if err := operator.CheckAddress(o.server); err != nil {
		return &cli.UsageError{Err: err}
	}
	id, err := operator.ParseTaskID(o.task)
	if err != nil {
		return &cli.UsageError{Err: err}
	}
	self, err := o.loadIdentity()
	if err != nil {
		return err
	}
	folder, err := o.anchors.Folder()
	if err != nil {
		return err
	}
	b, err := spending.Open(ctx, o.book, lifetime, folder)
	if err != nil {
		return commands.AsRefusal(err)
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	defer watchCertificate(ctx, self, o.newLogger())()
	report, done := o.ShowRuns("owners")
	defer done()
	sum, err := owner.Params{
		Self: self, Server: o.server, Book: b, Owners: o.owners, Connections: o.connections, Cap: eps,
		Mode: wire.Mode(o.mode), Honest: o.honest, Log: o.newLogger(), Progress: report,
		Read: func(s *schema.Schema) (*dataset.Table, error) { return o.ReadTable(ctx, s, o.data) },
	}.Run(ctx, id)
	if errors.Is(err, spending.ErrSpent) {
		return &cli.BudgetError{Err: err}
	}
	if err != nil {
		return commands.AsRefusal(err)
	}
	if o.model != "" {
		if err := o.receiveModel(ctx, id); err != nil {
			return err
		}
	}
	if o.json {
		return cli.WriteJSON(o.Stdout, sum)
	}
	what := "reports accepted"
	if o.mode == string(wire.Aggregate) {
		what = "gave their shares"
	}
	_, err = plaintext.Fprintf(o.Stdout, "%d owners: %d %s, %d came too late, %d refused, %d not on the list, %d silent\n",
		sum.Owners, sum.Accepted, what, sum.Missed, sum.Refused, sum.Strange, sum.Silent)
	return err
}

// receiveModel waits for the task's model and writes it.
func (o *ownerFlags) receiveModel(ctx context.Context, id wire.Digest) error {
	client, err := o.dialAggregator()
	if err != nil {
		return err
	}
	if _, err := client.Await(ctx, id, true); err != nil {
		return err
	}
	return o.fetchModel(ctx, client, id, o.model)
}
