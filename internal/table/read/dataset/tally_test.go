// SPDX-License-Identifier: Apache-2.0

package dataset

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/table/schema"
)

// tally counts the cells of files, which have no faults.
func tally(t *testing.T, s *schema.Schema, paths ...string) *Tally {
	t.Helper()
	got, err := Check(t.Context(), s, Options{}, paths...)
	if err != nil || len(got.Faults) > 0 {
		t.Fatalf("error %v, faults %v", err, got.Faults)
	}
	return got
}

// A table small enough to count on paper: one cell of each kind.
func TestTallyOnPaper(t *testing.T) {
	s := &schema.Schema{
		Relation: "replace-one",
		Dialect:  schema.Dialect{Delimiter: ',', Quote: '"', Header: true, Missing: []string{"", "NA", "-1"}},
		Columns: []schema.Column{
			{Name: "x", Role: schema.Public, Kind: schema.Number, Lower: 0, Upper: 10, Default: new(float64)},
			{Name: "c", Role: schema.Private, Kind: schema.Category, Levels: []schema.Level{{Value: "a"}, {Value: "NA"}}},
		},
		Label: schema.Label{Name: "y", Role: schema.Public, Position: 2,
			Levels: []schema.Level{{Value: "0"}, {Value: "1"}}, Positive: 1},
	}
	text := "x,c,y\n1,a,0\n,NA,1\n-1,,2\n\"25,5\",b,\n11,a,1\n-2,zz,0\n1e999,a,0\n"
	got := tally(t, s, writeFile(t, "t.csv", text))
	want := []CellCounts{
		{Column: "x", Role: schema.Public, Missing: 2, Clamped: 2, Unreadable: 2},
		{Column: "c", Role: schema.Private, Missing: 1, Other: 2}, // "NA" is declared as a value
		{Column: "y", Role: schema.Public, Missing: 1, Unreadable: 1, Label: true},
	}
	if got.Rows != 7 || !slices.Equal(got.Columns, want) {
		t.Errorf("%d rows, got %+v, want %+v", got.Rows, got.Columns, want)
	}
}

// Cells in Latin-1, and values spelt with other case or spaces, are pointed out.
func TestTallyRemarks(t *testing.T) {
	s := tinySchema()
	text := header + "1,2, X,0\n3,4,M\xfcller,1\n5,6,Y ,0\n7,8,z,1\n1,2,x,0\n"
	got := tally(t, s, writeFile(t, "t.csv", text))
	counts := got.Columns
	at := slices.IndexFunc(counts, func(c CellCounts) bool { return c.Column == "c" })
	if counts[at].Respelled != 2 || counts[at].NotUTF8 != 1 || counts[at].Other != 4 {
		t.Errorf("counts %+v of %d rows", counts[at], got.Rows)
	}
	var b strings.Builder
	if err := got.WriteText(&b, Mostly); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"1 cells are not UTF-8", "2 cells differ from a declared value by letter case", "(80 %)"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is not in\n%s", want, b.String())
		}
	}
}

// CSV and Parquet of the same rows are counted alike.
func TestTallyFormats(t *testing.T) {
	rows := randomRows(500)
	s := smallSchema()
	s.Label.Default = 0
	csv, parquet := tally(t, s, writeCSV(t, rows)), tally(t, s, writeParquet(t, rows))
	if csv.Rows != 500 || parquet.Rows != 500 || !slices.Equal(csv.Columns, parquet.Columns) {
		t.Errorf("%+v\n%+v", csv, parquet)
	}
}

// Columns that the schema does not know, as pandas' index: refused unless asked for,
// then left out or passed on.
func TestExtraColumns(t *testing.T) {
	path := writeFile(t, "t.csv", ",a,p,c,__index_level_0__\n7,1,2,x,0\n")
	for extra, want := range map[Extra]string{
		ExtraDropped: "a,p,c,label,score\n1,2,x,no,0\n",
		ExtraKept:    ",a,p,c,__index_level_0__,label,score\n7,1,2,x,0,no,0\n",
	} {
		got := appended(t, tinySchema(), Options{Labels: LabelsIgnored, Extra: extra}, CSV, path)
		if got != want {
			t.Errorf("extra %d: got %q, want %q", extra, got, want)
		}
		if tab, err := Read(context.Background(), tinySchema(), Options{Labels: LabelsIgnored, Extra: extra},
			path); err != nil || tab.Rows != 1 {
			t.Errorf("extra %d: error %v", extra, err)
		}
	}
	if _, err := Read(context.Background(), tinySchema(), Options{Labels: LabelsIgnored}, path); !errors.As(err,
		new(*FaultError)) {
		t.Errorf("not asked for: error %v", err)
	}
	// One that the schema derives must not be in the file, whatever is asked for.
	s := tinySchema()
	s.Columns = append(s.Columns, schema.Column{Name: "__index_level_0__", Role: schema.Public, Kind: schema.Number,
		Lower: 0, Upper: 1, Derived: schema.Largest, From: []int{0}})
	_, err := Read(context.Background(), s, Options{Labels: LabelsIgnored, Extra: ExtraDropped}, path)
	if err == nil {
		t.Error("a derived column in the file must be refused")
	}
}

// Standard input is read as a file is.
func TestAppendFromStandardInput(t *testing.T) {
	var out bytes.Buffer
	in := Options{Labels: LabelsIgnored, Stdin: strings.NewReader("a,p,c\n1,2,x\n")}
	if err := CopyRows(context.Background(), tinySchema(), in, &out, CSV, scored(), nil, "-"); err != nil ||
		out.String() != "a,p,c,label,score\n1,2,x,no,0\n" {
		t.Errorf("got %q, error %v", &out, err)
	}
}
