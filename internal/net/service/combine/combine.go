// SPDX-License-Identifier: Apache-2.0

package combine

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ground/openfile"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/net/federated/multiparty"
	"github.com/discreet-dp/discreet/internal/net/service/ballot"
	"github.com/discreet-dp/discreet/internal/net/service/identity"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/table/schema"
	"github.com/discreet-dp/discreet/internal/train"
)

// Combination describes one classifier, or some answers, to make from many parties' votes.
type Combination struct {
	Params        multiparty.Params
	Schema        string   // the schema file of the auxiliary table
	Aux           []string // its files
	Votes, Roster string   // the folder of votes; Allowed is the file of permitted voters, "" for all
	InSecret      bool     // votes are added up in secret
	Honest        int      // for a secret sum: number of parties whose noise is relied on
	Minimum       int      // for a secret sum: minimum number of parties in it
	Holders       int      // for a rehearsal of the sum: number of holders of shares
	Ask           Asking
	Output        train.Output // the file to write the model to
	ID            string       // the name of the combination; the same ID means the same combination
	Job           *train.Job   // the job to charge; nil: not counted
	Read          ballot.Reader
	// Say receives progress messages, one line each, and Progress the state of long steps.
	Say      func(format string, args ...any)
	Progress func(what string) (report func(done, total int), end func())
}

// Asking configures the fetching of votes over the network.
type Asking struct {
	Peers   string // the file of peers to ask; "": none
	Kind    string
	Wait    time.Duration
	Helpers map[string]string // for a secret sum, name to address
	Proofs  bool              // parties prove their numbers' range even if that is slow; see secretsum.Sum
	Self    *identity.Identity
	Log     *slog.Logger
	Now     func() time.Time
}

// Plan prices the combination; rows is 0 if unknown.
func (t *Combination) Plan(s *schema.Schema, rows int) (*multiparty.Plan, error) {
	pl, err := t.Params.Plan(s, rows)
	if _, ok := errors.AsType[*dp.ParamError](err); ok {
		return nil, &train.RequestError{Err: err}
	}
	return pl, err
}

// produceModel makes the model from the parties' votes, and charges acct before it.
func (t *Combination) produceModel(ctx context.Context, s *schema.Schema, acct guard.Account) (m *model.Model,
	err error) {
	_, aux, err := ballot.ReadAuxiliary(ctx, t.Read, s, t.Aux)
	if err != nil {
		return nil, err
	}
	pl, err := t.Plan(s, aux.Rows)
	if err != nil {
		return nil, err
	}
	switch {
	case t.InSecret && t.Ask.Peers != "":
		return t.askInSecret(ctx, pl, aux, acct)
	case t.InSecret:
		return t.sumSecretly(ctx, pl, aux, acct)
	}
	votes, err := t.collectVotes(ctx, pl, aux)
	if err != nil {
		return nil, err
	}
	t.tellFacts(pl, acct.Counted())
	return pl.Combine(ctx, aux, votes, acct, mech.NewExit(rng.System()))
}

// tellFacts prints what the combination is about to do.
func (t *Combination) tellFacts(pl *multiparty.Plan, counted bool) {
	for _, f := range pl.Facts() {
		t.Say("  %s", f.Text)
	}
	if !t.Params.NotPrivate && !counted {
		t.Say("no ledger: nothing is counted; what parties spend elsewhere adds up")
	}
}

// Answers answers the first rows instead of making a model: a column "row" and the label for each.
// write writes the result to the named file.
func (t *Combination) Answers(ctx context.Context, s *schema.Schema, file string,
	write func(func(io.Writer) error) error) error {
	_, aux, err := ballot.ReadAuxiliary(ctx, t.Read, s, t.Aux)
	if err != nil {
		return err
	}
	pl, err := t.Plan(s, aux.Rows)
	if err != nil {
		return err
	}
	votes, err := t.collectVotes(ctx, pl, aux)
	if err != nil {
		return err
	}
	t.tellFacts(pl, t.Job != nil)
	till := &cashier{guard.Uncounted{}}
	q, err := pl.Ask(votes, till, mech.NewExit(rng.System()))
	if err != nil {
		return err
	}
	if t.Job != nil {
		t.Say("to be charged to data set %q as jobs %s-1 to %s-%d", t.Job.Dataset, t.ID, t.ID, pl.Queries)
	}
	err = t.answerRows(ctx, q, till, s, write)
	if given := pl.Queries - q.Left(); err == nil {
		t.Say("wrote %d answers to %s; epsilon %s is spent, and there are no more", given, file, pl.Epsilon)
	} else if given > 0 {
		t.Say("wrote %d of %d answers to %s", given, pl.Queries, file)
	}
	return err
}

// collectVotes adds up the parties' votes.
func (t *Combination) collectVotes(ctx context.Context, pl *multiparty.Plan,
	aux *multiparty.Auxiliary) (votes *multiparty.Tally, err error) {
	err = t.gatherVotes(ctx, pl, aux, func(folder string, allowed map[multiparty.Key]string) error {
		votes, err = t.Tally(pl, aux, folder, allowed)
		return err
	})
	return votes, err
}

// Tally reads a folder of votes. If allowed is not nil, votes of other parties are refused.
func (t *Combination) Tally(pl *multiparty.Plan, aux *multiparty.Auxiliary, folder string,
	allowed map[multiparty.Key]string) (*multiparty.Tally, error) {
	votes, err := pl.NewTally(aux.Rows, aux.Digest)
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	report, done := t.Progress("tallying")
	defer done()
	for i, e := range entries {
		path := filepath.Join(folder, e.Name())
		f, err := openfile.Regular(path)
		if err != nil {
			return nil, err
		}
		h, err := votes.Add(f)
		if err = errors.Join(err, f.Close()); err != nil {
			return nil, fmt.Errorf("combine: %s: %w", path, err)
		}
		if allowed != nil && allowed[h.Key] != h.Party {
			return nil, fmt.Errorf("combine: %s: must be signed by a key that the roster has for the party it names", path)
		}
		report(i+1, len(entries))
	}
	t.Say("%d of %d parties voted; each that did not counts as a constant vote", votes.Present(), t.Params.Parties)
	if allowed == nil {
		t.Say("no roster: signatures say that files are whole, not who wrote them")
	}
	return votes, nil
}

func (t *Combination) readRoster() (map[multiparty.Key]string, error) {
	if t.Roster == "" {
		return nil, nil
	}
	f, err := openfile.Regular(t.Roster)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	out := map[multiparty.Key]string{}
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		text, name, _ := strings.Cut(strings.TrimSpace(lines.Text()), " ")
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		var k multiparty.Key
		if err := k.UnmarshalText([]byte(text)); err != nil || strings.TrimSpace(name) == "" {
			return nil, fmt.Errorf("combine: %s: line %d: must be a public key of 64 hexadecimal digits and a party's name",
				t.Roster, n)
		}
		if out[k] != "" {
			return nil, fmt.Errorf("combine: %s: line %d: must name a key once", t.Roster, n)
		}
		out[k] = strings.TrimSpace(name)
	}
	return out, lines.Err()
}
