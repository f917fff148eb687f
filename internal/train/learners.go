// SPDX-License-Identifier: Apache-2.0

package train

import (
	"slices"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/privacy/dp"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// DefaultLearner is trained if none is named.
const DefaultLearner = "auto"

// Learners is the table of what can be trained: to add a learner, write its file
// and name it here. Each call returns a table of its own, since options are set in
// place.
func Learners() []*Learner {
	all := []*Learner{
		autoLearner(), additiveLearner(), gridsLearner(), brcLearner(), ermLearner(), labeldpLearner(),
		logisticLearner(),
	}
	for _, learner := range registered {
		all = append(all, learner())
	}
	return all
}

// registered are the learners that a program adds.
var registered []func() *Learner

// Register adds learners to the table, each made again by each call of Learners. A program
// registers its own before it does anything else; the product's has none.
func Register(learners ...func() *Learner) { registered = append(registered, learners...) }

// The laboratory's program registers learners of its own. Their models are read and scored by any.
var (
	laboratory = []string{"people", "pate", "adaboost"}
	// LaboratoryOptions are the options that only they have.
	LaboratoryOptions = []string{"base", "classifiers", "kappa", "form", "teachers", "vote-epsilon"}
)

// LaboratoryHint names who trains them.
const LaboratoryHint = "learners people, pate and adaboost are trained by discreet-lab"

// unknownLearner refuses a name that the table has not.
func unknownLearner(op, param, want, name string) error {
	err := &dp.ParamError{Op: op, Param: param, Want: want + strings.Join(LearnerNames(), ", "), Got: strconv.Quote(name)}
	if slices.Contains(laboratory, name) {
		err.Hint = LaboratoryHint
	}
	return err
}

// Learner makes one learner's parameters out of text.
type Learner struct {
	Name    string
	Private bool // it adds noise, so it needs a price
	// Draws says that it draws rows of each person if the schema declares persons, instead of
	// weighing them.
	Draws bool
	// Approximate says that it has an (ε, δ) mode; others refuse a δ.
	Approximate bool
	// PublicOnly says that it reads public columns and no private ones.
	PublicOnly bool
	Options    []Option
	// Make checks the options and the price against the schema.
	Make func(pr Price, s *schema.Schema, rows int) (learn.Plan, error)
}

// Option is a choice that some learners have. Learners that share its name share
// its meaning; each has its own default, the value at the start.
type Option struct {
	Name, Usage string
	Value       Value
}

// AsPlan passes on what a learner's Plan returns: a nil *X in a learn.Plan would
// not be nil.
func AsPlan[P learn.Plan](pl P, err error) (learn.Plan, error) {
	if err != nil {
		return nil, err
	}
	return pl, nil
}

// Plan checks the learner's options and a price against a schema. rows is 0 if
// the number of rows is not known or not public.
func (l *Learner) Plan(pr Price, s *schema.Schema, rows int) (learn.Plan, error) {
	return l.Make(pr, s, rows)
}

// Option is the learner's option of that name, nil if it has none.
func (l *Learner) Option(name string) *Option {
	if i := slices.IndexFunc(l.Options, func(o Option) bool { return o.Name == name }); i >= 0 {
		return &l.Options[i]
	}
	return nil
}

// setOption reads an option's value.
func (l *Learner) setOption(o *Option, text string) error {
	if err := o.Value.Set(text); err != nil {
		return &dp.ParamError{Op: l.Name, Param: o.Name, Want: err.Error(), Got: strconv.Quote(text)}
	}
	return nil
}

// LearnerNames are the names of the table.
func LearnerNames() (names []string) {
	for _, l := range Learners() {
		names = append(names, l.Name)
	}
	return names
}

// ApproximateNames are the learners with an (ε, δ) mode.
func ApproximateNames() (names []string) {
	for _, l := range Learners() {
		if l.Approximate {
			names = append(names, l.Name)
		}
	}
	return names
}

// findLearner looks a learner up in a table of its own; nil if there is none.
func findLearner(name string) *Learner {
	all := Learners()
	if i := slices.IndexFunc(all, func(l *Learner) bool { return l.Name == name }); i >= 0 {
		return all[i]
	}
	return nil
}

// ParseLearner reads NAME[:OPTION=VALUE]... into a learner with those options, and
// its name in words. param is where op read it from.
func ParseLearner(op, param, spec string) (l *Learner, name string, err error) {
	parts := strings.Split(spec, ":")
	if l = findLearner(parts[0]); l == nil {
		return nil, "", unknownLearner(op, param, "must be among ", parts[0])
	}
	name = l.Name
	for _, part := range parts[1:] {
		key, text, _ := strings.Cut(part, "=")
		o := l.Option(key)
		if o == nil {
			return nil, "", &dp.ParamError{Op: l.Name, Param: "option", Want: "must be one of " +
				strings.Join(l.optionNames(), ", "), Got: strconv.Quote(key)}
		}
		if err := l.setOption(o, text); err != nil {
			return nil, "", err
		}
		name += ", " + key + " " + text
	}
	return l, name, nil
}

func (l *Learner) optionNames() (names []string) {
	for _, o := range l.Options {
		names = append(names, o.Name)
	}
	return names
}
