// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"fmt"
	"slices"
	"strconv"
)

// YAML writes s in its one canonical form: Parse(s.YAML()) is s again, and
// equal schemas have equal bytes. Comments are not part of a Schema. It is an
// error when s did not come from this package and its label points nowhere.
func (s *Schema) YAML() ([]byte, error) {
	root, err := s.tree()
	if err != nil {
		return nil, err
	}
	return toYAML(root), nil
}

// Part returns s with the given columns, indices into s.Columns, as they are,
// the sources of those that are derived with them, and every other column of
// the file ignored, only its name kept. It is what a model file stores: the facts
// of the columns a model reads and no others. The ignored names stay because
// they keep the layout: Label.Position and the places of a headerless file mean
// what they meant, and a file that still has the other columns is still this
// table. Derived columns that are not given have no place in a file and are left
// out; columns are matched by name, and those of the file have the same indices
// in s and in the part. How columns ask to be cut into bins is left out: the
// model's are settled. The part shares levels, edges and sources with s.
func (s *Schema) Part(columns []int) *Schema {
	keep := make([]bool, len(s.Columns))
	for _, j := range columns {
		keep[j] = true
		for _, from := range s.Columns[j].From {
			keep[from] = true
		}
	}
	part := *s
	part.Parts, part.Pairs = "", nil // who predicts need not know
	if part.Label.Role == Public {
		part.Label.Default = -1
	}
	part.Columns = make([]Column, 0, len(s.Columns))
	for j, c := range s.Columns {
		switch {
		case keep[j]:
			c.Quantiles, c.Groups = false, nil
			part.Columns = append(part.Columns, c)
		case c.Derived == InFile:
			part.Columns = append(part.Columns, Column{Name: c.Name, Role: Ignored})
		}
	}
	return &part
}

// tree is the inverse of read.
func (s *Schema) tree() (*node, error) {
	file := s.FileColumns()
	switch l, n := &s.Label, len(s.Label.Levels); {
	case l.Position < 0 || l.Position > len(file):
		return nil, fmt.Errorf("schema: write: label position must be between 0 and %d (got %d)", len(file), l.Position)
	case slices.ContainsFunc(s.Columns[len(file):], func(c Column) bool { return !c.follows(len(file)) }):
		return nil, fmt.Errorf("schema: write: derived columns must be the last and have sources among the %d before them", len(file))
	case l.Weights != nil && len(l.Weights) != n:
		return nil, fmt.Errorf("schema: write: weights must number %d, one per level of the label (got %d)", n, len(l.Weights))
	case slices.ContainsFunc(s.Pairs, func(p [2]int) bool { return min(p[0], p[1]) < 0 || max(p[0], p[1]) >= len(s.Columns) }):
		return nil, fmt.Errorf("schema: write: pairs must be of columns 0 to %d (got %v)", len(s.Columns)-1, s.Pairs)
	case l.Positive >= n || l.Default >= n:
		return nil, fmt.Errorf("schema: write: positive and default must be codes of the label's %d levels (got %d and %d)", n, l.Positive, l.Default)
	}
	root := &node{form: mapping}
	root.add("name", text(s.Name))
	root.add("unit", text(s.Unit))
	root.add("relation", text(string(s.Relation)))
	if s.MaxEpsilon != 0 {
		root.add("max_epsilon", &node{form: plain, text: s.MaxEpsilon.String()})
	}
	if s.MaxDelta != 0 {
		root.add("max_delta", &node{form: plain, text: s.MaxDelta.String()})
	}
	if s.Parts != "" {
		root.add("parts", text(s.Parts))
	}
	if len(s.Pairs) > 0 {
		pairs := &node{form: list}
		for _, p := range s.Pairs {
			pairs.items = append(pairs.items, texts([]string{s.Columns[p[0]].Name, s.Columns[p[1]].Name}))
		}
		root.add("pairs", pairs)
	}
	root.add("file", s.Dialect.tree())
	columns := &node{form: list}
	for j := range file {
		columns.items = append(columns.items, file[j].tree())
	}
	columns.items = slices.Insert(columns.items, s.Label.Position, s.Label.tree())
	root.add("columns", columns)
	if len(file) < len(s.Columns) {
		derived := &node{form: list}
		for j := len(file); j < len(s.Columns); j++ {
			derived.items = append(derived.items, s.derivedTree(&s.Columns[j]))
		}
		root.add("derived", derived)
	}
	return root, nil
}

func (d *Dialect) tree() *node {
	n := &node{form: mapping}
	n.add("delimiter", text(string(d.Delimiter)))
	if d.Quote == 0 {
		n.add("quote", text(""))
	} else {
		n.add("quote", text(string(d.Quote)))
	}
	n.add("header", boolean(d.Header))
	n.add("trim", boolean(d.Trim))
	n.add("missing", texts(d.Missing))
	n.add("comment", optional(d.Comment))
	if d.SkipRecords > 0 {
		n.add("skip_records", &node{form: plain, text: strconv.Itoa(d.SkipRecords)})
	}
	n.add("skip_until", optional(d.SkipUntil))
	return n
}

func (c *Column) tree() *node {
	n := &node{form: mapping}
	n.add("name", text(c.Name))
	n.add("role", text(string(c.Role)))
	switch c.Kind {
	case Number:
		m := &node{form: mapping}
		m.add("lower", number(c.Lower))
		m.add("upper", number(c.Upper))
		m.add("transform", optional(string(c.Transform)))
		c.cutsTree(m)
		if c.Default != nil {
			m.add("default", number(*c.Default))
		}
		n.add("number", m)
	case Category:
		m := &node{form: mapping}
		m.add("levels", levels(c.Levels))
		m.add("missing", boolean(c.Missing))
		m.add("groups", c.groups())
		n.add("category", m)
	}
	n.add("note", optional(c.Note))
	return n
}

// cutsTree adds what cuts reads.
func (c *Column) cutsTree(m *node) {
	m.add("monotone", optional(string(c.Monotone)))
	if len(c.Edges) > 0 {
		edges := &node{form: list}
		for _, e := range c.Edges {
			edges.items = append(edges.items, number(e))
		}
		m.add("edges", edges)
	}
	if c.Quantiles {
		m.add("bins", text("quantiles"))
	}
}

// groups is nil where none are declared.
func (c *Column) groups() *node {
	if c.Groups == nil {
		return nil
	}
	n := &node{form: mapping}
	for _, g := range c.Groups {
		values := &node{form: list}
		for _, code := range g.Levels {
			values.items = append(values.items, text(c.Levels[code].Value))
		}
		n.add(g.Name, values)
	}
	return n
}

func (l *Label) tree() *node {
	m := &node{form: mapping}
	m.add("levels", levels(l.Levels))
	if l.Positive >= 0 {
		m.add("positive", text(l.Levels[l.Positive].Value))
	}
	if l.Default >= 0 {
		m.add("default", text(l.Levels[l.Default].Value))
	}
	if l.Weights != nil {
		w := &node{form: mapping}
		for k, x := range l.Weights {
			w.add(l.Levels[k].Value, number(x))
		}
		m.add("weights", w)
	}
	n := &node{form: mapping}
	n.add("name", text(l.Name))
	n.add("role", text(string(l.Role)))
	n.add("label", m)
	return n
}

func levels(ls []Level) *node {
	n := &node{form: list}
	for _, l := range ls {
		if len(l.Aliases) == 0 {
			n.items = append(n.items, text(l.Value))
			continue
		}
		m := &node{form: mapping}
		m.add("value", text(l.Value))
		m.add("aliases", texts(l.Aliases))
		n.items = append(n.items, m)
	}
	return n
}

func text(s string) *node { return &node{form: quoted, text: s} }

func texts(ss []string) *node {
	n := &node{form: list}
	for _, s := range ss {
		n.items = append(n.items, text(s))
	}
	return n
}

// optional is text, or nil where there is none.
func optional(s string) *node {
	if s == "" {
		return nil
	}
	return text(s)
}

func number(x float64) *node {
	return &node{form: plain, text: strconv.FormatFloat(x, 'g', -1, 64)}
}

func boolean(b bool) *node { return &node{form: plain, text: strconv.FormatBool(b)} }
