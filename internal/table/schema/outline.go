// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"errors"
	"regexp"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/internal/ground/dp"
)

// Outline holds the facts in an unfinished schema text, for an editor.
type Outline struct {
	// Facts are the facts about the table: name, unit, relation, person (the column), trim and
	// missing_cells.
	Facts map[string]any
	// Columns are in the order of the text, each with the facts that are given: name, role, kind and
	// the keys of the kind. proposal is the possible content of a column with a well-known name.
	Columns []map[string]any
	Faults  []Fault
	Schema  *Schema // nil if there are faults
}

// Fault is a fault that Parse found, with its place in the text.
type Fault struct {
	Line    int // 0 if it concerns the whole text
	Column  string
	Missing bool // a choice that has not been made yet
	Words   string
}

// ReadOutline reads an unfinished schema. The outline lists all faults.
func ReadOutline(text []byte) *Outline {
	o := &Outline{Facts: map[string]any{}}
	root, err := fromYAML(text)
	if err == nil {
		o.describe(root)
		r := &reader{most: maxOutline}
		o.Schema, err = r.readSchema(root)
	}
	o.addFaults(err)
	return o
}

// maxOutline is the largest number of faults in an outline, several per column.
const maxOutline = 4 * MaxColumns

func (n *node) find(key string) *node {
	for i := range n.pairs {
		if n.pairs[i].key == key {
			return n.pairs[i].value
		}
	}
	return &node{}
}

// value returns the value of a node, for programs; nil for an empty node or a blank.
func (n *node) value() any {
	switch {
	case n.form == empty || isBlank(n):
		return nil
	case n.form == list:
		values := []any{}
		for _, item := range n.items {
			if item.form == mapping { // a level with other spellings
				item = item.find("value")
			}
			if v := item.value(); v != nil {
				values = append(values, v)
			}
		}
		return values
	case n.form == plain && (n.text == "true" || n.text == "false"):
		return n.text == "true"
	case n.form == mapping:
		return nil
	}
	return n.text
}

// kinds are the keys that declare the kind of a column's cells.
var kinds = []string{"number", "category", "date", "label"}

func put(into map[string]any, key string, v any) {
	if v != nil {
		into[key] = v
	}
}

func (o *Outline) describe(root *node) {
	for _, key := range []string{"name", "unit", "relation"} {
		put(o.Facts, key, root.find(key).value())
	}
	put(o.Facts, "person", root.find("person").find("column").value())
	put(o.Facts, "trim", root.find("file").find("trim").value())
	put(o.Facts, "missing_cells", root.find("file").find("missing").value())
	for _, item := range root.find("columns").items {
		c := map[string]any{"line": item.line}
		for _, key := range []string{"name", "role"} {
			put(c, key, item.find(key).value())
		}
		for _, kind := range kinds {
			if facts := item.find(kind); facts.form == mapping {
				c["kind"] = kind
				for _, p := range facts.pairs {
					put(c, p.key, p.value.value())
				}
			}
		}
		name, _ := c["name"].(string)
		if c["kind"] == nil && c["role"] != string(Ignored) {
			put(c, "proposal", proposalOf(name))
		}
		o.Columns = append(o.Columns, c)
	}
}

// proposalOf returns the possible content of a column with a well-known name, in words and in the form
// of Edit; nil for others.
func proposalOf(name string) any {
	lines := propose(name)
	switch lines {
	case "":
		return nil
	case identifier:
		return map[string]any{"text": "ignored: an identifier", "set": map[string]any{"role": string(Ignored)}}
	}
	set := map[string]any{}
	if root, err := fromYAML([]byte(lines)); err == nil {
		set["kind"] = root.pairs[0].key
		for _, p := range root.pairs[0].value.pairs {
			put(set, p.key, p.value.value())
		}
	}
	return map[string]any{"text": lines, "set": set}
}

var (
	faultLine   = regexp.MustCompile(`^schema line (\d+)`)
	faultColumn = regexp.MustCompile(`^column ("(?:[^"\\]|\\.)*") `)
)

// addFaults adds the separate faults of an error of Parse.
func (o *Outline) addFaults(err error) {
	if many, ok := err.(problems); ok {
		for _, e := range many {
			o.addFaults(e)
		}
		return
	}
	fault, ok := errors.AsType[*dp.ParamError](err)
	if !ok {
		return
	}
	f := Fault{Words: fault.Param + " " + fault.Want, Missing: fault.Want == "is still blank" || strings.HasPrefix(fault.Want, "must be given")}
	if fault.Hint != "" {
		f.Words += "; " + fault.Hint
	}
	if m := faultLine.FindStringSubmatch(fault.Op); m != nil {
		f.Line, _ = strconv.Atoi(m[1])
	}
	if m := faultColumn.FindStringSubmatch(fault.Param); m != nil {
		f.Column, _ = strconv.Unquote(m[1])
		f.Words = strings.TrimPrefix(f.Words, m[0])
	}
	o.Faults = append(o.Faults, f)
}
