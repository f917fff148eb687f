// SPDX-License-Identifier: Apache-2.0

package dataset

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/table/read/coding"
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
		{Column: "x", Role: schema.Public, Missing: 2, Clamped: 2, Unreadable: 2,
			Cause: `they are numbers in another spelling: write decimal: "," under file`},
		{Column: "c", Role: schema.Private, Missing: 1, Other: 2}, // "NA" is declared as a value
		{Column: "y", Role: schema.Public, Missing: 1, Unreadable: 1, Label: true},
	}
	if got.Rows != 7 || !slices.Equal(got.Columns, want) {
		t.Errorf("%d rows, got %+v, want %+v", got.Rows, got.Columns, want)
	}
}

// The cause of cells that do not fit is named, and moves when a column does not fit: without one, half of a
// category's cells may be values that it leaves out.
func TestTallyNamesCauses(t *testing.T) {
	s := tinySchema()
	fits := func(cells ...string) (bool, string) {
		var text strings.Builder
		text.WriteString(header)
		for _, c := range cells {
			fmt.Fprintf(&text, "1,2,%s,0\n", c)
		}
		got := tally(t, s, writeFile(t, "t.csv", text.String()))
		var b strings.Builder
		if err := got.WriteText(&b, Mostly); err != nil {
			t.Fatal(err)
		}
		return len(got.Misfits(Mostly)) == 0, b.String()
	}
	for _, row := range []struct {
		cells string
		fit   bool
		want  string
	}{
		{"x x x", true, "4 of 4 columns: every cell is taken as it stands"},
		{"x x x x x x x x x X", true, "other letter case"}, // 10 %
		{"x x x x X", false, "other letter case"},          // 20 %
		{"x x x M\xfcller", false, "not UTF-8"},
		{"x x x z w", true, "2 (40 %)"},
		{"x x z w", false, `column "c" does not fit: 50 % of its cells`},
	} {
		if fit, text := fits(strings.Fields(row.cells)...); fit != row.fit || !strings.Contains(text, row.want) {
			t.Errorf("%q: fits: %v, %s", row.cells, fit, text)
		}
	}
}

// From the declared share on, a schema does not fit: of the cells that are not missing, and in the label of all.
func TestMisfits(t *testing.T) {
	for _, row := range []struct {
		n   CellCounts
		fit bool
	}{
		{CellCounts{Unreadable: 19}, true},
		{CellCounts{Unreadable: 20}, false},
		{CellCounts{Clamped: 10, Unreadable: 10}, false},
		{CellCounts{Missing: 99}, true},
		{CellCounts{Missing: 100}, false},
		{CellCounts{Missing: 95, Unreadable: 1}, false},
		{CellCounts{Missing: 95, Other: 2}, true},
		{CellCounts{Missing: 96, Other: 2}, false},
		{CellCounts{Other: 49}, true},
		{CellCounts{Other: 50}, false},
		{CellCounts{Other: 20, Cause: "they are spelt otherwise"}, false},
		{CellCounts{Label: true, Missing: 19}, true},
		{CellCounts{Label: true, Missing: 10, Unreadable: 10}, false},
		{CellCounts{}, true},
	} {
		one := &Tally{Rows: 100, Columns: []CellCounts{row.n}}
		if got := len(one.Misfits(Mostly)) == 0; got != row.fit {
			t.Errorf("%+v fits: %v", row.n, got)
		}
		if len(one.Misfits(100)) != 0 && row.n.repaired() < 100 && row.n.Missing == 0 {
			t.Errorf("%+v does not fit at 100 %%", row.n)
		}
	}
	if got := (&Tally{Columns: []CellCounts{{}}}).Misfits(Mostly); len(got) != 0 {
		t.Errorf("no rows: %v", got)
	}
}

// The counts are what a Read does with the cells, and name the same columns, in every source.
func TestTallyIsTheReading(t *testing.T) {
	rows, s := randomRows(2000), smallSchema()
	s.Label.Default = 0
	file := filepath.Join(t.TempDir(), "t.db")
	db, err := sql.Open("sqlite", file)
	if err == nil {
		_, err = db.Exec(`CREATE TABLE t (age, income, city, rank, note, sick);
			INSERT INTO t VALUES (50, 20, 'Rome', 1, '', 'no'), ('x', 2e9, 'Paris', '2.0', '', 1), (NULL, 1, NULL, 7, '', 'never')`)
	}
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{writeCSV(t, rows), writeParquet(t, rows), "sqlite:" + file + "?table=t"} {
		whole, err := Read(t.Context(), s, Options{Count: true}, path)
		if err != nil {
			t.Fatal(err)
		}
		got := tally(t, s, path)
		var names []string
		for _, c := range got.Columns {
			names = append(names, c.Column)
			j := s.Find(c.Column)
			if c.Label {
				j = len(s.Columns)
			}
			want := coding.Counts{coding.Missing: c.Missing, coding.Other: c.Other, coding.Clamped: c.Clamped,
				coding.Unreadable: c.Unreadable}
			if whole.Counts[j] != want {
				t.Errorf("%s, %s: %+v, and read %v", path, c.Column, c, whole.Counts[j])
			}
		}
		if !slices.Equal(names, []string{"age", "income", "city", "rank", "sick"}) || got.Rows != whole.Rows {
			t.Errorf("%s: columns %v of %d rows", path, names, got.Rows)
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

// A file that could not be read on may have rows: that there are none is not said.
func TestFaultLeavesRowsUncounted(t *testing.T) {
	s := tinySchema()
	s.Relation = "replace-one"
	for _, text := range []string{"x,z,y\n1,2,a\n", "x\xe4,y\n1,a\n", "y\na\n"} {
		path := filepath.Join(t.TempDir(), "t.csv")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := Check(t.Context(), s, Options{}, path)
		if err != nil || len(got.Faults) != 1 || strings.Contains(got.Faults[0].Fault, "at least one row") {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}
