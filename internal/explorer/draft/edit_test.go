// SPDX-License-Identifier: Apache-2.0

package draft

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/table/schema"
)

const edited = `# kept
name: visits  # kept, too
unit: ___
relation: replace-one
file: {delimiter: ",", quote: "\"", header: true, trim: ___, missing: ___}  # the file
columns:
  # above age
  - name: age
    role: ___  # decide
    # number: {lower: ___, upper: ___}
  - {name: "a: b", role: public, category: {levels: [{value: x, aliases: [y]}, z], missing: false}}  # flow
  - name: ill
    role: private
    label:
      levels: [a, b]
      positive: ___
`

func TestEditKeepsAllElse(t *testing.T) {
	for _, c := range []struct {
		column   string
		set      map[string]any
		old, new string
	}{
		{"age", map[string]any{"role": "public"}, "    role: ___  # decide", "    role: public  # decide"},
		{"age", map[string]any{"role": "private", "kind": "number", "lower": "0", "upper": 9.5, "integer": true},
			"    role: ___  # decide\n", "    role: private  # decide\n    number: {lower: 0, upper: 9.5, default: ___, integer: true}\n"},
		{"age", map[string]any{"kind": "category", "levels": []any{"no", "x # y"}}, "    role: ___  # decide\n",
			"    role: ___  # decide\n    category: {levels: [\"no\", \"x # y\"]}\n"},
		{"a: b", map[string]any{"levels": []any{"z", "x"}, "missing": true}, "{levels: [{value: x, aliases: [y]}, z], missing: false}",
			"{levels: [z, {value: x, aliases: [y]}], missing: true}"},
		{"a: b", map[string]any{"kind": "number", "upper": "1"}, "category: {levels: [{value: x, aliases: [y]}, z], missing: false}",
			"number: {lower: ___, upper: 1}"},
		{"ill", map[string]any{"positive": "b"}, "    label:\n      levels: [a, b]\n      positive: ___\n",
			"    label: {levels: [a, b], positive: b}\n"},
		{"ill", map[string]any{"kind": ""}, "    label:\n      levels: [a, b]\n      positive: ___\n", ""},
		{"", map[string]any{"unit": "one person's visit"}, "unit: ___", `unit: "one person's visit"`},
		{"", map[string]any{"trim": true}, "trim: ___", "trim: true"},
		{"", map[string]any{"missing": `NA, ?, ""`}, "missing: ___", `missing: [NA, "?", ""]`},
		{"", map[string]any{"person": "who"}, "relation: replace-one\n", "relation: replace-one\nperson: {column: who, rows: 1}\n"},
		{"", map[string]any{"max_epsilon": "0.5"}, "relation: replace-one\n", "relation: replace-one\nmax_epsilon: 0.5\n"},
	} {
		got, err := Edit([]byte(edited), c.column, c.set)
		if want := strings.Replace(edited, c.old, c.new, 1); err != nil || string(got) != want || !strings.Contains(edited, c.old) {
			t.Errorf("%q %v: %v\n%s", c.column, c.set, err, got)
		}
	}
	for _, c := range []struct {
		column string
		set    map[string]any
	}{{"nobody", map[string]any{"role": "public"}}, {"age", map[string]any{"lower": "1"}}, {"age", map[string]any{"kind": "text"}},
		{"age", map[string]any{"name": "x"}}, {"", map[string]any{"columns": "x"}}} {
		if got, err := Edit([]byte(edited), c.column, c.set); err == nil {
			t.Errorf("%v is taken:\n%s", c, got)
		}
	}
}

// To say again what an example says leaves the schema that it is.
func TestEditOfExamples(t *testing.T) {
	files, err := filepath.Glob("../../../examples/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(err, files)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		o := ReadOutline(text)
		if len(o.Faults) > 0 || o.Schema == nil {
			if _, err := schema.Load(file); err == nil {
				t.Errorf("%s has faults: %v", file, o.Faults)
			}
			continue
		}
		now, changes := text, []Change{}
		for _, c := range o.Columns {
			set := map[string]any{}
			for key, v := range c {
				if slices.Contains([]string{"role", "lower", "upper", "integer", "missing", "default", "positive"}, key) {
					set[key] = v
				}
			}
			changes = append(changes, Change{c["name"].(string), set})
			if now, err = Edit(now, c["name"].(string), set); err != nil {
				t.Fatalf("%s, %v: %v", file, c["name"], err)
			}
		}
		// All at once is the same as one after the other.
		if once, err := EditAll(text, changes); err != nil || string(once) != string(now) {
			t.Errorf("%s, all columns at once: %v\n%s", file, err, once)
		}
		again, err := schema.Parse(now)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		a, err := o.Schema.YAML()
		if err != nil {
			t.Fatal(err)
		}
		b, err := again.YAML()
		if err != nil || string(a) != string(b) {
			t.Errorf("%s is another schema: %v", file, err)
		}
		if strings.Count(string(now), "#") != strings.Count(string(text), "#") {
			t.Errorf("%s lost a comment", file)
		}
	}
}

// Facts that move lines, of columns in any order, of the table and of one column twice.
func TestEditOfManyColumns(t *testing.T) {
	changes := []Change{
		{"ill", map[string]any{"positive": "b", "role": "public"}},
		{"age", map[string]any{"kind": "category", "role": "private", "levels": []any{"x", "y"}}},
		{"", map[string]any{"person": "who", "unit": "one visit"}},
		{"a: b", map[string]any{"kind": "number", "upper": "1", "lower": "0", "note": "seen"}},
		{"age", map[string]any{"levels": []any{"z"}}},
	}
	want := []byte(edited)
	var err error
	for _, c := range changes {
		if want, err = Edit(want, c.Column, c.Set); err != nil {
			t.Fatal(err)
		}
	}
	got, err := EditAll([]byte(edited), changes)
	if err != nil || string(got) != string(want) {
		t.Errorf("%v\ngot\n%s\nwant\n%s", err, got, want)
	}
	if got, err := EditAll([]byte(edited), append(changes, Change{"nobody", map[string]any{"role": "public"}})); err == nil {
		t.Errorf("a column that is not there is taken:\n%s", got)
	}
}

func TestOutlineCountsEveryBlank(t *testing.T) {
	names := []string{"label"}
	for len(names) < 300 {
		names = append(names, "age "+strings.Repeat("x", len(names)))
	}
	text, err := schema.Init(names, schema.Dialect{Delimiter: ',', Quote: '"', Header: true})
	if err != nil {
		t.Fatal(err)
	}
	o := ReadOutline(text)
	if len(o.Columns) != 300 || len(o.Faults) < 600 {
		t.Fatalf("%d columns, %d faults", len(o.Columns), len(o.Faults))
	}
	for _, f := range o.Faults {
		if !f.Missing && f.Column != "" || f.Line == 0 {
			t.Errorf("%+v", f)
		}
	}
	proposal := o.Columns[1]["proposal"].(map[string]any)["set"].(map[string]any)
	text, err = Edit(text, names[1], proposal)
	if err != nil {
		t.Fatal(err)
	}
	if c := ReadOutline(text).Columns[1]; c["kind"] != "number" || c["upper"] != "120" || c["integer"] != true {
		t.Errorf("a proposal is taken over as %v", c)
	}
	for _, bad := range []string{"", "[", "a: &x 1", "name: x\nfile: 1\ncolumns: 2"} {
		if o := ReadOutline([]byte(bad)); len(o.Faults) == 0 || o.Schema != nil {
			t.Errorf("%q has no fault", bad)
		}
	}
}
