// SPDX-License-Identifier: Apache-2.0

package frame

// Check compares one thing the paper says with what came out.
type Check struct {
	What  string `json:"what"`  // e.g. "non-private accuracy"
	Paper string `json:"paper"` // what the paper says
	Ours  string `json:"ours"`  // what came out
	Holds bool   `json:"holds"`
}

// Outcome is a verdict in one word.
type Outcome string

const (
	Reproduced Outcome = "reproduced" // every check holds
	Partly     Outcome = "partly"     // some do
	Not        Outcome = "not"        // none does
)

// Verdict says whether a figure came out as the paper has it.
type Verdict struct {
	Figure  string   `json:"figure"`
	Claim   string   `json:"claim"`
	Outcome Outcome  `json:"outcome"`
	Reason  string   `json:"reason"`
	Checks  []Check  `json:"checks"`
	Notes   []string `json:"notes,omitempty"`
	Repeats int      `json:"repeats"`
	Seed    uint64   `json:"seed"`
	Commits []string `json:"commits,omitempty"` // of the programs that wrote the records
}

func judgeChecks(checks []Check) (Outcome, string) {
	held, failed := 0, ""
	for _, c := range checks {
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
	case len(checks):
		return Reproduced, "every statement checked came out as the paper has it"
	case 0:
		return Not, failed
	}
	return Partly, failed
}
