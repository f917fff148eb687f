// SPDX-License-Identifier: Apache-2.0

package network

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/commands"
	"github.com/discreet-dp/discreet/internal/commands/cli"
	"github.com/discreet-dp/discreet/internal/ledger"
	"github.com/discreet-dp/discreet/internal/net/federated/multiparty"
	"github.com/discreet-dp/discreet/internal/net/service/ballot"
	"github.com/discreet-dp/discreet/internal/net/service/combine"
	"github.com/discreet-dp/discreet/internal/net/service/party"
	"github.com/discreet-dp/discreet/internal/net/service/site"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
	"github.com/discreet-dp/discreet/internal/train"
)

// voter holds the flags of site cast and site serve that select the model which votes.
type voter struct {
	*app
	ballot.Voter
}

func newVoter(a *app) voter {
	return voter{a, ballot.Voter{Env: a.Env, Read: a.readUnlabelled}}
}

func (v *voter) addFlags(c *cobra.Command) {
	c.Flags().StringVar(&v.Model, "model", "", "the `file` of the model that votes")
	cli.Reads(c, "model")
	c.Flags().StringVar(&v.Command, "command", "", "the `command` of another classifier")
	c.Flags().StringVar(&v.Encoding, "encoding", "onehot",
		"encoding of categories, for coefficients: onehot or ordinal")
	commands.CompleteFlag(c, "encoding", "onehot", "ordinal")
}

// readUnlabelled reads rows without their labels.
func (a *app) readUnlabelled(ctx context.Context, s *schema.Schema, paths []string) (*dataset.Table, error) {
	defer a.ShowBusy("reading")()
	return dataset.Read(ctx, s, dataset.Options{Labels: dataset.LabelsIgnored}, paths...)
}

// draftedVotes holds the flags of site init about votes.
type draftedVotes struct {
	aux     []string
	schema  string
	kinds   []string
	helpers map[string]string
}

func (v *draftedVotes) addFlags(c *cobra.Command) {
	f := c.Flags()
	f.StringArrayVar(&v.aux, "aux", nil, "a public `file` to vote on; may be repeated")
	f.StringVar(&v.schema, "aux-schema", "", "the schema `file` of the public files")
	f.StringSliceVar(&v.kinds, "kind", nil, "the `kinds` of votes that coordinators see: labels, probabilities, coefficients (default "+
		"labels, or none with --helpers)")
	f.StringToStringVar(&v.helpers, "helpers", nil, "the helpers that hold the shares of secret sums of votes: `NAME=ADDRESS,...`")
	commands.CompleteFlag(c, "kind", string(multiparty.Labels), string(multiparty.Probabilities), string(multiparty.Coefficients))
	cli.AddSection(c, "Votes", "aux", "aux-schema", "kind", "helpers")
	cli.Reads(c, "aux", "aux-schema")
	c.MarkFlagsRequiredTogether("aux", "aux-schema")
}

// draft returns the clauses of votes within the policy's limits; nil without files to vote on.
func (v *draftedVotes) draft(p *site.Policy) (*site.Votes, error) {
	if len(v.aux) == 0 {
		return nil, nil
	}
	if err := combine.CheckHelpers("site init", v.helpers); err != nil {
		return nil, commands.AsUsageError(err)
	}
	each := p.Training
	out := &site.Votes{Coordinators: p.Coordinators, Helpers: v.helpers, Protects: "institution", Total: p.Lifetime}
	if len(v.helpers) > 0 {
		each.Delta = "1e-15" // of one secret sum
	}
	if out.Each = each; p.Schema == "" {
		p.Training = each
	}
	if len(v.kinds) == 0 && len(v.helpers) == 0 {
		v.kinds = []string{string(multiparty.Labels)}
	}
	for _, k := range v.kinds {
		out.Kinds = append(out.Kinds, multiparty.Kind(k))
	}
	if _, err := schema.Load(v.schema); err != nil {
		return nil, err
	}
	digest, err := party.DigestOf(v.schema)
	if err != nil {
		return nil, err
	}
	out.Schema = fmt.Sprintf("%x", digest[:])
	for _, path := range v.aux {
		digest, err := party.DigestOf(path)
		if err != nil {
			return nil, err
		}
		info, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		out.Tables = append(out.Tables, fmt.Sprintf("%x:%d", digest[:], info.Size()))
	}
	return out, nil
}

// openVoter reads what votes, and checks it against the policy. It does nothing for a site that does not vote.
func (s *siteServe) openVoter(p *site.Policy) error {
	if s.Model == "" && s.Command == "" {
		return nil
	}
	switch {
	case s.Schema == "":
		return cli.Refuse("site serve", "aux-schema", "must be given with --model and --command", nil)
	case p.Votes == nil:
		return cli.Refuse("site serve", "policy", "must have votes if --model or --command is given", nil)
	}
	for _, k := range p.Votes.Kinds {
		if err := s.CheckKind(k); err != nil {
			return commands.AsUsageError(err)
		}
	}
	s.Key = s.key
	if err := s.Open(); err != nil {
		return commands.AsUsageError(err)
	}
	digest, err := party.DigestOf(s.Schema)
	if err == nil && fmt.Sprintf("%x", digest[:]) != p.Votes.Schema {
		err = cli.Refuse("site serve", "aux-schema", fmt.Sprintf("must be what the policy names in votes.schema, %s", p.Votes.Schema),
			fmt.Sprintf("%x", digest[:]))
	}
	return errors.Join(err, s.CheckModel())
}

// voting is how the site votes; nil if it does not.
func (s *siteServe) voting(ctx context.Context, l *ledger.Ledger, p *site.Policy, name string) (*site.Voting, error) {
	if s.Model == "" && s.Command == "" {
		return nil, nil
	}
	free, err := s.IsReleased(ctx, l, p.Data)
	if err != nil {
		return nil, err
	}
	if free && p.Votes.Protects != "rows" {
		return nil, cli.Refuse("site serve", "policy", "must have votes that protect rows: the model's own training does not protect the "+
			"institution as a whole", p.Votes.Protects)
	}
	if free {
		s.Say("the model's price is in the ledger: its votes cost nothing more, and protect what it protects")
	}
	return &site.Voting{Free: free, Plan: s.Voter.Plan, Cast: s.Answer(name), Add: s.Addend,
		Charge: func(ctx context.Context, r ledger.Request) (party.Job, error) {
			r.Worker = train.Worker()
			return l.Job(ctx, r)
		}}, nil
}
