// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

const coded = `name: coded
unit: one row
relation: replace-one
file: {delimiter: ";", quote: "", header: true, decimal: ",", trim: false, missing: ["", "0"]}
ignored: ["*_id", "name*"]
columns:
  - {name: smoker, role: private, category: {levels: yes_no, missing: true}}
  - name: diagnosis
    role: private
    category: {levels: [{value: diabetes, prefixes: ["250", E1]}, other,
      {value: eye, aliases: [x], prefixes: ["2505"]}], missing: false}
  - {name: street, role: private, category: {levels: [Main], buckets: 3, missing: false}}
  - {name: zip, role: private, category: {buckets: 4, missing: true}}
  - {name: again, role: public, label: {positive: ["<30"], negative: [">30", "NO"]}}
`

// Short forms become levels, which are what is written.
func TestShortFormsOfLevels(t *testing.T) {
	s := mustParse(t, coded)
	checkRoundTrip(t, s)
	smoker, street := &s.Columns[0], &s.Columns[2]
	if len(smoker.Levels) != 2 || smoker.Levels[0].Value != "no" || smoker.Levels[1].Value != "yes" ||
		len(smoker.Levels[0].Aliases) != 10 || len(smoker.Levels[1].Aliases) != 11 { // "0" means missing here
		t.Errorf("yes and no are %v", smoker.Levels)
	}
	if street.Codes() != 5 || street.Buckets != 3 || street.Levels[1].Value != "bucket 1" || s.Columns[3].Codes() != 6 {
		t.Errorf("buckets %+v", street)
	}
	want := Label{Name: "again", Position: 4, Role: Public, Positive: 1, Default: -1,
		Levels: []Level{{Value: ">30", Aliases: []string{"NO"}}, {Value: "<30"}}}
	if !reflect.DeepEqual(s.Label, want) {
		t.Errorf("label %+v", s.Label)
	}
	for name, is := range map[string]bool{"patient_id": true, "_id": true, "name": true, "names of kin": true, "id": false,
		"surname": false, "patient_ids": false, "": false} {
		if s.IsIgnored(name) != is {
			t.Errorf("%q is ignored: %t", name, !is)
		}
	}
	for _, c := range []struct {
		pattern, name string
		is            bool
	}{{"a*b*c", "abc", true}, {"a*b*c", "axxbyyc", true}, {"a*b*c", "acb", false}, {"ab*ba", "aba", false},
		{"a", "a", true}, {"a", "ab", false}, {"*a", "ba", true}, {"*é*", "née", true}} {
		if matchPattern(c.pattern, c.name) != c.is {
			t.Errorf("%q and %q: %t", c.pattern, c.name, !c.is)
		}
	}
}

func TestSidesOfALabelAreRefused(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{`negative: [">30", "NO"]`, `negative: []`, "negative must list at least one value"},
		{`negative: [">30", "NO"]`, `negative: ["<30"]`, `levels must list each level and alias once (got "<30")`},
		{`negative: [">30", "NO"]`, `negative: [">30"], levels: [a, b]`, "levels must not be combined with negative"},
		{`positive: ["<30"], `, ``, "positive must be given"},
		{`positive: ["<30"], `, `positive: [""], `, `levels must not be empty`},
		{`name*`, `na"`, "not valid YAML"},
		{`header: true`, `header: false`, "ignored must not be given if the file has no header"},
	} {
		text := strings.Replace(coded, c.old, c.new, 1)
		if _, err := Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v", c.new, err)
		}
	}
}

// A mapping file becomes levels; of one that is none, such as a person's table, nothing is told.
func TestMappingFile(t *testing.T) {
	dir := t.TempDir()
	text := strings.Replace(coded, "levels: [Main], buckets: 3", "levels: {file: codes.csv}", 1)
	path := filepath.Join(dir, "s.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ file, want string }{
		{"", "must begin with the header code,level"},
		{"canary,cell\n1,2\n", "must begin with the header code,level"},
		{"code,level\n1\n", "must have a code and a level in each line"},
		{"code,level\n*,canary\n", "must have a code and a level in each line"},
		{"code,level\n,canary\n", "must have a code and a level in each line"},
	} {
		if err := os.WriteFile(filepath.Join(dir, "codes.csv"), []byte(c.file), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(path); err == nil || !strings.Contains(err.Error(), c.want) ||
			strings.Contains(err.Error(), "canary") {
			t.Errorf("%q: error %v", c.file, err)
		}
	}
	const codes = "\ufeffcode,level\n250*,sugar\nE11,sugar\nheart,heart\n4*,heart\n\"a, b\",heart\n"
	if err := os.WriteFile(filepath.Join(dir, "codes.csv"), []byte(codes), 0o600); err != nil {
		t.Fatal(err)
	}
	s := mustLoad(t, path)
	want := []Level{{Value: "sugar", Aliases: []string{"E11"}, Prefixes: []string{"250"}},
		{Value: "heart", Aliases: []string{"a, b"}, Prefixes: []string{"4"}}}
	if !reflect.DeepEqual(s.Columns[2].Levels, want) {
		t.Errorf("levels %v", s.Columns[2].Levels)
	}
	checkRoundTrip(t, s)
	for _, outside := range []string{"../codes.csv", "/etc/hosts"} {
		if err := os.WriteFile(path, []byte(strings.Replace(text, "codes.csv", outside, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(path); err == nil || !strings.Contains(err.Error(), "must lie in the folder of the schema or below") {
			t.Errorf("%s: error %v", outside, err)
		}
	}
}
