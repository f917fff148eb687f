// SPDX-License-Identifier: Apache-2.0

package dataset

import (
	"fmt"
	"slices"

	"github.com/discreet-dp/discreet/internal/table/schema"
)

// layout assigns a coder to each column of a file; nil: not read.
type layout struct {
	coders []*coder
}

// layoutByPosition returns the layout of a file without names. It has every column of the schema in
// order, except derived ones, and the label at its position. The label is absent if labels are ignored
// and the file has one column less.
func (r *reader) layoutByPosition(fields int) *layout {
	coders := slices.Clone(r.cols[:len(r.s.FileColumns())])
	if r.opts.Labels == LabelsIgnored && fields == len(coders) {
		return &layout{coders}
	}
	return &layout{slices.Insert(coders, r.s.Label.Position, r.label)}
}

// layoutByName returns the layout of a file whose columns have names.
//
// A fault quotes a name that the schema lacks only if every declared name has been found. Otherwise
// the file may have no header, and its first record may be a person's.
func (r *reader) layoutByName(path string, line int, names []string) (*layout, error) {
	fault := func(column, requirement string) error {
		return &FaultError{File: path, Line: line, Column: column, Fault: requirement}
	}
	at := map[string]int{}
	twice := map[string]bool{}
	for i, name := range names {
		if _, seen := at[name]; seen {
			twice[name] = true
		}
		at[name] = i
	}
	coders := make([]*coder, len(names))
	known := make([]bool, len(names))
	place := func(name string, c *coder, mayMiss bool) error {
		i, found := at[name]
		switch {
		case twice[name]:
			return fault(name, "must be named once in the header")
		case found:
			coders[i], known[i] = c, true
		case !mayMiss && slices.ContainsFunc(names, func(n string) bool { return schema.FoldName(n) == schema.FoldName(name) }):
			return fault(name, "must be among the names in the header, which has it with other letter case, spaces or signs: "+
				"names match to the letter, so change one of them")
		case !mayMiss && line > 0 && describeForeign(path, names[0]) != "":
			return fault("", describeForeign(path, names[0]))
		case !mayMiss && len(names) == 1 && line > 0:
			return fault(name, "must be among the names in the header, which is one field: does the schema name the "+
				"delimiter of the file?")
		case !mayMiss:
			return fault(name, "must be among the names in the header")
		}
		return nil
	}
	file := r.s.FileColumns()
	for j := range file {
		c := &file[j]
		if err := place(c.Name, r.cols[j], r.cols[j] == nil); err != nil {
			return nil, err
		}
	}
	if err := place(r.s.Label.Name, r.label, r.opts.Labels == LabelsIgnored); err != nil {
		return nil, err
	}
	for i, name := range names {
		switch {
		case known[i]:
		case slices.ContainsFunc(r.s.Columns[len(file):], func(c schema.Column) bool { return c.Name == name }):
			return nil, fault(name, "must not be in the file: the schema derives it from other columns")
		case r.opts.Extra != ExtraRefused:
		case name == "":
			return nil, fault("", fmt.Sprintf("must have a name in column %d of the header", i+1))
		case r.s.IsIgnored(name):
		default:
			return nil, fault(name, "must be declared in the schema (with role: ignored if it is not used), or be left out of the table")
		}
	}
	return &layout{coders}, nil
}
