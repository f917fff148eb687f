// SPDX-License-Identifier: Apache-2.0

package discreet

import (
	"encoding/json"
	"math"
	"os"
	"slices"

	"github.com/discreet-dp/discreet/internal/privacy/dp"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Schema is what is known about a table before anybody looks at it. It is public
// and does not change; goroutines may share it.
type Schema struct {
	s    *schema.Schema
	text []byte // as it was read: part of a ledger job's identity
}

// LoadSchema reads a schema file in YAML (see docs/schema.md), and reports every
// fault in it, each as a *ParamError that says what to write on which line.
func LoadSchema(path string) (*Schema, error) {
	s, err := schema.Load(path)
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(path)
	return &Schema{s, text}, err
}

// ParseSchema is LoadSchema for a text.
func ParseSchema(text []byte) (*Schema, error) {
	s, err := schema.Parse(text)
	if err != nil {
		return nil, err
	}
	return &Schema{s, slices.Clone(text)}, nil
}

// Role says whether the guarantee protects a column.
type Role string

const (
	Private Role = "private" // the guarantee protects it
	Public  Role = "public"  // it is known to everybody, or need not be hidden
	Ignored Role = "ignored" // it is never read
)

// Relation says which tables the guarantee makes hard to tell apart.
type Relation string

const (
	// ReplaceOne: tables that differ in the protected part of one row. The number of
	// rows is public.
	ReplaceOne Relation = "replace-one"
	// AddRemove: tables of which one has a row more, whole. The number of rows is
	// private.
	AddRemove Relation = "add-remove"
)

// TableSpec describes a table in Go, for NewSchema. Nothing in it has a default but
// what says so. A schema file can say more: transforms, groups of values, pairs and
// derived columns, parts, formats of files.
type TableSpec struct {
	Name     string // what the table is called
	Unit     string // whose data one row is, in words: "one hospital admission"
	Relation Relation
	Columns  []Column // all but the label, in order; at most 4095
	Label    Label    // the column to predict, the last of the table
	// MaxEpsilon and MaxDelta are the most that one training may spend without
	// Options.ExceedMax; 0 for no limit, where MaxEpsilon is given no δ.
	MaxEpsilon, MaxDelta float64
}

// Column is a column of a TableSpec; see NumberColumn and CategoryColumn.
type Column struct {
	name  string
	role  Role
	facts any
}

// NumberColumn is a column of numbers. Cells are clamped to [lower, upper], which
// must be finite and come from documentation, not from the data; absent stands in
// for a missing or unreadable cell.
func NumberColumn(name string, role Role, lower, upper, absent float64) Column {
	type number struct {
		Lower   float64 `json:"lower"`
		Upper   float64 `json:"upper"`
		Default float64 `json:"default"`
	}
	facts := map[string]any{"number": number{lower, upper, absent}}
	if bad := lower - upper + absent; math.IsNaN(bad) || math.IsInf(bad, 0) {
		facts = map[string]any{"number": map[string]any{}} // refused by name, below
	}
	return Column{name, role, facts}
}

// CategoryColumn is a column of the given values. Any other cell, and a missing
// one, is one more value, "other".
func CategoryColumn(name string, role Role, values ...string) Column {
	return Column{name, role, map[string]any{"category": map[string]any{"levels": values}}}
}

// Label is the column that a classifier predicts.
type Label struct {
	Name     string
	Role     Role     // Private or Public
	Values   []string // at least 2
	Positive string   // of two values, the one that scores are about
	Absent   string   // what an unreadable private label becomes; "" for a public one
}

// NewSchema builds a schema from its description, by the rules of LoadSchema.
func NewSchema(d TableSpec) (*Schema, error) {
	doc := map[string]any{
		"name": d.Name, "unit": d.Unit, "relation": d.Relation,
		"file": map[string]any{"delimiter": ",", "quote": `"`, "header": true, "missing": []string{""}},
	}
	for key, limit := range map[string]float64{"max_epsilon": d.MaxEpsilon, "max_delta": d.MaxDelta} {
		if math.IsNaN(limit) || math.IsInf(limit, 0) {
			return nil, &dp.ParamError{Op: "schema", Param: key, Want: "must be finite", Got: limit}
		}
		if limit != 0 {
			doc[key] = limit
		}
	}
	var columns []map[string]any
	for _, c := range d.Columns {
		column := map[string]any{"name": c.name, "role": c.role}
		if facts, ok := c.facts.(map[string]any); ok {
			for key, value := range facts {
				column[key] = value
			}
		}
		columns = append(columns, column)
	}
	label := map[string]any{"levels": d.Label.Values}
	if d.Label.Positive != "" {
		label["positive"] = d.Label.Positive
	}
	if d.Label.Absent != "" {
		label["default"] = d.Label.Absent
	}
	doc["columns"] = append(columns, map[string]any{"name": d.Label.Name, "role": d.Label.Role, "label": label})
	text, err := json.Marshal(doc)
	if err != nil {
		return nil, err
	}
	s := &schema.Schema{}
	if err := s.UnmarshalJSON(text); err != nil {
		return nil, err
	}
	text, err = s.YAML()
	return &Schema{s, text}, err
}

// Columns are the names of the table's columns in order, the label among them.
func (s *Schema) Columns() []string {
	var names []string
	for _, c := range s.s.FileColumns() {
		names = append(names, c.Name)
	}
	return slices.Insert(names, s.s.Label.Position, s.s.Label.Name)
}

// Classes are the values of the label, in the order in which scores are given.
func (s *Schema) Classes() []string {
	var names []string
	for _, l := range s.s.Label.Levels {
		names = append(names, l.Value)
	}
	return names
}

// String is the schema as a file in YAML.
func (s *Schema) String() string {
	text, err := s.s.YAML()
	if err != nil {
		panic(err) // a schema that was read can be written
	}
	return string(text)
}
