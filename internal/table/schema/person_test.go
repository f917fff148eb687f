// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"reflect"
	"strings"
	"testing"
)

func withPerson(line string) []byte {
	return []byte(strings.Replace(valid, "file:", "person: "+line+"\nfile:", 1))
}

func TestPersonIsReadAndWritten(t *testing.T) {
	for line, want := range map[string]Person{
		"{column: id, rows: 1}":                                     {Column: "id", Rows: 1},
		"{column: id, rows: 20, persons: 100000}":                   {Column: "id", Rows: 20, Persons: 100000},
		"{column: id, rows: 2, one_part: true}":                     {Column: "id", Rows: 2, OnePart: true},
		"{column: id, rows: 1, identifiers: text}":                  {Column: "id", Rows: 1},
		"{column: id, rows: 1, identifiers: whole, one_part: true}": {Column: "id", Rows: 1, Whole: true, OnePart: true},
	} {
		s, err := Parse(withPerson(line))
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if *s.Person != want || s.PersonColumn() != 3 {
			t.Errorf("%s: read as %+v, column %d", line, *s.Person, s.PersonColumn())
		}
		text, err := s.YAML()
		if err != nil {
			t.Fatal(err)
		}
		again, err := Parse(text)
		if err != nil || !reflect.DeepEqual(s, again) {
			t.Errorf("%s: written as %s, which is not read as the same (%v)", line, text, err)
		}
		var fromJSON Schema
		text, err = s.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		if err := fromJSON.UnmarshalJSON(text); err != nil || *fromJSON.Person != want {
			t.Errorf("%s: JSON is read as %+v (%v)", line, fromJSON.Person, err)
		}
		if s.Part(s.Features()).Person != nil {
			t.Errorf("%s: a model would keep it", line)
		}
	}
}

func TestPersonRefusals(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"id", "must be a mapping"},
		{"{column: id}", "rows must be given"},
		{"{rows: 1}", "column must be given"},
		{"{column: nobody, rows: 1}", "must name one of the columns of the file"},
		{"{column: town, rows: 1}", "must name an ignored column"},
		{"{column: ill, rows: 1}", "must name one of the columns of the file"},
		{"{column: id, rows: 0}", "must be a whole number between 1 and"},
		{"{column: id, rows: auto}", "must be a whole number between 1 and"},
		{"{column: id, rows: 1.5}", "must be a whole number between 1 and"},
		{"{column: id, rows: many}", "must be a whole number between 1 and"},
		{"{column: id, rows: 1, persons: -1}", "must be a whole number between 1 and"},
		{"{column: id, rows: 1, one_part: perhaps}", "must be true or false"},
		{"{column: id, rows: 1, identifiers: number}", "must be text or whole"},
		{"{column: id, rows: 1, row: 2}", "must be one of those known here"},
	} {
		if _, err := Parse(withPerson(c.line)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("person: %s: got %v, want %q", c.line, err, c.want)
		}
	}
	parts := strings.Replace(string(withPerson("{column: id, rows: 1}")), "town, role: private", "town, role: public", 1)
	parts = strings.Replace(parts, "person:", "parts: town\nperson:", 1)
	if _, err := Parse([]byte(parts)); err == nil || !strings.Contains(err.Error(), "one_part must be true") {
		t.Errorf("persons in two parts: got %v", err)
	}
	if _, err := Parse([]byte(strings.Replace(parts, "rows: 1}", "rows: 1, one_part: true}", 1))); err != nil {
		t.Errorf("persons in one part each: got %v", err)
	}
}
