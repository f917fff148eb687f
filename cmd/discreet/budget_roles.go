// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/commands"
	"github.com/discreet-dp/discreet/internal/commands/cli"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ground/keyfile"
	"github.com/discreet-dp/discreet/internal/ground/openfile"
	"github.com/discreet-dp/discreet/internal/ground/plaintext"
	"github.com/discreet-dp/discreet/internal/ledger"
	"github.com/discreet-dp/discreet/internal/ledger/policy"
)

// signedStep holds the flags of commands that add a signed entry.
type signedStep struct {
	*app
	ledger                      commands.LedgerFlag
	dataset, key, public, until string
	name, epsilon, delta        string
	approval                    bool
	job, reason                 string
}

// addFlags adds the flags of all such commands; who describes the owner of the signing key.
func (s *signedStep) addFlags(c *cobra.Command, who string) {
	c.Args = cobra.NoArgs
	s.ledger.AddFlag(c)
	c.Flags().StringVar(&s.dataset, "dataset", "", "the `name` of the data set")
	c.Flags().StringVar(&s.key, "key", "", "the key `file` of "+who)
	c.Flags().StringVar(&s.until, "until", "", "the last `day` on which it holds, such as 2027-12-31, in UTC; for good when left out")
	cli.Reads(c, "key")
	cli.Require(c, "ledger", "dataset", "key")
}

// addMember adds the flags that name the key which gets a role.
func (s *signedStep) addMember(c *cobra.Command) {
	c.Flags().StringVar(&s.public, "public", "", "the member's public key `file`, as keygen writes it")
	c.Flags().StringVar(&s.name, "name", "", "the member's `name`")
	cli.Reads(c, "public")
	cli.Require(c, "name")
}

// run opens the ledger and lets step add an entry; says describes the entry.
func (s *signedStep) run(ctx context.Context, says string,
	step func(*ledger.Ledger, ed25519.PrivateKey, time.Time) error) error {
	key, err := keyfile.Read("budget", s.key)
	if err != nil {
		return err
	}
	var until time.Time
	if s.until != "" {
		day, err := time.Parse(time.DateOnly, s.until)
		if err != nil {
			return cli.Refuse("budget", "until", "must be a day such as 2027-12-31", fmt.Sprintf("%.100q", s.until))
		}
		until = day.Add(24*time.Hour - time.Second)
	}
	return s.ledger.UseLedger(ctx, func(l *ledger.Ledger) error {
		if err := step(l, key, until); err != nil {
			return commands.AsRefusal(err)
		}
		_, err := plaintext.Fprintf(s.Stdout, "%s\n", says)
		return err
	})
}

// member returns the public key that gets a role.
func (s *signedStep) member() (ed25519.PublicKey, error) {
	key, err := keyfile.ReadOne("budget", "public", s.public)
	return key, commands.AsRefusal(err)
}

func (a *app) newBudgetSignCommand() *cobra.Command {
	var draft, key, out string
	c := &cobra.Command{
		Use:   "sign",
		Short: "sign a project's policy",
		Long: `Sign checks a project's policy (docs/verifying.md), replaces the public key files
that it names by their keys, and adds the owner's signature as its last line.`,
		Example: `  discreet budget sign --draft project.yaml --key owner --out policy.yaml`,
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			owner, err := keyfile.Read("budget sign", key)
			if err != nil {
				return err
			}
			text, err := openfile.Read(draft)
			if err != nil {
				return fmt.Errorf("budget: %w", err)
			}
			var signed bytes.Buffer
			p, err := policy.SignProject(text, owner, func(file string) (ed25519.PublicKey, error) {
				return keyfile.ReadOne("budget sign", "approve", file)
			}, &signed)
			if err != nil {
				return fmt.Errorf("budget: %s: %w", draft, err)
			}
			if err := a.WriteFile(out, func(w io.Writer) error { _, err := w.Write(signed.Bytes()); return err }); err != nil {
				return err
			}
			_, err = plaintext.Fprintf(a.Stdout, "signed policy number %d of %s\n", p.Number, p.Data)
			return err
		},
	}
	c.Flags().StringVar(&draft, "draft", "", "the policy `file`")
	c.Flags().StringVar(&key, "key", "", "the key `file` of the owner")
	c.Flags().StringVar(&out, "out", "", "the signed `file`")
	cli.Reads(c, "draft", "key")
	cli.Writes(c, "out")
	cli.Require(c, "draft", "key", "out")
	return c
}

func (a *app) newBudgetAppointCommand() *cobra.Command {
	var (
		where   commands.LedgerFlag
		allowed commands.PolicyFlag
		key     string
	)
	c := &cobra.Command{
		Use:   "appoint",
		Short: "give keys the roles that a project's policy names",
		Long: `Appoint lets the keys that a policy names decide on requests for trainings on its
data set until it ends. A data set without an owner gets one, the policy's signer,
who is never changed.`,
		Example: `  discreet budget appoint --ledger l.db --policy policy.yaml --key owner`,
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			p, err := allowed.Read()
			if err != nil {
				return err
			}
			owner, err := keyfile.Read("budget appoint", key)
			if err != nil {
				return err
			}
			return where.UseLedger(c.Context(), func(l *ledger.Ledger) error {
				names, err := p.Appoint(c.Context(), l, owner)
				if err != nil {
					return commands.AsRefusal(err)
				}
				_, err = plaintext.Fprintf(a.Stdout, "appointed %s for %s\n", strings.Join(names, ", "), p.Data)
				return err
			})
		},
	}
	where.AddFlag(c)
	allowed.AddFlag(c)
	c.Flags().StringVar(&key, "key", "", "the key `file` of the owner")
	cli.Reads(c, "key")
	cli.Require(c, "ledger", "policy", "key")
	return c
}

func (a *app) newBudgetAllotCommand() *cobra.Command {
	s := &signedStep{app: a}
	c := &cobra.Command{
		Use:   "allot",
		Short: "give an analyst's key a part of a data set's total",
		Long: `Allot lets a key charge a data set, up to an ε and a δ that all of its trainings
together may cost. Parts and cohorts count as they do for the total, so an
allotment renews with cohorts, too. Allotments must fit into the total together.
With --needs-approval each training needs one (train --request, budget approve).
A later allotment of the same key replaces the earlier one; what was charged
stays charged. Only the owner allots.`,
		Example: `  discreet budget allot --ledger l.db --dataset members --key owner --name alice --public alice.pub \
    --epsilon 0.5 --until 2027-12-31 --needs-approval`,
	}
	s.addFlags(c, "the owner")
	s.addMember(c)
	c.Flags().StringVar(&s.epsilon, "epsilon", "", "the ε of the allotment, a `number`; 0 takes back what is left of one")
	c.Flags().StringVar(&s.delta, "delta", "0", "the δ of the allotment, a `number`")
	c.Flags().BoolVar(&s.approval, "needs-approval", false, "another key must approve each training first")
	cli.Require(c, "epsilon", "public")
	c.RunE = func(c *cobra.Command, _ []string) error {
		a := ledger.Allotment{Dataset: s.dataset, Name: s.name, Approval: s.approval}
		var err error
		if s.epsilon != "0" {
			if a.Price.Epsilon, err = dp.ParseEpsilon(s.epsilon); err != nil {
				return &cli.UsageError{Err: err}
			}
		}
		if a.Price.Delta, err = dp.ParseDelta(s.delta); err != nil {
			return &cli.UsageError{Err: err}
		}
		if a.Key, err = s.member(); err != nil {
			return err
		}
		says := fmt.Sprintf("allotted %s of %s to %s", a.Price.Epsilon, s.dataset, s.name)
		return s.run(c.Context(), says, func(l *ledger.Ledger, key ed25519.PrivateKey, until time.Time) error {
			a.Until = until
			return l.Allot(c.Context(), key, a)
		})
	}
	return c
}

func (a *app) newBudgetApproveCommand() *cobra.Command { return a.newDecisionCommand(true) }
func (a *app) newBudgetRefuseCommand() *cobra.Command  { return a.newDecisionCommand(false) }

// newDecisionCommand returns the command that approves a request, or the one that refuses it.
func (a *app) newDecisionCommand(approve bool) *cobra.Command {
	s := &signedStep{app: a}
	use, done, short, long := "refuse", "refused", "refuse a request for a training",
		`Refuse ends a request for good: another one needs a new job ID.`
	if approve {
		use, done, short, long = "approve", "approved", "approve a request for a training",
			`Approve lets the analyst who asked run the training, exactly as it was requested,
until the approval expires. It reserves no budget: the training is charged, or
refused, when it runs. See budget report for what was requested.`
	}
	c := &cobra.Command{Use: use, Short: short,
		Long: long + ` The key is the
owner's or an approver's, and not the key that asked.`,
		Example: fmt.Sprintf(`  discreet budget %s --ledger l.db --dataset members --job spring --key officer`, use)}
	s.addFlags(c, "the owner or an approver")
	c.Flags().StringVar(&s.job, "job", "", "the job `ID` of the request")
	c.Flags().StringVar(&s.reason, "reason", "", "the `reason`, on one line")
	cli.Require(c, "job")
	c.RunE = func(c *cobra.Command, _ []string) error {
		says := fmt.Sprintf("%s job %s of %s", done, s.job, s.dataset)
		return s.run(c.Context(), says, func(l *ledger.Ledger, key ed25519.PrivateKey, until time.Time) error {
			return l.Decide(c.Context(), key, ledger.Decision{Dataset: s.dataset, Job: s.job, Approve: approve, Until: until,
				Reason: s.reason})
		})
	}
	return c
}

func (a *app) newBudgetReportCommand() *cobra.Command {
	b := &budgetReader{app: a}
	c := b.addTo(&cobra.Command{
		Use:   "report",
		Short: "list who may spend, and who spent what on which model",
		Long: `Report lists the keys with a role on a data set, with their allotments, and then
every training: who asked for it and why, who approved or refused it, what it
cost, and the model's SHA-256. It is read from the entries; budget verify checks
their signatures.`,
		Example: `  discreet budget report --ledger l.db --dataset members`,
	}, b.showReport)
	c.Flags().StringVar(&b.dataset, "dataset", "", "the `name` of the data set")
	c.Flags().BoolVar(&b.json, "json", false, "print one JSON object, with the plans that were requested")
	cli.Require(c, "dataset")
	return c
}

func (b *budgetReader) showReport(ctx context.Context, l *ledger.Ledger) error {
	members, err := l.Members(ctx, b.dataset)
	if err != nil {
		return err
	}
	jobs, err := l.Report(ctx, b.dataset)
	if err != nil {
		return err
	}
	if b.json {
		return cli.WriteJSON(b.Stdout, map[string]any{"dataset": b.dataset, "members": members, "jobs": jobs})
	}
	return writeReport(b.Stdout, members, jobs)
}

func writeReport(w io.Writer, members []ledger.Member, jobs []ledger.Account) error {
	var s strings.Builder
	for _, m := range members {
		plaintext.Fprintf(&s, "%-10s %-16s %s", m.Role, m.Name, shortenHash(m.Key))
		if m.Allotted != nil {
			plaintext.Fprintf(&s, "  charged %s of %s", dp.Epsilon(*m.Charged), dp.Epsilon(*m.Allotted))
		}
		if m.Approval {
			s.WriteString(", each training approved")
		}
		if m.Until != "" {
			plaintext.Fprintf(&s, ", until %s", m.Until)
		}
		s.WriteString("\n")
	}
	for _, j := range jobs {
		plaintext.Fprintf(&s, "%-20s %-10s epsilon %s", j.Job, j.State, dp.Epsilon(j.Epsilon))
		for _, f := range []struct{ words, text string }{{" by ", j.By}, {" on ", j.Part}, {", model ", shortenHash(j.SHA256)},
			{", decided by ", j.DecidedBy}, {" until ", j.Until}, {": ", j.Reason}} {
			if f.text != "" {
				s.WriteString(f.words + f.text)
			}
		}
		s.WriteString("\n")
		if j.Purpose != "" {
			plaintext.Fprintf(&s, "  purpose: %s\n", j.Purpose)
		}
	}
	_, err := io.WriteString(w, s.String())
	return err
}
