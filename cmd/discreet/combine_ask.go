// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/cli"
	"github.com/discreet-dp/discreet/internal/federated/multiparty"
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/privacy/dp"
	"github.com/discreet-dp/discreet/internal/service/identity"
	"github.com/discreet-dp/discreet/internal/service/party"
)

// asking is the flags of combine that fetch votes from parties over the network.
type asking struct {
	as
	peers   string
	kind    string
	wait    time.Duration
	helpers map[string]string
}

func (f *asking) add(c *cobra.Command) {
	c.Flags().StringVar(&f.peers, "ask", "", "ask parties over the network, a `file`: an address, a public key and a name on each line")
	c.Flags().StringVar(&f.dir, "certs", "", "with --ask, the `directory` of certificates, as certs makes it")
	c.Flags().StringVar(&f.caller, "as", "", "with --ask, whose certificate it is, `ROLE/NAME`, e.g. combiner/uni")
	c.Flags().DurationVar(&f.wait, "wait", 10*time.Minute, "with --ask, how long parties have to answer, a `time`")
	c.Flags().StringVar(&f.kind, "kind", string(multiparty.Labels), "with --ask, what parties hand in: labels, probabilities or coefficients")
	c.Flags().StringToStringVar(&f.helpers, "helpers", nil, "with --ask and --secure-sum, who hold the shares: `NAME=ADDRESS,...`")
	complete(c, "kind", string(multiparty.Labels), string(multiparty.Probabilities), string(multiparty.Coefficients))
	c.MarkFlagsRequiredTogether("ask", "certs", "as")
}

// check refuses flags that contradict each other.
func (f *asking) check(c *cobra.Command, method multiparty.Method, inSecret bool) error {
	bad := func(param, want string, got any) error {
		return &cli.UsageError{Err: &dp.ParamError{Op: "combine", Param: param, Want: want, Got: got}}
	}
	if f.peers == "" {
		for _, name := range []string{"wait", "kind", "helpers"} {
			if c.Flags().Changed(name) {
				return bad(name, "may be given with --ask only", nil)
			}
		}
		return nil
	}
	if method == multiparty.Average && !c.Flags().Changed("kind") {
		f.kind = string(multiparty.Coefficients)
	}
	if inSecret != (len(f.helpers) > 0) {
		return bad("helpers", "must be given with --ask and --secure-sum, and only there", nil)
	}
	if err := checkHelpers("combine", f.helpers); err != nil {
		return err
	}
	switch kind := multiparty.Kind(f.kind); {
	case kind != multiparty.Labels && kind != multiparty.Probabilities && kind != multiparty.Coefficients:
		return bad("kind", "must be labels, probabilities or coefficients", f.kind)
	case (kind == multiparty.Coefficients) != (method == multiparty.Average):
		return bad("kind", "must be coefficients with --method average, and only there", f.kind)
	case f.wait < time.Second || f.wait > 30*24*time.Hour:
		return bad("wait", "must be 1s to 720h", f.wait)
	}
	return nil
}

// checkHelpers refuses what is no committee.
func checkHelpers(op string, helpers map[string]string) error {
	bad := func(want string, got any) error {
		return &cli.UsageError{Err: &dp.ParamError{Op: op, Param: "helpers", Want: want, Got: got}}
	}
	if n := len(helpers); n > 0 && (n < 3 || n > 255) {
		return bad("must number 3 to 255", n)
	}
	for name, address := range helpers {
		if err := (identity.Caller{Role: identity.Helper, Name: name}).Check(); err != nil {
			return &cli.UsageError{Err: err}
		}
		if !isAddress(address) {
			return bad("must look like NAME=https://host:port", address)
		}
	}
	return nil
}

// isAddress holds for https://host:port.
func isAddress(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Scheme == "https" && u.Host != "" && strings.Trim(u.Path, "/") == "" && u.RawQuery == ""
}

// query is what the parties are asked.
func (t *combine) query(job string, pl *multiparty.Plan) (*party.Query, error) {
	q := &party.Query{Job: job, Params: pl.Params, Kind: multiparty.Kind(t.asking.kind), Honest: t.honest, Deadline: clock().Add(t.asking.wait).Truncate(time.Second)}
	var err error
	if q.Schema, err = party.DigestOf(t.public); err != nil {
		return nil, err
	}
	for _, path := range t.aux {
		info, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		d, err := party.DigestOf(path)
		if err != nil {
			return nil, err
		}
		q.Tables = append(q.Tables, party.Table{Digest: d, Bytes: info.Size(), Format: party.FormatOf(path)})
	}
	return q, refused(q.Check())
}

// ask asks the peers by what use does with an Asking, and says who is absent.
func (t *combine) ask(ctx context.Context, job string, pl *multiparty.Plan, peers []party.Peer, use func(party.Asking) ([]party.Answer, error)) error {
	self, err := t.asking.load()
	if err != nil {
		return err
	}
	q, err := t.query(job, pl)
	if err != nil {
		return err
	}
	defer watched(ctx, self, t.log())()
	t.Say("asking %d parties as job %s, until %s", len(peers), job, q.Deadline.Format(time.RFC3339))
	report, done := t.ShowRuns("asking")
	answers, err := use(party.Asking{Self: self, Peers: peers, Query: q, Files: t.aux, Log: t.log(), Now: clock, Progress: report})
	done()
	for _, a := range answers {
		if a.Err != nil {
			t.Say("absent: party %q: %v", a.Peer.Name, a.Err)
		}
	}
	return errors.Join(refused(err), ctx.Err())
}

// readPeers reads whom to ask.
func (t *combine) readPeers() ([]party.Peer, error) {
	f, err := os.Open(t.asking.peers)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var out []party.Peer
	urls, names, keys := map[string]bool{}, map[string]bool{}, map[multiparty.Key]bool{}
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		words := strings.Fields(lines.Text())
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		bad := func(want string) ([]party.Peer, error) {
			return nil, fmt.Errorf("combine: %s: line %d: must %s", t.asking.peers, n, want)
		}
		if len(words) != 3 {
			return bad("be an address, a public key and a name")
		}
		p := party.Peer{URL: strings.TrimSuffix(words[0], "/"), Name: words[2]}
		if !isAddress(p.URL) {
			return bad("begin with an address like https://host:port")
		}
		if p.Key.UnmarshalText([]byte(words[1])) != nil {
			return bad("have a public key of 64 hexadecimal digits, as party key prints it")
		}
		if err := (identity.Caller{Role: identity.Party, Name: p.Name}).Check(); err != nil {
			return bad("end with the name of a certificate party/NAME")
		}
		if urls[p.URL] || names[p.Name] || keys[p.Key] {
			return bad("name an address, a key and a party once")
		}
		urls[p.URL], names[p.Name], keys[p.Key] = true, true, true
		out = append(out, p)
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	switch {
	case len(out) == 0:
		return nil, fmt.Errorf("combine: %s: must name at least one party", t.asking.peers)
	case len(out) > t.params.Parties:
		return nil, &cli.UsageError{Err: &dp.ParamError{Op: "combine", Param: "parties", Want: fmt.Sprintf("must be at least the %d that are asked", len(out)), Got: t.params.Parties}}
	}
	return out, nil
}

// gather gives the folder of votes to use: the one that is named, filled by the
// parties where they are asked, or one that is gone afterwards.
func (t *combine) gather(ctx context.Context, job string, pl *multiparty.Plan, aux *multiparty.Auxiliary, use func(folder string, allowed map[multiparty.Key]string) error) (err error) {
	if t.asking.peers == "" {
		allowed, err := t.readRoster()
		if err != nil {
			return err
		}
		return use(t.votes, allowed)
	}
	peers, err := t.readPeers()
	if err != nil {
		return err
	}
	folder := t.votes
	if folder == "" {
		if folder, err = os.MkdirTemp("", "discreet-votes-"); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	} else if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	if err := t.ask(ctx, job, pl, peers, func(a party.Asking) ([]party.Answer, error) {
		a.Dir, a.Fits = folder, func(h *multiparty.Header) error { return pl.Fits(h, aux.Rows, aux.Digest) }
		return a.Votes(ctx)
	}); err != nil {
		return err
	}
	allowed := map[multiparty.Key]string{}
	for _, p := range peers {
		allowed[p.Key] = p.Name
	}
	return use(folder, allowed)
}

// askInSecret makes the model of a secret sum among parties and helpers.
func (t *combine) askInSecret(ctx context.Context, job string, pl *multiparty.Plan, aux *multiparty.Auxiliary, acct learn.Account) (*model.Model, error) {
	peers, err := t.readPeers()
	if err != nil {
		return nil, err
	}
	s, err := pl.Secret(ctx, aux, t.honest)
	if err != nil {
		return nil, refused(err)
	}
	if !acct.Counted() {
		t.Say("no ledger: nothing is being counted; what parties spend elsewhere adds up")
	}
	var total *party.Total
	if err := t.ask(ctx, job, pl, peers, func(a party.Asking) (answers []party.Answer, err error) {
		a.AtLeast = t.minimum
		if total, err = a.Total(ctx, t.helpers, s.Law.Dim(), s.Law.Top()+1, func() error { return s.Charge(ctx, acct) }); total != nil {
			answers = total.Answers
		}
		return answers, err
	}); err != nil {
		return nil, err
	}
	t.Say("%d of %d parties are in the secret sum, of %d coordinates, over %d helpers; each that is not counts as a constant vote", total.Parties, pl.Parties, s.Law.Dim(), len(t.helpers))
	return s.Combine(ctx, total.Sum, total.Parties)
}
