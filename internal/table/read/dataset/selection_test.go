// SPDX-License-Identifier: Apache-2.0

package dataset

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/internal/table/schema"
)

// A row is in the cohort that its own cell names: one whose cell is missing, unreadable or undeclared is in none where
// that has a code of its own, whatever stands in for it.
func TestSelectionsAreOfCellsThatNameThem(t *testing.T) {
	const text = "d,c,id,y\n2027-01-09,a,0,0\n,a,1,0\nlast week,b,2,0\n2027-02-28,,3,0\n2027-02-01,other,4,0\n2026-12-31,b,5,0\n"
	path := filepath.Join(t.TempDir(), "t.csv")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for marks, january := range map[string][]float64{"true": {0}, "false": {0, 1, 2}} {
		s, err := schema.Parse([]byte(`{name: t, unit: one row, relation: replace-one,
file: {delimiter: ",", quote: "", header: true, missing: [""]},
columns: [{name: d, role: public, date: {format: YYYY-MM-DD, lower: 2026-01-01, upper: 2027-12-31, default: 2027-01-15, missing: ` + marks + `}},
{name: c, role: public, category: {levels: [a, b], missing: ` + marks + `}}, {name: id, role: private, number: {lower: 0, upper: 9, default: 9}},
{name: y, role: public, label: {levels: ["0", "1"], positive: "1"}}]}`))
		if err != nil {
			t.Fatal(err)
		}
		tab, err := Read(t.Context(), s, Options{}, path)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			column string
			names  []string
			want   []float64
		}{
			{"d", []string{"2027-01"}, january}, {"d", []string{"2027-02", "2026-12"}, []float64{3, 4, 5}}, {"d", []string{"2027-03"}, nil},
			{"c", []string{"a"}, []float64{0, 1}}, {"c", []string{"b"}, []float64{2, 5}}, {"c", []string{"a", "b"}, []float64{0, 1, 2, 5}},
		} {
			out := (&Selection{c.column, c.names}).Of(tab)
			var got []float64
			for i := range out.Rows {
				got = append(got, out.Cols[2].Values[out.Cols[2].Codes.At(i)])
			}
			if !slices.Equal(got, c.want) || len(out.Cols[2].Values) != len(c.want) {
				t.Errorf("missing: %s, %s in %q: rows %v, want %v; dictionary %v", marks, c.column, c.names, got, c.want, out.Cols[2].Values)
			}
		}
	}
}
