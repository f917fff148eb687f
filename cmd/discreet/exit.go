// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/discreet-dp/discreet/dp"
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

var errInterrupted = errors.New("interrupted; nothing was written")

// missing is a flag that must be given.
func missing(op, param, want, hint string) error {
	return &usageError{&dp.ParamError{Op: op, Param: param, Want: want, Hint: hint}}
}

func exitCode(err error) int {
	var usage *usageError
	var budget *budgetError
	switch {
	case errors.As(err, &budget):
		return exitBudget
	case errors.As(err, &usage):
		return exitUsage
	}
	return exitFailed
}

// report writes each fault in err as an error line and, where the cure is
// known, a hint line. command is the one to ask for help.
func report(w io.Writer, err error, command string) {
	hinted := false
	for _, e := range split(err) {
		text, hint := e.Error(), ""
		if p := (*dp.ParamError)(nil); errors.As(e, &p) && p.Hint != "" {
			hint = p.Hint
			text = strings.Replace(text, "; "+hint, "", 1)
		}
		fmt.Fprintf(w, "error: %s\n", text)
		if hint != "" {
			hinted = true
			fmt.Fprintf(w, "hint: %s\n", hint)
		}
	}
	if usage := (*usageError)(nil); !hinted && errors.As(err, &usage) {
		fmt.Fprintf(w, "hint: see %s --help\n", command)
	}
}

// split takes apart errors that were joined.
func split(err error) (all []error) {
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range many.Unwrap() {
			all = append(all, split(e)...)
		}
		return all
	}
	return []error{err}
}
