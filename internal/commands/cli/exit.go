// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ground/plaintext"
	"github.com/discreet-dp/discreet/internal/ledger"
	"github.com/discreet-dp/discreet/internal/ledger/policy"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
)

// Exit codes of the commands.
const (
	ExitOK     = 0
	ExitFailed = 1
	ExitUsage  = 2
	ExitBudget = 3
	ExitMisfit = 4 // schema check: not private
)

// UsageError is a fault of the command line itself.
type UsageError struct{ Err error }

func (e *UsageError) Error() string { return e.Err.Error() }
func (e *UsageError) Unwrap() error { return e.Err }

// Refuse returns the error for a flag of the command op: the requirement and the value given.
func Refuse(op, flag, want string, got any) error {
	return &UsageError{Err: &dp.ParamError{Op: op, Param: flag, Want: want, Got: got}}
}

// BudgetError is a price that exceeds what the owner of the table allows.
type BudgetError struct{ Err error }

func (e *BudgetError) Error() string { return e.Err.Error() }
func (e *BudgetError) Unwrap() error { return e.Err }

// ErrInterrupted is the error of a command that a signal ended.
var ErrInterrupted = errors.New("interrupted")

// interrupt is the error of a command that failed with err after a signal. It states what has been
// spent.
func interrupt(err error) error {
	if spent, ok := errors.AsType[*ledger.Spent](err); ok {
		said := *spent
		said.Err = ErrInterrupted
		return &said
	}
	return ErrInterrupted
}

func exitCode(err error) int {
	if _, ok := errors.AsType[*BudgetError](err); ok {
		return ExitBudget
	}
	if _, ok := errors.AsType[*ledger.Exceeded](err); ok {
		return ExitBudget
	}
	if _, ok := errors.AsType[*ledger.Denied](err); ok {
		return ExitBudget
	}
	if _, ok := errors.AsType[*policy.Refused](err); ok {
		return ExitBudget
	}
	if c, ok := errors.AsType[*ledger.Conflict](err); ok && (c.State == ledger.Requested || c.State == ledger.Refused) {
		return ExitBudget // as of a job that nobody requested
	}
	if _, ok := errors.AsType[*UsageError](err); ok {
		return ExitUsage
	}
	if _, ok := errors.AsType[*dataset.MisfitError](err); ok {
		return ExitMisfit
	}
	return ExitFailed
}

// writeError writes an error line for each fault in err of the command c and, if the fix is known, a hint
// line.
func writeError(w io.Writer, err error, c *cobra.Command) {
	words := StepWords(c)
	if spent, ok := errors.AsType[*ledger.Spent](err); ok {
		writeError(w, spent.Err, c)
		if said := spent.Words(); said != "" {
			plaintext.Fprintf(w, "spent: %s\n", said)
		}
		plaintext.Fprintf(w, "hint: %s\n", words(spent.Next()))
		return
	}
	hinted := false
	where, all := splitFaults(err)
	for _, e := range all {
		text, hint := dp.Reword(e, words), ""
		if p, ok := errors.AsType[*dp.ParamError](e); ok {
			hint = hintOf(p, words)
			text = strings.Replace(text, "; "+hint, "", 1)
		}
		plaintext.Fprintf(w, "error: %s%s\n", where, text)
		if hint != "" {
			hinted = true
			plaintext.Fprintf(w, "hint: %s\n", hint)
		}
	}
	if _, ok := errors.AsType[*UsageError](err); ok && !hinted {
		plaintext.Fprintf(w, "hint: %s\n", usageHint(err, c))
	}
}

// usageHint names commands like one that the group c lacks, or else the help of c.
func usageHint(err error, c *cobra.Command) string {
	var name string
	if n, _ := fmt.Sscanf(err.Error(), "unknown command %q for", &name); n == 1 { // cobra has no type for it
		c.SuggestionsMinimumDistance = 2
		if near := c.SuggestionsFor(name); len(near) > 0 {
			return fmt.Sprintf("did you mean %s %s?", c.CommandPath(), strings.Join(near, " or "))
		}
	}
	return fmt.Sprintf("see %s --help", c.CommandPath())
}

// hintOf returns the advice of a refused parameter, "" if it has none.
func hintOf(p *dp.ParamError, words func(dp.Step) string) string {
	if p.Hint == "" || p.Next.Kind == dp.NoStep {
		return p.Hint + words(p.Next)
	}
	return p.Hint + "; " + words(p.Next)
}

// several is a list of faults found together.
type several interface {
	error
	Unwrap() []error
}

// splitFaults splits a list of faults; where is their common prefix.
func splitFaults(err error) (where string, all []error) {
	if list, ok := errors.AsType[several](err); ok && strings.Contains(list.Error(), "\n") {
		return strings.TrimSuffix(err.Error(), list.Error()), list.Unwrap()
	}
	return "", []error{err}
}
