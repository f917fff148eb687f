// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/ledger"
)

// Exit codes.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
	exitBudget = 3
)

// usageError is a fault of the command line itself.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

// budgetError is a price that the owner of the table does not allow.
type budgetError struct{ err error }

func (e *budgetError) Error() string { return e.err.Error() }
func (e *budgetError) Unwrap() error { return e.err }

var errInterrupted = errors.New("interrupted")

func exitCode(err error) int {
	if _, ok := errors.AsType[*budgetError](err); ok {
		return exitBudget
	}
	if _, ok := errors.AsType[*ledger.Exceeded](err); ok {
		return exitBudget
	}
	if _, ok := errors.AsType[*usageError](err); ok {
		return exitUsage
	}
	return exitFailed
}

// report writes each fault in err as an error line and, where the cure is
// known, a hint line. command is the one to ask for help.
func report(w io.Writer, err error, command string) {
	hinted := false
	where, all := split(err)
	for _, e := range all {
		text, hint := e.Error(), ""
		if p, ok := errors.AsType[*dp.ParamError](e); ok && p.Hint != "" {
			hint = p.Hint
			text = strings.Replace(text, "; "+hint, "", 1)
		}
		fmt.Fprintf(w, "error: %s%s\n", where, text)
		if hint != "" {
			hinted = true
			fmt.Fprintf(w, "hint: %s\n", hint)
		}
	}
	if _, ok := errors.AsType[*usageError](err); ok && !hinted {
		fmt.Fprintf(w, "hint: see %s --help\n", command)
	}
}

// several is a list of faults that were found together.
type several interface {
	error
	Unwrap() []error
}

// split takes a list of faults apart; where is what was said about all of them.
func split(err error) (where string, all []error) {
	if list, ok := errors.AsType[several](err); ok && strings.Contains(list.Error(), "\n") {
		return strings.TrimSuffix(err.Error(), list.Error()), list.Unwrap()
	}
	return "", []error{err}
}
