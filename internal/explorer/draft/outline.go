// SPDX-License-Identifier: Apache-2.0

package draft

import (
	"errors"
	"regexp"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ground/yamltext"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Outline holds the facts in an unfinished schema text, for an editor.
type Outline struct {
	// Facts are the facts about the table: name, unit, relation, person (the column), header, trim and
	// missing_cells.
	Facts map[string]any
	// Columns are in the order of the text, each with the facts that are given: name, role, kind and
	// the keys of the kind. proposal is the possible content of a column with a well-known name.
	Columns []map[string]any
	Faults  []Fault
	Schema  *schema.Schema // nil if there are faults
}

// Fault is a fault that schema.Parse reports, with its place in the text.
type Fault struct {
	Line    int // 0 if it concerns the whole text
	Column  string
	Missing bool // a choice that has not been made yet
	Words   string
}

// ReadOutline reads an unfinished schema. The outline lists all faults.
func ReadOutline(text []byte) *Outline {
	o := &Outline{Facts: map[string]any{}}
	root, err := yamltext.Parse("schema", text)
	if err == nil {
		o.describe(root)
		o.Schema, err = schema.ReadAll(root)
	}
	o.addFaults(err)
	return o
}

// valueOf returns the value of a node, for programs; nil for an empty node or a blank.
func valueOf(n *yamltext.Node) any {
	switch {
	case n.Kind == yamltext.Empty || n.Kind == yamltext.Plain && n.Text == schema.Blank:
		return nil
	case n.Kind == yamltext.List:
		values := []any{}
		for _, item := range n.Items {
			if item.Kind == yamltext.Mapping { // a level with other spellings
				item = item.Find("value")
			}
			if v := valueOf(item); v != nil {
				values = append(values, v)
			}
		}
		return values
	case n.Kind == yamltext.Plain && (n.Text == "true" || n.Text == "false"):
		return n.Text == "true"
	case n.Kind == yamltext.Mapping:
		return nil
	}
	return n.Text
}

// kinds are the keys that declare the kind of a column's cells.
var kinds = []string{"number", "category", "date", "label"}

func put(into map[string]any, key string, v any) {
	if v != nil {
		into[key] = v
	}
}

func (o *Outline) describe(root *yamltext.Node) {
	for _, key := range []string{"name", "unit", "relation"} {
		put(o.Facts, key, valueOf(root.Find(key)))
	}
	put(o.Facts, "person", valueOf(root.Find("person").Find("column")))
	put(o.Facts, "header", valueOf(root.Find("file").Find("header")))
	put(o.Facts, "trim", valueOf(root.Find("file").Find("trim")))
	put(o.Facts, "missing_cells", valueOf(root.Find("file").Find("missing")))
	for _, item := range root.Find("columns").Items {
		c := map[string]any{"line": item.Line}
		for _, key := range []string{"name", "role"} {
			put(c, key, valueOf(item.Find(key)))
		}
		for _, kind := range kinds {
			if facts := item.Find(kind); facts.Kind == yamltext.Mapping {
				c["kind"] = kind
				for _, p := range facts.Pairs {
					put(c, p.Key, valueOf(p.Value))
				}
			}
		}
		name, _ := c["name"].(string)
		if c["kind"] == nil && c["role"] != string(schema.Ignored) {
			put(c, "proposal", proposalOf(name))
		}
		o.Columns = append(o.Columns, c)
	}
}

// proposalOf returns the possible content of a column with a well-known name, in words and in the form
// of Edit; nil for others.
func proposalOf(name string) any {
	lines := schema.Propose(name)
	switch lines {
	case "":
		return nil
	case schema.Identifier:
		return map[string]any{"text": "ignored: an identifier", "set": map[string]any{"role": string(schema.Ignored)}}
	}
	set := map[string]any{}
	if root, err := yamltext.Parse("schema", []byte(lines)); err == nil {
		set["kind"] = root.Pairs[0].Key
		for _, p := range root.Pairs[0].Value.Pairs {
			put(set, p.Key, valueOf(p.Value))
		}
	}
	return map[string]any{"text": lines, "set": set}
}

var (
	faultLine   = regexp.MustCompile(`^schema line (\d+)`)
	faultColumn = regexp.MustCompile(`^column ("(?:[^"\\]|\\.)*") `)
)

// addFaults adds the separate faults of an error of package schema.
func (o *Outline) addFaults(err error) {
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range many.Unwrap() {
			o.addFaults(e)
		}
		return
	}
	fault, ok := errors.AsType[*dp.ParamError](err)
	if !ok {
		return
	}
	f := Fault{Words: fault.Param + " " + fault.Want, Missing: fault.Want == "must be filled in" || strings.HasPrefix(fault.Want, "must be given")}
	if fault.Hint != "" {
		f.Words += "; " + fault.Hint
	}
	if next := fault.Next.String(); next != "" {
		f.Words += "; " + next
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
