// SPDX-License-Identifier: Apache-2.0

package dataset

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/table/coding"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

const personSchema = `name: visits
unit: one visit
relation: replace-one
person: {column: pid, rows: 1}
file: {delimiter: ",", quote: '"', header: true, missing: ["", "?"]}
columns:
  - {name: pid, role: ignored}
  - {name: age, role: private, number: {lower: 0, upper: 100, default: 40}}
  - {name: ill, role: public, label: {levels: ["no", "yes"], positive: "yes"}}
`

func readPersons(t *testing.T, opts Options, text string) (*Table, error) {
	t.Helper()
	s, err := schema.Parse([]byte(personSchema))
	if err != nil {
		t.Fatal(err)
	}
	opts.Stdin = strings.NewReader(text)
	return Read(context.Background(), s, opts, "-")
}

// Rows of one person have one number, rows without an identifier have none, and nothing of an
// identifier stays.
func TestPersonsAreNumbered(t *testing.T) {
	text := "pid,age,ill\n"
	for _, id := range []string{"ann", "bob", "", "ann", "?", "cleo", "bob", "ann"} {
		text += id + ",30,no\n"
	}
	tab, err := readPersons(t, Options{}, text)
	if err != nil {
		t.Fatal(err)
	}
	if want := []uint32{1, 2, Nobody, 1, Nobody, 3, 2, 1}; !slices.Equal(tab.Persons, want) {
		t.Errorf("persons %v, want %v", tab.Persons, want)
	}
	rows, persons := tab.CountPersons()
	if !slices.Equal(rows, []uint32{2, 3, 2, 1}) || persons != 3 {
		t.Errorf("%d persons with %v rows", persons, rows)
	}
	part := tab.Subset([]int{0, 5, 3})
	if _, persons := part.CountPersons(); !slices.Equal(part.Persons, []uint32{1, 3, 1}) || persons != 2 {
		t.Errorf("a part has persons %v", part.Persons)
	}
	if tab.Cols[0].Codes.Len() > 0 {
		t.Error("the column of identifiers was kept")
	}
}

// Who predicts is not asked for an identifier, and a training table without one is refused.
func TestWhoseRowsAreIsAskedOfTrainingAlone(t *testing.T) {
	s, err := schema.Parse([]byte(personSchema))
	if err != nil {
		t.Fatal(err)
	}
	coder, err := coding.NewRowCoder(s)
	if err != nil {
		t.Fatal(err)
	}
	if names := coder.Names(); !slices.Equal(names, []string{"age"}) {
		t.Errorf("a row to predict has columns %v", names)
	}
	_, err = readPersons(t, Options{}, "age,ill\n3,no\n")
	if err == nil || !strings.Contains(err.Error(), `column "pid"`) {
		t.Errorf("a table without identifiers: %v", err)
	}
	for _, text := range []string{"age,ill\n3,no\n", "pid,age,ill\nann,3,no\n"} {
		if tab, err := readPersons(t, Options{Labels: LabelsIgnored}, text); err != nil || tab.Persons != nil {
			t.Errorf("a table for prediction: %v", err)
		}
	}
}
