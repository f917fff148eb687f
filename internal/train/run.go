// SPDX-License-Identifier: Apache-2.0

package train

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/ledger"
	"github.com/discreet-dp/discreet/internal/ledger/policy"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/table/engine/memory"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Training is one training: the request, the rows and the account. Run takes it from its plan to its
// published model.
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
	// Policy is the custodian's, nil for none; Now is the day that it judges, and Checked that schema check has read the
	// table as it is now.
	Policy  *policy.Project
	Now     time.Time
	Checked bool
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

	plan     learn.Plan // made by Check, and completed by completePlan; what is charged is what is fitted
	excess   string
	facts    *policy.Facts
	cohortBy string // the column of cohorts that the ledger declares; "" without Cohorts
}

// Run trains the model, or fetches it from the ledger, and writes its file. A Job with a purpose is
// filed as a request, and there is no model.
func (t *Training) Run(ctx context.Context) (*model.Model, error) {
	if t.plan == nil {
		if err := t.Check(); err != nil {
			return nil, err
		}
	}
	terms := t.plan.Terms()
	return buy(ctx, t, Purchase[*model.Model]{What: "training", Price: terms.Price, Bill: terms.Bill, Make: t.fitModel,
		Marshal: model.Marshal, Unmarshal: model.Unmarshal})
}

// Check plans the training, and refuses whatever can be refused without rows and without a ledger. Run
// does it for a training that was not checked. What Check has seen must not change before Run, except
// that the Job may get its Ledger.
func (t *Training) Check() error {
	t.plan = nil // a training that is refused has none
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
	pl, err := t.Request.Plan(t.Schema, 0)
	if err != nil {
		return err
	}
	if err := t.checkExcess(); err != nil {
		return err
	}
	t.plan = pl
	if err := t.checkPolicy(); err != nil {
		t.plan = nil
		return err
	}
	return nil
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

// checkExcess refuses a price above the schema's limits, unless that is asked for.
func (t *Training) checkExcess() error {
	if t.excess = t.Request.Price.Excess(t.Schema); t.excess != "" && !t.Exceed {
		return &ExcessError{Op: t.Op, Why: t.excess}
	}
	return nil
}

// buy makes a purchase of the training's Job or Account.
func buy[R any](ctx context.Context, t *Training, p Purchase[R]) (none R, err error) {
	p.Account, p.Output, p.Say = t.Account, t.Output, t.sayLine
	if t.Job != nil {
		p.Purpose = t.Job.Purpose
		if p.Job, err = t.openJob(ctx); err != nil {
			return none, err
		}
		t.FromLedger = p.Job.Stored() != nil
	}
	return p.Run(ctx)
}

// Purchase is the way from a price to a result that may be released: a model, an evaluation, or any
// other. All of them go it in the order of Run, on which the claims of the ledger rest.
type Purchase[R any] struct {
	What    string        // what is done, for the ledger: "training"
	Price   dp.Price      // of the plan, before rows are read
	Bill    []dp.Event    // likewise
	Job     *ledger.Job   // nil: Account is charged, and no ledger stores the result
	Purpose string        // files the Job as a request, if it is not empty
	Account guard.Account // charged if Job is nil; a nil Account counts nothing
	Output  Output        // the file to write the result to
	Say     func(format string, args ...any)
	// Make reads the rows, then charges the account, and only then asks the rows anything.
	Make func(ctx context.Context, acct guard.Account) (R, error)
	// Marshal and Unmarshal turn the result into the bytes that are stored, and back.
	Marshal   func(R) ([]byte, error)
	Unmarshal func([]byte) (R, error)
}

// Run affords, makes, commits and publishes the result, or returns the one that the job already has.
func (p *Purchase[R]) Run(ctx context.Context) (none R, err error) {
	if p.Job == nil {
		return p.runUncounted(ctx)
	}
	if p.Purpose != "" {
		return none, asUsage(p.Job.File(ctx, p.Price, p.Bill, p.Purpose))
	}
	stored := p.Job.Stored()
	if err := p.Output.check(stored); err != nil { // a lost result has spent its price, too
		return none, err
	}
	if stored != nil { // a job is drawn once
		p.Say("%s", p.Job.Returned())
		made, err := p.Unmarshal(stored)
		if err == nil {
			err = p.Output.publish(ctx, p.Job)
		}
		return made, p.Job.Explain(err)
	}
	// Afford: no table is read for a job that cannot be paid.
	if err := p.Job.Afford(ctx, p.Price, p.Bill); err != nil {
		return none, err
	}
	p.Say("%s", p.Job.Announced())
	// Read, charge, fit: the price stays spent if what follows the charge fails.
	made, text, err := p.makeText(ctx, p.Job)
	if err != nil {
		return none, p.Job.Explain(errors.Join(err, p.Job.Abandon(ctx, "the "+p.What+" failed")))
	}
	// Commit: from here on these bytes are the job's only result. Before it, nothing leaves.
	if err := p.Job.Commit(ctx, text); err != nil {
		return none, p.Job.Explain(err)
	}
	// Publish: a crash before it loses nothing, because the same job finds the bytes in the ledger.
	return made, p.Job.Explain(p.Output.publish(ctx, p.Job))
}

// runUncounted makes a result that no ledger stores, and writes its file.
func (p *Purchase[R]) runUncounted(ctx context.Context) (none R, err error) {
	if err := p.Output.check(nil); err != nil {
		return none, err
	}
	acct := p.Account
	if acct == nil {
		acct = guard.Uncounted{}
	}
	made, text, err := p.makeText(ctx, acct)
	if err != nil {
		return none, err
	}
	return made, p.Output.save(text)
}

func (p *Purchase[R]) makeText(ctx context.Context, acct guard.Account) (made R, text []byte, err error) {
	if made, err = p.Make(ctx, acct); err == nil {
		text, err = p.Marshal(made)
	}
	return made, text, err
}

// fitModel reads the table, charges acct for the plan and fits the same plan.
func (t *Training) fitModel(ctx context.Context, acct guard.Account) (*model.Model, error) {
	rows, err := t.openTable(ctx)
	if err != nil {
		return nil, err
	}
	defer rows.close()
	if err := t.checkSchema(rows.Schema()); err != nil {
		return nil, err
	}
	if t.Schema.Relation == dp.ReplaceOne {
		what := "rows"
		if t.Schema.Person != nil {
			what = "persons"
		}
		t.sayLine("training on %d %s of %q", guard.PublicUnits(rows.Table), what, t.Schema.Name)
	}
	if err := t.completePlan(guard.PublicUnits(rows.Table)); err != nil {
		return nil, err
	}
	for _, f := range t.plan.Facts() {
		if f.Text != "" {
			t.sayLine("  %s", f.Words(dp.Step.String))
		}
	}
	if t.Request.Price.Epsilon > 0 && !acct.Counted() {
		t.sayLine("no ledger: this training is not counted, and the model records this")
	}
	m, err := guard.Train(ctx, t.plan, rows.Table, acct, mech.NewExit(rng.System())) // charges, then fits
	if err != nil {
		return nil, err
	}
	if t.Part != "" {
		describePart(&m.Privacy, t.Schema.Parts, t.Part)
	}
	if len(t.Cohorts) > 0 {
		describeCohorts(&m.Privacy, t.cohortBy, t.Cohorts)
	}
	t.describeExcess(&m.Privacy)
	t.describeSchema(&m.Privacy)
	return m, nil
}

// completePlan adds to the plan the number of rows, or of persons, where it is public. Before rows are
// read it is not known, and the plan is made without it to be refused or afforded.
func (t *Training) completePlan(units int) (err error) {
	if err := t.checkRows(units); err != nil {
		return err
	}
	if t.Schema.Relation == dp.ReplaceOne { // elsewhere the number is private
		t.plan, err = t.Request.Plan(t.Schema, units)
	}
	return err
}

// describeExcess records a price above the schema's limits.
func (t *Training) describeExcess(p *model.Privacy) {
	if t.excess != "" {
		p.Overrides = append(p.Overrides, t.excess)
	}
}

// describeSchema records which schema was given, so that a reader can tell whether it is the one that was approved.
func (t *Training) describeSchema(p *model.Privacy) {
	if t.SchemaText != nil {
		p.SchemaFile = fmt.Sprintf("%x", sha256.Sum256(t.SchemaText))
	}
	for _, c := range t.Schema.Columns {
		if c.Role == schema.Ignored {
			p.Ignored = append(p.Ignored, c.Name)
		}
	}
	p.Ignored = append(p.Ignored, t.Schema.Ignored...)
}

func (t *Training) sayLine(format string, args ...any) {
	if t.Say != nil {
		t.Say(format, args...)
	}
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

// Charge charges the training to its Job for a caller who holds the rows and trains on them, and returns
// the terms of what it charged. units is the number of rows, or of persons, of the caller's table; it is
// not used where the number is private. The caller must commit the job, with a result of these terms. If
// the job already has a result, nothing is charged.
func (t *Training) Charge(ctx context.Context, units int) (*ledger.Job, guard.Terms, error) {
	if err := t.Check(); err != nil {
		return nil, guard.Terms{}, err
	}
	if err := t.completePlan(units); err != nil {
		return nil, guard.Terms{}, err
	}
	return t.chargeTerms(ctx, t.plan.Terms())
}

func (t *Training) chargeTerms(ctx context.Context, terms guard.Terms) (*ledger.Job, guard.Terms, error) {
	j, err := t.openJob(ctx)
	if err != nil || j.Stored() != nil {
		return j, terms, err
	}
	t.sayLine("%s", j.Announced())
	return j, terms, j.Charge(ctx, terms.Price, terms.Bill)
}
