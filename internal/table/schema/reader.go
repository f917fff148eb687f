// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/discreet-dp/discreet/internal/ground/dp"
)

// Blank marks a choice to make in a template.
const Blank = "___"

// maxProblems is the largest number of faults in a report.
const maxProblems = 24

// problems holds every fault found in one schema.
type problems []error

func (ps problems) Error() string {
	if len(ps) == 1 {
		return ps[0].Error()
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d problems", len(ps))
	if len(ps) == maxProblems {
		fmt.Fprintf(&b, " (there may be more)")
	}
	for _, p := range ps {
		b.WriteString("\n  " + p.Error())
	}
	return b.String()
}

func (ps problems) Unwrap() []error { return ps }

// reader collects all faults instead of stopping at the first one, so that a user who fills in a
// template sees everything that is left to do.
type reader struct {
	found problems
	most  int     // maximum number of faults to report
	dir   string  // folder of the schema's file; "" if there is none
	next  dp.Step // what the faults that are found now advise
}

func (r *reader) refuse(line int, param, want string, got any, hint string) {
	if len(r.found) >= r.most {
		return
	}
	op := "schema"
	if line > 0 {
		op = fmt.Sprintf("schema line %d", line)
	}
	fault := &dp.ParamError{Op: op, Param: param, Want: want, Got: got, Hint: hint, Next: r.next}
	for _, told := range r.found {
		if told.Error() == fault.Error() {
			return // of a list with several blanks
		}
	}
	r.found = append(r.found, fault)
}

// fields is a mapping being read.
type fields struct {
	r      *reader
	where  string // prefix of every parameter's name, e.g. `column "age" `
	line   int
	values map[string]*node
}

// openMapping opens a mapping and refuses unknown keys. Errors do not quote them, because an unknown
// key may be a cell of a table.
func (r *reader) openMapping(n *node, where string, keys ...string) fields {
	f := fields{r, where, n.line, map[string]*node{}}
	list := strings.Join(keys, ", ")
	if n.form != mapping {
		r.refuse(n.line, strings.TrimSpace(where), "must be a mapping", describeNode(n), "write the keys "+list)
		return f
	}
	for _, p := range n.pairs {
		if f.line == 0 {
			f.line = p.line
		}
		switch _, twice := f.values[p.key]; {
		case !slices.Contains(keys, p.key):
			r.refuse(p.line, where+"key", "must be one of those known here", "another",
				nearestKey(p.key, keys)+"the keys are "+list)
		case twice:
			r.refuse(p.line, where+"key", "must be given once", strconv.Quote(p.key)+" twice", "keep one")
		default:
			f.values[p.key] = p.value
		}
	}
	return f
}

// nearestKey returns the known key that was probably meant; "" if none is similar.
func nearestKey(key string, keys []string) string {
	for _, k := range keys {
		if len(key) <= len(k)+2 && 3*countEdits(key, k) <= len(key) {
			return "did you mean " + k + "? "
		}
	}
	return ""
}

// countEdits returns the number of letters to insert, remove or replace to turn a into b.
func countEdits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0]
		row[0]++
		for j := range len(b) {
			change := before
			if a[i] != b[j] {
				change++
			}
			before = row[j+1]
			row[j+1] = min(change, row[j]+1, before+1)
		}
	}
	return row[len(b)]
}

// has reports whether the key is present.
func (f fields) has(key string) bool { return f.values[key] != nil }

func (f fields) lineOf(key string) int {
	if n := f.values[key]; n != nil && n.line > 0 {
		return n.line
	}
	return f.line
}

// refuse reports a fault of one key.
func (f fields) refuse(key, want string, got any, hint string) {
	f.r.refuse(f.lineOf(key), f.where+key, want, got, hint)
}

// requireNode returns the node of a required key, or nil after reporting that it is missing. The hint
// describes what to write.
func (f fields) requireNode(key, hint string) *node {
	n := f.values[key]
	switch {
	case n == nil:
		f.refuse(key, "must be given", nil, hint)
	case n.form == empty:
		f.refuse(key, "must be given", "an empty value", hint)
		return nil
	case isBlank(n):
		f.refuse(key, "must be filled in", Blank, hint)
		return nil
	}
	return n
}

func isBlank(n *node) bool { return n.form == plain && n.text == Blank }

// text returns the text of a required key; "" after a report.
func (f fields) text(key, hint string) string {
	n := f.requireNode(key, hint)
	if n == nil {
		return ""
	}
	s, ok := f.r.scalarText(n, f.where+key, hint)
	if ok && strings.TrimSpace(s) == "" {
		f.refuse(key, "must be given", "an empty text", hint)
		return ""
	}
	return s
}

// choice returns the text of a required key if it is one of some words; "" after a report.
func (f fields) choice(key, want, hint string, words ...string) string {
	text := f.text(key, hint)
	if text != "" && !slices.Contains(words, text) {
		f.refuse(key, want, strconv.Quote(text), hint)
		return ""
	}
	return text
}

// whole returns the whole number of a required key; 0 after a report.
func (f fields) whole(key string, least, most int, hint string) int {
	n := f.requireNode(key, hint)
	if n == nil {
		return 0
	}
	i, err := strconv.Atoi(n.text)
	if n.form != plain || err != nil || i < least || i > most {
		f.refuse(key, fmt.Sprintf("must be a whole number between %d and %d", least, most), describeNode(n), hint)
		return 0
	}
	return i
}

// prose returns a text in which runs of white space are equal to one space.
func (f fields) prose(key, hint string) string {
	n := f.requireNode(key, hint)
	if n == nil {
		return ""
	}
	if n.form == plain || n.form == quoted {
		n.text = strings.Join(strings.Fields(n.text), " ")
	}
	return f.text(key, hint)
}

// boolean returns the boolean value of a required key.
func (f fields) boolean(key, hint string) bool {
	n := f.requireNode(key, hint)
	if n == nil {
		return false
	}
	if n.form != plain || n.text != "true" && n.text != "false" {
		f.refuse(key, "must be true or false", describeNode(n), hint)
	}
	return n.text == "true"
}

// number returns the finite number of a required key; NaN after a report.
func (f fields) number(key, hint string) float64 {
	n := f.requireNode(key, hint)
	if n == nil {
		return math.NaN()
	}
	return f.r.parseNumber(n, f.where+key)
}

// maxNumber keeps the distance of any two bounds, and twice that, finite.
const maxNumber = 1e300

func (r *reader) parseNumber(n *node, param string) float64 {
	if n.form == plain && !strings.ContainsAny(n.text, "xX_pP") {
		// .inf and .nan are YAML's spellings; said to be infinite, not unreadable.
		x, err := strconv.ParseFloat(unpoint.Replace(n.text), 64)
		switch {
		case err != nil && !math.IsInf(x, 0):
		case !(math.Abs(x) <= maxNumber):
			r.refuse(n.line, param, "must be a finite number between -1e300 and 1e300", n.text, "")
			return math.NaN()
		default:
			return x
		}
	}
	r.refuse(n.line, param, "must be a decimal number", describeNode(n),
		"write it without quotes, with a point for the fraction, e.g. 1.5")
	return math.NaN()
}

var unpoint = strings.NewReplacer(".inf", "inf", ".Inf", "inf", ".INF", "inf", ".nan", "nan", ".NaN", "nan",
	".NAN", "nan")

// items returns the entries of an optional key whose value must be a list. It returns nil if the key
// is absent or after a report, and a non-nil slice for an empty list.
func (f fields) items(key, hint string, most int) []*node {
	n := f.values[key]
	if n == nil {
		return nil
	}
	if isBlank(n) {
		f.refuse(key, "must be filled in", Blank, hint)
		return nil
	}
	if n.form != list {
		f.refuse(key, "must be a list", describeNode(n), hint)
		return nil
	}
	if len(n.items) > most {
		f.refuse(key, fmt.Sprintf("must have at most %d entries", most), len(n.items), "")
		return nil
	}
	if n.items == nil {
		return []*node{}
	}
	return n.items
}

// scalarText returns the text of a scalar; ok is false after a report.
func (r *reader) scalarText(n *node, param, hint string) (s string, ok bool) {
	switch {
	case isBlank(n):
		r.refuse(n.line, param, "must be filled in", Blank, hint)
		return "", false
	case n.form != plain && n.form != quoted:
		r.refuse(n.line, param, "must be one word or text", describeNode(n),
			"put text with special characters in double quotes")
		return "", false
	case strings.ContainsFunc(n.text, isHidden):
		r.refuse(n.line, param, "must not hold line breaks or other control characters", strconv.Quote(n.text), "")
		return "", false
	}
	return n.text, true
}

// isHidden reports whether a character can make two different texts look alike, or breaks the lines of
// errors and reports.
func isHidden(c rune) bool {
	return unicode.IsControl(c) || c == '\ufeff' || c == unicode.ReplacementChar || c == '\u2028' || c == '\u2029'
}

// describeNode describes a node of the wrong kind, on one short line.
func describeNode(n *node) string {
	if n.form != plain && n.form != quoted {
		return n.form.String()
	}
	s := n.text
	if len(s) > 40 {
		s = strings.ToValidUTF8(s[:40], "") + "..."
	}
	return strconv.Quote(s)
}

// refuseSpace refuses white space around a text, because cells or names are trimmed before they are
// compared with it.
func (r *reader) refuseSpace(n *node, param, s string) {
	if s != strings.TrimSpace(s) {
		r.refuse(n.line, param, "must not begin or end with white space", strconv.Quote(s),
			"remove it; cells and names are compared after trimming")
	}
}
