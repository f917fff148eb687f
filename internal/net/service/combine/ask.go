// SPDX-License-Identifier: Apache-2.0

package combine

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ground/openfile"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/net/federated/multiparty"
	"github.com/discreet-dp/discreet/internal/net/service/identity"
	"github.com/discreet-dp/discreet/internal/net/service/party"
	"github.com/discreet-dp/discreet/internal/train"
)

// newQuery returns the query to the parties.
func (t *Combination) newQuery(pl *multiparty.Plan) (*party.Query, error) {
	q := &party.Query{Job: t.ID, Params: pl.Params, Kind: multiparty.Kind(t.Ask.Kind), Honest: t.Honest,
		Deadline: t.Ask.Now().Add(t.Ask.Wait).Truncate(time.Second)}
	var err error
	if q.Schema, err = party.DigestOf(t.Schema); err != nil {
		return nil, err
	}
	for _, path := range t.Aux {
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
	return q, refuseRequest(q.Check())
}

// askPeers calls use with an Asking of the peers, and reports which peers are absent.
func (t *Combination) askPeers(ctx context.Context, pl *multiparty.Plan, peers []party.Peer,
	use func(party.Asking) ([]party.Answer, error)) error {
	q, err := t.newQuery(pl)
	if err != nil {
		return err
	}
	t.Say("asking %d parties as job %s, until %s", len(peers), t.ID, q.Deadline.Format(time.RFC3339))
	report, done := t.Progress("asking")
	answers, err := use(party.Asking{Self: t.Ask.Self, Peers: peers, Query: q, Files: t.Aux, Log: t.Ask.Log,
		Now: t.Ask.Now, Progress: report})
	done()
	for _, a := range answers {
		if a.Err != nil {
			t.Say("absent: party %q: %v", a.Peer.Name, a.Err)
		}
	}
	return errors.Join(refuseRequest(err), ctx.Err())
}

// readPeers reads the list of peers to ask.
func (t *Combination) readPeers() ([]party.Peer, error) {
	f, err := openfile.Regular(t.Ask.Peers)
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
			return nil, fmt.Errorf("combine: %s: line %d: must %s", t.Ask.Peers, n, want)
		}
		if len(words) != 3 {
			return bad("be an address, a public key and a name")
		}
		p := party.Peer{URL: strings.TrimSuffix(words[0], "/"), Name: words[2]}
		if !IsAddress(p.URL) {
			return bad("begin with an address like https://host:port")
		}
		if p.Key.UnmarshalText([]byte(words[1])) != nil {
			return bad("have a public key of 64 hexadecimal digits, as keygen prints it")
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
		return nil, fmt.Errorf("combine: %s: must name at least one party", t.Ask.Peers)
	case len(out) > t.Params.Parties:
		return nil, &train.RequestError{Err: dp.Refuse("combine", "parties",
			fmt.Sprintf("must be at least the %d that are asked", len(out)), t.Params.Parties)}
	}
	return out, nil
}

// gatherVotes returns the folder of votes to use: the named folder, to which peers' votes are added if
// they are asked, or else a temporary one.
func (t *Combination) gatherVotes(ctx context.Context, pl *multiparty.Plan, aux *multiparty.Auxiliary,
	use func(folder string, allowed map[multiparty.Key]string) error) (err error) {
	if t.Ask.Peers == "" {
		allowed, err := t.readRoster()
		if err != nil {
			return err
		}
		return use(t.Votes, allowed)
	}
	peers, err := t.readPeers()
	if err != nil {
		return err
	}
	folder := t.Votes
	if folder == "" {
		if folder, err = os.MkdirTemp("", "discreet-votes-"); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	} else if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	if err := t.askPeers(ctx, pl, peers, func(a party.Asking) ([]party.Answer, error) {
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

// askInSecret makes the model from a secret sum among parties and helpers.
func (t *Combination) askInSecret(ctx context.Context, pl *multiparty.Plan, aux *multiparty.Auxiliary,
	acct guard.Account) (*model.Model, error) {
	peers, err := t.readPeers()
	if err != nil {
		return nil, err
	}
	s, err := pl.Secret(ctx, aux, t.Honest)
	if err != nil {
		return nil, refuseRequest(err)
	}
	if !acct.Counted() {
		t.Say("no ledger: nothing is counted; what parties spend elsewhere adds up")
	}
	var total *party.Total
	if err := t.askPeers(ctx, pl, peers, func(a party.Asking) (answers []party.Answer, err error) {
		a.AtLeast, a.Proofs = t.Minimum, t.Ask.Proofs
		if total, err = a.Total(ctx, t.Ask.Helpers, s.Law.Dim(), s.Law.Top()+1,
			func() error { return s.Charge(ctx, acct) }); total != nil {
			answers = total.Answers
		}
		return answers, err
	}); err != nil {
		return nil, err
	}
	t.Say("%d of %d parties are in the secret sum, of %d coordinates, over %d helpers; each that is not counts as a "+
		"constant vote", total.Parties, pl.Parties, s.Law.Dim(), len(t.Ask.Helpers))
	return s.Combine(ctx, total.Sum, total.Parties)
}

// CheckHelpers refuses a list of helpers that cannot form a committee.
func CheckHelpers(op string, helpers map[string]string) error {
	bad := func(want string, got any) error {
		return &train.RequestError{Err: dp.Refuse(op, "helpers", want, got)}
	}
	if n := len(helpers); n > 0 && (n < 3 || n > 255) {
		return bad("must number 3 to 255", n)
	}
	for name, address := range helpers {
		if err := (identity.Caller{Role: identity.Helper, Name: name}).Check(); err != nil {
			return &train.RequestError{Err: err}
		}
		if !IsAddress(address) {
			return bad("must look like NAME=https://host:port", address)
		}
	}
	return nil
}

// IsAddress reports whether text has the form https://host:port.
func IsAddress(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Scheme == "https" && u.Host != "" && strings.Trim(u.Path, "/") == "" && u.RawQuery == ""
}

// refuseRequest turns a refused parameter into a refused request.
func refuseRequest(err error) error {
	if _, ok := errors.AsType[*dp.ParamError](err); ok {
		return &train.RequestError{Err: err}
	}
	return err
}
