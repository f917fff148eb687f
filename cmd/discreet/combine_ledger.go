// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/cli"
	"github.com/discreet-dp/discreet/internal/federated/multiparty"
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/privacy/dp"
	"github.com/discreet-dp/discreet/internal/privacy/ledger"
	"github.com/discreet-dp/discreet/internal/table/schema"
	"github.com/discreet-dp/discreet/internal/train"
)

// checkPaying refuses flags that contradict each other.
func (t *combine) checkPaying(c *cobra.Command) error {
	if err := t.together(c, "dataset"); err != nil {
		return err
	}
	switch {
	case t.ledger.address == "" && t.asking.peers == "" && c.Flags().Changed("job"):
		return &cli.UsageError{Err: &dp.ParamError{Op: "combine", Param: "job", Want: "may be given with --ledger or --ask only", Got: t.job}}
	case t.ledger.address != "" && t.open:
		return &cli.BudgetError{Err: errors.New("combine: a combination without privacy exceeds every budget; leave out --ledger to combine without one")}
	}
	return nil
}

// combined is what makes two combinations the same: every public choice, as it
// was typed.
type combined struct {
	Params multiparty.Params `json:"params"`
	Schema string            `json:"schema_sha256"`
	Aux    []string          `json:"aux"`
	Votes  string            `json:"votes,omitempty"`
	Ask    string            `json:"ask,omitempty"`
	Roster string            `json:"roster,omitempty"`
	Kind   string            `json:"kind,omitempty"`
	Honest int               `json:"honest,omitempty"`
	Row    int               `json:"row,omitempty"` // the one that is answered, from 1; 0 for a model
}

// lookUp finds a job in the ledger: that of the model, or of one answer.
func (t *combine) lookUp(ctx context.Context, l *ledger.Ledger, id string, row int) (*ledger.Job, error) {
	text, err := os.ReadFile(t.public)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(text)
	config := combined{Params: t.params, Schema: hex.EncodeToString(sum[:]), Aux: t.aux, Votes: t.votes, Ask: t.asking.peers, Roster: t.roster, Honest: t.honest, Row: row}
	if t.asking.peers != "" {
		config.Kind = t.asking.kind
	}
	spelt, err := json.Marshal(config)
	if err != nil {
		return nil, err
	}
	asked := ledger.Request{Dataset: t.dataset, ID: id, Config: spelt, Worker: train.Worker(),
		Terms: ledger.Terms{Unit: "party", Relation: dp.ReplaceOne}}
	if row > 0 {
		asked.ID = fmt.Sprintf("%s-%d", id, row)
	} else if asked.Output, err = filepath.Abs(t.model); err != nil {
		return nil, err
	}
	j, err := l.Job(ctx, asked)
	return j, refused(err)
}

// counted makes the model, or fetches it from the ledger, and writes its file.
func (t *combine) counted(ctx context.Context, id string, pl *multiparty.Plan, anew func(learn.Account) (*model.Model, error)) (m *model.Model, err error) {
	if t.ledger.address == "" {
		if m, err = anew(learn.Uncounted{}); err != nil {
			return nil, err
		}
		return m, m.Save(t.model)
	}
	err = t.ledger.with(ctx, func(l *ledger.Ledger) error {
		j, err := t.lookUp(ctx, l, id, 0)
		if err != nil {
			return err
		}
		if j.Stored() != nil {
			t.Say("this job has a result already: nothing is asked, drawn or charged")
			m, err = train.Fetch(ctx, j, t.model)
			return err
		}
		t.Say("charging data set %q as job %s", t.dataset, id)
		if err := j.Afford(ctx, dp.Pure(pl.Events()), pl.Events()); err != nil {
			return err
		}
		if m, err = anew(j); err != nil {
			return errors.Join(err, j.Abandon(ctx, "the combination failed"))
		}
		return train.Keep(ctx, j, m, t.model)
	})
	return m, err
}

// cashier charges each answer to a job of its own.
type cashier struct{ now learn.Account }

func (c *cashier) Charge(ctx context.Context, price dp.Price, bill []dp.Event) error {
	return c.now.Charge(ctx, price, bill)
}

func (c *cashier) Counted() bool { return c.now.Counted() }

// answer answers the first rows, one after another, and writes what was answered
// also where the budget ends before the rows do.
func (t *combine) answer(ctx context.Context, id string, q *multiparty.Queries, till *cashier, s *schema.Schema, l *ledger.Ledger) error {
	var spent error
	err := cli.WriteFile(t.answers, func(w io.Writer) error {
		out := csv.NewWriter(w)
		if err := out.Write([]string{"row", s.Label.Name}); err != nil {
			return err
		}
		for row := range t.params.Queries {
			value, err := t.answerOne(ctx, id, row, q, till, s, l)
			if e := (*ledger.Exceeded)(nil); errors.As(err, &e) {
				spent = err
				break
			}
			if err != nil {
				return err
			}
			if err := out.Write([]string{strconv.Itoa(row + 1), value}); err != nil {
				return err
			}
		}
		out.Flush()
		return out.Error()
	})
	return errors.Join(err, spent)
}

// answerOne answers one row, or gives the answer that the ledger has.
func (t *combine) answerOne(ctx context.Context, id string, row int, q *multiparty.Queries, till *cashier, s *schema.Schema, l *ledger.Ledger) (string, error) {
	value := func() (string, error) {
		code, err := q.Answer(ctx, row)
		if err != nil {
			return "", err
		}
		return s.Label.Levels[code].Value, nil
	}
	if l == nil {
		return value()
	}
	j, err := t.lookUp(ctx, l, id, row+1)
	if err != nil {
		return "", err
	}
	if b := j.Stored(); b != nil {
		code := slices.IndexFunc(s.Label.Levels, func(l schema.Level) bool { return l.Value == string(b) })
		if code < 0 {
			return "", fmt.Errorf("combine: the ledger's answer for row %d must be a level of the label", row+1)
		}
		return string(b), q.Recall(row, uint8(code))
	}
	till.now = j
	text, err := value()
	if err != nil {
		return "", errors.Join(err, j.Abandon(ctx, "the answer failed"))
	}
	return text, j.Commit(ctx, []byte(text))
}
