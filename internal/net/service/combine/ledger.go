// SPDX-License-Identifier: Apache-2.0

package combine

import (
	"context"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ground/openfile"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/ledger"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/net/federated/multiparty"
	"github.com/discreet-dp/discreet/internal/table/schema"
	"github.com/discreet-dp/discreet/internal/train"
)

// combined identifies a combination: every public choice, as it
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
	Row    int               `json:"row,omitempty"` // number of the answered row, from 1; 0 for a model
}

// lookUp finds a job in the ledger: for the model, or for one answer.
func (t *Combination) lookUp(ctx context.Context, row int) (*ledger.Job, error) {
	text, err := openfile.Read(t.Schema)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(text)
	config := combined{Params: t.Params, Schema: hex.EncodeToString(sum[:]), Aux: t.Aux, Votes: t.Votes, Ask: t.Ask.Peers,
		Roster: t.Roster, Honest: t.Honest, Row: row}
	if t.Ask.Peers != "" {
		config.Kind = t.Ask.Kind
	}
	spelt, err := json.Marshal(config)
	if err != nil {
		return nil, err
	}
	asked := ledger.Request{Dataset: t.Job.Dataset, ID: t.ID, Config: spelt, Worker: train.Worker(),
		Terms: ledger.Terms{Unit: "party", Relation: dp.ReplaceOne}}
	if row > 0 {
		asked.ID = fmt.Sprintf("%s-%d", t.ID, row)
	} else if asked.Output, err = filepath.Abs(t.Output.Path); err != nil {
		return nil, err
	}
	j, err := t.Job.Ledger.Job(ctx, asked)
	return j, refuseRequest(err)
}

// Model makes the model, or fetches it from the ledger, and writes its file. pl is a plan without a
// number of rows.
func (t *Combination) Model(ctx context.Context, s *schema.Schema, pl *multiparty.Plan) (*model.Model, error) {
	buy := train.Purchase[*model.Model]{What: "training", Price: dp.Pure(pl.Events()), Bill: pl.Events(), Output: t.Output,
		Say: t.Say, Marshal: model.Marshal, Unmarshal: model.Unmarshal,
		Make: func(ctx context.Context, acct guard.Account) (*model.Model, error) {
			return t.produceModel(ctx, s, acct)
		}}
	if t.Job != nil {
		var err error
		if buy.Job, err = t.lookUp(ctx, 0); err != nil {
			return nil, err
		}
	}
	return buy.Run(ctx)
}

// cashier charges each answer to its own job.
type cashier struct{ now guard.Account }

func (c *cashier) Charge(ctx context.Context, price dp.Price, bill []dp.Event) error {
	return c.now.Charge(ctx, price, bill)
}

func (c *cashier) Counted() bool { return c.now.Counted() }

// answerRows answers the first rows in order. If the budget ends first, it writes the answers so far.
func (t *Combination) answerRows(ctx context.Context, q *multiparty.Queries, till *cashier, s *schema.Schema,
	write func(func(io.Writer) error) error) error {
	var spent error
	err := write(func(w io.Writer) error {
		out := csv.NewWriter(w)
		if err := out.Write([]string{"row", s.Label.Name}); err != nil {
			return err
		}
		for row := range t.Params.Queries {
			value, err := t.answerOne(ctx, row, q, till, s)
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

// answerOne answers one row, or returns the answer that the ledger has.
func (t *Combination) answerOne(ctx context.Context, row int, q *multiparty.Queries, till *cashier,
	s *schema.Schema) (string, error) {
	value := func() (string, error) {
		code, err := q.Answer(ctx, row)
		if err != nil {
			return "", err
		}
		return s.Label.Levels[code].Value, nil
	}
	if t.Job == nil {
		return value()
	}
	j, err := t.lookUp(ctx, row+1)
	if err != nil {
		return "", err
	}
	if b := j.Stored(); b != nil {
		code := schema.CodeOf(s.Label.Levels, string(b))
		if code < 0 {
			return "", fmt.Errorf("combine: the ledger's answer for row %d must be a level of the label", row+1)
		}
		return string(b), q.Recall(row, uint8(code))
	}
	till.now = j
	text, err := value()
	if err != nil {
		return "", j.Explain(errors.Join(err, j.Abandon(ctx, "the answer failed")))
	}
	return text, j.Commit(ctx, []byte(text))
}
