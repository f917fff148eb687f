// SPDX-License-Identifier: Apache-2.0

package network

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/commands"
	"github.com/discreet-dp/discreet/internal/commands/cli"
	"github.com/discreet-dp/discreet/internal/ground/atomicfile"
	"github.com/discreet-dp/discreet/internal/ground/build"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ground/edkey"
	"github.com/discreet-dp/discreet/internal/ground/keyfile"
	"github.com/discreet-dp/discreet/internal/ground/openfile"
	"github.com/discreet-dp/discreet/internal/ground/plaintext"
	"github.com/discreet-dp/discreet/internal/ledger"
	"github.com/discreet-dp/discreet/internal/ledger/policy"
	"github.com/discreet-dp/discreet/internal/net/federated/sites"
	"github.com/discreet-dp/discreet/internal/net/mapped"
	"github.com/discreet-dp/discreet/internal/net/service/site"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/engine/memory"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
	"github.com/discreet-dp/discreet/internal/train"
)

func (a *app) newSiteCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "site",
		Short: "take part without showing rows, and ask those who do",
		Long: `A site is an institution that adds its rows to trainings (docs/sites.md), or votes
on the rows of one public table (docs/parties.md), within one signed policy. A
coordinator asks sites: train, evaluate, vote and plan.`,
		Example: `  discreet-net site init --site north --sites sites.txt --schema clinics.yaml --coordinator uni --honest 2 \
    --epsilon 1 --delta 1e-6 --lifetime-epsilon 3 --lifetime-delta 3e-6 --until 2027-12-31 --out north.yaml
  discreet-net site sign --policy north.yaml --key officer --out north.signed.yaml`,
	}
	return cli.Group(c, a.newSiteInitCommand(), a.newSiteCheckCommand(), a.newSiteSignCommand(), a.newSiteKitCommand(), a.newSiteOpenCommand(),
		a.newSiteServeCommand(), a.newSiteEndCommand(), a.NewSiteFitCommand(), a.newSiteCastCommand(), a.newSiteTrainCommand(), a.newSiteEvaluateCommand(),
		a.newSiteVoteCommand(), a.newSitePlanCommand())
}

func (a *app) newSiteInitCommand() *cobra.Command {
	var v draftedVotes
	p := site.Policy{Clauses: policy.Clauses{Version: policy.Version, Number: 1, Data: "rows"}, Figures: true}
	var list, schemaFile, out string
	c := &cobra.Command{
		Use:   "init",
		Short: "write a draft of a site's policy",
		Long: `Init writes a policy for the site's officer to read, change and sign. Compare
each key of --sites with the site that has it.

With --schema the site takes part in trainings. With --aux it votes on these
files, at most --epsilon a query and --lifetime-epsilon in total.`,
		Example: `  discreet-net site init --site north --sites sites.txt --schema clinics.yaml --coordinator uni --honest 2 \
    --epsilon 1 --delta 1e-6 --lifetime-epsilon 3 --lifetime-delta 3e-6 --until 2027-12-31 --out north.yaml
  discreet-net site init --site mary --sites sites.txt --aux aux.csv --aux-schema aux.yaml --coordinator uni --epsilon 1 \
    --lifetime-epsilon 3 --until 2027-12-31 --out mary.yaml`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			peers, err := readSites("site init", list)
			if err != nil {
				return err
			}
			p.Sites = map[string]string{}
			for _, peer := range peers {
				p.Sites[peer.Name] = hex.EncodeToString(peer.Key)
			}
			var s *schema.Schema
			if schemaFile != "" {
				if !c.Flags().Changed("honest") {
					return cli.Refuse("site init", "honest", "must be given with --schema", nil)
				}
				if s, err = schema.Load(schemaFile); err != nil {
					return err
				}
				if p.Schema, err = sites.SchemaDigest(s); err != nil {
					return err
				}
				p.MinimumSites, p.Measurements, p.Numbers = len(peers)-max(p.MayLeave, 0), 1000, 1<<16
				p.PublicRows = s.Relation == dp.ReplaceOne // which the officer reads in the draft
			}
			if p.Votes, err = v.draft(&p); err != nil {
				return err
			}
			if s == nil {
				p.Coordinators = nil // who asks for votes is named there
			}
			if err := p.CheckDraft(); err != nil {
				return &cli.UsageError{Err: fmt.Errorf("site init: %w", err)}
			}
			if _, err := p.Words(s); err != nil {
				return commands.AsRefusal(err)
			}
			return atomicfile.Write(out, atomicfile.Public, func(w io.Writer) error {
				_, err := io.WriteString(w, p.Draft())
				return err
			})
		},
	}
	f := c.Flags()
	f.StringVar(&p.Site, "site", "", "the `name` of this site")
	f.StringVar(&list, "sites", "", "the `file` of sites: an address, a public key and a name on each line")
	f.StringVar(&schemaFile, "schema", "", "the schema `file` that all sites have")
	f.StringSliceVar(&p.Coordinators, "coordinator", nil, "the `names` of the coordinators to answer")
	f.IntVar(&p.Honest, "honest", 1, "the smallest `number` of honest sites, including this one")
	f.StringVar(&p.Training.Epsilon, "epsilon", "", "the largest `ε` of a training, or of a query for votes")
	f.StringVar(&p.Training.Delta, "delta", "0", "the largest `δ` of a training")
	f.StringVar(&p.Lifetime.Epsilon, "lifetime-epsilon", "", "the largest `ε` of all trainings and votes together")
	f.StringVar(&p.Lifetime.Delta, "lifetime-delta", "0", "the largest `δ` of all trainings and votes together")
	f.StringVar(&p.HeldOut, "held-out", "", "the `name` in the ledger of rows for evaluations (default none)")
	f.BoolVar(&p.ExactEvaluation, "exact-evaluation", false, "let the coordinators see exact numbers about these rows: not private")
	f.BoolVar(&p.OwnNumbers, "own-numbers", false, "let coordinators see this site's own noisy sums, if sites may leave")
	f.IntVar(&p.MayLeave, "may-leave", 0, "the most `sites` that may leave a training")
	f.StringVar(&p.Until, "until", "", "the last `day` of trainings, as 2027-12-31")
	f.StringVar(&out, "out", "", "the draft `file`")
	v.addFlags(c)
	cli.Reads(c, "sites", "schema")
	cli.Writes(c, "out")
	cli.Require(c, "site", "sites", "coordinator", "epsilon", "lifetime-epsilon", "until", "out")
	c.MarkFlagsOneRequired("schema", "aux")
	return c
}

func (a *app) newSiteSignCommand() *cobra.Command {
	var policy, key, out string
	c := &cobra.Command{
		Use:   "sign",
		Short: "sign a site's policy",
		Long: `Sign checks a policy and writes it with the officer's signature as its last
line. Raise the policy's number first: a site refuses an older policy, and
another one with the same number.`,
		Example: `  discreet-net site sign --policy north.yaml --key officer --out north.signed.yaml`,
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			officer, err := keyfile.Read("site sign", key)
			if err != nil {
				return err
			}
			var signed *site.Policy
			if err := atomicfile.Write(out, atomicfile.Public, func(w io.Writer) (err error) {
				signed, err = site.SignPolicy(policy, officer, w)
				return err
			}); err != nil {
				return err
			}
			_, err = plaintext.Fprintf(a.Stdout, "signed policy number %d of site %s\n", signed.Number, signed.Site)
			return err
		},
	}
	c.Flags().StringVar(&policy, "policy", "", "the policy `file`")
	c.Flags().StringVar(&key, "key", "", "the officer's key `file`, as keygen makes it")
	c.Flags().StringVar(&out, "out", "", "the signed policy `file`")
	cli.Reads(c, "policy", "key")
	cli.Writes(c, "out")
	cli.Require(c, "policy", "key", "out")
	return c
}

func (a *app) newSiteCheckCommand() *cobra.Command {
	var policy, schemaFile, officer, mapFile string
	var data []string
	var checks commands.Checks
	c := &cobra.Command{
		Use:   "check",
		Short: "print in words what a site's policy allows, and check its table",
		Long: `Check prints what a policy allows, and with --map what the map does. With
--officer it checks the signature.

With --data it checks the site's table as discreet schema check does: the counts
and exit code 4 are NOT PRIVATE, and for people who may see the rows. It records
that the check was run. A site does not start without this record of its files.`,
		Example: `  discreet-net site check --policy north.yaml --schema clinics.yaml
  discreet-net site check --policy north.yaml --schema clinics.yaml --data north.csv --data north.held-out.csv`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			var key ed25519.PublicKey
			if officer != "" {
				var err error
				if key, err = keyfile.ReadOne("site check", "officer", officer); err != nil {
					return commands.AsRefusal(err)
				}
			}
			p, err := site.ReadPolicy(policy, key)
			if err != nil {
				return err
			}
			var s *schema.Schema
			if schemaFile != "" {
				if s, err = schema.Load(schemaFile); err != nil {
					return err
				}
			}
			if s == nil && (mapFile != "" || len(data) > 0) {
				return cli.Refuse("site check", "schema", "must be given with --map and --data", nil)
			}
			lines, err := p.Words(s)
			files := s
			if mapFile != "" && err == nil {
				var own *mapped.Map
				if own, err = mapped.Load(mapFile, s); err == nil {
					lines, files = append(lines, own.Words()...), own.Files
				}
			}
			for _, line := range lines {
				if _, failed := plaintext.Fprintf(a.Stdout, "%s\n", line); failed != nil {
					return failed
				}
			}
			if err != nil || len(data) == 0 {
				return err
			}
			t, err := checks.Check(c.Context(), a.App, files, schemaFile, data)
			if err != nil {
				return err
			}
			return checks.Print(a.App, t, false)
		},
	}
	c.Flags().StringVar(&policy, "policy", "", "the policy `file`")
	c.Flags().StringVar(&schemaFile, "schema", "", "the schema `file` of the site's table")
	c.Flags().StringVar(&officer, "officer", "", "the officer's public key `file`, as keygen writes it")
	c.Flags().StringVar(&mapFile, "map", "", "the `file` that maps the site's columns to the schema's")
	c.Flags().StringArrayVar(&data, "data", nil, "a `file` of the table; may be repeated")
	checks.AddMostly(c)
	cli.Reads(c, "policy", "schema", "officer", "map", "data")
	cli.Require(c, "policy")
	return c
}

func (a *app) newSiteEndCommand() *cobra.Command {
	var state, training string
	c := &cobra.Command{
		Use:   "end",
		Short: "list or end the open trainings of a site",
		Long: `End lists the trainings in a site's state that have not ended. With --training
it ends one: the site, which may be running, erases its keys and answers. What
was spent stays spent.`,
		Example: `  discreet-net site end --state north
  discreet-net site end --state north --training 5d41402abc4b2a76b9719d911017c592aa5d2f0b1c7e94d38f6e1b70c2a9d4e8`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if training != "" {
				return commands.AsRefusal(site.EndOpen(state, sites.Digest(training)))
			}
			open, err := site.ListOpen(state)
			if err != nil {
				return err
			}
			for _, o := range open {
				spent := "nothing spent"
				if o.Begun {
					spent = "price spent"
				}
				if _, err := plaintext.Fprintf(a.Stdout, "%s  coordinator %s, last active %s, %s\n", o.ID, o.Coordinator,
					o.Since.UTC().Format(time.RFC3339), spent); err != nil {
					return err
				}
			}
			return nil
		},
	}
	c.Flags().StringVar(&state, "state", "", "the `folder` for open trainings, as site serve has it")
	c.Flags().StringVar(&training, "training", "", "the `ID` of the training to end")
	cli.KeepsFolder(c, "state", site.StateNames)
	cli.Require(c, "state")
	return c
}

// parseKey reads a public key as keygen prints it.
func parseKey(text string) (ed25519.PublicKey, error) {
	key, err := hex.DecodeString(text)
	if err == nil {
		err = edkey.Check(key)
	}
	if err != nil {
		return nil, errors.New("must be a public key of 64 hexadecimal digits, as keygen prints it")
	}
	return key, nil
}

// siteServe holds the flags of the command.
type siteServe struct {
	voter
	listener
	ledger                                       commands.LedgerFlag
	state, policy, officer, key, schema, mapFile string
	data, heldOut                                []string
	checks                                       commands.Checks
}

func (a *app) newSiteServeCommand() *cobra.Command {
	s := &siteServe{voter: newVoter(a)}
	c := &cobra.Command{
		Use:   "serve",
		Short: "answer coordinators within the policy",
		Long: `Serve reads the table once and answers the coordinators that the policy names:
sums with the site's share of the noise, which masks hide until all sites are
added up. With --model or --command it votes on the rows of the public files that
the policy names. Everything is charged first, to one ledger.

Without --data the site votes alone, and its ledger counts votes alone. A
--command is another program, and votes only where no table is.

SIGHUP makes the site read policy, key and certificates again. You may kill it
at any moment. Never restore a copy of --state (docs/sites-protocol.md).`,
		Example: `  discreet-net site serve --certs certs --as party/north --listen :8461 --state north --policy north.signed.yaml \
    --officer officer.pub --key north.pem --schema clinics.yaml --data north.csv --ledger north.db
  discreet-net site serve --certs certs --as party/mary --listen :8451 --state mary --policy mary.signed.yaml \
    --officer officer.pub --key mary.pem --aux-schema aux.yaml --model m.json --ledger mary.db`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return s.serveSite(c) },
	}
	s.listener.addFlags(c, "party/north", "metrics and health checks")
	f := c.Flags()
	f.StringVar(&s.state, "state", "", "the `folder` for open trainings")
	f.StringVar(&s.policy, "policy", "", "the signed policy `file`")
	f.StringVar(&s.officer, "officer", "", "the officer's public key `file`, as keygen writes it")
	f.StringVar(&s.key, "key", "", "the site's key `file`, as keygen makes it")
	f.StringVar(&s.schema, "schema", "", "the schema `file` of the table")
	s.voter.addFlags(c)
	f.StringVar(&s.Schema, "aux-schema", "", "the schema `file` of the public files that are voted on")
	f.StringVar(&s.mapFile, "map", "", "the `file` that maps this site's columns to the schema's (default none)")
	f.StringArrayVar(&s.data, "data", nil, "a `file` of the table; may be repeated")
	f.StringArrayVar(&s.heldOut, "held-out", nil, "a `file` of rows for evaluations; may be repeated")
	s.ledger.AddFlag(c)
	s.checks.AddFile(c)
	cli.Reads(c, "policy", "officer", "key", "schema", "map", "data", "held-out", "aux-schema")
	cli.KeepsFolder(c, "state", site.StateNames)
	cli.Require(c, "state", "policy", "officer", "key", "ledger")
	c.MarkFlagsRequiredTogether("data", "schema")
	c.MarkFlagsOneRequired("data", "model", "command")
	c.MarkFlagsMutuallyExclusive("model", "command")
	c.MarkFlagsMutuallyExclusive("command", "data")
	return c
}

func (s *siteServe) serveSite(c *cobra.Command) (err error) {
	ctx := c.Context()
	officer, err := keyfile.ReadOne("site serve", "officer", s.officer)
	if err != nil {
		return err
	}
	policy, key, err := s.readCharter(officer)
	if err != nil {
		return err
	}
	self, err := s.loadIdentity()
	if err != nil {
		return err
	}
	rows, err := s.readTables(c)
	if err != nil {
		return err
	}
	if err := s.openVoter(policy); err != nil {
		return err
	}
	anchors, err := s.ledger.Anchors()
	if err != nil {
		return err
	}
	l, err := s.ledger.Open(ctx, ledger.Create)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	if err := policy.CheckNewest(anchors); err != nil { // before its lifetime is declared
		return commands.AsRefusal(err)
	}
	if err := policy.OpenLedger(ctx, l, rows.schema); err != nil {
		return commands.AsRefusal(err)
	}
	voting, err := s.voting(ctx, l, policy, self.Name)
	if err != nil {
		return err
	}
	log := s.newLogger()
	server, err := site.New(site.Params{
		Self: self, Policy: policy, Key: key, State: s.state, Anchors: anchors, Table: rows.table, Rows: rows.digest, HeldOut: rows.heldOut,
		Voting: voting, Log: log, Now: commands.Clock, Program: build.Version(),
		Charge: func(ctx context.Context, o site.Order) (site.Account, error) {
			job := o.Request()
			job.Terms, job.Worker = train.Terms(rows.schema), train.Worker()
			return l.Job(ctx, job)
		},
	})
	if err != nil {
		return commands.AsRefusal(err)
	}
	return s.serve(ctx, log, self, server.Handler(), server.Page(), func(ctx context.Context) error {
		again := make(chan os.Signal, 1)
		signal.Notify(again, syscall.SIGHUP)
		defer signal.Stop(again)
		var votes sync.WaitGroup
		defer votes.Wait()
		votes.Go(func() { _ = server.Run(ctx) }) // it returns nil
		for {
			select {
			case <-ctx.Done():
				return nil
			case <-again:
				policy, key, err := s.readCharter(officer)
				if err == nil {
					err = policy.OpenLedger(ctx, l, rows.schema)
				}
				if err == nil {
					err = server.Replace(policy, key)
				}
				log.Info("the policy and the key were read again", "refused", err != nil, "error", err)
			}
		}
	})
}

// siteRows are the tables of a site; empty if it votes alone.
type siteRows struct {
	schema  *schema.Schema
	table   engine.Table
	digest  sites.Digest
	heldOut *site.HeldOut
}

// readTables reads the site's tables, of which it has checked the schema.
func (s *siteServe) readTables(c *cobra.Command) (out siteRows, err error) {
	ctx := c.Context()
	if len(s.data) == 0 {
		if s.mapFile != "" || len(s.heldOut) > 0 {
			return out, cli.Refuse("site serve", "data", "must be given with --map and --held-out", nil)
		}
		s.Say("without --data: this ledger counts votes alone; what is trained on the same rows elsewhere adds up")
		return out, nil
	}
	sch, _, err := commands.LoadSchema(s.schema)
	if err != nil {
		return out, err
	}
	var own *mapped.Map
	if s.mapFile != "" {
		if own, err = mapped.Load(s.mapFile, sch); err != nil {
			return out, err
		}
	}
	// Rows on both sides would be charged to two totals.
	if err := dataset.CheckOnce(ctx, s.Stdin, slices.Concat(s.data, s.heldOut)...); err != nil {
		return out, err
	}
	files := sch
	if own != nil {
		files = own.Files
	}
	s.checks.Require = true
	s.checks.Command = "discreet-net site check --policy " + commands.ShellWord(s.policy) + " --schema " + commands.ShellWord(s.schema)
	if own != nil {
		s.checks.Command += " --map " + commands.ShellWord(s.mapFile)
	}
	if err := s.checks.Ask(c, s.App, files, s.schema, slices.Concat(s.data, s.heldOut)); err != nil {
		return out, err
	}
	tab, rows, err := s.readRows(ctx, sch, own, s.data)
	if err != nil {
		return out, err
	}
	out = siteRows{schema: sch, digest: rows}
	if out.table, err = memory.New(tab); err != nil {
		return out, err
	}
	if len(s.heldOut) > 0 {
		out.heldOut = new(site.HeldOut)
		out.heldOut.Table, out.heldOut.Rows, err = s.readRows(ctx, sch, own, s.heldOut)
	}
	return out, err
}

// readCharter reads the signed policy and the site's key.
func (s *siteServe) readCharter(officer ed25519.PublicKey) (*site.Policy, ed25519.PrivateKey, error) {
	policy, err := site.ReadPolicy(s.policy, officer)
	if err != nil {
		return nil, nil, err
	}
	key, err := keyfile.Read("site serve", s.key)
	return policy, key, err
}

// readRows reads a table and the digest of its files. The map is one of them, because another map
// would give other rows.
func (s *siteServe) readRows(ctx context.Context, sch *schema.Schema, own *mapped.Map, files []string) (*dataset.Table, sites.Digest,
	error) {
	all := slices.Clone(files)
	if own != nil {
		all, sch = append(all, s.mapFile), own.Files
	}
	rows, err := digestOfFiles(all)
	if err != nil {
		return nil, "", err
	}
	tab, err := s.ReadTable(ctx, sch, files)
	if err != nil {
		return nil, "", err
	}
	if own != nil {
		tab = own.Convert(tab)
	}
	if again, err := digestOfFiles(all); err != nil || again != rows {
		return nil, "", errors.Join(errors.New("site: the files of the table must not change while they are read"), err)
	}
	return tab, rows, nil
}

// digestOfFiles returns one digest of the bytes of some files, in order.
func digestOfFiles(paths []string) (sites.Digest, error) {
	all := sha256.New()
	for _, path := range paths {
		f, err := openfile.Regular(path)
		if err != nil {
			return "", err
		}
		one := sha256.New()
		_, err = io.Copy(one, f)
		if err = errors.Join(err, f.Close()); err != nil {
			return "", err
		}
		all.Write(one.Sum(nil))
	}
	return sites.Digest(hex.EncodeToString(all.Sum(nil))), nil
}
