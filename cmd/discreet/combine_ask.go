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

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/multiparty"
	"github.com/discreet-dp/discreet/service/identity"
	"github.com/discreet-dp/discreet/service/party"
)

// asking is the flags of combine that fetch votes from parties over the network.
type asking struct {
	as
	peers string
	kind  string
	wait  time.Duration
}

func (f *asking) add(c *cobra.Command) {
	c.Flags().StringVar(&f.peers, "ask", "", "ask parties over the network, a `file`: an address, a public key and a name on each line")
	c.Flags().StringVar(&f.dir, "certs", "", "with --ask, the `directory` of certificates, as certs makes it")
	c.Flags().StringVar(&f.caller, "as", "", "with --ask, whose certificate it is, `ROLE/NAME`, e.g. combiner/uni")
	c.Flags().DurationVar(&f.wait, "wait", 10*time.Minute, "with --ask, how long parties have to answer, a `time`")
	c.Flags().StringVar(&f.kind, "kind", string(multiparty.Labels), "with --ask, what parties hand in: labels, probabilities or coefficients")
	complete(c, "kind", string(multiparty.Labels), string(multiparty.Probabilities), string(multiparty.Coefficients))
	c.MarkFlagsRequiredTogether("ask", "certs", "as")
}

// check refuses flags that contradict each other.
func (f *asking) check(c *cobra.Command, method multiparty.Method) error {
	bad := func(param, want string, got any) error {
		return &usageError{&dp.ParamError{Op: "combine", Param: param, Want: want, Got: got}}
	}
	if f.peers == "" {
		for _, name := range []string{"wait", "kind"} {
			if c.Flags().Changed(name) {
				return bad(name, "may be given with --ask only", nil)
			}
		}
		return nil
	}
	if method == multiparty.Average && !c.Flags().Changed("kind") {
		f.kind = string(multiparty.Coefficients)
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

// query is what the parties are asked.
func (t *combine) query(job string, pl *multiparty.Plan) (*party.Query, error) {
	q := &party.Query{Job: job, Params: pl.Params, Kind: multiparty.Kind(t.asking.kind), Deadline: time.Now().Add(t.asking.wait).Truncate(time.Second)}
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

// ask fetches the votes files of all parties that answer into the folder.
func (t *combine) ask(ctx context.Context, job string, pl *multiparty.Plan, aux *multiparty.Auxiliary, peers []party.Peer, into string) error {
	self, err := t.asking.load()
	if err != nil {
		return err
	}
	q, err := t.query(job, pl)
	if err != nil {
		return err
	}
	t.say("asking %d parties as job %s, until %s", len(peers), job, q.Deadline.Format(time.RFC3339))
	report, done := t.runsDone("asking")
	answers, err := party.Asking{
		Self: self, Peers: peers, Query: q, Files: t.aux, Dir: into, Log: t.log(), Progress: report,
		Fits: func(h *multiparty.Header) error { return pl.Fits(h, aux.Rows, aux.Digest) },
	}.Votes(ctx)
	done()
	if err != nil {
		return refused(err)
	}
	for _, a := range answers {
		if a.Err != nil {
			t.say("absent: party %q: %v", a.Peer.Name, a.Err)
		}
	}
	return ctx.Err()
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
		if u, err := url.Parse(p.URL); err != nil || u.Scheme != "https" || u.Host == "" || u.Path != "" || u.RawQuery != "" {
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
		return nil, &usageError{&dp.ParamError{Op: "combine", Param: "parties", Want: fmt.Sprintf("must be at least the %d that are asked", len(out)), Got: t.params.Parties}}
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
	if err := t.ask(ctx, job, pl, aux, peers, folder); err != nil {
		return err
	}
	allowed := map[multiparty.Key]string{}
	for _, p := range peers {
		allowed[p.Key] = p.Name
	}
	return use(folder, allowed)
}
