// SPDX-License-Identifier: Apache-2.0

package dataset

import (
	"fmt"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Of a sample come whole bounds and few levels; what is many, unprintable or ignored stays out, and
// what a codebook says goes before.
func TestAddSample(t *testing.T) {
	d := schema.Dialect{Delimiter: ',', Quote: '"', Header: true}
	text := " age,town,note,odd,name\n"
	for i := range schema.MaxSampled + 1 {
		text += fmt.Sprintf("%d,%s,n%d,\"a\nb\",%s\n", i%90, []string{"Oslo", "Rome", "NA"}[i%3], i, canary)
	}
	sample := writeFile(t, "sample.csv", text)
	book, err := schema.ReadCodebook(writeFile(t, "book.csv", "name,type\nname,ignored\n"))
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"age", "town", "note", "odd", "name", "ill"}
	if book, err = AddSample(book, sample, "t.csv", names, d); err != nil {
		t.Fatal(err)
	}
	draft, err := schema.Draft(names, d, book, schema.DraftOptions{Role: "private"})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"number: {lower: 0, upper: 89, integer: true, default: 45, missing: true}",
		"category: {levels: [Oslo, Rome], missing: true}",
		"- name: note\n    role: private\n    category: {levels: [___, ___], missing: true}",
		"- name: odd\n    role: private\n    category: {levels: [___, ___], missing: true}",
		"- name: name\n    role: ignored\n  - name",
	} {
		if !strings.Contains(string(draft), want) {
			t.Errorf("%s\nis not in\n%s", want, draft)
		}
	}
	if strings.Contains(string(draft), canary) {
		t.Error("an ignored column's cell is in the draft")
	}
	if _, err := AddSample(nil, sample, sample, names, d); err == nil {
		t.Error("the table itself is taken for a sample of it")
	}
	if _, err := AddSample(nil, sample, "t.csv", names[:3], d); err == nil {
		t.Error("a sample of another table is taken")
	}
}
