// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"bytes"
	"crypto/ed25519"
	"encoding/hex"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/ground/dp"
)

const projectText = clauses + `unit: row
schema: "00000000000000000000000000000000000000000000000000000000000000ff"
private: [age, ill]
rows: {minimum: 10, declared: 10}
check: true
audit: true
approve: {officer: MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=}
`

const approver = "19bf44096984cdfe8541bac167dc3b96c85086aa30b6b6cb0c5c38ad703166e1"

// met are facts that meet every clause of projectText.
func met() *Facts {
	data, by, total := "people", approver, dp.Price{Epsilon: dp.Nano}
	return &Facts{Price: dp.Price{Epsilon: dp.Nano / 2}, Day: time.Date(2099, 12, 31, 23, 59, 59, 0, time.UTC), Unit: Row,
		Schema: strings.Repeat("0", 62) + "ff", Data: &data, Total: &total, Approved: &by, Checked: &Shown{Met: true},
		Audited: &Shown{Met: true}, Declares: func(name string) bool { return name == "age" || name == "ill" }}
}

// Each clause is met at its limit, not met beyond it, and not shown by facts that lack what it asks for.
func TestEveryClauseIsJudged(t *testing.T) {
	p, err := parseProject([]byte(projectText))
	if err != nil {
		t.Fatal(err)
	}
	outcomes := func(f *Facts) map[string]Outcome {
		all := map[string]Outcome{}
		for _, c := range p.Judge(f) {
			all[c.Clause] = c.Outcome
		}
		return all
	}
	for clause, o := range outcomes(met()) {
		if o != Met {
			t.Errorf("%s is %s", clause, o)
		}
	}
	if err := p.Refuse("train", p.Judge(met())); err != nil {
		t.Error(err)
	}
	other := "other"
	for _, c := range []struct {
		clause  string
		outcome Outcome
		change  func(f *Facts)
	}{
		{"training", NotMet, func(f *Facts) { f.Price.Epsilon++ }},
		{"training", NotMet, func(f *Facts) { f.Price.Delta = 1 }},
		{"training", NotMet, func(f *Facts) { f.Price = dp.Price{} }},
		{"lifetime", NotMet, func(f *Facts) { f.Total.Epsilon++ }},
		{"lifetime", NotMet, func(f *Facts) { f.Total.Delta = 1 }},
		{"lifetime", NotShown, func(f *Facts) { f.Total = nil }},
		{"data", NotMet, func(f *Facts) { f.Data = &other }},
		{"data", NotShown, func(f *Facts) { f.Data = nil }},
		{"until", NotMet, func(f *Facts) { f.Day = f.Day.Add(time.Second) }},
		{"unit", NotMet, func(f *Facts) { f.Unit = "party" }},
		{"unit", Met, func(f *Facts) { f.Unit = Person }},
		{"schema", NotMet, func(f *Facts) { f.Schema = strings.Repeat("0", 64) }},
		{"schema", NotShown, func(f *Facts) { f.Schema = "" }},
		{"private", NotMet, func(f *Facts) { f.Public = []string{"ward", "ill"} }},
		{"private", Met, func(f *Facts) { f.Public = []string{"ward"} }},
		{"private", NotMet, func(f *Facts) { f.Declares = func(name string) bool { return name == "age" } }},
		{"private", NotMet, func(f *Facts) { f.Declares = nil }},
		{"rows", NotMet, func(*Facts) { p.Rows.Declared = 9 }},
		{"rows", NotMet, func(f *Facts) { f.Rows = 9 }},
		{"rows", Met, func(f *Facts) { f.Rows = 10 }},
		{"check", NotMet, func(f *Facts) { f.Checked.Met = false }},
		{"check", NotShown, func(f *Facts) { f.Checked = nil }},
		{"approve", NotMet, func(f *Facts) { f.Approved = &other }},
		{"approve", NotShown, func(f *Facts) { f.Approved = nil }},
		{"audit", NotMet, func(f *Facts) { f.Audited.Met = false }},
		{"audit", NotShown, func(f *Facts) { f.Audited = nil }},
	} {
		p.Rows.Declared = 10
		f := met()
		c.change(f)
		if got := outcomes(f)[c.clause]; got != c.outcome {
			t.Errorf("%s is %s, want %s", c.clause, got, c.outcome)
		}
		err := p.Refuse("train", p.Judge(f))
		if refused, ok := err.(*Refused); (c.outcome == Met) != (err == nil) || ok && refused.Clause != c.clause {
			t.Errorf("%s, %s: refused with %v", c.clause, c.outcome, err)
		}
		if err := p.Refuse("train", p.Judge(f), c.clause); (err == nil) != (c.outcome != NotMet) {
			t.Errorf("%s, %s, to be shown later: %v", c.clause, c.outcome, err)
		}
	}
	p.Rows.Declared, p.Unit = 10, Person
	if got := outcomes(met())["unit"]; got != NotMet {
		t.Errorf("rows where persons are asked for: %s", got)
	}
}

// What is no policy is refused by the name of its key, and quoted nowhere.
func TestProjectsAreChecked(t *testing.T) {
	for key, c := range map[string][2]string{
		"unit":    {"unit: row", "unit: CANARY"},
		"schema":  {"00ff", "CANARY"},
		"rows":    {"minimum: 10", "minimum: -1"},
		"approve": {"MCow", "CANARY"},
		"number":  {"number: 1", "number: -1"},
	} {
		_, err := parseProject([]byte(strings.Replace(projectText, c[0], c[1], 1)))
		if err == nil || !strings.HasPrefix(err.Error(), key+" must ") || strings.Contains(err.Error(), "CANARY") {
			t.Errorf("%s: %v", key, err)
		}
	}
	if _, err := parseProject([]byte(projectText + "canary: 1\n")); err == nil || strings.Contains(err.Error(), "canary") {
		t.Errorf("a key that is none: %v", err)
	}
	public, officer, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if _, err := SignProject([]byte(projectText), officer, nil, &b); err != nil {
		t.Fatal(err)
	}
	p, err := ParseProject(b.Bytes())
	if err != nil || !p.Signer.Equal(public) || p.Digest != Digest([]byte(projectText)) {
		t.Errorf("signed by %x: %v", p.Signer, err)
	}
	_, other, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	named := strings.Replace(b.String(), hex.EncodeToString(public), hex.EncodeToString(other.Public().(ed25519.PublicKey)), 1)
	for what, text := range map[string]string{"unsigned": projectText, "with another signer's name": named,
		"changed": strings.Replace(b.String(), "unit: row", "unit: person", 1)} {
		if _, err := ParseProject([]byte(text)); err == nil {
			t.Errorf("%s: taken", what)
		}
	}
}
