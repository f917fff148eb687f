// SPDX-License-Identifier: Apache-2.0

package mapped

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

const shared = `name: clinics
unit: one patient
relation: add-remove
person: {column: id, rows: 2}
file: {delimiter: ",", quote: '"', header: true, missing: ["", "NA"]}
columns:
  - {name: id, role: ignored}
  - {name: weight, role: private, number: {lower: 0.1, upper: 250, default: 70, missing: true, transform: log1p}}
  - {name: sex, role: private, category: {levels: [{value: m, aliases: ["1"]}, {value: f, aliases: ["2"]}, x], missing: true}}
  - {name: admitted, role: private, date: {format: YYYY-MM-DD, lower: "2015-01-01", upper: "2030-12-31", default: "2020-01-01"}}
  - {name: ill, role: private, label: {levels: ["no", "yes"], positive: "yes", default: "no"}}
`

const ofSite = `file: {delimiter: ";", decimal: ",", thousands: ".", minus: trailing, missing: ["-"]}
columns:
  id: {name: patient}
  weight: {name: gewicht_g, divide: 1000}
  sex: {name: geschlecht, levels: {"1": f, w: f, "2": m}}
  admitted: {name: aufnahme, format: D.M.YYYY}
  ill: {name: krank, levels: {ja: "yes", nein: "no"}}
`

const renamed = "id,weight,sex,admitted,ill\na,72.5,f,2019-03-01,yes\nb,0.05,m,2021-12-31,no\na,0.1,x,NA,no\nNA,NA,NA,2014-01-01,yes\n" +
	"a,999,q,2030-12-31,no\nc,250,f,2019-03-02,no\nc,80.1234,m,soon,maybe\n"

const original = "krank;gewicht_g;geschlecht;aufnahme;patient\nja;72.500;w;1.3.2019;a\nnein;50;2;31.12.2021;b\nnein;100;x;-;a\n" +
	"ja;-;-;01.01.2014;-\nnein;999000;q;31.12.2030;a\nnein;250.000,0;1;02.03.2019;c\nmaybe;80123,4;2;soon;c\n"

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func parse(t *testing.T, text string) *schema.Schema {
	t.Helper()
	s, err := schema.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Files in a site's terms make the very table that files in shared terms make.
func TestMappedTableIsTheSame(t *testing.T) {
	s := parse(t, shared)
	want, err := dataset.Read(t.Context(), s, dataset.Options{}, write(t, "t.csv", renamed))
	if err != nil {
		t.Fatal(err)
	}
	m, err := Load(write(t, "map.yaml", ofSite), s)
	if err != nil {
		t.Fatal(err)
	}
	read, err := dataset.Read(t.Context(), m.Files, dataset.Options{}, write(t, "t.csv", original))
	if err != nil {
		t.Fatal(err)
	}
	if got := m.Convert(read); !reflect.DeepEqual(got, want) {
		t.Errorf("the tables differ:\n%+v\n%+v", got, want)
	}
	if words := strings.Join(m.Words(), "\n"); !strings.Contains(words, `Column "gewicht_g" of the files is "weight", divided by 1000.`) ||
		!strings.Contains(words, `"1" is "f", "2" is "m", "w" is "f".`) {
		t.Errorf("the words are %s", words)
	}
}

// A map that does not fit the shared schema, or itself, is refused.
func TestMapsThatAreRefused(t *testing.T) {
	s := parse(t, shared)
	for what, text := range map[string]string{
		"a table":              "weight,sex\n70,f\n",
		"nothing":              "",
		"another key":          "columns: {weight: {unit: g}}\n",
		"another column":       "columns: {height: {name: h}}\n",
		"levels of a number":   "columns: {weight: {levels: {a: b}}}\n",
		"a unit of a category": "columns: {sex: {divide: 2}}\n",
		"a negative unit":      "columns: {weight: {divide: -2}}\n",
		"no number":            "columns: {weight: {divide: .nan}}\n",
		"a format of a number": "columns: {weight: {format: YYYY-MM-DD}}\n",
		"no format":            "columns: {admitted: {format: soon}}\n",
		"a unit of the label":  "columns: {ill: {divide: 2}}\n",
		"another level":        "columns: {sex: {levels: {w: female}}}\n",
		"a spelling of two":    "columns: {sex: {levels: {m: f}}}\n",
		"one name twice":       "columns: {sex: {name: weight}}\n",
		"a decimal delimiter":  "file: {delimiter: \",\", decimal: \",\"}\n",
	} {
		if _, err := Load(write(t, "map.yaml", text), s); err == nil {
			t.Errorf("a map with %s is taken", what)
		} else if strings.Contains(err.Error(), "height") || strings.Contains(err.Error(), "female") {
			t.Errorf("a map with %s is quoted: %v", what, err)
		}
	}
	special := strings.Replace(shared, "missing: true, transform", "special: [99], transform", 1)
	if _, err := Load(write(t, "map.yaml", ofSite), parse(t, special)); err == nil {
		t.Error("a column with special values is divided")
	}
}
