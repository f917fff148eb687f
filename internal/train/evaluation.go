// SPDX-License-Identifier: Apache-2.0

package train

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/engine/memory"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/train/evaluation"
)

// Evaluation is one private evaluation: the rows, the account and the models. A ledger treats it as a
// job like a training. Request, Rows and Output of its Training are not used.
type Evaluation struct {
	Training
	Params evaluation.Params
}

// Check refuses whatever can be refused without rows and without a ledger.
func (e *Evaluation) Check() error {
	e.Request = &Request{Learner: &Learner{Name: e.Op, Private: true},
		Price: Price{Epsilon: e.Params.Epsilon, Delta: e.Params.Delta}}
	if err := e.checkSource(); err != nil {
		return err
	}
	if _, err := e.planFor(0); err != nil {
		return err
	}
	if excess := e.Request.Price.Excess(e.Schema); excess != "" {
		return &ExcessError{Op: e.Op, Why: excess, Final: true}
	}
	return nil
}

func (e *Evaluation) planFor(units int) (*evaluation.Plan, error) {
	pl, err := e.Params.Plan(e.Schema, units)
	if err != nil {
		return nil, asUsage(err)
	}
	return pl, nil
}

// Run evaluates, or fetches the release of an earlier run of the same job. With a Job the order is:
// afford, read, charge, measure, commit. A Job with a purpose is filed as a request, and nothing is
// released.
func (e *Evaluation) Run(ctx context.Context) (*evaluation.Release, error) {
	if err := e.Check(); err != nil {
		return nil, err
	}
	if e.Job == nil {
		return e.measure(ctx, e.account())
	}
	if len(e.Cohorts) > 0 {
		if err := e.findCohorts(ctx); err != nil {
			return nil, err
		}
	}
	if err := e.nameModels(); err != nil {
		return nil, err
	}
	j, err := e.openJob(ctx)
	if err != nil {
		return nil, err
	}
	pl, err := e.planFor(0)
	if err != nil {
		return nil, err
	}
	terms := pl.Terms()
	if e.Job.Purpose != "" {
		return nil, asUsage(j.File(ctx, terms.Price, terms.Bill, e.Job.Purpose))
	}
	if j.Stored() != nil {
		e.FromLedger = true
		e.sayLine("%s", j.Returned())
		r, err := evaluation.Unmarshal(j.Stored())
		return r, j.Explain(err)
	}
	if err := j.Afford(ctx, terms.Price, terms.Bill); err != nil {
		return nil, err
	}
	r, err := e.measure(ctx, j)
	if err != nil {
		return nil, j.Explain(errors.Join(err, j.Abandon(ctx, "the evaluation failed")))
	}
	text, err := r.Marshal()
	if err != nil {
		return nil, j.Explain(errors.Join(err, j.Abandon(ctx, "the evaluation could not be written")))
	}
	return r, j.Explain(j.Commit(ctx, text))
}

// nameModels adds the models to the job's configuration.
func (e *Evaluation) nameModels() error {
	var sums []string
	for _, m := range e.Params.Models {
		b, err := model.Marshal(m)
		if err != nil {
			return err
		}
		sums = append(sums, fmt.Sprintf("%x", sha256.Sum256(b)))
	}
	e.Request.given = map[string]string{"models": strings.Join(sums, "\n"),
		"threshold": strconv.FormatFloat(e.Params.Threshold, 'g', -1, 64)}
	return nil
}

// measure reads the table, charges acct and then measures.
func (e *Evaluation) measure(ctx context.Context, acct guard.Account) (*evaluation.Release, error) {
	tab, err := e.Read(ctx)
	if err != nil {
		return nil, err
	}
	if err := e.checkSchema(tab.Schema); err != nil {
		return nil, err
	}
	tab = e.selection().Of(tab)
	units := 0
	if e.Schema.Relation == dp.ReplaceOne { // elsewhere the number of rows is private
		if units, err = countUnits(tab); err != nil {
			return nil, err
		}
	}
	pl, err := e.planFor(units)
	if err != nil {
		return nil, err
	}
	if !acct.Counted() {
		e.sayLine("no ledger: this evaluation is not counted")
	}
	cut, err := pl.Cut(tab)
	if err != nil {
		return nil, err
	}
	var rows engine.Table
	if rows, err = memory.New(cut); err != nil {
		return nil, err
	}
	return guard.Train(ctx, pl, rows, acct, mech.NewExit(rng.System()))
}

// countUnits returns the public number of rows or persons.
func countUnits(t *dataset.Table) (int, error) {
	rows, err := memory.New(t)
	if err != nil {
		return 0, err
	}
	return guard.PublicUnits(rows), nil
}
