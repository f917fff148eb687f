// SPDX-License-Identifier: Apache-2.0

package discreet

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/internal/ground/atomicfile"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ledger"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/train"
)

// ParamError is a refused parameter: the operation, the parameter, the requirement and the value
// given, which is never a private cell.
type ParamError = dp.ParamError

// FaultError is a structural fault of a table: its place and the requirement. It never holds a cell.
type FaultError = dataset.FaultError

// An error of this package is a *ParamError, a *FaultError, an error of the system or of the context,
// or satisfies errors.Is for one of the sentinels below.
var (
	// ErrBudget: the price exceeds a schema's limit, or what is left of a ledger's total. Nothing was
	// charged.
	ErrBudget = errors.New("discreet: the price exceeds a budget")
	// ErrSpent: the failure came after the charge, so the price is spent.
	ErrSpent = errors.New("discreet: the price is spent")
	// ErrNoDataset: the ledger has no data set of this name; Declare adds one.
	ErrNoDataset = errors.New("discreet: the ledger has no such data set")
	// ErrDatasetExists: the ledger already has a data set of this name, and its total cannot be
	// changed.
	ErrDatasetExists = errors.New("discreet: the data set is declared already")
	// ErrJob: the job's id belongs to another training, which may still be running.
	ErrJob = errors.New("discreet: the job was used before")
	// ErrLedger: the file is not a ledger, or the ledger contradicts itself.
	ErrLedger = errors.New("discreet: not a ledger, or a damaged one")
	// ErrModel: the file or the bytes are not a model.
	ErrModel = errors.New("discreet: not a model")
	// ErrNotReplaced: the output file is a ledger, a schema, a key or a paid model, which is not
	// replaced.
	ErrNotReplaced = errors.New("discreet: the file is not replaced")
	// ErrColumns: the table lacks a column that the model reads, or codes it in another way.
	ErrColumns = errors.New("discreet: the table has other columns than the model")
)

// kindsOf returns the sentinels that err satisfies by its type.
func kindsOf(err error) (kinds []error) {
	add := func(found bool, kind error) {
		if found {
			kinds = append(kinds, kind)
		}
	}
	add(is[*train.ExcessError](err) || is[*ledger.Exceeded](err), ErrBudget)
	add(is[*ledger.Spent](err), ErrSpent)
	add(is[*ledger.Missing](err), ErrNoDataset)
	add(is[*ledger.Exists](err), ErrDatasetExists)
	add(is[*ledger.Conflict](err), ErrJob)
	add(is[*ledger.Damaged](err) || is[*ledger.Unreadable](err), ErrLedger)
	add(is[*model.Mismatch](err), ErrColumns)
	add(is[*atomicfile.Spared](err), ErrNotReplaced)
	return kinds
}

func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// publicError is an error in the words of a Go program in place of those of the command. It satisfies
// its sentinels and wraps the original error. If the original is a *ParamError, errors.As finds a copy
// of it in these words first.
type publicError struct {
	text  string
	kinds []error
	chain []error
}

func (e *publicError) Error() string        { return e.text }
func (e *publicError) Is(target error) bool { return slices.Contains(e.kinds, target) }
func (e *publicError) Unwrap() []error      { return e.chain }

// publish rewrites the error of an exported function in the words of a Go program, and makes it
// satisfy sentinels.
func publish(err *error, kinds ...error) {
	if *err != nil {
		*err = speakGo(*err, append(kinds, kindsOf(*err)...))
	}
}

// speakGo returns err in the words of a Go program, satisfying kinds.
func speakGo(err error, kinds []error) error {
	if p, ok := err.(*dp.ParamError); ok && len(kinds) == 0 {
		copied := *p
		if copied.Param == "not-private" {
			copied.Param = optionWords(copied.Param)
		}
		if copied.Next = (dp.Step{}); p.Next.Kind != dp.NoStep && p.Hint != "" {
			copied.Hint += "; "
		}
		copied.Hint += stepWords(p.Next)
		return &copied
	}
	out := &publicError{text: dp.Reword(err, stepWords), kinds: kinds}
	if p, ok := errors.AsType[*dp.ParamError](err); ok && p.Param == "not-private" {
		out.text = strings.Replace(out.text, p.Param, optionWords(p.Param), 1)
	}
	switch e := err.(type) {
	case interface{ Unwrap() []error }:
		for _, one := range e.Unwrap() {
			out.chain = append(out.chain, speakGo(one, nil))
		}
	case interface{ Unwrap() error }:
		if inner := e.Unwrap(); inner != nil {
			out.chain = append(out.chain, speakGo(inner, nil))
		}
	}
	if len(kinds) == 0 && out.text == err.Error() && !is[*dp.ParamError](err) {
		return err
	}
	out.chain = append(out.chain, err)
	return out
}

// stepWords names a step by options and functions of this package, or in plain words.
func stepWords(s dp.Step) string {
	switch s.Kind {
	case dp.GiveParam, dp.LeaveOut:
		s.Name = optionWords(s.Name)
		return s.String()
	}
	if words := goSteps[s.Kind]; words != "" {
		return s.Fill(words)
	}
	return s.String()
}

// optionWords names a parameter as an option, if it is one.
func optionWords(param string) string {
	if field := optionFields[param]; field != "" {
		return field
	}
	if slices.ContainsFunc(train.Learners(), func(l *train.Learner) bool { return l.Option(param) != nil }) {
		return fmt.Sprintf("Options.Params[%q]", param)
	}
	return param
}

var (
	optionFields = map[string]string{
		"epsilon": "Options.Epsilon", "delta": "Options.Delta", "not-private": "Options.NotPrivate",
		"learner": "Options.Learner", "rows": "Options.Rows", "part": "Options.Part",
	}
	goSteps = map[dp.StepKind]string{
		dp.ChooseEpsilon:  "for example Options.Epsilon = {why}; Schema.Plan shows what it buys",
		dp.DraftSchema:    "docs/schema.md lists the keys of a schema",
		dp.CreateLedger:   "OpenLedger creates it",
		dp.DeclareDataset: "Ledger.Declare declares it",
	}
)
