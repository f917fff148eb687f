// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Derivation is the rule that computes a derived column's cell from its sources' cells in the same
// row. Source cells are clamped first, and missing ones replaced by defaults.
type Derivation string

const (
	InFile   Derivation = "" // not derived: the column is in the file
	Largest  Derivation = "largest"
	Smallest Derivation = "smallest"
	Mean     Derivation = "mean"
)

var derivations = []Derivation{Largest, Smallest, Mean}

// FileColumns returns the columns of a file except the label, in order. Derived columns follow them in
// Columns.
func (s *Schema) FileColumns() []Column {
	n := slices.IndexFunc(s.Columns, func(c Column) bool { return c.Derived != InFile })
	if n < 0 {
		return s.Columns
	}
	return s.Columns[:n:n]
}

// Sources returns the names of the columns from which a column is derived.
func (s *Schema) Sources(c *Column) (names []string) {
	for _, j := range c.From {
		names = append(names, s.Columns[j].Name)
	}
	return names
}

// readDerived reads the derived columns, after the file's columns. names holds the names in use,
// trimmed.
func (r *reader) readDerived(f fields, s *Schema, names map[string]bool) {
	const hint = "write what follows from several numbers of a row, e.g. derived: [{name: worst delay, largest: [delay " +
		"1, delay 2]}], or remove the line"
	file := s.FileColumns()
	entries := f.items("derived", hint, MaxColumns)
	if n := 1 + len(file) + len(entries); n > MaxColumns {
		f.refuse("derived", fmt.Sprintf("must leave at most %d columns in total", MaxColumns), n, "")
		return
	}
	index := make(map[string]int, len(file))
	for j := range file {
		index[file[j].Name] = j
	}
	for i, n := range entries {
		d := r.openMapping(n, fmt.Sprintf("derived column %d ", i+1), "name", "largest", "smallest", "mean", "year",
			"month", "weekday", "note", "monotone", "edges", "bins")
		if n.form == mapping {
			s.Columns = append(s.Columns, r.derivedColumn(d, file, index, names))
		}
	}
}

func (r *reader) derivedColumn(f fields, file []Column, index map[string]int, names map[string]bool) Column {
	c := Column{Kind: Number, Lower: math.NaN(), Upper: math.NaN()}
	c.Name = r.columnName(&f, "derived column", names, "write name: and a name that no column has")
	if f.has("note") {
		c.Note = f.prose("note", "write a remark, or remove the line")
	}
	for _, how := range slices.Concat(derivations, dateParts) {
		switch {
		case !f.has(string(how)):
		case c.Derived != InFile:
			f.refuse(string(how), "must not be combined with "+string(c.Derived), "both", "declare two derived columns")
		default:
			c.Derived = how
		}
	}
	hint := "write largest:, smallest: or mean: and at least two number columns, e.g. largest: [delay 1, delay 2], " +
		"or year:, month: or weekday: and one column of dates"
	if c.Derived == InFile {
		f.refuse("largest, smallest or mean", "must be given", nil, hint)
		return c
	}
	r.readSources(f, &c, file, index, hint)
	if c.IsDatePart() && len(c.From) == 1 {
		c.boundPart(&file[c.From[0]])
	}
	r.readCuts(f, &c)
	for _, j := range c.From {
		// Each of the derivations grows with each source, or stays: it keeps a
		// promise about a source by making the same one.
		if m := file[j].Monotone; m != Free && m != c.Monotone {
			f.refuse("monotone", "must be "+string(m)+", as its source is", strconv.Quote(string(c.Monotone)),
				fmt.Sprintf("column %q would not be followed: write monotone: %s, or remove it there", file[j].Name, m))
			break
		}
	}
	return c
}

// readSources reads the sources of a derived column, and sets its role, bounds and transform from
// them.
//
// A column is private if one of its sources is, and public only if all of them are, so that neighbours
// have the same public columns (evidence/guarantees/README.md, "Derived columns").
func (r *reader) readSources(f fields, c *Column, file []Column, index map[string]int, hint string) {
	key := string(c.Derived)
	entries := f.items(key, hint, MaxColumns)
	switch {
	case entries != nil && c.IsDatePart() && len(entries) != 1:
		f.refuse(key, "must list one column of dates", len(entries), hint)
	case entries != nil && !c.IsDatePart() && len(entries) < 2:
		f.refuse(key, "must list at least two columns", len(entries), hint)
	}
	c.Role, c.Integer = Public, c.Derived != Mean
	seen := map[int]bool{}
	for _, n := range entries {
		name, ok := r.scalarText(n, f.where+key, hint)
		if !ok {
			continue
		}
		refuse := func(want string) { r.refuse(n.line, f.where+key, want, strconv.Quote(name), hint) }
		j, found := index[name]
		switch {
		case !found:
			refuse("must list columns of the file other than the label")
			continue
		case file[j].Role == Ignored:
			refuse("must list columns that are not ignored")
			continue
		case file[j].Kind != Number:
			refuse("must list number columns")
			continue
		case c.IsDatePart() != (file[j].Date != ""):
			refuse("must list numbers that are no dates, or for a part of a date one that is")
			continue
		case seen[j]:
			refuse("must list each column once")
			continue
		}
		from := &file[j]
		seen[j] = true
		switch {
		case len(c.From) == 0:
			c.Lower, c.Upper, c.Transform = from.Lower, from.Upper, from.Transform
		case from.Transform != c.Transform:
			refuse("must list columns of one transform")
		}
		c.Lower, c.Upper = min(c.Lower, from.Lower), max(c.Upper, from.Upper)
		if from.Role != Public {
			c.Role = Private
		}
		c.Integer = c.Integer && from.Integer
		c.From = append(c.From, j)
	}
}

// columnName reads a name that no other column may have. It adds the name to names, and to the prefix
// of f's parameters.
func (r *reader) columnName(f *fields, what string, names map[string]bool, hint string) string {
	name := f.text("name", hint)
	if name == "" {
		return ""
	}
	r.refuseSpace(f.values["name"], f.where+"name", name)
	f.where = fmt.Sprintf("%s %q ", what, name)
	if trimmed := strings.TrimSpace(name); names[trimmed] {
		f.refuse("name", "must be unique", strconv.Quote(name),
			"another column has this name; names are compared after trimming")
	} else {
		names[trimmed] = true
	}
	return name
}

// followsSome reports whether c is derived from some of the first file columns.
func (c *Column) followsSome(file int) bool {
	several := slices.Contains(derivations, c.Derived) && len(c.From) >= 2
	return (several || c.IsDatePart() && len(c.From) == 1) && slices.Min(c.From) >= 0 && slices.Max(c.From) < file
}

// derivedTree writes a derived column in the form that readDerived reads.
func (s *Schema) derivedTree(c *Column) *node {
	n := &node{form: mapping}
	n.addPair("name", textNode(c.Name))
	n.addPair(string(c.Derived), textsNode(s.Sources(c)))
	c.cutsTree(n)
	n.addPair("note", optionalNode(c.Note))
	return n
}
