// SPDX-License-Identifier: Apache-2.0

package discreet

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/privacy/dp"
	"github.com/discreet-dp/discreet/internal/privacy/ledger"
	"github.com/discreet-dp/discreet/internal/table/dataset"
	"github.com/discreet-dp/discreet/internal/train"
)

// Options say what to train and at what price.
type Options struct {
	// Learner is one of Learners(); "" for the first, the default.
	Learner string
	// Params are the learner's own choices by name, as text; `discreet train --help`
	// lists them with their defaults.
	Params map[string]string
	// Epsilon is the privacy loss that the training may cost, > 0 and at most 1000.
	// It has no default.
	Epsilon float64
	// Delta is spent besides by learners with an (ε, δ) mode; 0 for a pure guarantee.
	Delta float64
	// NotPrivate trains without noise, and the model says so. Epsilon must be 0.
	NotPrivate bool
	// Account is charged before anything private is used: a job of a ledger,
	// Uncounted, or an AccountFunc. Plan does not use it, Train refuses nil.
	Account Account
	// Rows is the number of rows, where Plan is to know it; Train does not use it.
	Rows int
	// Part names the value of the schema's parts: column whose rows are trained on,
	// "" for all rows.
	Part string
	// ExceedMax allows a price above the schema's limits; the model records it.
	ExceedMax bool
	// Progress is told what goes on, in lines for people; nil for nobody.
	Progress func(line string)
}

// Learners are the names of what can be trained, the default first.
func Learners() []string { return train.LearnerNames() }

// Price is what a training costs: the guarantee is (Epsilon, Delta)-differential
// privacy, pure where Delta is 0.
type Price struct{ Epsilon, Delta float64 }

func (p Price) String() string {
	s := "epsilon = " + strconv.FormatFloat(p.Epsilon, 'g', -1, 64)
	if p.Delta > 0 {
		s += ", delta = " + strconv.FormatFloat(p.Delta, 'g', -1, 64)
	}
	return s
}

// Release is one line of a bill: a number or choice that leaves with noise.
type Release struct {
	Name      string // what is released
	Mechanism string
	Epsilon   float64 // +Inf where only Rho tells the price
	Rho       float64 // of Gaussian noise, in zero-concentrated differential privacy; 0 elsewhere
}

// Fact is something to know before paying.
type Fact struct {
	Key   string // stable, for programs
	Value any    // a number, string, bool or a list of them
	Text  string // for people; may be empty
}

// Plan is a training that was checked and priced, without any data.
type Plan struct {
	Price Price
	Bill  []Release // every release, in order
	Facts []Fact
	// Refusal says how the price exceeds what the schema allows for one training;
	// "" where it does not. Train would refuse it.
	Refusal string
}

// String is the plan for people.
func (p *Plan) String() string {
	var b strings.Builder
	for _, f := range p.Facts {
		if f.Text != "" {
			fmt.Fprintln(&b, f.Text)
		}
	}
	fmt.Fprintf(&b, "bill: %s in all, %d releases\n", p.Price, len(p.Bill))
	if p.Refusal != "" {
		fmt.Fprintf(&b, "refused: %s\n", p.Refusal)
	}
	return b.String()
}

// Plan checks everything about a training that can be checked without data, and
// prices it. A refused option is a *ParamError.
func (s *Schema) Plan(o Options) (*Plan, error) {
	req, err := o.request("plan")
	if err != nil {
		return nil, err
	}
	if o.Rows < 0 {
		return nil, &dp.ParamError{Op: "plan", Param: "rows", Want: "must be at least 0", Got: o.Rows}
	}
	if err := train.CheckPart("plan", o.Part, s.s); err != nil {
		return nil, err
	}
	pl, err := req.Plan(s.s, o.Rows)
	if err != nil {
		return nil, err
	}
	out := &Plan{Price: priceOf(req.Cost(pl)), Bill: releasesOf(pl.Events()), Refusal: req.Price.Excess(s.s)}
	for _, f := range pl.Facts() {
		out.Facts = append(out.Facts, Fact(f))
	}
	return out, nil
}

// Train trains a model on the rows of t. It checks the options, charges the
// account, and only then uses the rows; a refused option is a *ParamError, a price
// that is not allowed satisfies errors.Is(err, ErrBudget). An account that was
// charged stays charged when the training fails or ctx ends.
//
// A job of a ledger keeps the model's bytes there before Train returns, and
// returns the same model again for nothing.
func Train(ctx context.Context, t *Table, o Options) (*Model, error) {
	req, err := o.request("train")
	if err != nil {
		return nil, err
	}
	if t.t.Labels == nil {
		return nil, &dp.ParamError{Op: "train", Param: "table", Want: "must have labels"}
	}
	run := &train.Training{
		Op: "train", Request: req, Schema: t.s.s, SchemaText: t.s.text, Data: t.data, Part: o.Part, Exceed: o.ExceedMax,
		Read: func(context.Context) (*dataset.Table, error) { return t.t, nil },
	}
	if o.Account == nil {
		return nil, &dp.ParamError{Op: "train", Param: "account", Want: "must be given: who counts what trainings on this table cost together", Hint: "a job of a Ledger, an AccountFunc, or Uncounted where nobody does"}
	}
	o.Account.pay(run)
	if o.Progress != nil {
		run.Say = func(format string, args ...any) { o.Progress(fmt.Sprintf(format, args...)) }
	}
	m, err := run.Run(ctx)
	if err != nil {
		return nil, asBudgetError(err)
	}
	return &Model{m: m}, nil
}

// request checks the options on their own.
func (o *Options) request(op string) (*train.Request, error) {
	text := func(x float64) string {
		if x == 0 {
			return ""
		}
		return strings.TrimPrefix(strconv.FormatFloat(x, 'g', -1, 64), "+")
	}
	c := train.Choice{Learner: o.Learner, Options: o.Params, Price: train.PriceText{Epsilon: text(o.Epsilon), Delta: text(o.Delta), NotPrivate: o.NotPrivate}}
	if o.NotPrivate && o.Epsilon == 0 {
		c.Price.Epsilon = "inf"
	}
	return c.Request(op)
}

// priceOf has the numbers that are nearest to the exact ones.
func priceOf(p dp.Price) Price {
	delta, err := strconv.ParseFloat(p.Delta.String(), 64)
	if err != nil {
		panic(err) // a Delta is written as a decimal
	}
	return Price{p.Epsilon.Float(), delta}
}

func releasesOf(bill []dp.Event) []Release {
	out := make([]Release, len(bill))
	for i, e := range bill {
		out[i] = Release{Name: e.Release, Mechanism: e.Mechanism, Epsilon: e.Epsilon.Float(), Rho: e.Rho.Float()}
	}
	return out
}

// Account pays for trainings. It is Uncounted, an AccountFunc or a job of a Ledger.
type Account interface{ pay(*train.Training) }

// Uncounted is the account of trainings that nobody counts: models trained on the
// same table add up, and each says that it was not counted.
var Uncounted Account = uncounted{}

type uncounted struct{}

func (uncounted) pay(t *train.Training) { t.Account = learn.Uncounted{} }

// AccountFunc is an account of the caller's own. It takes the price of the whole
// bill, durably, and returns nil; or refuses with an error and takes nothing. It is
// called once for each training, before anything private is used.
type AccountFunc func(ctx context.Context, p Price, bill []Release) error

func (f AccountFunc) pay(t *train.Training) { t.Account = callerAccount{f} }

type callerAccount struct{ charge AccountFunc }

func (a callerAccount) Charge(ctx context.Context, p dp.Price, bill []dp.Event) error {
	return a.charge(ctx, priceOf(p), releasesOf(bill))
}

func (a callerAccount) Counted() bool { return true }

// ParamError is a parameter that was refused: the operation, the parameter, what is
// required and what was given, which is never a private cell.
type ParamError = dp.ParamError

// FaultError is a structural fault of a table: where it is and what is required. It
// never holds a cell.
type FaultError = dataset.FaultError

// ErrBudget is what errors.Is finds in the refusal of a price that a schema's
// limit, or what is left of a ledger's total, does not allow. Nothing was charged.
var ErrBudget = errors.New("discreet: the price exceeds a budget")

type budgetError struct{ error }

func (e budgetError) Is(target error) bool { return target == ErrBudget }
func (e budgetError) Unwrap() error        { return e.error }

func asBudgetError(err error) error {
	_, excess := errors.AsType[*train.ExcessError](err)
	_, exceeded := errors.AsType[*ledger.Exceeded](err)
	if excess || exceeded {
		return budgetError{err}
	}
	return err
}
