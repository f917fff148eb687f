// SPDX-License-Identifier: Apache-2.0

package network

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/commands"
	"github.com/discreet-dp/discreet/internal/commands/cli"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ground/plaintext"
	core "github.com/discreet-dp/discreet/internal/net/federated/collect"
	"github.com/discreet-dp/discreet/internal/net/federated/simulate"
	"github.com/discreet-dp/discreet/internal/net/federated/wire"
	"github.com/discreet-dp/discreet/internal/net/service/operator"
	"github.com/discreet-dp/discreet/internal/net/service/tasks"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

func (a *app) newTaskCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "task",
		Short: "create, list, show and close tasks of an aggregator",
		Long: `Task is for operators of an aggregator. A task defines what data owners are
asked, at which ε, in how many rounds and until when. The operator signs it, and
owners take part in nothing else.`,
		Example: `  discreet-net task create --certs certs --as operator/anna --server https://localhost:8443 \
    --schema adult.yaml --classifier stump --epsilon 1 --owners 30000 --minimum 100 --slot 10m --ends 24h
  discreet-net task list --certs certs --as reader/ben --server https://localhost:8443`,
	}
	return cli.Group(c, a.newTaskCreateCommand(), a.newTaskListCommand(), a.newTaskShowCommand(), a.newTaskCloseCommand())
}

// taskCreateFlags holds the flags of task create.
type taskCreateFlags struct {
	*app
	remote
	schema, classifier, mechanism, epsilon string
	roster, mode                           string
	helpers                                []string
	owners, rounds, minimum, honest        int
	proofs                                 bool
	slot, quiet, ends                      time.Duration
}

func (a *app) newTaskCreateCommand() *cobra.Command {
	t := &taskCreateFlags{app: a}
	c := &cobra.Command{
		Use:   "create",
		Short: "sign a task and send it to the aggregator",
		Long: `Create plans a task from public choices, signs it with the operator's key and
prints its name. Every owner is asked once, in one slot of one round. A slot
waits for its owners for at most --slot, or until nothing has arrived for
--quiet. If a slot has fewer reports than --minimum, the task ends.

A task that cannot succeed is refused, and the error names the number to change
(docs/operators-guide.md).

With --roster only the owners whose keys are in that file may report. Without it
anyone can create keys. All who may see the task can read the list.

In mode aggregate owners give shares of a secret sum to three --helpers or more,
each run by a different organisation, and the aggregator sees sums alone. This
mode requires a --roster. --honest is the number of owners on it who must be
honest: the fewer, the more noise is needed.

If ranges are not proven (--prove-ranges), one owner can end the task without
being identified.`,
		Example: `  discreet-net task create --certs certs --as operator/anna --server https://localhost:8443 \
    --schema adult.yaml --classifier stump --epsilon 1 --owners 30000 --minimum 100 --slot 10m --quiet 30s --ends 24h
  discreet-net task create --certs certs --as operator/anna --server https://localhost:8443 --mode aggregate \
    --helpers one=https://a.example.org:8445,two=https://b.example.org:8445,three=https://c.example.org:8445 \
    --roster roster.txt --honest 2980 --schema adult.yaml --classifier stump --epsilon 1 \
    --owners 3000 --minimum 100 --slot 10m --quiet 30s --ends 24h`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return t.createTask(c.Context()) },
	}
	t.remote.addFlags(c, "operator/anna")
	f := c.Flags()
	f.StringVar(&t.schema, "schema", "", "the schema `file` of the owners' rows")
	f.StringVar(&t.classifier, "classifier", "", "the `classifier` that a round adds: stump, centroid or logistic")
	f.StringVar(&t.mode, "mode", modeLocal, "the `mode`: owners send reports (local) or shares of a sum (aggregate)")
	f.StringSliceVar(&t.helpers, "helpers", nil, "the helpers in mode aggregate, `NAME=URL`, three or more")
	f.StringVar(&t.mechanism, "mechanism", "",
		"the `mechanism` by which owners perturb: pm, duchi, laplace, hybrid, oue or grr (default the better of oue and grr)")
	f.StringVar(&t.epsilon, "epsilon", "", "the `ε` of an owner's single report")
	f.IntVar(&t.owners, "owners", 0, "the `number` of owners expected")
	f.IntVar(&t.rounds, "rounds", 0, "the `number` of rounds; 0: as many as the number of owners allows")
	f.IntVar(&t.minimum, "minimum", 0, "the `number` of reports, or of owners who take part, that a slot must have")
	f.DurationVar(&t.slot, "slot", 0, "the longest `time` that a slot waits, e.g. 10m")
	f.DurationVar(&t.quiet, "quiet", 0,
		"close a slot that has its minimum if nothing has arrived for this `time`; 0: never")
	f.DurationVar(&t.ends, "ends", 0, "the `time` from now until the task ends, e.g. 24h")
	f.StringVar(&t.roster, "roster", "",
		"the `file` of the owners who may report, one public key a line (default: anyone with a key)")
	f.IntVar(&t.honest, "honest", 0, "in mode aggregate, the `number` of owners on the roster who must be honest")
	f.BoolVar(&t.proofs, "prove-ranges", false,
		"in mode aggregate, have owners prove that their numbers are in range also if that takes more than 1 MiB a helper")
	cli.AddSection(c, secretSums, "mode", "helpers", "honest", "prove-ranges")
	cli.AddSection(c, "Time", "slot", "quiet", "ends")
	cli.Reads(c, "schema", "roster")
	cli.Require(c, "schema", "classifier", "epsilon", "owners", "minimum", "slot", "ends")
	return c
}

func (t *taskCreateFlags) createTask(ctx context.Context) error {
	eps, err := dp.ParseEpsilon(t.epsilon)
	if err != nil {
		return &cli.UsageError{Err: err}
	}
	if m := wire.Mode(t.mode); m != wire.Local && m != wire.Aggregate {
		return cli.Refuse("task", "mode", "must be local or aggregate", t.mode)
	}
	law, known := mechanisms[t.mechanism]
	if t.mechanism != "" && !known {
		return cli.Refuse("task", "mechanism", "must be one of pm, duchi, laplace, hybrid, oue, grr", t.mechanism)
	}
	client, err := t.dialAggregator()
	if err != nil {
		return err
	}
	s, err := schema.Load(t.schema)
	if err != nil {
		return err
	}
	planned, err := core.Plan(core.Params{
		Schema: s, Mode: wire.Mode(t.mode), Classifier: wire.Classifier(t.classifier), Mechanism: law, Epsilon: eps,
		Owners: t.owners, Rounds: t.rounds, Nonce: simulate.Nonce(rng.System()),
	})
	if err != nil {
		return commands.AsRefusal(err)
	}
	a := &tasks.Announcement{Task: planned, Minimum: t.minimum, Slot: t.slot, Quiet: t.quiet, Honest: t.honest,
		Proofs: t.proofs,
		Ends:   commands.Clock().Add(t.ends).Truncate(time.Second)}
	for _, h := range t.helpers {
		name, address, _ := strings.Cut(h, "=")
		a.Helpers = append(a.Helpers, tasks.Helper{Name: name, Address: strings.TrimRight(address, "/")})
	}
	var roster tasks.Roster
	if t.roster != "" {
		if roster, err = tasks.LoadRoster(t.roster); err != nil {
			return commands.AsRefusal(err)
		}
	}
	id, err := client.Create(ctx, a, roster, t.owners)
	if err != nil {
		return commands.AsRefusal(err)
	}
	_, err = plaintext.Fprintf(t.Stdout, "%x\n", id)
	return err
}

func (a *app) newTaskListCommand() *cobra.Command {
	var r remote
	var asJSON bool
	c := &cobra.Command{
		Use:     "list",
		Short:   "list the aggregator's tasks",
		Long:    `List prints every task of the aggregator and its progress.`,
		Example: `  discreet-net task list --certs certs --as reader/ben --server https://localhost:8443`,
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			client, err := r.dialAggregator()
			if err != nil {
				return err
			}
			all, err := client.List(c.Context())
			if err != nil {
				return err
			}
			if asJSON {
				return cli.WriteJSON(a.Stdout, all)
			}
			for _, t := range all {
				if _, err := io.WriteString(a.Stdout, t.Line()); err != nil {
					return err
				}
			}
			return nil
		},
	}
	r.addFlags(c, "reader/ben")
	c.Flags().BoolVar(&asJSON, "json", false, "print a list of JSON objects")
	return c
}

func (a *app) newTaskShowCommand() *cobra.Command {
	var r remote
	var out, text, list string
	var wait, asJSON bool
	c := &cobra.Command{
		Use:   "show TASK",
		Short: "show the progress of a task, and fetch its model",
		Long: `Show prints the progress of a task. With --model it writes the model of
a finished task; with --wait it waits until the task is finished. With
--announcement it checks the operator's signature and writes the signed text.
With --roster it checks and writes the keys of the owners who may report.`,
		Example: `  discreet-net task show 5f1c… --certs certs --as reader/ben --server https://localhost:8443 \
    --wait --model m.json`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			client, id, err := r.dialTask(args[0])
			if err != nil {
				return err
			}
			if text != "" {
				signed, _, who, err := client.Announcement(c.Context(), id)
				if err := a.writePublic(text, signed, err, "signed by "+who.String()); err != nil {
					return err
				}
			}
			if list != "" {
				roster, who, err := client.Roster(c.Context(), id)
				about := fmt.Sprintf("%d owners, signed by %s", roster.Len(), who)
				if err := a.writePublic(list, roster.Text(), err, about); err != nil {
					return err
				}
			}
			s, err := client.Await(c.Context(), id, wait)
			if err != nil {
				return err
			}
			if out != "" {
				if err := a.fetchModel(c.Context(), client, id, out); err != nil {
					return err
				}
			}
			if asJSON {
				return cli.WriteJSON(a.Stdout, s)
			}
			_, err = io.WriteString(a.Stdout, s.Line())
			return err
		},
	}
	r.addFlags(c, "reader/ben")
	c.Flags().StringVar(&out, "model", "", "the `file` to write the model to; replaced if it is there")
	c.Flags().StringVar(&text, "announcement", "", "the `file` to write the signed task to; replaced if it is there")
	c.Flags().StringVar(&list, "roster", "", "the `file` to write the task's list of owners to; replaced if it is there")
	cli.Writes(c, "model", "announcement", "roster")
	c.Flags().BoolVar(&wait, "wait", false, "wait until the task is done or closed")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return c
}

// writePublic writes a fetched text to a file that everyone may read, if it could be fetched.
func (a *app) writePublic(path string, text []byte, fetched error, about string) error {
	if fetched != nil {
		return fetched
	}
	if err := a.WritePublicFile(path, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	}); err != nil {
		return err
	}
	a.Say("wrote %s, %s", path, about)
	return nil
}

// fetchModel fetches the model of a finished task and writes it.
func (a *app) fetchModel(ctx context.Context, client *operator.Client, id wire.Digest, path string) error {
	m, err := client.Model(ctx, id)
	if err != nil {
		return err
	}
	if err := m.Save(path); err != nil {
		return err
	}
	a.Say("wrote %s", path)
	return nil
}

func (a *app) newTaskCloseCommand() *cobra.Command {
	var r remote
	c := &cobra.Command{
		Use:   "close TASK",
		Short: "end a task without a model",
		Long: `Close ends a task. Only the operator who signed it may close it. Its owners are
asked no more. Owners who have answered do not get back what they spent.`,
		Example: `  discreet-net task close 5f1c… --certs certs --as operator/anna --server https://localhost:8443`,
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			client, id, err := r.dialTask(args[0])
			if err != nil {
				return err
			}
			if err := client.Close(c.Context(), id); err != nil {
				return err
			}
			_, err = plaintext.Fprintf(a.Stdout, "closed %s\n", id)
			return err
		},
	}
	r.addFlags(c, "operator/anna")
	return c
}
