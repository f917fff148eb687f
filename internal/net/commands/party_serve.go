// SPDX-License-Identifier: Apache-2.0

package network

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/commands"
	"github.com/discreet-dp/discreet/internal/commands/cli"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/net/federated/multiparty"
	"github.com/discreet-dp/discreet/internal/net/service/combine"
	"github.com/discreet-dp/discreet/internal/net/service/party"
	"github.com/discreet-dp/discreet/internal/net/service/tasks"
)

// partyServe holds the flags of the command.
type partyServe struct {
	voter
	listener
	anchors           commands.AnchorsFlag
	state             string
	combiners, allow  []string
	kinds             []string
	helpers           map[string]string
	peers             string
	honest            int
	epsilon, lifetime string
	unit              string
}

func (a *app) newPartyServeCommand() *cobra.Command {
	s := &partyServe{voter: newVoter(a)}
	c := &cobra.Command{
		Use:   "serve",
		Short: "answer combiners over the network",
		Long: `Serve waits for combiners' queries and answers them with votes, as party vote
writes them. The model, or the command, stays on this machine. A query is
answered only if its combiner, auxiliary files, schema, kind and epsilon are
those that the flags allow (docs/parties.md).

The combiner may send files that are allowed by their SHA-256 and size in bytes,
as sha256sum and wc -c print them; other files must be on this machine. A
command gets one file. A query that cannot be combined costs nothing. Part of
the disk stays free.

With --unit person the party protects the persons of its table instead of
itself. --max-epsilon then bounds the epsilon of the model, and
--lifetime-epsilon the sum over all models that ever vote from this --state.

Answers are written to --state before they are sent. The same query gets the
same votes again, until its deadline. You may kill the process at any moment.

With --helpers the party takes part in secret sums. The combiner gets nothing
from this process; each helper gets one share of a short vector to which the
party has added its share of the noise. Name all helpers of the sum, run by
organisations that do not pool what they hold. Get the keys of --peers from the
parties, not from the combiner.`,
		Example: `  discreet-net party serve --certs certs --as party/mary --listen :8451 --state mary \
    --model m.json --schema aux.yaml \
    --key mary.pem --combiner uni --allow shared/aux.csv --max-epsilon 1 --lifetime-epsilon 3
  discreet-net party serve --certs certs --as party/john --listen :8452 --state john --schema aux.yaml --key john.pem \
    --command "python3 adapters/sklearn_votes.py model.joblib" --combiner uni --allow 9f86d081…:73412 \
    --max-epsilon 1 --lifetime-epsilon 3`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if len(s.helpers) > 0 && !c.Flags().Changed("kind") {
				s.kinds = nil
			}
			return s.serveVotes(c.Context())
		},
	}
	s.listener.addFlags(c, "party/mary", "metrics and health checks")
	s.voter.addFlags(c)
	f := c.Flags()
	f.StringVar(&s.Schema, "schema", "", "the schema `file` of the auxiliary table that all parties and the combiner have")
	f.StringVar(&s.Key, "key", "", "the key `file` to sign with, as keygen makes it")
	f.StringVar(&s.state, "state", "", "the `folder` for answers and spending; created if it does not exist")
	f.StringSliceVar(&s.combiners, "combiner", nil, "the `names` of the combiners to answer; they see the votes")
	f.StringSliceVar(&s.allow, "allow", nil, "auxiliary `files` that are voted on: names, folders, or SHA256:BYTES")
	f.StringSliceVar(&s.kinds, "kind", []string{string(multiparty.Labels)},
		"the `kinds` of votes to send: labels, probabilities, coefficients")
	f.StringToStringVar(&s.helpers, "helpers", nil, "the helpers that hold the shares of secret sums: `NAME=ADDRESS,...`")
	f.StringVar(&s.peers, "peers", "",
		"with --helpers, the `file` of the parties to add up with, this one among them: a public key on each line")
	f.IntVar(&s.honest, "honest", 0,
		"with --helpers, the smallest `number` of peers, including this party, that add their noise honestly")
	f.StringVar(&s.unit, "unit", "party", "the `unit` of privacy: party or person")
	f.StringVar(&s.epsilon, "max-epsilon", "", "the largest `ε` of a query to answer")
	f.StringVar(&s.lifetime, "lifetime-epsilon", "", "the largest `ε` of all queries together")
	commands.CompleteFlag(c, "unit", "party", "person")
	commands.CompleteFlag(c, "kind", string(multiparty.Labels), string(multiparty.Probabilities), string(multiparty.Coefficients))
	s.anchors.AddFlag(c)
	cli.AddSection(c, secretSums, "helpers", "peers", "honest")
	cli.Reads(c, "schema", "key", "allow", "peers")
	cli.KeepsFolder(c, "state", party.StateNames)
	cli.Require(c, "state", "schema", "key", "combiner", "allow", "max-epsilon", "lifetime-epsilon")
	c.MarkFlagsOneRequired("model", "command")
	c.MarkFlagsMutuallyExclusive("model", "command")
	return c
}

func (s *partyServe) serveVotes(ctx context.Context) (err error) {
	eps, err := dp.ParseEpsilon(s.epsilon)
	if err != nil {
		return &cli.UsageError{Err: err}
	}
	lifetime, err := dp.ParseEpsilon(s.lifetime)
	if err != nil {
		return &cli.UsageError{Err: err}
	}
	var kinds []multiparty.Kind
	for _, k := range s.kinds {
		if err := s.CheckKind(multiparty.Kind(k)); err != nil {
			return commands.AsUsageError(err)
		}
		kinds = append(kinds, multiparty.Kind(k))
	}
	if err := combine.CheckHelpers("party", s.helpers); err != nil {
		return commands.AsUsageError(err)
	}
	peers, err := s.readPeers()
	if err != nil {
		return err
	}
	self, err := s.loadIdentity()
	if err != nil {
		return err
	}
	if err := s.Open(); err != nil {
		return commands.AsUsageError(err)
	}
	if err := s.CheckModel(); err != nil {
		return err
	}
	persons, err := s.pricePersons()
	if err != nil {
		return commands.AsUsageError(err)
	}
	agreed, err := party.DigestOf(s.Schema)
	if err != nil {
		return err
	}
	log := s.newLogger()
	folder, err := s.anchors.Folder()
	if err != nil {
		return err
	}
	server, err := party.New(ctx, party.Params{
		Self: self, State: s.state, Anchors: folder, Combiners: s.combiners, Schema: agreed, Allow: s.allow,
		Kinds: kinds, Helpers: s.helpers, Peers: peers, Honest: s.honest, Key: s.Signer(),
		MaxEpsilon: eps, Lifetime: lifetime, Persons: persons, Plan: s.Voter.Plan, Cast: s.Answer(self.Name), Add: s.Addend,
		Log: log, Now: commands.Clock,
	})
	if err != nil {
		return commands.AsRefusal(err)
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	return s.serve(ctx, log, self, server.Handler(), server.Page(), server.Run)
}

// pricePersons returns a person's price for the model that votes, or nil if the party is the unit of
// privacy.
func (s *partyServe) pricePersons() (*party.PersonPrice, error) {
	switch s.unit {
	case "party":
		return nil, nil
	case "person":
		p, err := s.PriceOfPersons()
		if err == nil {
			s.Say("the unit is a person: the model protects %s, at epsilon %s for all that it votes", s.ProtectedWords(),
				p.Epsilon)
		}
		return p, err
	}
	return nil, cli.Refuse("party", "unit", "must be party or person", s.unit)
}

// readPeers reads the parties with which this one adds up votes in secret, or nil if it does not.
func (s *partyServe) readPeers() (tasks.Roster, error) {
	if inSecret := len(s.helpers) > 0; inSecret != (s.peers != "") || inSecret != (s.honest != 0) {
		return nil, &cli.UsageError{Err: &dp.ParamError{
			Op: "party", Param: "peers",
			Want: "must be given together with --honest and --helpers: the noise of a secret sum is that of its parties",
			Hint: "a file of the public keys that keygen prints, one on each line",
		}}
	}
	if s.peers == "" {
		return nil, nil
	}
	return tasks.LoadRoster(s.peers)
}
