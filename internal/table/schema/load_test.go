// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/ground/dp"
)

func examples(t testing.TB) []string {
	t.Helper()
	paths, err := filepath.Glob("../../../examples/*.yaml")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	return paths
}

func mustLoad(t testing.TB, path string) *Schema {
	t.Helper()
	s, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func mustParse(t testing.TB, text string) *Schema {
	t.Helper()
	s, err := Parse([]byte(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return s
}

// whole is what valid (see TestParseRefusals) says.
func whole() *Schema {
	forty := 40.0
	return &Schema{
		Name:       "people",
		Unit:       "one person",
		Relation:   dp.ReplaceOne,
		MaxEpsilon: 1_500_000_000,
		Dialect: Dialect{Delimiter: ',', Quote: '"', Header: true, Trim: true, Missing: []string{"?", ""},
			Comment: "#", SkipRecords: 1, SkipUntil: "@data"},
		Columns: []Column{
			{Name: "age", Role: Private, Kind: Number, Lower: 0, Upper: 100, Edges: []float64{20, 40}, Default: &forty},
			{Name: "pay", Role: Public, Kind: Number, Lower: -0.5, Upper: 1e6, Transform: Log1p},
			{Name: "town", Role: Private, Kind: Category, Missing: true,
				Levels: []Level{{Value: "a"}, {Value: "b", Aliases: []string{"bb", "bbb"}}}},
			{Name: "id", Role: Ignored},
		},
		Label: Label{Name: "ill", Position: 3, Role: Private, Levels: []Level{{Value: "no"}, {Value: "yes"}}, Positive: 1,
			Default: 0},
	}
}

// spelled is valid with other spellings of text and numbers.
var spelled = strings.Replace(valid, "header: true", `header: true, encoding: windows-1252, thousands: ",", minus: trailing`, 1)

func TestParseReadsSpellings(t *testing.T) {
	want := whole()
	want.Dialect.Encoding, want.Dialect.Thousands, want.Dialect.TrailingMinus = "windows-1252", ',', true
	if got := mustParse(t, spelled); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	checkRoundTrip(t, want)
	editors := compileSchema(t)
	for old, others := range map[string][]string{
		"windows-1252":   {"utf-8", "windows-1250", "iso-8859-1", "iso-8859-15", "utf-16"},
		`thousands: ","`: {`thousands: "'"`, `thousands: " "`, `decimal: ",", thousands: "."`},
	} {
		for _, other := range others {
			text := strings.Replace(strings.Replace(spelled, `delimiter: ","`, `delimiter: ";"`, 1), old, other, 1)
			checkRoundTrip(t, mustParse(t, text))
			if err := followsSchema(editors, text); err != nil {
				t.Errorf("%s: %v", other, err)
			}
		}
	}
}

func TestParseReadsEveryFact(t *testing.T) {
	if got := mustParse(t, valid); !reflect.DeepEqual(got, whole()) {
		t.Errorf("got  %+v\nwant %+v", got, whole())
	}
}

func TestPairsSurviveBothNotations(t *testing.T) {
	want := whole()
	want.Pairs = [][2]int{{0, 2}, {1, 0}}
	checkRoundTrip(t, want)
	if got := mustParse(t, strings.Replace(valid, "max_epsilon: 1.5", "max_epsilon: 1.5\npairs: [[age, town], [pay, age]]",
		1)); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if part := want.Part([]int{0, 1, 2}); part.Pairs != nil {
		t.Errorf("a part keeps the pairs %v", part.Pairs)
	}
	want.Pairs = append(want.Pairs, [2]int{0, 4})
	if text, err := want.YAML(); err == nil {
		t.Errorf("a pair that points nowhere was written: %s", text)
	}
}

func TestBinsAndGroupsSurviveBothNotations(t *testing.T) {
	want := whole()
	want.Columns[0].Edges, want.Columns[0].Quantiles, want.Columns[0].Integer = nil, true, true
	want.Columns[2].Groups = []Group{{"a or b", []int{1, 0}}}
	text := strings.NewReplacer("edges: [20, 40]", "integer: true, bins: quantiles", "missing: true",
		"missing: true, groups: {a or b: [b, a]}").Replace(valid)
	if got := mustParse(t, text); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	checkRoundTrip(t, want)
	if part := want.Part([]int{0, 1, 2}); part.Columns[0].Quantiles || part.Columns[0].Integer ||
		part.Columns[2].Groups != nil {
		t.Error("a part keeps what was asked of bins")
	}
}

func TestMarksSurviveBothNotations(t *testing.T) {
	want := whole()
	want.Columns[0].Special, want.Columns[0].Missing = []float64{96, 0, -8.5}, true
	text := strings.Replace(valid, "edges: [20, 40]", "edges: [20, 40], missing: true, special: [96, -0.0, -8.5]", 1)
	got := mustParse(t, text)
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	checkRoundTrip(t, want)
	c := &got.Columns[0]
	if c.Marks() != 4 || got.Columns[2].Marks() != 0 || c.MarkName(1) != "96" || c.MarkName(4) != "(missing)" {
		t.Errorf("%d marks, %d of a category, %q to %q", c.Marks(), got.Columns[2].Marks(), c.MarkName(1), c.MarkName(4))
	}
	if part := want.Part([]int{0}); part.Columns[0].Marks() != 4 {
		t.Error("a part forgets what cells mean")
	}
}

func TestGroupingNumbersGroupsThenTheRest(t *testing.T) {
	c := Column{Kind: Category, Levels: make([]Level, 5), Missing: true,
		Groups: []Group{{"x", []int{3, 1}}, {"y", []int{0}}}}
	of, n := c.Grouping()
	if want := []uint32{1, 0, 2, 0, 3, 4, 5}; n != 6 || !slices.Equal(of, want) {
		t.Errorf("%d groups, %v, want 6, %v", n, of, want)
	}
}

func TestWeightsSurviveBothNotations(t *testing.T) {
	levels := []Level{{Value: "no"}, {Value: "a: \"b\""}, {Value: "<=50K"}, {Value: "010"}, {Value: "~x"}, {Value: "null"}}
	for i := len(levels); i < MaxClasses; i++ {
		levels = append(levels, Level{Value: fmt.Sprint("level ", i)})
	}
	for n := 2; n <= MaxClasses; n += MaxClasses - 2 {
		want := whole()
		want.Label.Levels, want.Label.Default = levels[:n], 0
		if want.Label.Positive = 1; n > 2 {
			want.Label.Positive = -1
		}
		for k := range n {
			want.Label.Weights = append(want.Label.Weights, 0.5+float64(k))
		}
		checkRoundTrip(t, want)
		text, err := want.YAML()
		if err != nil {
			t.Fatal(err)
		}
		if got := mustParse(t, string(text)); !reflect.DeepEqual(got, want) {
			t.Errorf("%d levels: got %+v\nwant %+v", n, got.Label, want.Label)
		}
	}
}

func TestPartsAndMaxDelta(t *testing.T) {
	text := strings.NewReplacer("max_epsilon: 1.5", "max_epsilon: 1.5\nmax_delta: 1e-7\nparts: town",
		"town, role: private", "town, role: public").Replace(valid)
	s := mustParse(t, text)
	if s.Parts != "town" || s.MaxDelta != 100_000_000 {
		t.Errorf("parts %q, max_delta %s", s.Parts, s.MaxDelta)
	}
	checkRoundTrip(t, s)
	if part := s.Part([]int{0}); part.Parts != "" || part.MaxDelta != s.MaxDelta {
		t.Errorf("of a model's schema: parts %q, max_delta %s", part.Parts, part.MaxDelta)
	}
}

func TestRowWeights(t *testing.T) {
	s := mustParse(t, strings.Replace(valid, "default: no}", "default: no, weights: {yes: 4, no: 1}}", 1))
	if got := s.Label.RowWeights(); !reflect.DeepEqual(got, []float64{0.25, 1}) {
		t.Errorf("row weights %v", got)
	}
	if got := s.Label.Weights; !reflect.DeepEqual(got, []float64{1, 4}) {
		t.Errorf("RowWeights changed the weights to %v", got)
	}
	if got := whole().Label.RowWeights(); got != nil {
		t.Errorf("row weights %v without a declaration", got)
	}
}

func TestYAMLIsCanonical(t *testing.T) {
	const want = `name: people
unit: one person
relation: replace-one
max_epsilon: 1.5
file: {delimiter: ",", quote: "\"", header: true, trim: true, missing: ["?", ""], ` +
		`comment: "#", skip_records: 1, skip_until: "@data"}
columns:
  - {name: age, role: private, number: {lower: 0, upper: 100, edges: [20, 40], default: 40}}
  - {name: pay, role: public, number: {lower: -0.5, upper: 1e+06, transform: log1p}}
  - {name: town, role: private, category: {levels: [a, {value: b, aliases: [bb, bbb]}], missing: true}}
  - {name: ill, role: private, label: {levels: ["no", "yes"], positive: "yes", default: "no"}}
  - {name: id, role: ignored}
`
	got, err := whole().YAML()
	if err != nil || string(got) != want {
		t.Errorf("got (error %v)\n%s\nwant\n%s", err, got, want)
	}
}

func TestTextsKeepTheirSpelling(t *testing.T) {
	levels := []string{"010", "1.50", "0x1F", "true", "~x", "null", "no", "a: b", "a #b", "#", "- a", "[", "'", `"`, `\`,
		"<=50K", "é", "日本", "a  b", "___", "1e3", ".inf", "=", "|", "%", "@", "&a", "*a", "!a", "?a"}
	want := whole()
	want.Dialect.Missing = nil
	want.Columns[2].Levels = nil
	for _, l := range levels {
		want.Columns[2].Levels = append(want.Columns[2].Levels, Level{Value: l})
	}
	text, err := want.YAML()
	if err != nil {
		t.Fatal(err)
	}
	// An empty list and no list are the same declaration.
	if got := mustParse(t, string(text)); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	// Unquoted, what looks like a number or a truth value is still the text.
	s := mustParse(t, strings.Replace(valid, "levels: [a, ",
		"levels: [010, 1.50, true, 0x1F, 1_000, .inf, 2001-01-01, ", 1))
	for i, want := range []string{"010", "1.50", "true", "0x1F", "1_000", ".inf", "2001-01-01"} {
		if got := s.Columns[2].Levels[i].Value; got != want {
			t.Errorf("level %d is %q, want %q", i, got, want)
		}
	}
}

func TestByteOrderMarkAndCRLF(t *testing.T) {
	text := "\ufeff" + strings.ReplaceAll(valid, "\n", "\r\n")
	if got := mustParse(t, text); !reflect.DeepEqual(got, whole()) {
		t.Errorf("got %+v", got)
	}
}

func TestExamplesSurviveBothNotations(t *testing.T) {
	for _, path := range examples(t) {
		checkRoundTrip(t, mustLoad(t, path))
	}
}

func checkRoundTrip(t *testing.T, s *Schema) {
	t.Helper()
	text, err := s.YAML()
	if err != nil {
		t.Fatal(err)
	}
	if again := mustParse(t, string(text)); !reflect.DeepEqual(s, again) {
		t.Errorf("YAML changed it:\n%+v\n%+v\n%s", s, again, text)
	}
	text, err = json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	again := &Schema{}
	if err := json.Unmarshal(text, again); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if !reflect.DeepEqual(s, again) {
		t.Errorf("JSON changed it:\n%+v\n%+v\n%s", s, again, text)
	}
}

func TestLoadNamesTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.yaml")
	if err := os.WriteFile(path, []byte(strings.Replace(valid, "replace-one", "swap", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(path); err == nil || !strings.HasPrefix(err.Error(), path+": schema line 3: relation must be") {
		t.Errorf("got %v", err)
	}
	if _, err := Load(path + "x"); err == nil {
		t.Error("loaded a file that does not exist")
	}
	if err := os.WriteFile(path, make([]byte, MaxBytes+1), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(path); err == nil || !strings.Contains(err.Error(), "longer than") {
		t.Errorf("got %v", err)
	}
}
