// SPDX-License-Identifier: Apache-2.0

package frame

import (
	"fmt"
	"math"
)

// Check compares one thing the paper says with what came out. Its word follows from its parts; without parts, from
// Holds.
type Check struct {
	What  string  `json:"what"`  // e.g. "non-private accuracy"
	Paper string  `json:"paper"` // what the paper says
	Ours  string  `json:"ours"`  // what came out
	Word  Outcome `json:"word"`
	Holds bool    `json:"holds"` // the word is Reproduced
	Parts []Part  `json:"-"`
	// Later says when and why a reading was chosen after results had been seen, or
	// that it is our claim and not the paper's. Such a check is shown and does not
	// count. Empty for a reading fixed before.
	Later string `json:"later,omitempty"`
}

// Part is one comparison: the paper's words, as they are read, place a mean between Low and High.
type Part struct {
	Of        Stat
	Low, High float64
	Weak      bool // it refutes if it is false, and is not needed if nobody can tell
}

// Above, Below and Within are parts.
func Above(s Stat, x float64) Part          { return Part{Of: s, Low: x, High: math.Inf(1)} }
func Below(s Stat, x float64) Part          { return Part{Of: s, Low: math.Inf(-1), High: x} }
func Within(s Stat, low, high float64) Part { return Part{Of: s, Low: low, High: high} }

// Fact is a part about something that has no spread.
func Fact(holds bool) Part {
	if holds {
		return Above(Stat{Mean: 1, N: leastRepeats}, 0)
	}
	return Above(Stat{N: leastRepeats}, 0)
}

// Outcome is a verdict in one of three words.
type Outcome string

const (
	Reproduced Outcome = "reproduced"
	Differs    Outcome = "differs"
	CannotTell Outcome = "cannot tell" // with another seed either could come out, or numbers that say nothing pass
)

// wordOf says whether the true mean lies between the ends, by an interval each of whose ends errs with probability tail.
func (p Part) wordOf(tail float64) Outcome {
	least, most := p.Of.AtLeast(tail), p.Of.AtMost(tail)
	switch {
	case p.Of.N < leastRepeats:
		return CannotTell
	case least > p.Low && most < p.High:
		return Reproduced
	case most <= p.Low || least >= p.High:
		return Differs
	}
	return CannotTell
}

// settleWords gives each check its word. All the words of a figure that count err together in a share miss of all
// seeds: each part has its share of it. So two seeds contradict each other, one saying reproduced and one differs, in at
// most that share, wherever the truth lies.
func settleWords(checks []Check) {
	parts := 1
	for _, c := range checks {
		if c.Later == "" {
			parts += len(c.Parts)
		}
	}
	for i := range checks {
		c := &checks[i]
		if len(c.Parts) == 0 {
			c.Parts = []Part{Fact(c.Holds)}
		}
		c.Word = Reproduced
		for _, p := range c.Parts {
			switch w := p.wordOf(miss / float64(parts)); {
			case w == Differs:
				c.Word = Differs
			case w == CannotTell && c.Word != Differs && !p.Weak:
				c.Word = CannotTell
			}
		}
		c.Holds = c.Word == Reproduced
	}
}

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
	Older   bool      `json:"older,omitempty"`   // records were written by other code than judges them
}

// leastRepeats is the number of repeats that a verdict needs: of fewer no spread is known.
const leastRepeats = 2

// judgeSummary judges what was measured, and beside it numbers that say nothing. A
// claim that those bear out as well is one that nobody can tell.
func (f *Figure) judgeSummary(s *Summary) (checks []Check, null []NullRun, o Outcome, reason string) {
	checks = f.Judge(s)
	settleWords(checks)
	null = f.JudgeNull(s)
	o, reason = judgeChecks(checks)
	if s.Repeats < leastRepeats {
		return checks, null, CannotTell, fmt.Sprintf("%d repeat shows no spread; a verdict needs %d at least", s.Repeats,
			leastRepeats)
	}
	for _, n := range null {
		if o == Reproduced && n.IsBorneOut() {
			return checks, null, CannotTell, fmt.Sprintf("every statement checked holds, but so it does in %d of %d draws of %s",
				n.Reproduced, n.Draws, n.Name)
		}
	}
	return checks, null, o, reason
}

// judgeChecks is the verdict of checks that have their words: it differs if one does.
func judgeChecks(checks []Check) (Outcome, string) {
	said := map[Outcome]string{}
	for _, c := range checks {
		if c.Later != "" || c.Word == Reproduced {
			continue
		}
		if said[c.Word] != "" {
			said[c.Word] += "; "
		}
		said[c.Word] += c.What + ": the paper says " + c.Paper + ", here " + c.Ours
	}
	switch {
	case said[Differs] != "" && said[CannotTell] != "":
		return Differs, said[Differs] + ". Our repeats cannot tell: " + said[CannotTell]
	case said[Differs] != "":
		return Differs, said[Differs]
	case said[CannotTell] != "":
		return CannotTell, "our repeats cannot tell: " + said[CannotTell]
	}
	return Reproduced, "every statement checked came out as the paper has it"
}
