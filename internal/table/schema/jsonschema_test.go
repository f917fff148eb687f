// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/tools/txtar"
)

// compileSchema is JSONSchema, ready to check documents.
func compileSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(JSONSchema))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("discreet.schema.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("discreet.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// followsSchema checks a schema in YAML as an editor does, which takes plain scalars by the core
// schema of YAML 1.2.
func followsSchema(s *jsonschema.Schema, text string) error {
	root, err := fromYAML([]byte(text))
	if err != nil {
		return err
	}
	return s.Validate(coreValue(root))
}

func coreValue(n *node) any {
	switch n.form {
	case list:
		items := []any{}
		for _, item := range n.items {
			items = append(items, coreValue(item))
		}
		return items
	case mapping:
		pairs := map[string]any{}
		for _, p := range n.pairs {
			pairs[p.key] = coreValue(p.value)
		}
		return pairs
	case plain:
		if n.text == "true" || n.text == "false" {
			return n.text == "true"
		}
		if coreNumber.MatchString(n.text) {
			return json.Number(n.text)
		}
	case empty:
		return nil
	}
	return n.text
}

var coreNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$`)

// Every example follows the JSON Schema, and so does what NewSchema and String write of it.
func TestJSONSchemaTakesExamples(t *testing.T) {
	s := compileSchema(t)
	files, err := filepath.Glob("../../../examples/*.yaml")
	if err != nil || len(files) < 10 {
		t.Fatal(files, err)
	}
	files = append(files, "../../../examples/quickstart/census.yaml")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := followsSchema(s, string(text)); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		read, err := Load(file)
		if err != nil {
			t.Fatal(err)
		}
		written, err := read.YAML()
		if err != nil {
			t.Fatal(err)
		}
		if err := followsSchema(s, string(written)); err != nil {
			t.Errorf("%s, written anew: %v", file, err)
		}
	}
	if err := followsSchema(s, valid); err != nil {
		t.Errorf("the schema with one of everything: %v", err)
	}
}

// Whatever Parse reads follows the JSON Schema: tried on every schema of the command's tests.
func TestJSONSchemaRefusesNothingRight(t *testing.T) {
	s := compileSchema(t)
	scripts, err := filepath.Glob("../../../cmd/discreet/testdata/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	tried := 0
	for _, script := range scripts {
		archive, err := txtar.ParseFile(script)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range archive.Files {
			if _, err := Parse(f.Data); err != nil || !strings.HasSuffix(f.Name, ".yaml") {
				continue
			}
			tried++
			if err := followsSchema(s, string(f.Data)); err != nil {
				t.Errorf("%s of %s: %v", f.Name, script, err)
			}
		}
	}
	if tried < 20 {
		t.Errorf("only %d schemas were tried", tried)
	}
}

// Wrong schemas are refused by the editor as they are by Parse.
func TestJSONSchemaRefuses(t *testing.T) {
	s := compileSchema(t)
	for _, c := range []struct{ what, old, new string }{
		{"no unit", "unit: one person\n", ""},
		{"no columns", "columns:", "rows:"},
		{"another relation", "relation: replace-one", "relation: replace"},
		{"a blank", "unit: one person", "unit: ___"},
		{"a negative limit", "max_epsilon: 1.5", "max_epsilon: -1"},
		{"no limit", "max_epsilon: 1.5", "max_epsilon: much"},
		{"a key that is none", "max_epsilon: 1.5", "max_epsilom: 1.5"},
		{"a role that is none", "role: private", "role: secret"},
		{"no bound", "lower: 0, ", ""},
		{"a bound that is text", "lower: 0,", `lower: "0",`},
		{"no header", "header: true, ", ""},
		{"a header that is text", "header: true", `header: "true"`},
		{"no levels", "levels:", "level:"},
		{"a transform that is none", "transform: log1p", "transform: log"},
		{"two forms of a column", "number: {", "category: {levels: [a]}, number: {"},
	} {
		if !strings.Contains(valid, c.old) {
			t.Fatalf("%s: the valid schema lacks %q", c.what, c.old)
		}
		text := strings.Replace(valid, c.old, c.new, 1)
		if _, err := Parse([]byte(text)); err == nil {
			t.Errorf("%s: Parse takes it", c.what)
		}
		if followsSchema(s, text) == nil {
			t.Errorf("%s: the JSON Schema takes it", c.what)
		}
	}
}

// The keys of each mapping are those that the reader opens it with: a new key is in both or
// neither.
func TestJSONSchemaHasTheReadersKeys(t *testing.T) {
	var doc struct {
		Properties map[string]any `json:"properties"`
		Defs       map[string]struct {
			Properties map[string]any `json:"properties"`
		} `json:"$defs"`
	}
	if err := json.Unmarshal(JSONSchema, &doc); err != nil {
		t.Fatal(err)
	}
	declared := map[string]bool{keyList(doc.Properties): true, "file": true} // the file of levels
	for _, d := range doc.Defs {
		if len(d.Properties) > 0 {
			declared[keyList(d.Properties)] = true
		}
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	opened := map[string]bool{}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || call.Ellipsis.IsValid() { // the classes' weights
				return true
			}
			if f, ok := call.Fun.(*ast.SelectorExpr); !ok || f.Sel.Name != "openMapping" {
				return true
			}
			keys := map[string]any{}
			for _, arg := range call.Args[2:] {
				key, err := strconv.Unquote(arg.(*ast.BasicLit).Value)
				if err != nil {
					t.Fatal(err)
				}
				keys[key] = nil
			}
			opened[keyList(keys)] = true
			return true
		})
	}
	for keys := range opened {
		if !declared[keys] {
			t.Errorf("the reader takes a mapping of %s, which the JSON Schema lacks", keys)
		}
	}
	for keys := range declared {
		if !opened[keys] {
			t.Errorf("the JSON Schema takes a mapping of %s, which the reader does not", keys)
		}
	}
}

func keyList(keys map[string]any) string {
	var names []string
	for key := range keys {
		names = append(names, key)
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}
