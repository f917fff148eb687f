// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/discreet-dp/discreet/internal/ground/dp"
)

// readSchema turns a document into a Schema, or reports everything wrong with it.
func readSchema(root *node, dir string) (*Schema, error) {
	return (&reader{dir: dir, most: maxProblems}).readSchema(root)
}

func (r *reader) readSchema(root *node) (*Schema, error) {
	if root.form == empty {
		r.next = dp.Step{Kind: dp.DraftSchema}
		r.refuse(0, "schema", "must not be empty", nil, "")
		return nil, r.found
	}
	f, known := r.recogniseSchema(root)
	if !known {
		return nil, r.found
	}
	s := &Schema{
		Name: f.prose("name", "write name: and a name for the table, e.g. adult"),
		Unit: f.prose("unit", `write unit: and whose data one row is, e.g. "one hospital admission"`),
		Relation: dp.Relation(f.choice("relation", "must be replace-one or add-remove", "write relation: replace-one (neighbours "+
			"differ in the protected part of one row, the number of rows is public) or relation: add-remove (neighbours "+
			"differ by one whole row)", string(dp.ReplaceOne), string(dp.AddRemove))),
	}
	if f.has("max_epsilon") {
		s.MaxEpsilon = limit(f, "max_epsilon", "must be a decimal number between 1e-9 and "+dp.MaxEpsilon.String(),
			"write the largest ε one training may spend, e.g. max_epsilon: 1, or remove the line", dp.ParseEpsilon)
	}
	if f.has("max_delta") {
		s.MaxDelta = limit(f, "max_delta", "must be a decimal number > 0 and < 1", "write the largest δ one training may "+
			"spend, e.g. max_delta: 1e-7, or remove the line for pure guarantees only", dp.ParseDelta)
	}
	s.Dialect = r.readDialect(f.values["file"])
	if f.has("ignored") {
		r.readIgnored(f, s)
	}
	if names := r.readColumns(f, s); names != nil && f.has("derived") {
		r.readDerived(f, s, names)
	}
	if f.has("parts") {
		r.readParts(f, s)
	}
	if f.has("person") {
		r.readPerson(f, s)
	}
	if f.has("pairs") {
		r.readPairs(f, s)
	}
	if len(r.found) > 0 {
		return nil, r.found
	}
	return s, nil
}

// recogniseSchema opens a document and reports whether it is a schema at all: one that has a mapping
// file: and a list columns:. Any other document may be a person's table given by mistake, so that
// errors do not quote it: they name missing keys only. Values are quoted only if the document is
// recognised.
func (r *reader) recogniseSchema(root *node) (f fields, known bool) {
	if root.form != mapping {
		r.next = dp.Step{Kind: dp.DraftSchema}
		r.refuse(root.line, "schema", "must be a mapping", root.form.String(), "a schema begins like name: adult, and this may be a file of the table")
		return f, false
	}
	f = r.openMapping(root, "", "name", "unit", "relation", "max_epsilon", "max_delta", "parts", "person", "pairs",
		"file", "ignored", "columns", "derived")
	is := func(key string, want form) bool { return f.has(key) && f.values[key].form == want }
	if is("file", mapping) && is("columns", list) {
		return f, true
	}
	r.next = dp.Step{Kind: dp.DraftSchema}
	for _, key := range []string{"name", "unit", "relation"} {
		if !f.has(key) || isBlank(f.values[key]) {
			f.requireNode(key, "")
		}
	}
	r.next = dp.Step{}
	for _, k := range []struct {
		key  string
		want form
		hint string
	}{
		{"file", mapping, `write file: with at least {delimiter: ",", quote: '"', header: true}`},
		{"columns", list, "write columns: with one entry per column of the file, in file order, the label among them"},
	} {
		if n := f.requireNode(k.key, k.hint); n != nil && n.form != k.want {
			f.refuse(k.key, "must be "+k.want.String(), n.form.String(), k.hint)
		}
	}
	return f, false
}

// limit reads the largest ε or δ of a training by the parser of package dp; 0 after a report.
func limit[T dp.Epsilon | dp.Delta](f fields, key, want, hint string, parse func(string) (T, error)) T {
	n := f.requireNode(key, hint)
	if n == nil {
		return 0
	}
	if n.form == plain {
		if x, err := parse(n.text); err == nil && x > 0 {
			return x
		}
	}
	f.refuse(key, want, describeNode(n), hint)
	return 0
}

// readParts reads the column that divides the rows into parts, after the columns.
func (r *reader) readParts(f fields, s *Schema) {
	const hint = "name the public column with levels in which rows of different parts differ, or remove the line"
	s.Parts = f.prose("parts", hint)
	if s.Parts == "" {
		return
	}
	i := s.Find(s.Parts)
	switch {
	case i < 0:
		f.refuse("parts", "must name one of the columns", strconv.Quote(s.Parts), hint)
	case s.Columns[i].Role != Public:
		f.refuse("parts", "must name a public column: a row must not change its part between neighbours",
			strconv.Quote(s.Parts), hint)
	case s.Columns[i].Kind != Category || len(s.Columns[i].Levels) < 2:
		f.refuse("parts", "must name a category column with at least 2 levels", strconv.Quote(s.Parts), hint)
	}
}

func (r *reader) readDialect(n *node) Dialect {
	f := r.openMapping(n, "file ", "delimiter", "quote", "header", "encoding", "decimal", "thousands", "minus", "trim", "missing",
		"comment", "skip_records", "skip_until")
	d := Dialect{
		Delimiter: r.readDelimiter(f),
		Quote:     r.readQuote(f),
		Header: f.boolean("header",
			"write header: true if the first record names the columns, header: false if it is data"),
	}
	if d.Quote != 0 && d.Quote == d.Delimiter {
		f.refuse("quote", "must differ from the delimiter", strconv.QuoteRune(d.Quote), "")
	}
	if f.has("encoding") {
		names := append([]string{"utf-8"}, Encodings...)
		if d.Encoding = f.choice("encoding", "must be one of "+strings.Join(names, ", "), "write how the files' characters are "+
			"encoded, or remove the line for utf-8", names...); d.Encoding == "utf-8" {
			d.Encoding = ""
		}
	}
	if f.has("decimal") {
		r.readDecimal(f, &d)
	}
	if f.has("thousands") {
		r.readThousands(f, &d)
	}
	if f.has("minus") {
		d.TrailingMinus = f.choice("minus", "must be trailing", "write minus: trailing where negative numbers are written "+
			"like 12-, or remove the line", "trailing") != ""
	}
	if f.has("trim") {
		d.Trim = f.boolean("trim", "write trim: true if white space around a cell does not count, trim: false if it does")
	}
	d.Missing = r.readMissing(f)
	if f.has("comment") {
		const hint = `write the characters a skipped line starts with, e.g. comment: "#", or remove the line`
		if d.Comment = f.text("comment", hint); d.Quote != 0 && strings.HasPrefix(d.Comment, string(d.Quote)) {
			f.refuse("comment", "must not start with the quote, with which the header may start", strconv.Quote(d.Comment), hint)
		}
	}
	if f.has("skip_records") {
		d.SkipRecords = f.whole("skip_records", 0, 1<<20,
			"write how many records come before the header or the first row, or remove the line")
	}
	if f.has("skip_until") {
		d.SkipUntil = f.text("skip_until",
			`write the whole line after which the rows begin, e.g. skip_until: "@data", or remove the line`)
	}
	return d
}

// readDecimal reads the decimal separator.
func (r *reader) readDecimal(f fields, d *Dialect) {
	const hint = `write decimal: "," where cells are written like 1,5, or remove the line where they are like 1.5`
	switch text := f.text("decimal", hint); {
	case text == "" || text == ".":
	case text != ",":
		f.refuse("decimal", "must be a point or a comma", strconv.Quote(text), hint)
	case d.Delimiter == ',' && d.Quote == 0:
		f.refuse("decimal", "must differ from the delimiter if there are no quotes", strconv.Quote(text), "cells are then put "+
			"between semicolons or tabs: what is the delimiter?")
	default:
		d.Decimal = ','
	}
}

// readThousands reads the separator of thousands, after the other signs.
func (r *reader) readThousands(f fields, d *Dialect) {
	const hint = `write thousands: "," (or ".", "'", " ") where numbers are written like 1,234,567, or remove the line`
	n := f.requireNode("thousands", hint)
	if n == nil {
		return
	}
	c, size := utf8.DecodeRuneInString(n.text)
	switch {
	case n.form != plain && n.form != quoted || size != len(n.text) || !strings.ContainsRune(",.' ", c):
		f.refuse("thousands", "must be a comma, a point, an apostrophe or a space", describeNode(n), hint)
	case c == cmp.Or(d.Decimal, '.'):
		f.refuse("thousands", "must differ from the decimal sign", strconv.Quote(n.text), `write decimal: "," beside thousands: "."`)
	case c == d.Quote, c == d.Delimiter && d.Quote == 0:
		f.refuse("thousands", "must differ from the quote, and from the delimiter if there are no quotes", strconv.Quote(n.text), hint)
	default:
		d.Thousands = c
	}
}

// readIgnored reads patterns for names of columns that are never read.
func (r *reader) readIgnored(f fields, s *Schema) {
	const hint = `write names of columns in which * stands for any text, e.g. ignored: ["*_id", "name*"], or remove ` +
		`the line`
	if !s.Dialect.Header {
		f.refuse("ignored", "must not be given if the file has no header", "header: false",
			"declare each such column in its place, with role: ignored")
	}
	for _, n := range f.items("ignored", hint, MaxColumns) {
		text, ok := r.scalarText(n, "ignored", hint)
		switch {
		case !ok:
		case strings.Trim(text, "* ") == "":
			r.refuse(n.line, "ignored", "must hold more than *", strconv.Quote(text),
				"a pattern for every column would hide what is misspelt")
		case slices.Contains(s.Ignored, text):
			r.refuse(n.line, "ignored", "must list each pattern once", strconv.Quote(text), "remove one of the two")
		default:
			s.Ignored = append(s.Ignored, text)
		}
	}
}

// matchPattern reports whether a name matches a pattern, in which * stands for any text.
func matchPattern(pattern, name string) bool {
	parts := strings.Split(pattern, "*")
	last := len(parts) - 1
	rest, ok := strings.CutPrefix(name, parts[0])
	if !ok || last == 0 {
		return ok && rest == ""
	}
	for _, part := range parts[1:last] {
		_, after, found := strings.Cut(rest, part)
		if !found {
			return false
		}
		rest = after
	}
	return strings.HasSuffix(rest, parts[last])
}

func (r *reader) readDelimiter(f fields) rune {
	const hint = `write one of delimiter: "," or ";" or "\t" (in double quotes) or another single character; spaces ` +
		`beside it are for trim: true`
	n := f.requireNode("delimiter", hint)
	if n == nil {
		return 0
	}
	c, size := utf8.DecodeRuneInString(n.text)
	if n.form != plain && n.form != quoted || size == 0 || size != len(n.text) ||
		c != '\t' && isHidden(c) || unicode.IsLetter(c) || unicode.IsDigit(c) || strings.ContainsRune(`"'.+-`, c) {
		f.refuse("delimiter", "must be a single character that no number, word or quote is written with",
			describeNode(n), hint)
		return 0
	}
	return c
}

func (r *reader) readQuote(f fields) rune {
	const hint = `write quote: '"' if cells may be put in double quotes, quote: "'" for single ones, quote: "" if ` +
		`quotes are ordinary characters`
	n := f.requireNode("quote", hint)
	switch {
	case n == nil:
	case n.form == quoted && n.text == "":
	case n.form == quoted && (n.text == `"` || n.text == `'`):
		return rune(n.text[0])
	default:
		f.refuse("quote", "must be a double quote, a single quote or empty", describeNode(n), hint)
	}
	return 0
}

// readMissing reads the tokens that mean a missing cell. The empty cell is missing only if it is
// listed.
func (r *reader) readMissing(f fields) (tokens []string) {
	const hint = `write the cells that mean missing, e.g. missing: ["", "?", NA], or missing: [] if there are none`
	seen := map[string]string{} // from a token in NFC to the token
	for _, n := range f.items("missing", hint, MaxMissing) {
		s, ok := r.scalarText(n, f.where+"missing", hint)
		if !ok {
			continue
		}
		r.refuseSpace(n, f.where+"missing", s)
		if first, twice := seen[norm.NFC.String(s)]; twice {
			r.refuse(n.line, f.where+"missing", "must list each token once", describeTwins(first, s), "remove one of the two")
		}
		seen[norm.NFC.String(s)] = s
		tokens = append(tokens, s)
	}
	return tokens
}
