// SPDX-License-Identifier: Apache-2.0

package train

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/ledger"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/table/engine/memory"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Training is one training: the request, the rows and the account.
type Training struct {
	Op         string // the operation named in errors
	Request    *Request
	Schema     *schema.Schema
	SchemaText []byte   // as it stands in its file
	Data       []string // the names of the table's files as they were typed
	Part       string   // the part of the rows to read, "" for all
	// Cohorts are the cohorts of the ledger's data set to read; none for all rows.
	Cohorts []string
	Exceed  bool // the price may exceed the schema's limits; the model records it
	// Read reads the table. It is called once, after every check that needs no rows, and not at all if
	// the job already has a result.
	Read func(ctx context.Context) (*dataset.Table, error)
	// Rows is used instead of Read if it is not nil.
	Rows   *RowSource
	Output Output // the file to write the model to
	Job    *Job   // nil: the training is charged to Account
	// Account is charged if Job is nil; a nil Account counts nothing.
	Account guard.Account
	// Say receives progress messages, one line each; may be nil.
	Say func(format string, args ...any)

	FromLedger bool // set by Run: the job had its result already, and no row was read

	plan     learn.Plan // made by Check
	excess   string
	cohortBy string // the column of cohorts that the ledger declares; "" without Cohorts
}

func (t *Training) sayLine(format string, args ...any) {
	if t.Say != nil {
		t.Say(format, args...)
	}
}

// checkSource refuses invalid combinations of rows and accounts.
func (t *Training) checkSource() error {
	if err := CheckPart(t.Op, t.Part, t.Schema); err != nil {
		return err
	}
	if err := dataset.CheckPaths(t.Data...); err != nil { // before a ledger writes them down
		return &RequestError{err}
	}
	t.Cohorts = SortCohorts(t.Cohorts)
	switch {
	case len(t.Cohorts) > 0 && t.Job == nil:
		return &RequestError{&dp.ParamError{Op: t.Op, Param: "cohorts", Want: "must not be given without a ledger, which " +
			"declares the column that they are by", Got: quoteNames(t.Cohorts)}}
	case len(t.Cohorts) > 0 && t.Part != "":
		return &RequestError{&dp.ParamError{Op: t.Op, Param: "part", Want: "must not be given: a training reads a part or " +
			"cohorts", Got: strconv.Quote(t.Part)}}
	}
	return nil
}

// Check refuses whatever can be refused without rows and without a ledger.
func (t *Training) Check() error {
	if err := t.checkSource(); err != nil {
		return err
	}
	if t.Rows != nil {
		if err := t.Rows.check(t.Op); err != nil {
			return err
		}
	}
	switch {
	case t.Job == nil:
	case t.Request.Price.NotPrivate:
		return &ExcessError{Op: t.Op,
			Why: "training without privacy exceeds every budget; leave out the ledger to train without one", Final: true}
	case t.Request.Price.Epsilon == 0:
		return &RequestError{&dp.ParamError{Op: t.Op, Param: "ledger",
			Want: fmt.Sprintf("must not be given: learner %s has no price", t.Request.Name), Got: t.Job.Dataset}}
	}
	var err error
	if t.plan, err = t.Request.Plan(t.Schema, 0); err != nil {
		return err
	}
	if t.excess = t.Request.Price.Excess(t.Schema); t.excess != "" && !t.Exceed {
		return &ExcessError{Op: t.Op, Why: t.excess}
	}
	return nil
}

// Run trains the model, or fetches it from the ledger, and writes its file. With a Job the order is:
// afford, read, charge, fit, commit, publish. A model is released only after the ledger has stored its
// bytes. A Job with a purpose is filed as a request, and there is no model.
func (t *Training) Run(ctx context.Context) (*model.Model, error) {
	if err := t.Check(); err != nil {
		return nil, err
	}
	if t.Job == nil {
		return t.Output.fitUncounted(func() (*model.Model, error) { return t.fitModel(ctx, t.account()) })
	}
	if len(t.Cohorts) > 0 {
		if err := t.findCohorts(ctx); err != nil {
			return nil, err
		}
	}
	j, err := t.openJob(ctx)
	if err != nil {
		return nil, err
	}
	t.FromLedger = j.Stored() != nil
	terms := t.plan.Terms()
	if t.Job.Purpose != "" {
		return nil, asUsage(j.File(ctx, terms.Price, terms.Bill, t.Job.Purpose))
	}
	return RunJob(ctx, j, terms.Price, terms.Bill, t.Output, t.sayLine,
		func() (*model.Model, error) { return t.fitModel(ctx, j) })
}

// account returns the account of a training without a Job.
func (t *Training) account() guard.Account {
	if t.Account == nil {
		return guard.Uncounted{}
	}
	return t.Account
}

// RunJob returns the result that a job already has, or else lets fit make it. The order is: afford,
// fit (which charges the job), commit, publish to its file. A model is released only after the ledger
// has stored its bytes.
func RunJob(ctx context.Context, j *ledger.Job, price dp.Price, bill []dp.Event, to Output,
	say func(string, ...any), fit func() (*model.Model, error)) (*model.Model, error) {
	if err := to.check(j.Stored()); err != nil {
		return nil, err
	}
	if j.Stored() != nil {
		say("%s", j.Returned())
		m, err := Fetch(ctx, j, to)
		return m, j.Explain(err)
	}
	if err := j.Afford(ctx, price, bill); err != nil {
		return nil, err
	}
	m, err := fit()
	if err != nil {
		return nil, j.Explain(errors.Join(err, j.Abandon(ctx, "the training failed")))
	}
	return m, j.Explain(Keep(ctx, j, m, to))
}

// openTable reads the table into its engine.
func (t *Training) openTable(ctx context.Context) (*openRows, error) {
	if t.Rows != nil {
		return t.Rows.open(ctx, t)
	}
	tab, err := t.Read(ctx)
	if err != nil {
		return nil, err
	}
	return t.openMemory(tab)
}

// findCohorts finds the column that defines the data set's cohorts in the ledger, and refuses cohorts
// that the schema does not have in that column.
func (t *Training) findCohorts(ctx context.Context) error {
	b, err := t.Job.Ledger.Balances(ctx, t.Job.Dataset)
	if err != nil {
		return err
	}
	if t.cohortBy = b[0].CohortBy; t.cohortBy == "" {
		return &RequestError{&dp.ParamError{Op: t.Op, Param: "cohorts", Want: fmt.Sprintf("must not be given: data set %q was "+
			"declared without cohorts", t.Job.Dataset), Got: quoteNames(t.Cohorts)}}
	}
	return CheckCohorts(t.Op, t.Cohorts, t.cohortBy, t.Schema)
}

// selection returns the rows that the training may read: those of its part or cohorts, or nil for all.
func (t *Training) selection() *dataset.Selection {
	switch {
	case t.Part != "":
		return &dataset.Selection{Column: t.Schema.Parts, Names: []string{t.Part}}
	case len(t.Cohorts) > 0:
		return &dataset.Selection{Column: t.cohortBy, Names: t.Cohorts}
	}
	return nil
}

// openMemory queries the rows in memory, limited to the part to train on.
func (t *Training) openMemory(tab *dataset.Table) (*openRows, error) {
	tab = t.selection().Of(tab)
	rows, err := memory.New(tab)
	if err != nil {
		return nil, err
	}
	return &openRows{rows, func() error { return nil }}, nil
}

// checkSchema refuses a table that was read with another schema than the plan's: noise scaled to one
// schema's bounds does not cover cells clamped to another's.
func (t *Training) checkSchema(s *schema.Schema) error {
	if s == t.Schema {
		return nil
	}
	read, err := s.YAML()
	if err != nil {
		return err
	}
	planned, err := t.Schema.YAML()
	if err == nil && !bytes.Equal(read, planned) {
		err = &dp.ParamError{Op: t.Op, Param: "table", Want: "must be read by the schema that the plan is made with"}
	}
	return err
}

// fitModel reads the table, charges acct and then trains.
func (t *Training) fitModel(ctx context.Context, acct guard.Account) (*model.Model, error) {
	rows, err := t.openTable(ctx)
	if err != nil {
		return nil, err
	}
	defer rows.close()
	if err := t.checkSchema(rows.Schema()); err != nil {
		return nil, err
	}
	pl := t.plan
	if t.Schema.Relation == dp.ReplaceOne { // elsewhere the number of rows is private
		what := "rows"
		if t.Schema.Person != nil {
			what = "persons"
		}
		t.sayLine("training on %d %s of %q", guard.PublicUnits(rows.Table), what, t.Schema.Name)
		if pl, err = t.Request.Plan(t.Schema, guard.PublicUnits(rows.Table)); err != nil {
			return nil, err
		}
	}
	for _, f := range pl.Facts() {
		if f.Text != "" {
			t.sayLine("  %s", f.Text)
		}
	}
	if t.Request.Price.Epsilon > 0 && !acct.Counted() {
		t.sayLine("no ledger: this training is not counted, and the model records this")
	}
	m, err := guard.Train(ctx, pl, rows.Table, acct, mech.NewExit(rng.System()))
	if err != nil {
		return nil, err
	}
	if t.Part != "" {
		describePart(&m.Privacy, t.Schema.Parts, t.Part)
	}
	if len(t.Cohorts) > 0 {
		describeCohorts(&m.Privacy, t.cohortBy, t.Cohorts)
	}
	if t.excess != "" {
		m.Privacy.Overrides = append(m.Privacy.Overrides, t.excess)
	}
	return m, nil
}
