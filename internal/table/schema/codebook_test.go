// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

const book = "\ufeffName,type,lower,upper,levels,special,meaning,role\n" +
	"âge,integer,0,110,,,age in years,\n" +
	"pain,integer,0,10,,96; 98,,\n" +
	"ward,category,,,A=surgery; B =birth;C,,,public\n" +
	"smoker,yes_no,,,,,,\n" +
	"row no,ignored,,,,,,\n" +
	"fever,number,35,,,,,\n" +
	"out,date,2015-01-01,2015-01-03,,9999-12-31;1900-01-01,,\n" +
	"ill,label,,,no;yes,,,public\n"

// What a codebook says stands in the template, and what it does not say must be filled in.
func TestDraftFromACodebook(t *testing.T) {
	codes, err := ParseCodebook(strings.NewReader(book))
	if err != nil {
		t.Fatal(err)
	}
	d := Dialect{Delimiter: ';', Quote: '"', Header: true}
	text, err := Draft([]string{"âge", "pain", "ward", "smoker", "row no", "fever", "out", "bmi", "ill"}, d, codes, DraftOptions{Role: "private"})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"- name: \"âge\" # age in years\n    role: private\n" +
			"    number: {lower: 0, upper: 110, integer: true, default: 55, missing: true}\n",
		"number: {lower: 0, upper: 10, integer: true, default: 5, missing: true, special: [96, 98]}",
		"role: public\n    category: {levels: [A, B, C], missing: true}\n    # A surgery; B birth\n",
		"category: {levels: yes_no, missing: true}",
		"- name: row no\n    role: ignored\n  - name",
		"number: {lower: 35, upper: ___, default: ___, missing: true}",
		"date: {format: ___, lower: 2015-01-01, upper: 2015-01-03, default: 2015-01-02, missing: true, special: [9999-12-31, 1900-01-01]}",
		"label: {levels: [\"no\", \"yes\"], positive: ___}",
		"# number: {lower: 10, upper: 80, default: 25}  # proposed by the name alone: confirm, or change it",
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%s\nis not in\n%s", want, text)
		}
	}
	if _, err := Parse(text); err == nil {
		t.Error("a template with blanks is taken")
	}
	filled := strings.NewReplacer("name: ___", "name: n", "unit: ___", "unit: u", "relation: ___", "relation: replace-one",
		"trim: ___", "trim: false", "missing: ___", `missing: [""]`, "positive: ___", `positive: "yes"`, "format: ___", "format: D.M.YYYY",
		"upper: ___, default: ___, missing", "upper: 42, default: 37, missing",
		"    # number: {lower: 10", "    number: {lower: 10",
		"default: 25}  #", "default: 25} #").Replace(string(text))
	s, err := Parse([]byte(filled))
	if err != nil {
		t.Fatalf("%v\n%s", err, filled)
	}
	if len(s.ByRole(Private)) != 6 || s.Columns[6].Marks() != 3 || len(s.ByRole(Ignored)) != 1 || s.Columns[1].Marks() != 3 {
		t.Errorf("%+v", s.Columns)
	}
}

// A file that is no codebook, such as a person's table, is described and not quoted.
func TestCodebooksAreRefused(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "must be CSV with a header"},
		{"canary,age\n", "must name known columns once in its header (the 1. is another)"},
		{"name,name\n", "must name known columns once"},
		{"type\n", "must have a column name"},
		{"name,type\ncanary,canary\n", "codebook line 2 must have a known value of type"},
		{"name,role\nx,canary\n", "must have a known value of role"},
		{"name,lower\nx,canary\n", "must have a known value of lower"},
		{"name,upper\nx,1e301\n", "must have a known value of upper"},
		{"name,special\nx,1;canary\n", "must have a known value of special"},
		{"name,special\nx,9999-12-31\n", "must have bounds and special values like 2015-01-01 if the type is date, and only then"},
		{"name,type,special\nx,date,96\n", "must have bounds and special values like 2015-01-01 if the type is date, and only then"},
		{"name,meaning\n,canary\n", "must name its column"},
		{"name,meaning\nx,canary\nx,canary\n", "codebook line 3 must name each column once"},
		{"name,meaning\nx\n", "must have the same number of cells"},
		{"name,meaning\nx,\"a\nb\"\n", "must hold no line breaks"},
	} {
		_, err := ParseCodebook(strings.NewReader(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "canary") {
			t.Errorf("%q: error %v", c.text, err)
		}
	}
	d := Dialect{Delimiter: ',', Header: true}
	if _, err := Draft([]string{"a", "b"}, d, Codebook{"c": {}}, DraftOptions{}); err == nil ||
		!strings.Contains(err.Error(), `codebook must be about columns of the table (got "c")`) {
		t.Errorf("error %v", err)
	}
	if _, err := Draft([]string{"a", "b"}, d, nil, DraftOptions{Role: "public"}); err == nil ||
		!strings.Contains(err.Error(), "role must be private") {
		t.Errorf("error %v", err)
	}
}

// FuzzCodebook: whatever is taken makes a template, which no blank of it lets pass.
func FuzzCodebook(f *testing.F) {
	f.Add(book)
	f.Add("name,levels\na,1=x;2\n")
	f.Fuzz(func(t *testing.T, text string) {
		codes, err := ParseCodebook(strings.NewReader(text))
		if err != nil {
			return
		}
		var names []string
		for name := range codes {
			names = append(names, name)
		}
		out, err := Draft(append(names, "the label"), Dialect{Delimiter: ',', Quote: '"', Header: true}, codes, DraftOptions{})
		if err != nil {
			return // such as too many columns
		}
		if _, err := Parse(out); err == nil || strings.Contains(err.Error(), "not valid YAML") {
			t.Errorf("error %v of\n%s", err, out)
		}
	})
}

// Levels of a codebook in JSON are what they are, whatever separates them in CSV.
func TestCodebookInJSONKeepsLevels(t *testing.T) {
	odd := []string{"<=50K", "a;b", "=", ";", `"`, "'", "a,b", " A", "B ", "{x: y}", "[", "#", "- 1", "~", "null", "yes_no",
		"\\n", "é", "日本", ", positive: x", "A=B;C"}
	listed, err := json.Marshal(odd)
	if err != nil {
		t.Fatal(err)
	}
	codes, err := ParseCodebook(strings.NewReader(`{"b": {"levels": ` + string(listed) + `, "role": "private"}, "age": {"type": ` +
		`"integer", "lower": 0, "upper": 1e2, "special": [96, 98]}, "ill": {"type": "label", "levels": ["<=50K", ">50K"], ` +
		`"positive": ">50K", "default": "<=50K"}}`))
	if err != nil {
		t.Fatal(err)
	}
	text, err := Draft([]string{"age", "b", "ill"}, Dialect{Delimiter: ',', Quote: '"', Header: true}, codes, DraftOptions{Role: "private"})
	if err != nil {
		t.Fatal(err)
	}
	s, err := Parse([]byte(strings.NewReplacer("name: ___", "name: n", "unit: ___", "unit: u", "relation: ___",
		"relation: replace-one", "trim: ___", "trim: false", "missing: ___", `missing: [""]`).Replace(string(text))))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if got := Values(s.Columns[1].Levels); !slices.Equal(got, odd) {
		t.Errorf("levels %q, want %q", got, odd)
	}
	if l := s.Label; !slices.Equal(Values(l.Levels), []string{"<=50K", ">50K"}) || l.Positive != 1 || l.Default != 0 ||
		s.Columns[0].Marks() != 3 || s.Columns[0].Upper != 100 {
		t.Errorf("%+v, %+v", l, s.Columns[0])
	}
}

// A fault of a codebook in JSON has the number of its entry, and quotes nothing.
func TestCodebooksInJSONAreRefused(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`{`, "must be JSON"},
		{`{"canary"`, "must be JSON"},
		{`{"a": {}`, "must be JSON"},
		{`{"canary": 1}`, "entry 1 must be JSON"},
		{`{"a": {}, "canary": {"canary": 1}}`, "entry 2 must have known keys"},
		{`{"a": {"type": "canary"}}`, "must have a known value of type"},
		{`{"a": {"levels": "canary"}}`, "must have known keys"},
		{`{"a": {"levels": [["canary"]]}}`, "must have known keys"},
		{`{"a": {"levels": ["canary\nx"]}}`, "without line breaks"},
		{`{"a": {"levels": ["canary", " "]}}`, "not empty"},
		{`{"a": {"special": ["canary"]}}`, "must have a known value of special"},
		{`{"a": {"special": 7}}`, "must have known keys"},
		{`{"a": {"type": "label", "positive": ["canary"]}}`, "must have known keys"},
		{`{"a": {"positive": "canary"}}`, "of the type label"},
		{`{"a": {}, "a": {}}`, "entry 2 must name each column once"},
		{`{"": {}}`, "must name its column"},
	} {
		_, err := ParseCodebook(strings.NewReader(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: error %v, want %q", c.text, err, c.want)
		}
	}
}

// What is missing is told in the order to decide it.
func TestFaultsInTheOrderToDecide(t *testing.T) {
	text, err := Init([]string{"age", "ill"}, Dialect{Delimiter: ',', Quote: '"', Header: true})
	if err != nil {
		t.Fatal(err)
	}
	_, err = Parse(text)
	steps := ExplainFaults(err)
	at := -1
	for _, want := range []string{"1. what one row is", "unit must be filled in", "2. the text of the files",
		"file trim must be filled in",
		"3. the label (its role", "must include the label", "4. the roles", `column "age" role must be filled in`,
		"5. what cells can be", `column "age" number or category must be given`} {
		i := strings.Index(steps, want)
		if i <= at {
			t.Errorf("%q is not there, or not behind what goes before:\n%s", want, steps)
		}
		at = i
	}
	if ExplainFaults(nil) != "" {
		t.Error("something is missing in a schema without faults")
	}
}

// Dates have days for bounds, and nothing else has.
func TestCodebookOfDates(t *testing.T) {
	codes, err := ParseCodebook(strings.NewReader("name,lower,upper,type\nborn,1900-01-01,2020-12-31,date\nseen,,,date\n"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := Draft([]string{"born", "seen"}, Dialect{Delimiter: ';', Quote: '"', Header: true}, codes, DraftOptions{Role: "private"})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"date: {format: ___, lower: 1900-01-01, upper: 2020-12-31, default: 1960-07-02, missing: true}",
		"date: {format: ___, lower: ___, upper: ___, default: ___, missing: true}",
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%s\nis not in\n%s", want, text)
		}
	}
	for _, bad := range []string{"a,0,9,date", "a,2020-01-01,,number", "a,2020-01-01,,", "a,2020-02-31,,date",
		"a,2020-01-01,7,date"} {
		if _, err := ParseCodebook(strings.NewReader("name,lower,upper,type\n" + bad + "\n")); err == nil {
			t.Errorf("%s: taken", bad)
		}
	}
}

// A well-known word proposes bounds for the column that it names, not for a count or a mean of it.
func TestProposalsAreForWholeNames(t *testing.T) {
	for _, name := range []string{"age", "patient_age", "birth_year", "Year", "admission month", "BMI", "sex"} {
		if Propose(name) == "" {
			t.Errorf("%s: no proposal", name)
		}
	}
	for _, name := range []string{"prior_admissions_last_year", "visits_per_month", "number of years", "year_count", "age_of_car",
		"mean.temperature", "days since year", "alcohol_past_month", "agenda", "yearly"} {
		if lines := Propose(name); lines != "" {
			t.Errorf("%s: %s", name, lines)
		}
	}
	if Propose("number_of_patient_id") == "" {
		t.Error("an identifier is not seen")
	}
}

// A name that spells codes proposes these codes, not the usual words for what it names.
func TestProposalsOfSpelledCodes(t *testing.T) {
	for name, want := range map[string]string{"sex_0male_1female": `["0", "1"]`, "gender (1=m, 2=f)": `["1", "2"]`,
		"outcome 0 dead 1 alive": `["0", "1"]`} {
		if got := Propose(name); !strings.Contains(got, want) {
			t.Errorf("%s: %q, not %s", name, got, want)
		}
	}
	for _, name := range []string{"q1_2x", "hba1c", "covid19_test_2nd", "day_28_mortality"} {
		if got := Propose(name); strings.HasPrefix(got, "category") {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// Names that are words of cells are taken for a row: two at least, since one may well name a column.
func TestNamesThatLookLikeCells(t *testing.T) {
	for _, names := range [][]string{{"male", "yes", "Berlin"}, {"Female", "No"}, {" low", "ja", "x"}} {
		if !LookLikeCells(names) {
			t.Errorf("%v: taken for names", names)
		}
	}
	for _, names := range [][]string{{"sex", "yes", "town"}, {"age", "income", "label"}, {"low income", "high school", "no visits"}, nil} {
		if LookLikeCells(names) {
			t.Errorf("%v: taken for cells", names)
		}
	}
}
