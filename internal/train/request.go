// SPDX-License-Identifier: Apache-2.0

package train

import (
	"errors"
	"maps"
	"slices"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// RequestError is a fault in a request itself, not in a table or a machine.
type RequestError struct{ Err error }

func (e *RequestError) Error() string { return e.Err.Error() }
func (e *RequestError) Unwrap() error { return e.Err }

// asUsage turns a refused parameter into a refused request.
func asUsage(err error) error {
	if _, ok := errors.AsType[*dp.ParamError](err); ok {
		return &RequestError{err}
	}
	return err
}

// Choice is a learner with its options and price, as they were typed.
type Choice struct {
	Learner string            // "": DefaultLearner
	Options map[string]string // by name
	Price   PriceText
}

// Request is a checked Choice: everything about a training that needs no schema.
type Request struct {
	*Learner
	Price     Price
	defaulted bool // the learner was not named
	given     map[string]string
}

// Request checks the choice, before any file is opened. Its errors are *RequestError, with op as the
// operation unless the error is the learner's own.
func (c Choice) Request(op string) (*Request, error) {
	r, err := c.makeRequest(op)
	if err != nil {
		return nil, &RequestError{err}
	}
	return r, nil
}

func (c Choice) makeRequest(op string) (*Request, error) {
	name := c.Learner
	if name == "" {
		name = DefaultLearner
	}
	l := findLearner(name)
	if l == nil {
		return nil, unknownLearner(op, name)
	}
	for _, name := range c.optionOrder() {
		text := c.Options[name]
		o := l.Option(name)
		if o == nil {
			return nil, &dp.ParamError{Op: l.Name, Param: name, Want: "must not be given: this learner has no such choice",
				Got: text}
		}
		if err := l.setOption(o, text); err != nil {
			return nil, err
		}
	}
	pr, err := c.Price.parsePrice(op, l)
	if err != nil {
		return nil, err
	}
	return &Request{l, pr, c.Learner == "", c.Options}, nil
}

// optionOrder lists the given options in the order of the table, after those that no learner has.
func (c Choice) optionOrder() []string {
	unknown := maps.Clone(c.Options)
	var order []string
	for _, l := range Learners() {
		for _, o := range l.Options {
			if _, ok := unknown[o.Name]; ok {
				order = append(order, o.Name)
				delete(unknown, o.Name)
			}
		}
	}
	return append(slices.Sorted(maps.Keys(unknown)), order...)
}

// Plan checks the request against a schema and prices it. rows is 0 if the number of rows is unknown
// or not public. A refused parameter is a *RequestError.
func (r *Request) Plan(s *schema.Schema, rows int) (learn.Plan, error) {
	pl, err := r.planUnits(s, rows)
	if err != nil {
		return nil, asUsage(err)
	}
	told := toldPlan{pl, nil, []learn.Fact{learn.UnitFact(s, !r.Private || r.Price.NotPrivate)}}
	if r.defaulted {
		told.before = []learn.Fact{{Key: "learner", Value: DefaultLearner, Text: "learner " + DefaultLearner +
			", the default: none was given"}}
	}
	return told, nil
}

// planUnits plans for the schema's unit of privacy. A learner that protects single rows, without
// weighting them, pays for each of a person's rows that are used.
func (r *Request) planUnits(s *schema.Schema, rows int) (learn.Plan, error) {
	if !r.Draws || s.Person == nil || s.Person.Rows < 2 {
		return r.Make(r.Price, s, rows)
	}
	return learn.PlanGroup(r.Name, s, dp.Price{Epsilon: r.Price.Epsilon, Delta: r.Price.Delta}, rows,
		func(s *schema.Schema, eps dp.Epsilon, rows int) (learn.Plan, error) {
			price := r.Price
			price.Epsilon = eps
			return r.Make(price, s, rows)
		})
}

// toldPlan is a plan with facts of the request beside the learner's own.
type toldPlan struct {
	learn.Plan
	before, after []learn.Fact
}

// Unwrap returns the learner's own plan.
func (p toldPlan) Unwrap() learn.Plan { return p.Plan }

func (p toldPlan) Facts() []learn.Fact { return slices.Concat(p.before, p.Plan.Facts(), p.after) }

// WithoutPrivacy returns the same request without noise, for comparison on data that belong to no
// person.
func (r *Request) WithoutPrivacy() (*Request, error) {
	return Choice{Learner: r.Name, Options: r.given, Price: PriceText{Epsilon: "inf", NotPrivate: true}}.Request("plan")
}
