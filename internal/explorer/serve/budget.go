// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/discreet-dp/discreet/internal/explorer/planning"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ground/jsontext"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/ledger"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/table/schema"
	"github.com/discreet-dp/discreet/internal/train"
	"github.com/discreet-dp/discreet/internal/train/evaluation"
)

// Ledger is what a page charges: trainings to Dataset, and evaluations to HeldOut, the data set of rows
// that no training reads; "" for none.
type Ledger struct {
	*ledger.Ledger
	Dataset, HeldOut string
}

// budget charges jobs. A job that was charged by this process and has no result yet may run again,
// because nothing of it was shown. After a restart the ledger refuses it, and recovery settles it.
type budget struct {
	l     *Ledger
	turn  sync.Mutex
	began map[string]*begun // by job
}

type begun struct {
	asked [sha256.Size]byte
	job   *ledger.Job
	use   string
	paid  promise
}

// promise is what was paid for, which the result must state of itself.
type promise struct {
	learner  string // "" for an evaluation
	relation dp.Relation
	unit     string
	stated   dp.Statement
}

func newBudget(l *Ledger) *budget { return &budget{l: l, began: map[string]*begun{}} }

// charged is the body of a charge. Unknown fields are refused, so that no row can be sent along.
type charged struct {
	planning.Choice
	Job string `json:"job"`
	// Use is the purpose: train, or evaluate.
	Use   string `json:"use"`
	Model string `json:"model"` // for an evaluation
}

// These are the actions that a budget pays for.
const (
	training = "train"
	judging  = "evaluate"
)

// readCharge returns also a hash that is the same for the same choices, whatever the job.
func readCharge(body []byte) (c charged, asked [sha256.Size]byte, err error) {
	if err := readBody(body, &c); err != nil {
		return c, asked, err
	}
	choices := c
	choices.Job = ""
	text, err := json.Marshal(choices)
	return c, sha256.Sum256(text), err
}

// readBody reads one JSON value, each of whose keys is there once in whatever case: package json takes
// keys of another case, too, and the last of several.
func readBody(body []byte, into any) error {
	if jsontext.Usual.Decode(body, into) != nil ||
		!hasKeysOnce(json.NewDecoder(bytes.NewReader(body)), maxNested) {
		return dp.Refuse("ui", "request", "must have known keys once each with values of their types, and no others", nil)
	}
	return nil
}

// maxNested exceeds the nesting of a request.
const maxNested = 8

// hasKeysOnce reads a value of valid JSON, and reports whether it is nested no deeper than depth and no
// object in it has a key twice.
func hasKeysOnce(d *json.Decoder, depth int) bool {
	open, err := d.Token()
	if _, nested := open.(json.Delim); err != nil || !nested {
		return err == nil
	}
	seen := map[string]bool{}
	for d.More() {
		if open == json.Delim('{') {
			key, err := d.Token()
			name, _ := key.(string)
			if name = strings.ToLower(name); err != nil || seen[name] {
				return false
			}
			seen[name] = true
		}
		if depth == 0 || !hasKeysOnce(d, depth-1) {
			return false
		}
	}
	_, err = d.Token()
	return err == nil
}

// find finds the job that was charged for the same choices and has no result yet: whoever closed the page
// meanwhile goes on with it.
func (b *budget) find(_ context.Context, body []byte) (any, error) {
	_, asked, err := readCharge(body)
	if err != nil {
		return nil, err
	}
	b.turn.Lock()
	defer b.turn.Unlock()
	out := map[string]any{}
	for _, job := range slices.Sorted(maps.Keys(b.began)) {
		if b.began[job].asked == asked {
			out["job"] = job
		}
	}
	return out, nil
}

// charge charges a job, or finds what an earlier run of it made.
func (b *budget) charge(ctx context.Context, body []byte) (any, error) {
	c, asked, err := readCharge(body)
	if err != nil {
		return nil, err
	}
	if c.Job == "" {
		return nil, dp.Refuse("ui", "job", "must be given: the same job is charged once", nil)
	}
	b.turn.Lock()
	defer b.turn.Unlock()
	if was := b.began[c.Job]; was != nil && was.asked == asked {
		return map[string]any{"job": c.Job, "paid_before": true}, nil
	}
	job, paid, err := b.begin(ctx, &c)
	if err != nil {
		return nil, err
	}
	if stored := job.Stored(); stored != nil {
		return map[string]any{"job": c.Job, "paid_before": true, "result": string(stored)}, nil
	}
	b.began[c.Job] = &begun{asked, job, c.Use, paid}
	price := paid.stated.Price
	return map[string]any{"job": c.Job, "paid_before": false, "epsilon": price.Epsilon.String(), "delta": price.Delta.String()}, nil
}

// begin repeats the plan of the page, and charges its price.
func (b *budget) begin(ctx context.Context, c *charged) (*ledger.Job, promise, error) {
	run := train.Training{Op: c.Use, SchemaText: []byte(c.YAML), Job: &train.Job{Ledger: b.l.Ledger, Dataset: b.l.Dataset, ID: c.Job}}
	r, s, err := c.Read()
	if err != nil {
		return nil, promise{}, err
	}
	run.Schema = s
	switch c.Use {
	case training:
		run.Request = r
		j, terms, err := run.Charge(ctx, c.Rows)
		return j, promiseOf(r.Name, s, terms), err
	case judging:
	default:
		return nil, promise{}, dp.Refuse("ui", "use", "must be train or evaluate", nil)
	}
	if run.Job.Dataset = b.l.HeldOut; run.Job.Dataset == "" {
		return nil, promise{}, &dp.ParamError{Op: "ui", Param: "held-out", Want: "must be given to charge an evaluation: held-out rows " +
			"are a data set of their own in the ledger", Next: dp.Step{Kind: dp.GiveParam, Name: "held-out"}}
	}
	m, err := model.Unmarshal([]byte(c.Model))
	if err != nil {
		return nil, promise{}, dp.Refuse("ui", "model", "must be the text of the model's file", nil)
	}
	e := train.Evaluation{Training: run, Params: evaluation.Params{Models: []*model.Model{m}, Epsilon: r.Price.Epsilon,
		Delta: r.Price.Delta, Threshold: 0.5}}
	j, terms, err := e.Charge(ctx, c.Rows)
	return j, promiseOf("", s, terms), err
}

func promiseOf(learner string, s *schema.Schema, terms guard.Terms) promise {
	return promise{learner, s.Relation, s.Unit, dp.Statement{Scope: terms.Scope, Price: terms.Price, Bill: terms.Bill,
		Counted: true}}
}

// keep makes a model, or the release of an evaluation, the result of its job.
func (b *budget) keep(ctx context.Context, body []byte) (any, error) {
	var c struct {
		Job    string `json:"job"`
		Result string `json:"result"`
	}
	if err := readBody(body, &c); err != nil {
		return nil, err
	}
	b.turn.Lock()
	defer b.turn.Unlock()
	was := b.began[c.Job]
	if was == nil {
		return nil, dp.Refuse("ui", "job", "must be one that was charged here and has no result yet", nil)
	}
	if is, err := was.read([]byte(c.Result)); err != nil || !was.paid.isKept(is) {
		return nil, dp.Refuse("ui", "result", "must be a model or an evaluation as it was charged: of that learner, scope, "+
			"relation, unit and bill", nil)
	}
	if err := was.job.Commit(ctx, []byte(c.Result)); err != nil {
		return nil, err
	}
	delete(b.began, c.Job)
	return map[string]any{"job": c.Job}, nil
}

// isKept reports whether a result states what was paid for. auto names the learner that it chose.
func (p promise) isKept(is promise) bool {
	if p.learner == "auto" && (is.learner == "additive" || is.learner == "grids") {
		is.learner = p.learner
	}
	return reflect.DeepEqual(is, p)
}

// read returns what a result states of itself.
func (was *begun) read(result []byte) (promise, error) {
	if was.use == judging {
		r, err := evaluation.Unmarshal(result)
		if err != nil {
			return promise{}, err
		}
		return promise{"", r.Relation, r.Unit, r.Stated()}, nil
	}
	m, err := model.Unmarshal(result)
	if err != nil {
		return promise{}, err
	}
	return promise{m.Learner, m.Privacy.Relation, m.Privacy.Unit, m.Stated()}, nil
}

// isBudget tells what a ledger refuses.
func isBudget(err error) bool {
	_, exceeded := errors.AsType[*ledger.Exceeded](err)
	_, conflict := errors.AsType[*ledger.Conflict](err)
	_, excess := errors.AsType[*train.ExcessError](err)
	_, missing := errors.AsType[*ledger.Missing](err)
	return exceeded || conflict || excess || missing
}

// show says what is spent of the data sets, and for what.
func (b *budget) show(ctx context.Context, _ []byte) (any, error) {
	var all []any
	for _, name := range []string{b.l.Dataset, b.l.HeldOut} {
		if name == "" {
			continue
		}
		one, err := b.showDataset(ctx, name)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return map[string]any{"datasets": all, "held_out": b.l.HeldOut}, nil
}

func (b *budget) showDataset(ctx context.Context, name string) (any, error) {
	all, err := b.l.Balances(ctx, name)
	if err != nil {
		return nil, err
	}
	type line map[string]string
	cohorts, requests, history := []line{}, []line{}, []line{}
	for _, p := range all[0].ByPart {
		cohorts = append(cohorts, line{"name": p.Name, "spent": p.Spent.Epsilon.String(), "left": p.Left.Epsilon.String()})
	}
	err = b.l.History(ctx, name, func(e ledger.Entry) error {
		l := line{"at": e.At, "what": string(e.Kind), "job": e.Job, "epsilon": e.Epsilon.String(), "delta": e.Delta.String()}
		switch e.Kind {
		case ledger.Requested, ledger.Approved, ledger.Refused:
			requests = append(requests, l)
		default:
			history = append(history, l)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	s, now := all[0].Statement(), &all[0]
	return map[string]any{"name": s.Dataset, "total": now.Epsilon.String(), "spent": (now.Epsilon - now.Left).String(), "left": now.Left.String(),
		"spent_delta": (now.Delta - now.LeftDelta).String(), "left_delta": now.LeftDelta.String(), "unit": s.Unit, "note": s.Note,
		"cohorts": cohorts, "requests": requests, "history": history}, nil
}
