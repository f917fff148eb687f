// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/ground/dp"
)

func TestInitLeavesEveryFactBlank(t *testing.T) {
	text, err := Init([]string{" age", "is: ill?", "___"}, Dialect{Delimiter: '\t', Quote: '"', Header: true})
	if err != nil {
		t.Fatal(err)
	}
	_, err = Parse(text)
	found, _ := errors.AsType[problems](err)
	var params []string
	for _, f := range found {
		p, _ := errors.AsType[*dp.ParamError](f)
		params = append(params, p.Param)
	}
	want := []string{"name", "unit", "relation", "file trim", "file missing",
		`column "age" role`, `column "age" number or category`,
		`column "is: ill?" role`, `column "is: ill?" number or category`,
		`column "___" role`, `column "___" number or category`, "columns"}
	if !reflect.DeepEqual(params, want) {
		t.Errorf("left to fill in:\n%q\nwant\n%q\n%s", params, want, text)
	}
}

// Filling in the blanks, and keeping one of the three lines of each column, is
// all it takes.
func TestInitFilledInParses(t *testing.T) {
	text, err := Init([]string{"age", "town", "ill"}, Dialect{Delimiter: ';', Header: true})
	if err != nil {
		t.Fatal(err)
	}
	filled := string(text)
	for _, fill := range [][2]string{
		{"name: ___", "name: people"}, {"unit: ___", "unit: one person"}, {"relation: ___", "relation: add-remove"},
		{"trim: ___", "trim: false"}, {"missing: ___", "missing: []"},
		{"role: ___", "role: private"}, {"# number: {lower: ___, upper: ___, default: ___}",
			"number: {lower: 0, upper: 100, default: 40}"},
		{"role: ___", "role: public"},
		{"role: ___", "role: public"},
	} {
		filled = strings.Replace(filled, fill[0], fill[1], 1)
	}
	town := strings.Index(filled, "- name: town")
	filled = filled[:town] + strings.Replace(filled[town:], "# category: {levels: [___, ___], missing: false}",
		"category: {levels: [x, z], missing: true}", 1)
	ill := strings.Index(filled, "- name: ill")
	filled = filled[:ill] + strings.Replace(filled[ill:], "# label: {levels: [___, ___], positive: ___}",
		`label: {levels: ["no", "yes"], positive: "yes"}`, 1)

	forty := 40.0
	want := &Schema{
		Name: "people", Unit: "one person", Relation: dp.AddRemove,
		Dialect: Dialect{Delimiter: ';', Header: true},
		Columns: []Column{
			{Name: "age", Role: Private, Kind: Number, Lower: 0, Upper: 100, Default: &forty},
			{Name: "town", Role: Public, Kind: Category, Levels: []Level{{Value: "x"}, {Value: "z"}}, Missing: true},
		},
		Label: Label{Name: "ill", Position: 2, Role: Public, Levels: []Level{{Value: "no"}, {Value: "yes"}}, Positive: 1,
			Default: -1},
	}
	if got := mustParse(t, filled); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// The commented lines are not decoration: taken out of their comments they are
// the keys Parse knows, blanks and all.
func TestInitCommentsAreRealKeys(t *testing.T) {
	text, err := InitColumns(2, Dialect{Delimiter: ',', Quote: '"', Header: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"max_epsilon: 1 ", "comment: \"#\"", "skip_records: 1", "skip_until: \"@data\"",
		"number: {lower: ___, upper: ___, default: ___}", "category: {levels: [___, ___], missing: false}",
		"label: {levels: [___, ___], positive: ___}"} {
		if strings.Count(string(text), "# "+line) < 1 {
			t.Fatalf("the template has no line %q", line)
		}
		open := strings.Replace(string(text), "# "+line, line, 1)
		_, err := Parse([]byte(open))
		if err == nil || strings.Contains(err.Error(), "known here") || strings.Contains(err.Error(), "not valid YAML") {
			t.Errorf("%s: %v", line, err)
		}
	}
	open := strings.Replace(string(text), "# derived:\n#   - {name", "derived:\n  - {name", 1)
	if _, err := Parse([]byte(open)); err == nil ||
		!strings.Contains(err.Error(), "derived column 1 largest must be filled in") &&
			!strings.Contains(err.Error(), "derived column 1 name must be filled in") {
		t.Errorf("derived: %v", err)
	}
	if !strings.Contains(string(text), "header: false") || !strings.Contains(string(text), "- name: column_2\n") {
		t.Errorf("not a template of a headerless file:\n%s", text)
	}
}

func TestInitRefusals(t *testing.T) {
	d := Dialect{Delimiter: ',', Header: true}
	for _, c := range []struct {
		names []string
		want  string
	}{
		{nil, "schema init: columns must number 2 to 16384"},
		{[]string{"a;b;c"}, "columns must number 2 to 16384, the label included (got 1); is the delimiter right?"},
		{make([]string, MaxColumns+1), "columns must number 2 to 16384"},
		{[]string{"a", " "}, "name of column 2 must not be empty"},
		{[]string{"a", "b", " a"}, `name of column 3 must be unique (got that of column 1)`},
		{[]string{"a", "b\nc"}, "name of column 2 must be printable UTF-8"},
		{[]string{"a", "b\xff"}, "name of column 2 must be printable UTF-8"},
	} {
		_, err := Init(c.names, d)
		if _, ok := errors.AsType[*dp.ParamError](err); !ok || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
	for _, n := range []int{-1, 0, 1, MaxColumns + 1, 1 << 62} {
		if _, err := InitColumns(n, d); err == nil {
			t.Errorf("%d columns accepted", n)
		}
	}
}

// A list with two blanks is one thing to do.
func TestEachFaultIsToldOnce(t *testing.T) {
	text, err := Init([]string{"age", "ill"}, Dialect{Delimiter: ',', Header: true})
	if err != nil {
		t.Fatal(err)
	}
	filled := strings.NewReplacer("# category: {levels: [___, ___]", "category: {levels: [___, ___]").Replace(string(text))
	_, err = Parse([]byte(filled))
	var all interface{ Unwrap() []error }
	if !errors.As(err, &all) {
		t.Fatalf("got %v", err)
	}
	told, blanks := map[string]bool{}, false
	for _, fault := range all.Unwrap() {
		if told[fault.Error()] {
			t.Errorf("told twice: %v", fault)
		}
		told[fault.Error()] = true
		blanks = blanks || strings.Contains(fault.Error(), "levels must be filled in")
	}
	if !blanks {
		t.Errorf("no list of levels is blank: %v", err)
	}
}

func ExampleInit() {
	text, _ := Init([]string{"age", "ill"}, Dialect{Delimiter: ',', Header: true})
	_, err := Parse(text)
	fault, hint, _ := strings.Cut(strings.SplitN(err.Error(), "\n", 3)[1], "; ")
	fmt.Printf("%s;\n%s\n", fault, hint)
	// Output:
	//   schema line 5: name must be filled in (got ___);
	// write name: and a name for the table, e.g. adult
}
