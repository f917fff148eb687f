// SPDX-License-Identifier: Apache-2.0

package train

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/ledger"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/table/engine/memory"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/train/evaluation"
)

// Evaluation is one private evaluation: the rows, the account and the models. A ledger treats it as a
// job like a training. Request, Rows and Output of its Training are not used.
type Evaluation struct {
	Training
	Params evaluation.Params

	plan *evaluation.Plan // as in Training
}

// Check is as in Training.
func (e *Evaluation) Check() error {
	e.plan = nil
	e.Request = &Request{Learner: &Learner{Name: e.Op, Private: true},
		Price: Price{Epsilon: e.Params.Epsilon, Delta: e.Params.Delta}}
	if err := e.checkSource(); err != nil {
		return err
	}
	pl, err := e.planFor(0)
	if err != nil {
		return err
	}
	if excess := e.Request.Price.Excess(e.Schema); excess != "" {
		return &ExcessError{Op: e.Op, Why: excess, Final: true}
	}
	if err := e.nameModels(); err != nil {
		return err
	}
	e.plan = pl
	return nil
}

func (e *Evaluation) planFor(units int) (*evaluation.Plan, error) {
	pl, err := e.Params.Plan(e.Schema, units)
	if err != nil {
		return nil, asUsage(err)
	}
	return pl, nil
}

// Run evaluates, or fetches the release of an earlier run of the same job. A Job with a purpose is filed
// as a request, and nothing is released.
func (e *Evaluation) Run(ctx context.Context) (*evaluation.Release, error) {
	if e.plan == nil {
		if err := e.Check(); err != nil {
			return nil, err
		}
	}
	terms := e.plan.Terms()
	return buy(ctx, &e.Training, Purchase[*evaluation.Release]{What: "evaluation", Price: terms.Price, Bill: terms.Bill,
		Make: e.measure, Marshal: (*evaluation.Release).Marshal, Unmarshal: evaluation.Unmarshal})
}

// Charge is as in Training.
func (e *Evaluation) Charge(ctx context.Context, units int) (*ledger.Job, guard.Terms, error) {
	err := e.Check()
	if err == nil && e.Schema.Relation == dp.ReplaceOne {
		e.plan, err = e.planFor(units)
	}
	if err != nil {
		return nil, guard.Terms{}, err
	}
	return e.chargeTerms(ctx, e.plan.Terms())
}

// nameModels adds the models to the job's configuration.
func (e *Evaluation) nameModels() error {
	if e.Job == nil {
		return nil
	}
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
	if e.Params.By != "" {
		e.Request.given["by"] = e.Params.By
	}
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
	if e.Schema.Relation == dp.ReplaceOne { // elsewhere the number of rows is private
		units, err := countUnits(tab)
		if err != nil {
			return nil, err
		}
		if e.plan, err = e.planFor(units); err != nil {
			return nil, err
		}
	}
	if !acct.Counted() {
		e.sayLine("no ledger: this evaluation is not counted")
	}
	cut, err := e.plan.Cut(tab)
	if err != nil {
		return nil, err
	}
	rows, err := memory.New(cut)
	if err != nil {
		return nil, err
	}
	return guard.Train(ctx, e.plan, rows, acct, mech.NewExit(rng.System()))
}

// countUnits returns the public number of rows or persons.
func countUnits(t *dataset.Table) (int, error) {
	rows, err := memory.New(t)
	if err != nil {
		return 0, err
	}
	return guard.PublicUnits(rows), nil
}
