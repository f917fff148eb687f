// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/cli"
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/privacy/dp"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// learners are the rows of the table: to add one, write its file and name it
// here.
func learners() []*learner {
	return []*learner{additiveLearner(), brcLearner(), ermLearner(), labeldpLearner(), peopleLearner(), pateLearner(), logisticLearner(), adaboostLearner()}
}

// learner makes one learner's parameters out of flags.
type learner struct {
	name    string
	private bool // it adds noise, so it needs a price
	// approximate says that it has an (ε, δ) mode; others refuse a δ.
	approximate bool
	options     []option
	// plan checks the options and the price against the schema.
	plan func(pr price, s *schema.Schema, rows int) (learn.Plan, error)
}

// option is a flag that some learners have. Learners that share a name share
// its flag; each has its own default, the value at the start.
type option struct {
	name, usage string
	value       value
}

// choice is a learner and its options as flags: the flags that say what to
// train, shared by the commands train and plan.
type choice struct {
	all   []*learner
	name  string
	price priceFlags
	given map[string]*raw
	order []string // the keys of given, in the order of the table
}

// raw is an option as it was typed: which learner it goes to, and so what it
// may be, is known only once all flags have been read.
type raw struct {
	text, kind string
	set        bool
}

func (r *raw) String() string     { return r.text }
func (r *raw) Set(s string) error { r.text, r.set = s, true; return nil }
func (r *raw) Type() string       { return r.kind }

func addChoice(c *cobra.Command) *choice {
	ch := &choice{all: learners(), given: map[string]*raw{}}
	c.Flags().StringVar(&ch.name, "learner", "", "the `name` of what to train: "+strings.Join(ch.names(), ", ")+" (default "+defaultLearner+")")
	complete(c, "learner", ch.names()...)
	ch.price.add(c)
	for _, l := range ch.all {
		for _, o := range l.options {
			if ch.given[o.name] == nil {
				ch.given[o.name] = &raw{kind: o.value.Type()}
				ch.order = append(ch.order, o.name)
				c.Flags().Var(ch.given[o.name], o.name, ch.usage(o))
			}
		}
	}
	return ch
}

// usage says what an option is, whose it is, and what it is when not given.
func (ch *choice) usage(o option) string {
	var defaults []string
	whose := map[string][]string{} // by default
	for _, l := range ch.all {
		if own := l.option(o.name); own != nil {
			d := own.value.String()
			if whose[d] == nil {
				defaults = append(defaults, d)
			}
			whose[d] = append(whose[d], l.name)
		}
	}
	for i, d := range defaults {
		defaults[i] = strings.Join(whose[d], ", ") + ": " + d
	}
	return fmt.Sprintf("%s (%s)", o.usage, strings.Join(defaults, "; "))
}

func (l *learner) option(name string) *option {
	if i := slices.IndexFunc(l.options, func(o option) bool { return o.name == name }); i >= 0 {
		return &l.options[i]
	}
	return nil
}

// request is a checked choice: everything about a training that does not need
// the schema.
type request struct {
	*learner
	price     price
	defaulted bool // nobody named the learner
}

// defaultLearner is trained where none is named, and said so.
const defaultLearner = "additive"

// defaultedPlan is a plan that says which learner it is of.
type defaultedPlan struct{ learn.Plan }

func (p defaultedPlan) Facts() []learn.Fact {
	return append([]learn.Fact{{Key: "learner", Value: defaultLearner, Text: "learner " + defaultLearner + ", the default: no --learner was given"}}, p.Plan.Facts()...)
}

// request checks the flags on their own, before any file is opened.
func (ch *choice) request(op string) (*request, error) {
	refuse := func(e *dp.ParamError) (*request, error) { return nil, &cli.UsageError{Err: e} }
	name := ch.name
	if name == "" {
		name = defaultLearner
	}
	at := slices.IndexFunc(ch.all, func(l *learner) bool { return l.name == name })
	if at < 0 {
		return refuse(&dp.ParamError{Op: op, Param: "learner", Want: "must be one of " + strings.Join(ch.names(), ", "), Got: strconv.Quote(ch.name)})
	}
	l := ch.all[at]
	for _, name := range ch.order {
		o, r := l.option(name), ch.given[name]
		switch {
		case !r.set:
		case o == nil:
			return refuse(&dp.ParamError{Op: l.name, Param: name, Want: "must be left out: this learner has no such choice", Got: r.text})
		default:
			if err := o.value.Set(r.text); err != nil {
				return refuse(&dp.ParamError{Op: l.name, Param: name, Want: err.Error(), Got: strconv.Quote(r.text)})
			}
		}
	}
	pr, err := ch.price.read(op, l)
	if err != nil {
		return nil, &cli.UsageError{Err: err}
	}
	return &request{l, pr, ch.name == ""}, nil
}

// plan checks the request against a schema and prices it. rows is 0 where the
// number of rows is not known or not public.
func (r *request) plan(s *schema.Schema, rows int) (learn.Plan, error) {
	pl, err := r.learner.plan(r.price, s, rows)
	if _, ok := errors.AsType[*dp.ParamError](err); ok {
		return nil, &cli.UsageError{Err: err}
	}
	if r.defaulted && err == nil {
		pl = defaultedPlan{pl}
	}
	return pl, err
}

// cost is the price of pl, a plan of this request.
func (r *request) cost(pl learn.Plan) dp.Price {
	gaussian := func(e dp.Event) bool { return e.Rho > 0 }
	if r.price.delta > 0 && slices.ContainsFunc(pl.Events(), gaussian) { // else none of it is spent
		return dp.Price{Epsilon: r.price.epsilon, Delta: r.price.delta}
	}
	return dp.Pure(pl.Events())
}

// approximate names the learners with an (ε, δ) mode.
func approximate() (names []string) {
	for _, l := range learners() {
		if l.approximate {
			names = append(names, l.name)
		}
	}
	return names
}

func (ch *choice) names() (names []string) {
	for _, l := range ch.all {
		names = append(names, l.name)
	}
	return names
}

// complete offers words to the shell for a flag.
func complete(c *cobra.Command, flag string, words ...string) {
	if err := c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err)
	}
}
