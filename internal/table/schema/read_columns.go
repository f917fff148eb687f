// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// readColumns reads the file's columns in order, the label included, into s. It returns their names,
// trimmed.
func (r *reader) readColumns(f fields, s *Schema) (names map[string]bool) {
	entries := f.items("columns", "write one entry per column, in file order", MaxColumns)
	if entries == nil {
		return nil
	}
	names = map[string]bool{}
	labels, features := 0, 0
	for i, n := range entries {
		c := r.openMapping(n, fmt.Sprintf("column %d ", i+1), "name", "role", "note", "number", "category", "date", "label")
		if n.form != mapping {
			continue
		}
		name := r.columnName(&c, "column", names, "write name: and the column's name as the file's header spells it")
		if mark := s.Dialect.Comment; mark != "" && s.Dialect.Header && strings.HasPrefix(name, mark) {
			c.refuse("name", "must not start with what comments start with, or the header may pass for one", strconv.Quote(name),
				"choose another comment: under file, or remove it")
		}
		if c.has("label") {
			labels++
			if labels > 1 {
				c.refuse("label", "must be declared once", "a second label",
					"one column is what the classifier predicts; give this one number: or category: instead")
				continue
			}
			s.Label = r.readLabel(c, name, &s.Dialect)
			s.Label.Position = i
			continue
		}
		s.Columns = append(s.Columns, r.readColumn(c, name, &s.Dialect))
		if s.Columns[len(s.Columns)-1].Role != Ignored {
			features++
		}
	}
	if labels == 0 {
		f.refuse("columns", "must include the label", nil,
			`give the column to be predicted, in its place among the columns, label: {levels: ["no", "yes"], positive: "yes"}`)
	}
	if features == 0 {
		f.refuse("columns", "must include a public or private column other than the label", nil, "")
	}
	return names
}

// readColumn reads one feature column or ignored column.
func (r *reader) readColumn(f fields, name string, d *Dialect) Column {
	c := Column{Name: name}
	c.Role = Role(f.choice("role", "must be private, public or ignored", "write role: private (the guarantee protects it), "+
		"public (it does not) or ignored (never read); no column has a role by default", string(Public), string(Private),
		string(Ignored)))
	if f.has("note") {
		c.Note = f.prose("note", "write a remark, or remove the line")
	}
	switch number, category := f.has("number"), f.has("category"); {
	case f.has("date") && (number || category):
		f.refuse("date", "must not be combined with number or category", "both", "a column is one of them: remove the others")
	case f.has("date"):
		r.readDate(f, &c)
	case number && category:
		f.refuse("category", "must not be combined with number", "both", "a column is one or the other: remove one of the two")
	case number:
		c.Kind = Number
		r.readNumber(f, &c)
	case category:
		c.Kind = Category
		r.readCategory(f, &c, d)
	case c.Role != Ignored:
		f.refuse("number or category", "must be given", nil,
			"write number: {lower: ..., upper: ..., default: ...} or category: {levels: [...]}, from documentation, not "+
				"from the data")
	}
	return c
}

func (r *reader) readNumber(parent fields, c *Column) {
	f := r.openMapping(parent.values["number"], parent.where, "lower", "upper", "integer", "transform",
		"monotone", "edges", "bins", "default", "missing", "special")
	const bounds = "write the smallest and largest value a cell may have, from documentation or common knowledge, not " +
		"from the data; cells outside are clamped"
	c.Lower = f.number("lower", "write lower: "+bounds[len("write "):])
	c.Upper = f.number("upper", "write upper: "+bounds[len("write "):])
	// A missing or refused bound is NaN and reported already, so from here on
	// comparisons that are false for NaN say nothing more about it.
	if c.Lower >= c.Upper {
		f.refuse("lower", "must be below upper", fmt.Sprintf("lower %g, upper %g", c.Lower, c.Upper), bounds)
	}
	if f.has("integer") {
		r.readInteger(f, c)
	}
	if f.has("transform") {
		r.readTransform(f, c)
	}
	r.readCuts(f, c)
	r.readMarks(f, c, "write the numbers that are codes by the documentation, e.g. special: [96, 98], or remove the line",
		func(n *node, param, _ string) float64 { return r.parseNumber(n, param) })
	const standIn = "write default: and the number that stands in for a missing or unreadable cell, chosen without " +
		"looking at the data, e.g. the middle of the bounds"
	switch {
	case f.has("default"):
		x := f.number("default", standIn)
		if x < c.Lower || x > c.Upper {
			f.refuse("default", "must lie within lower and upper", fmt.Sprintf("%g", x), standIn)
		}
		c.Default = &x
	case c.Role == Private:
		f.refuse("default", "must be given for a private number", nil,
			standIn+"; refusing such a row instead would reveal it")
	case c.Marks() > 0:
		f.refuse("default", "is required with missing or special", nil,
			"write default: and the number that stands for such a cell where a learner needs an amount")
	}
}

// readMarks reads which cells of a number are not amounts. parse reads one of them.
func (r *reader) readMarks(f fields, c *Column, hint string, parse func(n *node, param, hint string) float64) {
	if f.has("missing") {
		c.Missing = f.boolean("missing", "write missing: true to give missing and unreadable cells a bin of their own, "+
			"missing: false to count them as default")
	}
	entries := f.items("special", hint, MaxSpecial)
	if entries != nil && len(entries) == 0 {
		f.refuse("special", "must list at least one", 0, hint)
	}
	for _, n := range entries {
		x := parse(n, f.where+"special", hint)
		switch {
		case math.IsNaN(x): // reported already
		case slices.Contains(c.Special, x):
			r.refuse(n.line, f.where+"special", "must list each once", n.text, "remove one of the two")
		default:
			c.Special = append(c.Special, x+0) // -0 and 0 are one number
		}
	}
}

// readCuts reads the requirements on a model about a number: its direction and its bins.
func (r *reader) readCuts(f fields, c *Column) {
	if f.has("monotone") {
		c.Monotone = Monotone(f.choice("monotone", "must be increasing or decreasing", "write monotone: increasing or "+
			"monotone: decreasing, or remove the line", string(Increasing), string(Decreasing)))
	}
	const edges = "write the bin edges in increasing order, e.g. edges: [20, 30, 40]"
	last := c.Lower
	for _, n := range f.items("edges", edges, MaxLevels) {
		e := r.parseNumber(n, f.where+"edges")
		if e <= last || e >= c.Upper {
			r.refuse(n.line, f.where+"edges", "must increase strictly and lie between lower and upper, both excluded",
				n.text, edges)
		}
		last = e
		c.Edges = append(c.Edges, e)
	}
	if f.has("bins") {
		r.readBins(f, c)
	}
}

// readInteger reads whether cells are whole numbers. This must be declared, since a ratio may also
// have whole bounds.
func (r *reader) readInteger(f fields, c *Column) {
	c.Integer = f.boolean("integer", "write integer: true if cells are whole numbers by their meaning, such as "+
		"counts, or remove the line")
	for _, bound := range []struct {
		key   string
		value float64
	}{{"lower", c.Lower}, {"upper", c.Upper}} {
		if c.Integer && bound.value != math.Floor(bound.value) && !math.IsNaN(bound.value) {
			f.refuse(bound.key, "must be whole with integer: true", fmt.Sprintf("%g", bound.value),
				"round the bound away from the other, or remove integer: true")
		}
	}
}

func (r *reader) readTransform(f fields, c *Column) {
	c.Transform = Transform(f.choice("transform", "must be log1p", "write transform: log1p, or remove the line", string(Log1p)))
	switch {
	case c.Transform == "":
	case c.Lower <= -1:
		f.refuse("lower", "must be above -1 for transform: log1p", fmt.Sprintf("%g", c.Lower),
			"raise lower, or remove the transform: log(1+x) does not exist there")
	case c.Lower < c.Upper && !(math.Log1p(c.Lower) < math.Log1p(c.Upper)):
		f.refuse("upper", "must be further above lower for transform: log1p", fmt.Sprintf("%g", c.Upper),
			"the two have the same logarithm in floating point")
	}
}

func (r *reader) readCategory(parent fields, c *Column, d *Dialect) {
	f := r.openMapping(parent.values["category"], parent.where, "levels", "buckets", "missing", "groups")
	if f.has("levels") || !f.has("buckets") {
		c.Levels = r.readLevels(f, d, 1, MaxLevels,
			"write every level a cell may have, e.g. levels: [red, green], from documentation, not from the data; any other "+
				"cell counts as \"other\"")
	}
	if f.has("buckets") {
		r.readBuckets(f, c)
	}
	if f.has("missing") {
		c.Missing = f.boolean("missing",
			"write missing: true to give missing cells a level of their own, missing: false to count them as \"other\"")
	}
	if f.has("groups") {
		r.readGroups(f, c)
	}
}

// readBuckets reads the number of levels among which undeclared values are distributed.
func (r *reader) readBuckets(f fields, c *Column) {
	const hint = "write into how many levels values that are not listed fall, by a public hash of their text, e.g. " +
		"buckets: 64; or remove the line"
	n := f.whole("buckets", 0, 1<<20, hint)
	if n < 2 || n > MaxLevels-len(c.Levels) {
		f.refuse("buckets", fmt.Sprintf("must be between 2 and %d, levels counted", MaxLevels), n, hint)
		return
	}
	c.Buckets = n
	for k := range n {
		name := fmt.Sprintf("bucket %d", k+1)
		if CodeOf(c.Levels, name) >= 0 {
			f.refuse("buckets", "must not be combined with a level of a bucket's name", strconv.Quote(name),
				"call the level otherwise")
			return
		}
		c.Levels = append(c.Levels, Level{Value: name})
	}
}

// readLabel reads the column that is predicted.
func (r *reader) readLabel(f fields, name string, d *Dialect) Label {
	l := Label{Name: name, Positive: -1, Default: -1}
	for _, key := range []string{"number", "category", "date", "note"} {
		if f.has(key) {
			f.refuse(key, "must not be combined with label", "both", "a label has name, role and label only")
		}
	}
	l.Role = Role(f.choice("role", "must be private or public for the label", "write role: private (the guarantee protects "+
		"the label) or public (it does not)", string(Public), string(Private)))
	f = r.openMapping(f.values["label"], f.where, "levels", "positive", "negative", "default", "weights")
	if f.has("negative") {
		r.readSides(f)
	}
	l.Levels = r.readLevels(f, d, 2, MaxClasses, `write every class, e.g. levels: ["no", "yes"]`)

	const positive = `write positive: and the class that scores and rates speak of, e.g. positive: "yes"`
	switch {
	case len(l.Levels) == 2:
		l.Positive = r.findClass(f, "positive", l.Levels, positive)
	case len(l.Levels) > 2 && f.has("positive"):
		f.refuse("positive", "belongs to a label of two classes", fmt.Sprintf("%d classes", len(l.Levels)),
			"remove the line, or make the label binary: one class with the others as its aliases")
	}
	const standIn = "write default: and the class an unreadable label becomes; refusing such a row instead would reveal it"
	if l.Role == Private || f.has("default") {
		l.Default = r.findClass(f, "default", l.Levels, standIn)
	}
	if f.has("weights") {
		l.Weights = r.readWeights(f, l.Levels)
	}
	return l
}

// readSides makes the levels of a label whose values are listed on two sides. The first value of a
// side is the class, and the others are its aliases.
func (r *reader) readSides(f fields) {
	const hint = `write the values of both sides, e.g. positive: ["<30"], negative: [">30", "NO"], and no levels:`
	if f.has("levels") {
		f.refuse("levels", "must not be combined with negative", "both", hint)
	}
	both := &node{form: list, line: f.lineOf("negative")}
	for _, key := range []string{"negative", "positive"} {
		side := f.requireNode(key, hint)
		if side == nil {
			continue
		}
		values := []*node{side}
		if side.form == list {
			values = f.items(key, hint, MaxLevels)
		}
		if len(values) == 0 {
			f.refuse(key, "must list at least one value", 0, hint)
			continue
		}
		level := &node{form: mapping, line: side.line}
		level.addPair("value", values[0])
		if len(values) > 1 {
			level.addPair("aliases", &node{form: list, line: side.line, items: values[1:]})
		}
		both.items = append(both.items, level)
		f.values[key] = values[0]
	}
	f.values["levels"] = both
}

const (
	minWeight = 1e-6
	maxWeight = 1e6
)

// readWeights reads the weights of the classes' rows.
func (r *reader) readWeights(f fields, classes []Level) (weights []float64) {
	const hint = `give every class a number, from what a mistake costs or from documentation, not from counts of the ` +
		`data, e.g. weights: {"no": 1, "yes": 5}; remove the line to count all rows the same`
	keys := Values(classes)
	g := r.openMapping(f.values["weights"], f.where+"weights ", keys...)
	for _, key := range keys {
		x := g.number(key, hint)
		if x < minWeight || x > maxWeight { // NaN is reported already
			g.refuse(key, "must be between 1e-6 and 1e6", fmt.Sprintf("%g", x), hint)
		}
		weights = append(weights, x)
	}
	return weights
}

// findClass returns the code of the class that is the value of a key; -1 after a report.
func (r *reader) findClass(f fields, key string, classes []Level, hint string) int {
	want := f.text(key, hint)
	if want == "" || classes == nil {
		return -1
	}
	code := CodeOf(classes, want)
	if code < 0 {
		f.refuse(key, "must be one of the classes", strconv.Quote(want),
			"write it exactly as in levels; an alias does not do")
	}
	return code
}

// readLevels reads declared levels with their aliases. No spelling may occur twice, in the same or
// different levels, or be a sign for a missing cell, so that every cell has one meaning. It returns
// nil after a report.
func (r *reader) readLevels(f fields, d *Dialect, least, most int, hint string) []Level {
	if f.requireNode("levels", hint) == nil {
		return nil
	}
	if n := f.values["levels"]; (n.form == plain || n.form == quoted) && n.text == "yes_no" {
		f.values["levels"] = yesAndNo(n.line, d)
	} else if n.form == mapping {
		f.values["levels"] = r.readMapping(f, n)
	}
	entries := f.items("levels", hint, most)
	if entries == nil {
		return nil
	}
	before := len(r.found)
	if len(entries) < least {
		f.refuse("levels", fmt.Sprintf("must list at least %d", least), len(entries), hint)
	}
	seen, prefixes := map[string]string{}, map[string]string{} // from a text in NFC to the text
	spelling := func(n *node) string {
		s, ok := r.scalarText(n, f.where+"levels", hint)
		if !ok {
			return ""
		}
		trimmed := norm.NFC.String(strings.TrimSpace(s))
		first, twice := seen[trimmed]
		switch {
		case trimmed == "":
			r.refuse(n.line, f.where+"levels", "must not be empty", strconv.Quote(s),
				`an empty cell is declared as missing: [""] under file`)
		case d.Trim && strings.TrimSpace(s) != s:
			r.refuseSpace(n, f.where+"levels", s)
		case twice:
			r.refuse(n.line, f.where+"levels", "must list each level and alias once", describeTwins(first, s),
				"remove one of the two; they are compared after trimming and in Unicode's form NFC")
		case slices.ContainsFunc(d.Missing, func(token string) bool { return norm.NFC.String(token) == trimmed }):
			r.refuse(n.line, f.where+"levels", "must not list a missing token", strconv.Quote(s),
				"remove it here or from missing under file")
		}
		seen[trimmed] = s
		return s
	}
	var levels []Level
	for _, n := range entries {
		if n.form != mapping {
			levels = append(levels, Level{Value: spelling(n)})
			continue
		}
		e := r.openMapping(n, f.where+"level ", "value", "aliases", "prefixes")
		const example = `write {value: ">50K", aliases: [">50K."]}`
		l := Level{}
		if v := e.requireNode("value", example); v != nil {
			l.Value = spelling(v)
		}
		for _, a := range e.items("aliases", example, MaxLevels) {
			l.Aliases = append(l.Aliases, spelling(a))
		}
		for _, p := range e.items("prefixes", `write {value: diabetes, prefixes: ["250"]}`, MaxLevels) {
			text, ok := r.scalarText(p, f.where+"levels", hint)
			first, twice := prefixes[norm.NFC.String(text)]
			switch {
			case !ok:
			case text == "" || text != strings.TrimSpace(text):
				e.refuse("prefixes", "must not be empty or begin or end with white space", strconv.Quote(text), "")
			case twice:
				r.refuse(p.line, f.where+"levels", "must list each prefix once", describeTwins(first, text), "remove one of the two")
			default:
				prefixes[norm.NFC.String(text)] = text
				l.Prefixes = append(l.Prefixes, text)
			}
		}
		levels = append(levels, l)
	}
	if len(r.found) > before {
		return nil
	}
	return levels
}

// describeTwins describes two texts that are compared as one. If they look alike, it writes their characters as escapes.
func describeTwins(a, b string) string {
	if a == b {
		return strconv.Quote(a)
	}
	return strconv.QuoteToASCII(a) + " and " + strconv.QuoteToASCII(b)
}
