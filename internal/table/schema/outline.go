// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"errors"
	"regexp"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/internal/privacy/dp"
)

// Outline is what a text says of a table so far, for an editor: it need not be a schema yet.
type Outline struct {
	// Facts are what the text says of the table: name, unit, relation, person (the column), trim and missing_cells.
	Facts map[string]any
	// Columns are in the order of the text: name, role, kind and what the kind's mapping says, where it
	// is said; proposal is what a well-known name may hold.
	Columns []map[string]any
	Faults  []Fault
	Schema  *Schema // nil where there are faults
}

// Fault is what Parse finds wrong at a place of the text.
type Fault struct {
	Line    int // 0 where it is about all
	Column  string
	Missing bool // a decision that is not made yet
	Words   string
}

// ReadOutline reads what is there of a schema. Every fault is in the outline.
func ReadOutline(text []byte) *Outline {
	o := &Outline{Facts: map[string]any{}}
	var err error
	if err = checkText(text); err == nil {
		var root *node
		if root, err = fromYAML(trimMark(text)); err == nil {
			o.describe(root)
			r := &reader{most: maxOutline}
			o.Schema, err = r.readSchema(root)
		}
	}
	o.addFaults(err)
	return o
}

// maxOutline is the largest number of faults in an outline: some for each column.
const maxOutline = 4 * MaxColumns

func (n *node) find(key string) *node {
	for i := range n.pairs {
		if n.pairs[i].key == key {
			return n.pairs[i].value
		}
	}
	return &node{}
}

// value is what a node says, for programs; nil for nothing or a blank.
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

// kinds are the keys that say what cells of a column can be.
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

// proposalOf is what a column of a well-known name can hold, in words and as Edit takes it; nil for others.
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

// addFaults takes the faults of Parse apart.
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
