// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"errors"
	"fmt"
	"strings"

	"github.com/discreet-dp/discreet/internal/ground/dp"
)

// decisions are the choices of a schema's author, in a suitable order: what is protected comes first,
// since roles and bounds follow from it.
var decisions = []struct{ what, why string }{
	{"what one row is, and which tables are neighbours", "the guarantee is about that"},
	{"the text of the files", "then rows can be checked"},
	{"the label", "its role decides whether whole rows are protected"},
	{"the roles of the columns", "leave out what cannot help: fewer private columns are more accurate"},
	{"what cells can be", "from documentation, law or common knowledge, never from the rows"},
	{"the rest", ""},
}

// decisionOf returns the index in decisions that a fault belongs to.
func decisionOf(fault *dp.ParamError) int {
	words := strings.Fields(fault.Param)
	last := ""
	if len(words) > 0 {
		last = words[len(words)-1]
	}
	switch {
	case fault.Param == "name", fault.Param == "unit", fault.Param == "relation":
		return 0
	case strings.HasPrefix(fault.Param, "file"):
		return 1
	case fault.Param == "columns" && strings.Contains(fault.Want, "label"), strings.Contains(fault.Hint, "the label"),
		last == "positive", strings.Contains(fault.Hint, "the class"):
		return 2
	case last == "role":
		return 3
	case strings.HasPrefix(fault.Param, "column "):
		return 4
	}
	return 5
}

// ExplainFaults lists what is missing or wrong in a schema, in the order in which to decide it. err is
// the error of Parse. It returns "" if err is not a list of faults.
func ExplainFaults(err error) string {
	groups := make([][]string, len(decisions))
	n := 0
	var visit func(err error)
	visit = func(err error) {
		if many, ok := err.(interface{ Unwrap() []error }); ok {
			for _, e := range many.Unwrap() {
				visit(e)
			}
			return
		}
		if fault, ok := err.(*dp.ParamError); ok {
			n++
			at := decisionOf(fault)
			line := fmt.Sprintf("   %s: %s %s", strings.TrimPrefix(fault.Op, "schema "), fault.Param, fault.Want)
			if fault.Hint != "" {
				line += "\n      " + fault.Hint
			}
			if next := fault.Next.String(); next != "" {
				line += "\n      " + next
			}
			groups[at] = append(groups[at], line)
			return
		}
		if inner := errors.Unwrap(err); inner != nil {
			visit(inner)
		}
	}
	visit(err)
	if n == 0 {
		return ""
	}
	var b strings.Builder
	step := 0
	for g, lines := range groups {
		if len(lines) == 0 {
			continue
		}
		step++
		fmt.Fprintf(&b, "%d. %s", step, decisions[g].what)
		if decisions[g].why != "" {
			fmt.Fprintf(&b, " (%s)", decisions[g].why)
		}
		b.WriteString("\n" + strings.Join(lines, "\n") + "\n")
	}
	if n == maxProblems {
		b.WriteString("There may be more: write these and ask again.\n")
	}
	return b.String()
}
