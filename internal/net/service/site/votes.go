// SPDX-License-Identifier: Apache-2.0

package site

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ledger"
	"github.com/discreet-dp/discreet/internal/ledger/policy"
	"github.com/discreet-dp/discreet/internal/net/federated/multiparty"
	"github.com/discreet-dp/discreet/internal/net/service/identity"
	"github.com/discreet-dp/discreet/internal/net/service/party"
	"github.com/discreet-dp/discreet/internal/net/service/problem"
	"github.com/discreet-dp/discreet/internal/net/service/tasks"
)

// Votes are what a policy allows of votes on public rows.
type Votes struct {
	Coordinators []string `yaml:"coordinators"` // who see the votes, or the secret sums of them
	Schema       string   `yaml:"schema"`       // SHA-256 of the tables' schema file
	Tables       []string `yaml:"tables"`       // the files that are voted on, as SHA256:BYTES
	// Kinds are the votes that leave: labels, probabilities, coefficients. None: secret sums alone.
	Kinds []multiparty.Kind `yaml:"kinds"`
	// Helpers are the names and addresses of those who hold the shares of secret sums; none: no secret sums.
	Helpers map[string]string `yaml:"helpers"`
	// Protects is institution or rows. Votes that protect the institution end as soon as it is not protected any more.
	Protects string       `yaml:"protects"`
	Each     policy.Limit `yaml:"each"`  // of one query
	Total    policy.Limit `yaml:"total"` // of all together, against the institution
}

// What votes protect.
const (
	protectsInstitution = "institution"
	protectsRows        = "rows"
	maxVoters           = 10_000
)

// trains reports whether the policy allows trainings.
func (p *Policy) trains() bool { return p.Schema != "" || p.Votes == nil }

// checkVotes refuses clauses of votes that are none.
func (p *Policy) checkVotes() error {
	v := p.Votes
	if v == nil {
		return nil
	}
	bad := policy.Bad
	one, err := v.Each.Price()
	if err != nil {
		return bad("votes.each", "have an epsilon > 0 and a delta below 1")
	}
	total, err := v.Total.Price()
	if err != nil {
		return bad("votes.total", "have an epsilon > 0 and a delta below 1")
	}
	all, err := p.Lifetime.Price()
	if err != nil {
		return err
	}
	switch digest, err := hex.DecodeString(v.Schema); {
	case err != nil || len(digest) != 32:
		return bad("votes.schema", "be the SHA-256 of the schema file")
	case one.Epsilon > total.Epsilon || one.Delta > total.Delta:
		return bad("votes.each", "be at most votes.total")
	case total.Epsilon > all.Epsilon || total.Delta > all.Delta:
		return bad("votes.total", "be at most lifetime: each vote is charged to both")
	case v.Protects != protectsInstitution && v.Protects != protectsRows:
		return bad("votes.protects", "be institution, or rows if votes go on after a training")
	case len(v.Coordinators) == 0:
		return bad("votes.coordinators", "name at least one, who sees the votes")
	case len(v.Kinds) == 0 && len(v.Helpers) == 0:
		return bad("votes.kinds", "name one at least, unless there are helpers")
	case len(v.Helpers) > 0 && (len(v.Helpers) < 3 || len(v.Helpers) > 255):
		return bad("votes.helpers", "number 3 to 255")
	case len(v.Helpers) > 0 && len(p.Sites) < 2:
		return bad("sites", "be at least 2 for secret sums, which hide a site among the others")
	case len(v.Helpers) > 0 && one.Delta == 0:
		return bad("votes.each", "have a delta of 1e-15 for secret sums")
	}
	if _, err := party.ParseTables(v.Tables); err != nil {
		return bad("votes.tables", "%s", strings.TrimPrefix(err.Error(), "must "))
	}
	for _, k := range v.Kinds {
		if k != multiparty.Labels && k != multiparty.Probabilities && k != multiparty.Coefficients {
			return bad("votes.kinds", "be labels, probabilities or coefficients")
		}
	}
	for _, name := range v.Coordinators {
		if (identity.Caller{Role: identity.Combiner, Name: name}).Check() != nil {
			return bad("votes.coordinators", "be names of certificates combiner/NAME")
		}
	}
	for name, address := range v.Helpers {
		if (identity.Caller{Role: identity.Helper, Name: name}).Check() != nil || !strings.HasPrefix(address, "https://") {
			return bad("votes.helpers", "have names of certificates helper/NAME and addresses like https://host:port")
		}
	}
	return nil
}

// callers are all coordinators that the policy names.
func (p *Policy) callers() []string {
	names := slices.Clone(p.Coordinators)
	if p.Votes != nil {
		names = append(names, p.Votes.Coordinators...)
	}
	return names
}

// terms are what the policy allows of votes; nil for none.
func (p *Policy) terms() (*party.Terms, error) {
	v := p.Votes
	if v == nil {
		return nil, nil
	}
	refuse := func(clause, figures string, args ...any) error {
		return problem.New(problem.NotAllowed, "%s", p.clause(clause, figures, args...))
	}
	t := &party.Terms{Combiners: v.Coordinators, Kinds: v.Kinds, Helpers: v.Helpers, Honest: p.Honest, Refuse: refuse,
		Open: func(at time.Time) error {
			if !at.Before(p.End) {
				return refuse("until", "%s is the last day", p.Until)
			}
			return p.checkHours(at)
		}}
	var err error
	if t.Each, err = v.Each.Price(); err != nil {
		return nil, err
	}
	if t.Tables, err = party.ParseTables(v.Tables); err != nil {
		return nil, err
	}
	if err = t.Schema.UnmarshalText([]byte(v.Schema)); err != nil {
		return nil, err
	}
	var keys bytes.Buffer
	for _, key := range p.Sites {
		keys.WriteString(key + "\n")
	}
	t.Peers, err = tasks.ParseRoster(keys.Bytes())
	return t, err
}

// voteWords are what the policy allows of votes, in sentences.
func (p *Policy) voteWords(say func(format string, args ...any)) {
	v := p.Votes
	if v == nil {
		return
	}
	say("%s may ask for votes on %d public files until %s.", strings.Join(v.Coordinators, ", "), len(v.Tables), p.Until)
	if len(v.Kinds) > 0 {
		var kinds []string
		for _, k := range v.Kinds {
			kinds = append(kinds, string(k))
		}
		say("They SEE this site's %s.", strings.Join(kinds, " and "))
	}
	if len(v.Helpers) > 0 {
		say("They see secret sums of votes, if helpers %s do not pool what they hold, and %d of the %d sites, this one among", strings.Join(
			slices.Sorted(maps.Keys(v.Helpers)), ", "), p.Honest, len(p.Sites))
		say("them, add their noise and keep it to themselves.")
	}
	say("One query spends at most epsilon %s and delta %s; all together %s and %s, for all rows together, and as much for each row.",
		v.Each.Epsilon, orZero(v.Each.Delta), v.Total.Epsilon, orZero(v.Total.Delta))
	if v.Protects == protectsInstitution {
		say("Once a training has read the rows, the institution is not protected as a whole, and votes are refused.")
	} else {
		say("Votes go on if trainings have read the rows. Then they protect each row, NOT THE INSTITUTION AS A WHOLE. A model whose")
		say("price is in the ledger votes for nothing more.")
	}
}

// draftVotes writes the clauses of votes.
func (p *Policy) draftVotes(b *strings.Builder) {
	v := p.Votes
	if v == nil {
		return
	}
	fmt.Fprintf(b, "votes: # on public rows\n  coordinators: [%s] # they see the votes, or secret sums of them\n  schema: %q\n  tables: [%s]\n",
		strings.Join(v.Coordinators, ", "), v.Schema, strings.Join(v.Tables, ", "))
	fmt.Fprintf(b, "  protects: %s # or rows, if votes go on after a training\n", v.Protects)
	fmt.Fprintf(b, "  each: {epsilon: %q, delta: %q}\n  total: {epsilon: %q, delta: %q} # for the institution as a whole\n", v.Each.Epsilon,
		orZero(v.Each.Delta), v.Total.Epsilon, orZero(v.Total.Delta))
	if len(v.Kinds) > 0 {
		b.WriteString("  kinds: [")
		for i, k := range v.Kinds {
			fmt.Fprintf(b, "%s%s", map[bool]string{true: ", "}[i > 0], k)
		}
		b.WriteString("] # which the coordinators see\n")
	}
	if len(v.Helpers) > 0 {
		b.WriteString("  helpers: # of secret sums\n")
		for _, name := range slices.Sorted(maps.Keys(v.Helpers)) {
			fmt.Fprintf(b, "    %s: %q\n", name, v.Helpers[name])
		}
	}
}

// Voting is how a site votes.
type Voting struct {
	// Charge finds a job in the site's ledger.
	Charge func(context.Context, ledger.Request) (party.Job, error)
	// Free is set if a model votes whose price is in the ledger: its votes cost nothing more.
	Free bool
	// Plan, Cast and Add are those of party.Params.
	Plan func(ctx context.Context, q *party.Query, files []string) (length int, below uint64, err error)
	Cast func(ctx context.Context, q *party.Query, files []string, to io.Writer) error
	Add  func(ctx context.Context, q *party.Query, files []string, votes io.Reader) (addend []uint64, err error)
}

// newVotes makes the part of the site that votes.
func (s *Server) newVotes() (*party.Server, error) {
	v := s.Voting
	p := party.Params{Self: s.Self, State: s.State, Key: s.Key, Plan: v.Plan, Cast: v.Cast, Add: v.Add, Log: s.Log, Now: s.Now,
		Problem: s.problemOf, Terms: func() *party.Terms { return s.charter.Load().terms }}
	if !v.Free {
		p.Charge = func(ctx context.Context, id party.ID) (party.Job, error) {
			p := s.policy()
			return v.Charge(ctx, ledger.Request{Dataset: p.Data, ID: "vote-" + id.String(), Config: []byte(id.String()), Institution: true,
				Exposed: p.Votes.Protects == protectsRows, Resume: true})
		}
	}
	return party.New(p)
}

// Run makes votes until ctx ends.
func (s *Server) Run(ctx context.Context) error {
	if s.votes == nil {
		<-ctx.Done()
		return nil
	}
	return s.votes.Run(ctx)
}

// boundInstitution gives the institution its total in the ledger, or refuses a larger one.
func (p *Policy) boundInstitution(ctx context.Context, l *ledger.Ledger) error {
	total, err := p.Votes.Total.Price()
	if err != nil {
		return err
	}
	b, err := l.Balances(ctx, p.Data)
	if err != nil {
		return err
	}
	of := ledger.Institution{Price: total}
	if p.HeldOut != "" {
		of.Also = []string{p.HeldOut}
	}
	switch have := b[0].OfInstitution; {
	case have == nil:
		return l.Bound(ctx, p.Data, of)
	case have.Total.Epsilon > total.Epsilon || have.Total.Delta > total.Delta:
		return dp.Refuse("site", "votes.total", "must be at least what the ledger gives, "+have.Total.String(), total)
	}
	return nil
}
