// SPDX-License-Identifier: Apache-2.0

package frame

import "fmt"

// Check compares one thing the paper says with what came out.
type Check struct {
	What  string `json:"what"`  // e.g. "non-private accuracy"
	Paper string `json:"paper"` // what the paper says
	Ours  string `json:"ours"`  // what came out
	Holds bool   `json:"holds"`
	// Later says when and why a reading was chosen after results had been seen, or
	// that it is our claim and not the paper's. Such a check is shown and does not
	// count. Empty for a reading fixed before.
	Later string `json:"later,omitempty"`
}

// Outcome is a verdict in one word.
type Outcome string

const (
	Reproduced Outcome = "reproduced" // every check holds
	Partly     Outcome = "partly"     // some do
	Not        Outcome = "not"        // none does
	Undecided  Outcome = "undecided"  // numbers that say nothing would have passed too, or repeats are too few
)

// Verdict says whether a figure came out as the paper has it.
type Verdict struct {
	Figure  string    `json:"figure"`
	Claim   string    `json:"claim"`
	Outcome Outcome   `json:"outcome"`
	Reason  string    `json:"reason"`
	Checks  []Check   `json:"checks"`
	Null    []NullRun `json:"null"` // the same checks on numbers that say nothing
	Notes   []string  `json:"notes,omitempty"`
	Repeats int       `json:"repeats"`
	Seed    uint64    `json:"seed"`
	Commits []string  `json:"commits,omitempty"` // of the programs that wrote the records
}

// leastRepeats is the number of repeats that a verdict needs: of fewer no spread is known.
const leastRepeats = 2

// judgeSummary judges what was measured, and beside it numbers that say nothing. A
// claim that those bear out as well is undecided.
func (f *Figure) judgeSummary(s *Summary) (checks []Check, null []NullRun, o Outcome, reason string) {
	checks = f.Judge(s)
	null = f.JudgeNull(s)
	o, reason = judgeChecks(checks)
	if s.Repeats < leastRepeats {
		return checks, null, Undecided, fmt.Sprintf("%d repeat shows no spread; a verdict needs %d at least", s.Repeats,
			leastRepeats)
	}
	for _, n := range null {
		if o == Reproduced && n.IsBorneOut() {
			return checks, null, Undecided, fmt.Sprintf("every statement checked holds, but so it does in %d of %d draws of %s",
				n.Reproduced, n.Draws, n.Name)
		}
	}
	return checks, null, o, reason
}

func judgeChecks(checks []Check) (Outcome, string) {
	held, counted, failed := 0, 0, ""
	for _, c := range checks {
		if c.Later != "" {
			continue
		}
		counted++
		if c.Holds {
			held++
			continue
		}
		if failed != "" {
			failed += "; "
		}
		failed += c.What + ": the paper says " + c.Paper + ", here " + c.Ours
	}
	switch held {
	case counted:
		return Reproduced, "every statement checked came out as the paper has it"
	case 0:
		return Not, failed
	}
	return Partly, failed
}
