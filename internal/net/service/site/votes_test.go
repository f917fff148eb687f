// SPDX-License-Identifier: Apache-2.0

package site

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ledger"
	"github.com/discreet-dp/discreet/internal/ledger/policy"
	"github.com/discreet-dp/discreet/internal/net/federated/multiparty"
	"github.com/discreet-dp/discreet/internal/net/service/identity"
	"github.com/discreet-dp/discreet/internal/net/service/party"
)

// publicTable is what sites of these tests vote on.
const publicTable = "x\n1\n2\n"

// votesOf are clauses that let uni ask for labels about publicTable.
func votesOf() *Votes {
	digest := sha256.Sum256([]byte(publicTable))
	return &Votes{Coordinators: []string{"uni"}, Schema: strings.Repeat("01", 32), Tables: []string{fmt.Sprintf("%x:%d", digest,
		len(publicTable))}, Kinds: []multiparty.Kind{multiparty.Labels}, Protects: protectsInstitution,
		Each: policy.Limit{Epsilon: "2"}, Total: policy.Limit{Epsilon: "5"}}
}

// vote lets a site vote, with a real ledger, whose Charge it returns.
func (w *world) vote(i int, l *ledger.Ledger) {
	key, name := w.params[i].Key, w.params[i].Policy.Site
	w.params[i].Voting = &Voting{
		Charge: func(ctx context.Context, r ledger.Request) (party.Job, error) { return l.Job(ctx, r) },
		Plan:   func(context.Context, *party.Query, []string) (int, uint64, error) { return 0, 0, nil },
		Cast: func(_ context.Context, q *party.Query, _ []string, to io.Writer) error {
			v, err := multiparty.NewWriter(to, multiparty.Header{Party: name, Kind: multiparty.Labels, Levels: []string{"c0", "c1"}, Rows: 2,
				Aux: q.Aux()}, key)
			if err == nil {
				err = v.Labels([]byte{0, 1})
			}
			if err == nil {
				err = v.Close()
			}
			return err
		}}
}

// ask asks a site for votes.
func (w *world) ask(i int, job string, eps dp.Epsilon) error {
	t := w.t.(*testing.T)
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	done := make(chan struct{})
	go func() { defer close(done); _ = w.running[i].Run(ctx) }()
	defer func() { stop(); <-done }()
	aux := filepath.Join(t.TempDir(), "aux.csv")
	must(t, os.WriteFile(aux, []byte(publicTable), 0o600))
	p := multiparty.Defaults()
	p.Epsilon, p.Parties = eps, 10
	q := &party.Query{Job: job, Params: p, Kind: multiparty.Labels, Deadline: time.Now().Add(time.Minute).Truncate(time.Second),
		Tables: []party.Table{{Digest: sha256.Sum256([]byte(publicTable)), Bytes: int64(len(publicTable)), Format: party.CSV}}}
	must(t, q.Schema.UnmarshalText([]byte(w.policies[i].Votes.Schema)))
	peer := party.Peer{URL: w.peers[i].URL, Name: w.peers[i].Name}
	copy(peer.Key[:], w.params[i].Key.Public().(ed25519.PublicKey))
	answers, err := party.Asking{Self: w.uni, Peers: []party.Peer{peer}, Query: q, Files: []string{aux}, Dir: t.TempDir(), Log: quiet,
		Fits: func(*multiparty.Header) error { return nil }}.Votes(t.Context())
	must(t, err)
	return answers[0].Err
}

// One service votes and trains, on one budget of two totals: votes are charged to both; once a training has begun the
// institution is not protected, and votes are refused unless the policy lets them protect rows alone.
func TestVotesAndTrainingsHaveOneBudget(t *testing.T) {
	w := small(t)
	l := withLedger(t, w, nil)
	charge := w.params[1].Charge
	w.params[1].Charge = func(ctx context.Context, o Order) (Account, error) {
		a, err := charge(ctx, o)
		if err != nil {
			return nil, err
		}
		return a.(account).Job, nil
	}
	w.vote(1, l)
	must(t, (&Policy{Site: "site1", Clauses: policy.Clauses{Data: "patients", Lifetime: policy.Limit{Epsilon: "1000", Delta: "0.001"}},
		Votes: votesOf()}).boundInstitution(t.Context(), l))
	w.allow(1, func(p *Policy) { p.Votes = votesOf() })
	spent := func() (rows, institution dp.Epsilon, exposed bool) {
		b, err := l.Balances(t.Context(), "patients")
		must(t, err)
		return b[0].Spent, b[0].OfInstitution.Spent.Epsilon, b[0].OfInstitution.Exposed
	}
	must(t, w.ask(1, "one", 2*dp.Nano))
	must(t, w.ask(1, "one", 2*dp.Nano))
	must(t, w.ask(1, "two", 2*dp.Nano))
	if rows, institution, exposed := spent(); rows != 4*dp.Nano || institution != 4*dp.Nano || exposed {
		t.Errorf("two queries cost rows %s and the institution %s, exposed %t", rows, institution, exposed)
	}
	if err := w.ask(1, "three", 2*dp.Nano); err == nil || !strings.Contains(err.Error(), "votes.total") {
		t.Errorf("beyond the institution's total: %v", err)
	}
	_, err := w.coordinator(3).Train(t.Context(), w.schema, planOf(t, w.schema, 0, 90), kept)
	must(t, err)
	if rows, institution, exposed := spent(); rows != 6*dp.Nano || institution != 4*dp.Nano || !exposed {
		t.Errorf("after a training: rows %s, the institution %s, exposed %t", rows, institution, exposed)
	}
	must(t, w.ask(1, "two", 2*dp.Nano)) // which has been paid for
	w.allow(1, func(p *Policy) { p.Number++; p.Votes = votesOf() })
	if err := w.ask(1, "four", 2*dp.Nano); err == nil || !strings.Contains(err.Error(), "votes.protects") {
		t.Errorf("an institution that is not protected votes: %v", err)
	}
	w.allow(1, func(p *Policy) { p.Number++; p.Votes = votesOf(); p.Votes.Protects = protectsRows })
	must(t, w.ask(1, "five", dp.Nano))
	if rows, institution, _ := spent(); rows != 7*dp.Nano || institution != 5*dp.Nano {
		t.Errorf("votes that protect rows: rows %s, the institution %s", rows, institution)
	}
	// A model whose price is in the ledger votes for nothing.
	w.params[1].Voting.Free = true
	w.restart(1)
	must(t, w.ask(1, "six", 2*dp.Nano))
	if rows, institution, _ := spent(); rows != 7*dp.Nano || institution != 5*dp.Nano {
		t.Errorf("votes of a model in the ledger: rows %s, the institution %s", rows, institution)
	}
}

// A site without a table votes alone, and takes part in no training.
func TestSitesThatVoteAlone(t *testing.T) {
	w := small(t)
	l, err := ledger.Create(t.Context(), filepath.Join(t.TempDir(), "ledger.db"))
	must(t, err)
	defer l.Close()
	w.vote(1, l)
	w.params[1].Table, w.params[1].State = nil, t.TempDir()
	w.allow(1, func(p *Policy) {
		p.Number++
		p.Votes, p.Schema, p.Coordinators, p.MinimumSites, p.Measurements, p.Numbers, p.PublicRows = votesOf(), "", nil, 0, 0, 0, false
	})
	must(t, w.policies[1].CheckDraft())
	must(t, w.policies[1].OpenLedger(t.Context(), l, nil))
	must(t, w.ask(1, "one", 2*dp.Nano))
	if _, err := w.coordinator(3).Train(t.Context(), w.schema, planOf(t, w.schema, 0, 90), kept); err == nil ||
		!strings.Contains(err.Error(), "site1") {
		t.Errorf("a site without rows takes part in a training: %v", err)
	}
	uni := w.uni
	w.uni = w.identity(identity.Combiner, "other")
	if err := w.ask(1, "one", 2*dp.Nano); err == nil {
		t.Error("another coordinator has votes")
	}
	w.uni = uni
	page := httptest.NewRecorder()
	w.running[1].Page().ServeHTTP(page, httptest.NewRequest("GET", "/metrics", nil))
	if !strings.Contains(page.Body.String(), "discreet_votes_answers_total 1") {
		t.Errorf("the page does not count votes: %s", page.Body.String())
	}
}

// Who may ask for votes may not train, and who may train sees no votes.
func TestCoordinatorsOfVotesDoNotTrain(t *testing.T) {
	w := small(t)
	l := withLedger(t, w, nil)
	w.vote(1, l)
	w.allow(1, func(p *Policy) { p.Number++; p.Votes = votesOf(); p.Votes.Coordinators = []string{"ann"} })
	if err := w.ask(1, "one", 2*dp.Nano); err == nil {
		t.Error("a coordinator of trainings has votes")
	}
	w.allow(1, func(p *Policy) {
		p.Number++
		p.Votes, p.Coordinators = votesOf(), []string{"ann"}
		p.HeldOut, p.ExactEvaluation = "", false
	})
	if _, err := w.coordinator(3).Train(t.Context(), w.schema, planOf(t, w.schema, 0, 90), kept); err == nil {
		t.Error("a coordinator of votes trains")
	}
}

// Clauses of votes that are none are refused, and the others survive a draft.
func TestClausesOfVotes(t *testing.T) {
	w := small(t)
	whole := *w.policies[1]
	whole.Votes = votesOf()
	must(t, whole.CheckDraft())
	again, err := parsePolicy([]byte(whole.Draft()))
	must(t, err)
	if again.Draft() != whole.Draft() {
		t.Error("a draft is read as another policy")
	}
	helpers := map[string]string{"a": "https://a", "b": "https://b", "c": "https://c"}
	for clause, change := range map[string]func(p *Policy){
		"votes.each":         func(p *Policy) { p.Votes.Each.Epsilon = "6" },
		"votes.total":        func(p *Policy) { p.Votes.Total.Epsilon = "41" },
		"votes.schema":       func(p *Policy) { p.Votes.Schema = "ab" },
		"votes.protects":     func(p *Policy) { p.Votes.Protects = "" },
		"votes.coordinators": func(p *Policy) { p.Votes.Coordinators = nil },
		"votes.kinds":        func(p *Policy) { p.Votes.Kinds = nil },
		"votes.tables":       func(p *Policy) { p.Votes.Tables = nil },
		"votes.helpers":      func(p *Policy) { p.Votes.Helpers = map[string]string{"a": "https://a"} },
		"votes.each ":        func(p *Policy) { p.Votes.Helpers, p.Votes.Each.Delta = helpers, "0" },
	} {
		p := whole
		p.Votes = votesOf()
		change(&p)
		if err := p.CheckDraft(); err == nil || !strings.HasPrefix(err.Error(), strings.TrimSpace(clause)+" must ") {
			t.Errorf("%s: %v", clause, err)
		}
	}
	secret := whole
	secret.Votes = votesOf()
	secret.Votes.Helpers, secret.Votes.Kinds = helpers, nil
	secret.Votes.Each.Delta, secret.Votes.Total.Delta = "1e-15", "1e-12"
	must(t, secret.CheckDraft())
}
