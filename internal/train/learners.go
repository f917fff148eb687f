// SPDX-License-Identifier: Apache-2.0

package train

import (
	"slices"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// DefaultLearner is the learner if none is named.
const DefaultLearner = "auto"

// Learners returns the table of learners. To add a learner, write its file and name it here. Each call
// returns a new table, because options are set in place.
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

// Register adds learners to the table. Each call of Learners makes them again. A program registers its
// learners first of all. The product registers none.
func Register(learners ...func() *Learner) { registered = append(registered, learners...) }

// The laboratory's program registers additional learners. All programs read and score their models.
var (
	laboratory = []string{"people", "pate", "adaboost"}
	// LaboratoryOptions are the options that only those learners have.
	LaboratoryOptions = []string{"base", "classifiers", "kappa", "form", "teachers", "vote-epsilon"}
)

// LaboratoryHint names the program that trains them.
const LaboratoryHint = "learners people, pate and adaboost are trained by discreet-lab"

// unknownLearner is the error for a name that is not in the table.
func unknownLearner(op, name string) error {
	err := &dp.ParamError{Op: op, Param: "learner", Want: "must be one of " + strings.Join(LearnerNames(), ", "), Got: strconv.Quote(name)}
	if slices.Contains(laboratory, name) {
		err.Hint = LaboratoryHint
	}
	return err
}

// Learner makes the parameters of one learner from text.
type Learner struct {
	Name    string
	Private bool // it adds noise, and so needs a price
	// Draws is set if the learner draws rows of each person, instead of weighting them, when the
	// schema declares persons.
	Draws bool
	// Approximate is set if the learner has an (ε, δ) mode; others refuse a δ.
	Approximate bool
	// PublicOnly is set if the learner reads public columns and no private ones.
	PublicOnly bool
	Options    []Option
	// Make checks the options and the price against the schema.
	Make func(pr Price, s *schema.Schema, rows int) (learn.Plan, error)
}

// Option is an option of one or more learners. An option of the same name means the same in each
// learner, but may have another default, which is its initial value.
type Option struct {
	Name, Usage string
	Value       Value
}

// AsPlan converts the results of a learner's Plan. It turns a nil *X into a nil learn.Plan.
func AsPlan[P learn.Plan](pl P, err error) (learn.Plan, error) {
	if err != nil {
		return nil, err
	}
	return pl, nil
}

// Plan checks the learner's options and a price against a schema. rows is 0 if the number of rows is
// unknown or not public.
func (l *Learner) Plan(pr Price, s *schema.Schema, rows int) (learn.Plan, error) {
	return l.Make(pr, s, rows)
}

// Option returns the learner's option of that name, nil if there is none.
func (l *Learner) Option(name string) *Option {
	if i := slices.IndexFunc(l.Options, func(o Option) bool { return o.Name == name }); i >= 0 {
		return &l.Options[i]
	}
	return nil
}

// setOption parses an option's value.
func (l *Learner) setOption(o *Option, text string) error {
	if err := o.Value.Set(text); err != nil {
		return &dp.ParamError{Op: l.Name, Param: o.Name, Want: err.Error(), Got: strconv.Quote(text)}
	}
	return nil
}

// LearnerNames returns the names in the table.
func LearnerNames() (names []string) {
	for _, l := range Learners() {
		names = append(names, l.Name)
	}
	return names
}

// ApproximateNames returns the names of the learners with an (ε, δ) mode.
func ApproximateNames() (names []string) {
	for _, l := range Learners() {
		if l.Approximate {
			names = append(names, l.Name)
		}
	}
	return names
}

// findLearner finds a learner in a new table; nil if there is none.
func findLearner(name string) *Learner {
	all := Learners()
	if i := slices.IndexFunc(all, func(l *Learner) bool { return l.Name == name }); i >= 0 {
		return all[i]
	}
	return nil
}
