// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

const validJSON = `{"name":"people","unit":"one person","relation":"replace-one","max_epsilon":1.5,` +
	`"file":{"delimiter":",","quote":"\"","header":true,"trim":true,"missing":["?",""],"comment":"#",` +
	`"skip_records":1,"skip_until":"@data"},` +
	`"columns":[{"name":"age","role":"private","number":{"lower":0,"upper":100,"edges":[20,40],"default":40}},` +
	`{"name":"pay","role":"public","number":{"lower":-0.5,"upper":1e+06,"transform":"log1p"}},` +
	`{"name":"town","role":"private","category":{"levels":["a",{"value":"b","aliases":["bb","bbb"]}],"missing":true}},` +
	`{"name":"ill","role":"private","label":{"levels":["no","yes"],"positive":"yes","default":"no"}},` +
	`{"name":"id","role":"ignored"}]}`

// A model file embeds a schema as a field; this is that field.
type holder struct{ Schema *Schema }

func TestJSONIsCanonicalInsideAnotherDocument(t *testing.T) {
	got, err := json.Marshal(holder{whole()})
	if want := `{"Schema":` + validJSON + `}`; err != nil || string(got) != want {
		t.Errorf("got (error %v)\n%s\nwant\n%s", err, got, want)
	}
	indented, err := json.MarshalIndent(holder{whole()}, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	var h holder
	if err := json.Unmarshal(indented, &h); err != nil || !reflect.DeepEqual(h.Schema, whole()) {
		t.Errorf("got %+v, error %v", h.Schema, err)
	}
}

func TestUnmarshalJSONRefusals(t *testing.T) {
	for _, c := range []struct{ name, old, new, want string }{
		{"unknown key", `"unit":`, `"x":1,"unit":`, `schema: key must be one of those known here (got another)`},
		{"key of another case", `"unit":`, `"Unit":`, `schema: key must be one of those known here (got another)`},
		{"key twice", `"unit":`, `"name":"x","unit":`, `schema: key must be given once (got "name" twice)`},
		{"fact left out", `"relation":"replace-one",`, ``, `schema: relation must be given`},
		{"number as text", `"lower":0,`, `"lower":"0",`,
			`column "age" lower must be a decimal number (got "0"); write it without quotes`},
		{"overflowing number", `"lower":0,`, `"lower":-1e999,`, `column "age" lower must be a finite number`},
		{"truth value as text", `"header":true`, `"header":"true"`, `file header must be true or false`},
		{"nothing", `"one person"`, `null`, `unit must be given (got an empty value)`},
		{"a list", validJSON, `[1]`, `must be a mapping (got a list)`},
		{"deep", `"one person"`, strings.Repeat("[", 99) + strings.Repeat("]", 99),
			`not valid JSON: nested more than 8 deep`},
		{"more columns than allowed", `{"name":"id","role":"ignored"}`,
			strings.TrimSuffix(strings.Repeat(`{},`, MaxColumns), ","), `columns must have at most 16384 entries`},
		{"too long", `"one person"`, `"` + strings.Repeat("x", MaxBytes) + `"`, `longer than`},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := strings.Replace(validJSON, c.old, c.new, 1)
			if text == validJSON {
				t.Fatal("nothing was replaced")
			}
			s := Schema{Name: "before"}
			err := json.Unmarshal([]byte(text), &s)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
			if s.Name != "before" {
				t.Error("a refused schema overwrote the receiver")
			}
		})
	}
	// Called directly, without encoding/json having checked the syntax first.
	for _, text := range []string{"", "{", `{"name"}`, `{"name":}`, validJSON + "x", validJSON + "{}", "\xff"} {
		if err := new(Schema).UnmarshalJSON([]byte(text)); err == nil {
			t.Errorf("accepted %.40q", text)
		}
	}
}
