// SPDX-License-Identifier: Apache-2.0

package dp

import (
	"errors"
	"strings"
)

// Step is what the user can do next. Each front names it in its own way: by a flag or a command, by an
// option or a function, or by a control of a page. String has plain words.
type Step struct {
	Kind StepKind
	Name string // what the step is about: a parameter, a job, a learner; public
	Why  string // what it is good for, or an example; may be empty
}

// StepKind is a kind of step.
type StepKind int

// The kinds of steps. NoStep, the zero, is none.
const (
	NoStep          StepKind = iota
	GiveParam                // give the parameter Name
	LeaveOut                 // leave out the parameter Name
	ChooseEpsilon            // choose an epsilon, for example Why
	ReplaceFile              // replace a file that is kept otherwise
	DraftSchema              // have a template of a schema written
	NameColumns              // declare the columns of a file that has no header
	CreateLedger             // create the ledger
	DeclareDataset           // declare the data set in the ledger
	TakeResult               // ask job Name again: the ledger has its result
	AskAgain                 // ask job Name again: the ledger may have its result
	StartAnew                // start another job: Name is never drawn again
	RefundJob                // recover the ledger, which refunds a job
	CloseJob                 // recover the ledger, which closes a job
	AppointOwner             // appoint an owner of the data set
	AllotBudget              // have the owner allot budget to a key
	SignTraining             // sign the training with a key
	RequestTraining          // file a request for the training
	DescribeRelease          // describe the release by texts called Name
	SecureServer             // give a server certificates and tokens, or state that a proxy has them
	VerifyLedger             // verify that the ledger contains the state Name
	CheckTable               // check the table against the schema
	StepKinds                // the number of kinds
)

var stepWords = [StepKinds]string{
	GiveParam:       "give {name}",
	LeaveOut:        "leave out {name}",
	ChooseEpsilon:   "for example {why}; a plan shows what it buys",
	ReplaceFile:     "remove the file first",
	DraftSchema:     "begin with a template of a schema",
	NameColumns:     "declare the columns' names of a file without a header, or if columns are named by numbers",
	CreateLedger:    "create the ledger first",
	DeclareDataset:  "declare the data set first",
	TakeResult:      "the ledger keeps the result: the same training as job {name} returns it and costs nothing",
	AskAgain:        "the same training as job {name} returns the result and costs nothing if the ledger could keep it, and says so if not",
	StartAnew:       "job {name} ended without a result and is never drawn again: under the same job a training is refused and costs nothing; under another it pays again",
	RefundJob:       "recovering the ledger refunds it",
	CloseJob:        "recovering the ledger closes it",
	AppointOwner:    "appoint one",
	AllotBudget:     "the data set's owner gives one",
	SignTraining:    "give the key",
	RequestTraining: "file the request first",
	DescribeRelease: "give texts called {name}",
	VerifyLedger:    "a check of the ledger for the state {name}",
	SecureServer:    "give a certificate, its key and tokens, or state that a proxy in front handles both",
	CheckTable:      "a check of the table counts what a training would repair",
}

// String returns the step in plain words, "" for none.
func (s Step) String() string { return s.Fill(stepWords[s.Kind]) }

// Fill writes the step's name and reason into a front's words for it, which hold {name} and {why}.
func (s Step) Fill(words string) string {
	if s.Why != "" && s.Kind != ChooseEpsilon {
		words += " " + s.Why
	}
	return strings.NewReplacer("{name}", s.Name, "{why}", s.Why).Replace(words)
}

// Advised is an error with the step that mends it.
type Advised struct {
	Err  error
	Next Step
}

func (e *Advised) Error() string  { return e.Err.Error() + "; " + e.Next.String() }
func (e *Advised) Unwrap() error  { return e.Err }
func (e *Advised) NextStep() Step { return e.Next }

// Reword returns the text of an error in which words replaces the plain words of each step.
func Reword(err error, words func(Step) string) string {
	text := err.Error()
	for _, s := range StepsOf(err) {
		text = strings.Replace(text, s.String(), words(s), 1)
	}
	return text
}

// StepsOf returns the steps that an error and those that it wraps advise.
func StepsOf(err error) (steps []Step) {
	if e, ok := err.(interface{ NextStep() Step }); ok && e.NextStep().Kind != NoStep {
		steps = append(steps, e.NextStep())
	}
	switch e := err.(type) {
	case interface{ Unwrap() []error }:
		for _, one := range e.Unwrap() {
			steps = append(steps, StepsOf(one)...)
		}
	case interface{ Unwrap() error }:
		if inner := errors.Unwrap(err); inner != nil {
			steps = append(steps, StepsOf(inner)...)
		}
	}
	return steps
}
