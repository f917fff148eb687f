// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"fmt"
	"slices"
	"strconv"
)

// YAML writes s in its one canonical form: Parse(s.YAML()) is s again, and equal schemas have equal
// bytes. Comments are not part of a Schema. It is an error if s did not come from this package and its
// label is invalid.
func (s *Schema) YAML() ([]byte, error) {
	root, err := s.schemaTree()
	if err != nil {
		return nil, err
	}
	return toYAML(root), nil
}

// Part returns s with the given columns, indices into s.Columns, and the sources of those that are
// derived. All other columns of the file are ignored, with only their names kept. A model file stores
// this part: the facts of the columns that a model reads and no others. The ignored names preserve the
// layout: Label.Position and the positions in a file without a header keep their meaning, and a file
// that still has the other columns can still be read. Derived columns that are not given are omitted,
// since no file contains them. Columns are matched by name, and file columns have the same indices in
// s and in the part. Declared bins are omitted, because the model has its own. The part shares levels,
// edges and sources with s.
func (s *Schema) Part(columns []int) *Schema {
	keep := make([]bool, len(s.Columns))
	for _, j := range columns {
		keep[j] = true
		for _, from := range s.Columns[j].From {
			keep[from] = true
		}
	}
	part := *s
	part.Parts, part.Person, part.Pairs = "", nil, nil // who predicts need not know
	if part.Label.Role == Public {
		part.Label.Default = -1
	}
	part.Columns = make([]Column, 0, len(s.Columns))
	for j, c := range s.Columns {
		switch {
		case keep[j]:
			c.Integer, c.Quantiles, c.Groups = c.IsDatePart(), false, nil // a part of a date is whole in any case
			part.Columns = append(part.Columns, c)
		case c.Derived == InFile:
			part.Columns = append(part.Columns, Column{Name: c.Name, Role: Ignored})
		}
	}
	return &part
}

// schemaTree is the inverse of readSchema.
func (s *Schema) schemaTree() (*node, error) {
	file := s.FileColumns()
	switch l, n := &s.Label, len(s.Label.Levels); {
	case l.Position < 0 || l.Position > len(file):
		return nil, fmt.Errorf("schema: write: label position must be between 0 and %d (got %d)", len(file), l.Position)
	case slices.ContainsFunc(s.Columns[len(file):], func(c Column) bool { return !c.followsSome(len(file)) }):
		return nil, fmt.Errorf("schema: write: derived columns must be the last and have sources among the %d before them",
			len(file))
	case l.Weights != nil && len(l.Weights) != n:
		return nil, fmt.Errorf("schema: write: weights must number %d, one per class (got %d)", n,
			len(l.Weights))
	case slices.ContainsFunc(s.Pairs, func(p [2]int) bool {
		return min(p[0], p[1]) < 0 || max(p[0], p[1]) >= len(s.Columns)
	}):
		return nil, fmt.Errorf("schema: write: pairs must be of columns 0 to %d (got %v)", len(s.Columns)-1, s.Pairs)
	case l.Positive >= n || l.Default >= n:
		return nil, fmt.Errorf("schema: write: positive and default must be codes of the label's %d classes (got %d and %d)",
			n, l.Positive, l.Default)
	}
	root := &node{form: mapping}
	root.addPair("name", textNode(s.Name))
	root.addPair("unit", textNode(s.Unit))
	root.addPair("relation", textNode(string(s.Relation)))
	if s.MaxEpsilon != 0 {
		root.addPair("max_epsilon", &node{form: plain, text: s.MaxEpsilon.String()})
	}
	if s.MaxDelta != 0 {
		root.addPair("max_delta", &node{form: plain, text: s.MaxDelta.String()})
	}
	root.addPair("parts", optionalNode(s.Parts))
	if s.Person != nil {
		root.addPair("person", s.Person.personTree())
	}
	if len(s.Pairs) > 0 {
		pairs := &node{form: list}
		for _, p := range s.Pairs {
			pairs.items = append(pairs.items, textsNode([]string{s.Columns[p[0]].Name, s.Columns[p[1]].Name}))
		}
		root.addPair("pairs", pairs)
	}
	root.addPair("file", s.Dialect.dialectTree())
	if len(s.Ignored) > 0 {
		root.addPair("ignored", textsNode(s.Ignored))
	}
	columns := &node{form: list}
	for j := range file {
		columns.items = append(columns.items, file[j].columnTree())
	}
	columns.items = slices.Insert(columns.items, s.Label.Position, s.Label.labelTree())
	root.addPair("columns", columns)
	if len(file) < len(s.Columns) {
		derived := &node{form: list}
		for j := len(file); j < len(s.Columns); j++ {
			derived.items = append(derived.items, s.derivedTree(&s.Columns[j]))
		}
		root.addPair("derived", derived)
	}
	return root, nil
}

func (d *Dialect) dialectTree() *node {
	n := &node{form: mapping}
	n.addPair("delimiter", textNode(string(d.Delimiter)))
	if d.Quote == 0 {
		n.addPair("quote", textNode(""))
	} else {
		n.addPair("quote", textNode(string(d.Quote)))
	}
	n.addPair("header", booleanNode(d.Header))
	n.addPair("encoding", optionalNode(d.Encoding))
	if d.Decimal == ',' {
		n.addPair("decimal", textNode(","))
	}
	if d.Thousands != 0 {
		n.addPair("thousands", textNode(string(d.Thousands)))
	}
	if d.TrailingMinus {
		n.addPair("minus", textNode("trailing"))
	}
	n.addPair("trim", booleanNode(d.Trim))
	n.addPair("missing", textsNode(d.Missing))
	n.addPair("comment", optionalNode(d.Comment))
	n.addCount("skip_records", d.SkipRecords)
	n.addPair("skip_until", optionalNode(d.SkipUntil))
	return n
}

func (c *Column) columnTree() *node {
	n := &node{form: mapping}
	n.addPair("name", textNode(c.Name))
	n.addPair("role", textNode(string(c.Role)))
	switch c.Kind {
	case Number:
		if c.Date != "" {
			n.addPair("date", c.dateTree())
			break
		}
		m := &node{form: mapping}
		m.addPair("lower", numberNode(c.Lower))
		m.addPair("upper", numberNode(c.Upper))
		m.addFlag("integer", c.Integer)
		m.addPair("transform", optionalNode(string(c.Transform)))
		c.cutsTree(m)
		if c.Default != nil {
			m.addPair("default", numberNode(*c.Default))
		}
		m.addFlag("missing", c.Missing)
		m.addPair("special", numbersNode(c.Special))
		n.addPair("number", m)
	case Category:
		m := &node{form: mapping}
		if listed := c.Levels[:len(c.Levels)-c.Buckets]; len(listed) > 0 {
			m.addPair("levels", levelsNode(listed))
		}
		m.addCount("buckets", c.Buckets)
		m.addPair("missing", booleanNode(c.Missing))
		m.addPair("groups", c.groupsTree())
		n.addPair("category", m)
	}
	n.addPair("note", optionalNode(c.Note))
	return n
}

// cutsTree adds the keys that readCuts reads.
func (c *Column) cutsTree(m *node) {
	m.addPair("monotone", optionalNode(string(c.Monotone)))
	m.addPair("edges", numbersNode(c.Edges))
	if c.Quantiles {
		m.addPair("bins", textNode("quantiles"))
	}
}

// groupsTree returns nil if no groups are declared.
func (c *Column) groupsTree() *node {
	if c.Groups == nil {
		return nil
	}
	n := &node{form: mapping}
	for _, g := range c.Groups {
		values := &node{form: list}
		for _, code := range g.Levels {
			values.items = append(values.items, textNode(c.Levels[code].Value))
		}
		n.addPair(g.Name, values)
	}
	return n
}

func (l *Label) labelTree() *node {
	m := &node{form: mapping}
	m.addPair("levels", levelsNode(l.Levels))
	if l.Positive >= 0 {
		m.addPair("positive", textNode(l.Levels[l.Positive].Value))
	}
	if l.Default >= 0 {
		m.addPair("default", textNode(l.Levels[l.Default].Value))
	}
	if l.Weights != nil {
		w := &node{form: mapping}
		for k, x := range l.Weights {
			w.addPair(l.Levels[k].Value, numberNode(x))
		}
		m.addPair("weights", w)
	}
	n := &node{form: mapping}
	n.addPair("name", textNode(l.Name))
	n.addPair("role", textNode(string(l.Role)))
	n.addPair("label", m)
	return n
}

func levelsNode(ls []Level) *node {
	n := &node{form: list}
	for _, l := range ls {
		if len(l.Aliases) == 0 && len(l.Prefixes) == 0 {
			n.items = append(n.items, textNode(l.Value))
			continue
		}
		m := &node{form: mapping}
		m.addPair("value", textNode(l.Value))
		if len(l.Aliases) > 0 {
			m.addPair("aliases", textsNode(l.Aliases))
		}
		if len(l.Prefixes) > 0 {
			m.addPair("prefixes", textsNode(l.Prefixes))
		}
		n.items = append(n.items, m)
	}
	return n
}

func textNode(s string) *node { return &node{form: quoted, text: s} }

func textsNode(ss []string) *node {
	n := &node{form: list}
	for _, s := range ss {
		n.items = append(n.items, textNode(s))
	}
	return n
}

// optionalNode returns a node of a text, or nil if there is none.
func optionalNode(s string) *node {
	if s == "" {
		return nil
	}
	return textNode(s)
}

func numberNode(x float64) *node {
	return &node{form: plain, text: strconv.FormatFloat(x, 'g', -1, 64)}
}

// numbersNode returns a list of numbers, or nil if there are none.
func numbersNode(xs []float64) *node {
	if len(xs) == 0 {
		return nil
	}
	n := &node{form: list}
	for _, x := range xs {
		n.items = append(n.items, numberNode(x))
	}
	return n
}

func booleanNode(b bool) *node { return &node{form: plain, text: strconv.FormatBool(b)} }
