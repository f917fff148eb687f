// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"fmt"
	"strings"

	"github.com/discreet-dp/discreet/internal/ground/dp"
)

// Exceeded refuses a price that the data set's total does not allow. Nothing
// was charged.
type Exceeded struct {
	Dataset, Part       string     // Part is "" if the job reads all rows, or cohorts
	Cohorts             []string   // those of the job's cohorts with too little left
	Institution         bool       // the institution's total is exceeded, not that of its rows
	Analyst             string     // the analyst whose allotment is exceeded; "" for the data set's total
	Spent, Asked, Limit dp.Epsilon // Spent includes the reservations of running jobs
	SpentDelta          dp.Delta
	AskedDelta          dp.Delta
	LimitDelta          dp.Delta
}

func (e *Exceeded) Error() string {
	where := fmt.Sprintf("data set %q", e.Dataset)
	if e.Part != "" {
		where += fmt.Sprintf(", part %q", e.Part)
	}
	if len(e.Cohorts) > 0 {
		where += ", cohort " + strings.Join(e.Cohorts, ", ")
	}
	if e.Institution {
		where += ", institution"
	}
	if e.Analyst != "" {
		where += ", allotment of " + e.Analyst
	}
	s := fmt.Sprintf("ledger: %s: spent %s, asked %s, limit %s", where, e.Spent, e.Asked, e.Limit)
	if e.SpentDelta+e.AskedDelta > e.LimitDelta {
		s += fmt.Sprintf("; delta spent %s, asked %s, limit %s", e.SpentDelta, e.AskedDelta, e.LimitDelta)
	}
	return s + "; nothing was charged"
}

// Spent is a failure after the charge. Its price is spent.
type Spent struct {
	Ledger, Dataset, Job string
	Price                dp.Price // 0 if an earlier run of the job was charged
	Kept                 bool     // the result is stored: the same job returns it at no cost
	Closed               bool     // there is no result, and there will be none
	Err                  error
}

func (e *Spent) Error() string {
	if said := e.Words(); said != "" {
		return e.Err.Error() + "; " + said
	}
	return e.Err.Error()
}

// Words describes what was spent; "" if this run of the job was not charged.
func (e *Spent) Words() string {
	if e.Price == (dp.Price{}) {
		return ""
	}
	return fmt.Sprintf("ledger %s: data set %q has spent %s for job %q", e.Ledger, e.Dataset, e.Price, e.Job)
}

func (e *Spent) Unwrap() error { return e.Err }

// Next advises how to continue. It is no part of the text.
func (e *Spent) Next() dp.Step {
	switch {
	case e.Kept:
		return dp.Step{Kind: dp.TakeResult, Name: e.Job}
	case e.Closed:
		return dp.Step{Kind: dp.StartAnew, Name: e.Job}
	}
	return dp.Step{Kind: dp.AskAgain, Name: e.Job}
}

// Missing is a ledger, data set or anchor that does not exist.
type Missing struct {
	What string
	Next dp.Step
}

func (e *Missing) Error() string     { return "ledger: " + e.What + " must exist; " + e.Next.String() }
func (e *Missing) NextStep() dp.Step { return e.Next }

// Exists refuses to declare a data set that already exists.
type Exists struct{ Dataset string }

func (e *Exists) Error() string {
	return fmt.Sprintf("ledger: data set %q already has a budget; budgets cannot be changed", e.Dataset)
}

// Unreadable is a file that cannot be opened as a ledger.
type Unreadable struct {
	File string // "" for a server
	Err  error
}

func (e *Unreadable) Error() string {
	file := ""
	if e.File != "" {
		file = " " + e.File
	}
	return "ledger:" + file + " cannot be opened, or is not a ledger: " + e.Err.Error()
}
func (e *Unreadable) Unwrap() error { return e.Err }

// Conflict refuses a step that the job's earlier steps do not allow.
type Conflict struct {
	Dataset, Job string
	State        Kind
	Want         string
	Next         dp.Step // none if only another job helps
}

func (e *Conflict) Error() string {
	s := fmt.Sprintf("ledger: data set %q: job %q %s (its state: %s)", e.Dataset, e.Job, e.Want, e.State)
	if e.Next.Kind != dp.NoStep {
		s += "; " + e.Next.String()
	}
	return s
}
func (e *Conflict) NextStep() dp.Step { return e.Next }

// Damaged describes a contradiction in the ledger. A damaged ledger grants nothing.
type Damaged struct {
	Seq int64
	Why string
}

func (e *Damaged) Error() string {
	return fmt.Sprintf("ledger: damaged at entry %d: %s", e.Seq, e.Why)
}
