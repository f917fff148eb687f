// SPDX-License-Identifier: Apache-2.0

package heldout

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/table/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Of every class the share is held out to the row, and the seed says which rows.
func TestDealKeepsClasses(t *testing.T) {
	labels := make([]uint8, 1000)
	for i := range labels {
		if i%10 == 0 {
			labels[i] = 2
		} else if i%3 == 0 {
			labels[i] = 1
		}
	}
	rows := [3]int{}
	for _, l := range labels {
		rows[l]++
	}
	a := Split{0.25, 1}.Deal(labels)
	held := [3]int{}
	for i, j := range a {
		if j {
			held[labels[i]]++
		}
	}
	for k := range held {
		if held[k] != int(math.Round(0.25*float64(rows[k]))) {
			t.Errorf("class %d: %d of %d rows are held out", k, held[k], rows[k])
		}
	}
	if !slices.Equal(a, Split{0.25, 1}.Deal(labels)) || slices.Equal(a, Split{0.25, 2}.Deal(labels)) {
		t.Error("the seed must say which rows, alone")
	}
	if len(Split{0.25, 1}.Deal(nil)) != 0 {
		t.Error("no rows")
	}
}

// Every row of the files is in one output, as it was written.
func TestSplitKeepsText(t *testing.T) {
	s, err := schema.Parse([]byte(`{name: t, unit: one person, relation: replace-one,
file: {delimiter: ",", quote: '"', header: true, missing: [""]},
columns: [{name: a, role: private, category: {levels: ["1,5", "q"]}},
{name: y, role: public, label: {levels: ["0", "1"], positive: "1"}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	body := []string{`"1,5",0`, `"a ""b""",1`, `q,1`, `"line` + "\n" + `two",0`, `q,0`, `x,1`}
	path := filepath.Join(t.TempDir(), "t.csv")
	if err := os.WriteFile(path, []byte("a,y\n"+strings.Join(body, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var train, test bytes.Buffer
	counts, err := Split{0.34, 3}.Write(t.Context(), s, dataset.Options{}, &train, &test,
		[2]dataset.Format{dataset.CSV, dataset.CSV}, path)
	if err != nil || counts != [2]int{4, 2} {
		t.Fatalf("%d rows, error %v", counts, err)
	}
	both := train.String() + test.String()
	for _, row := range body {
		if strings.Count(both, row+"\n") != 1 {
			t.Errorf("row %q must be there once, in\n%s", row, both)
		}
	}
	if strings.Count(both, "a,y\n") != 2 {
		t.Errorf("both files must have the header:\n%s", both)
	}
}

// With a private label a row's side follows from its place alone: a neighbour's rows have the same
// sides, whatever the labels are. With a public one the share of each class is kept.
func TestPrivateLabelsAreDealtBlindly(t *testing.T) {
	for role, want := range map[string]bool{"private": true, "public": false} {
		s, err := schema.Parse([]byte(`{name: t, unit: one row, relation: replace-one,
file: {delimiter: ",", quote: "", header: true},
columns: [{name: a, role: public, number: {lower: 0, upper: 1000, default: 0}},
{name: y, role: ` + role + `, label: {levels: ["0", "1"], positive: "1", default: "0"}}]}`))
		if err != nil {
			t.Fatal(err)
		}
		split := func(ones int) (held []string) {
			text := "a,y\n"
			for i := range 400 {
				label := "0"
				if i < ones {
					label = "1"
				}
				text += strconv.Itoa(i) + "," + label + "\n"
			}
			path := filepath.Join(t.TempDir(), "t.csv")
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			var train, judge bytes.Buffer
			if _, err := (Split{0.25, 3}).Write(t.Context(), s, dataset.Options{}, &train, &judge,
				[2]dataset.Format{dataset.CSV, dataset.CSV}, path); err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(judge.String()) {
				row, _, _ := strings.Cut(line, ",")
				held = append(held, row)
			}
			return held
		}
		a, b := split(200), split(199)
		if slices.Equal(a, b) != want {
			t.Errorf("label %s: equal sides: %v, want %v", role, !want, want)
		}
		if role == "private" && (len(a) < 60 || len(a) > 145) { // 6 standard deviations around 101
			t.Errorf("%d of 400 rows are held out", len(a)-1)
		}
	}
}

// A person's rows are all on one side, whatever the label's role.
func TestPersonsAreOnOneSide(t *testing.T) {
	for _, role := range []string{"private", "public"} {
		s, err := schema.Parse([]byte(`{name: t, unit: one row, relation: replace-one, person: {column: p, rows: 8},
file: {delimiter: ",", quote: "", header: true},
columns: [{name: p, role: ignored}, {name: a, role: private, number: {lower: 0, upper: 1000, default: 0}},
{name: y, role: ` + role + `, label: {levels: ["0", "1"], positive: "1", default: "0"}}]}`))
		if err != nil {
			t.Fatal(err)
		}
		text := "p,a,y\n"
		for i := range 400 {
			text += strconv.Itoa(i*i%101) + "," + strconv.Itoa(i) + "," + strconv.Itoa(i%2) + "\n"
		}
		path := filepath.Join(t.TempDir(), "t.csv")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		var train, judge bytes.Buffer
		counts, err := Split{0.25, 3}.Write(t.Context(), s, dataset.Options{}, &train, &judge,
			[2]dataset.Format{dataset.CSV, dataset.CSV}, path)
		if err != nil || counts[0]+counts[1] != 400 || counts[1] == 0 {
			t.Fatalf("label %s: %d rows, error %v", role, counts, err)
		}
		trains := map[string]bool{}
		for line := range strings.Lines(strings.TrimPrefix(train.String(), "p,a,y\n")) {
			person, _, _ := strings.Cut(line, ",")
			trains[person] = true
		}
		for line := range strings.Lines(strings.TrimPrefix(judge.String(), "p,a,y\n")) {
			if person, _, _ := strings.Cut(line, ","); trains[person] {
				t.Fatalf("label %s: person %s has rows on both sides", role, person)
			}
		}
	}
}
